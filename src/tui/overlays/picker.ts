import type { CommandChoice } from '../../client/events.js';
import { Editor } from '../input/editor.js';
import type { Key } from '../input/keys.js';
import { cutLine, type Line, line, lines, STYLE, span, wrapLine } from '../screen/line.js';
import type { WindowSize } from '../screen/tail-renderer.js';
import { foldRows } from '../views/diff-view.js';
import { CLOSE, type Overlay, type OverlayResult, STAY } from './overlay.js';

/** A list to choose from, narrowed by typing: sessions, models, points to rewind to. */
export class Picker implements Overlay {
  readonly #text: string;
  readonly #choices: readonly CommandChoice[];
  readonly #filter = new Editor();
  #selected: number;

  /** The first line of the text is the title; the rest says what a choice would do. */
  constructor(text: string, choices: readonly CommandChoice[]) {
    this.#text = text;
    this.#choices = choices;
    this.#selected = Math.max(
      0,
      choices.findIndex(({ current }) => current === true),
    );
  }

  view({ columns, rows }: WindowSize) {
    const found = this.#found();
    const [first = [], ...rest] = lines(this.#text).flatMap((row) => wrapLine(row, columns));
    const hint = '↑↓ and Enter, type to narrow, Esc closes';
    const head = [
      first.map(({ text }) => span(text, STYLE.heading)),
      ...foldRows(rest, Math.max(0, Math.floor(rows / 2) - 2), columns, ''),
      cutLine(line(span(hint, STYLE.dim)), columns),
    ];
    const perChoice = found.some(({ description }) => description !== undefined) ? 2 : 1;
    const height = Math.max(1, Math.floor((rows - head.length - 2) / perChoice));
    const start = Math.max(
      0,
      Math.min(this.#selected - Math.floor(height / 2), found.length - height),
    );
    const shown = found.slice(start, start + height).flatMap((choice, index): Line[] => {
      const isSelected = start + index === this.#selected;
      const name = span(choice.label, isSelected ? STYLE.selected : undefined);
      const now = choice.current === true ? [span(' (current)', STYLE.success)] : [];
      return [
        cutLine([span(isSelected ? '❯ ' : '  ', STYLE.accent), name, ...now], columns),
        ...(perChoice === 1
          ? []
          : [cutLine(line(span(`    ${choice.description ?? ''}`, STYLE.dim)), columns)]),
      ];
    });
    const edited = this.#filter.layout(columns, {
      first: line(span('> ', STYLE.accent)),
      rest: line('  '),
    });
    const none = found.length === 0 ? [line(span('  Nothing matches.', STYLE.dim))] : [];
    return {
      lines: [...head, edited.lines[0] ?? [], ...shown, ...none],
      caret: { row: head.length, offset: edited.caret.offset },
    };
  }

  press(key: Key, { rows }: WindowSize): OverlayResult {
    const found = this.#found();
    const page = Math.max(1, Math.floor((rows - 3) / 2));
    const move = (by: number): OverlayResult => {
      this.#selected = Math.max(0, Math.min(found.length - 1, this.#selected + by));
      return STAY;
    };
    switch (key.id) {
      case 'escape':
      case 'ctrl+c':
        return CLOSE;
      case 'up':
      case 'ctrl+p':
        return move(-1);
      case 'down':
      case 'ctrl+n':
      case 'tab':
        return move(1);
      case 'pageup':
        return move(-page);
      case 'pagedown':
        return move(page);
      case 'enter': {
        const chosen = found[this.#selected];
        return chosen === undefined ? STAY : { kind: 'run', line: chosen.line };
      }
      default:
        if (this.#filter.press(key)) this.#selected = 0;
        return STAY;
    }
  }

  #found(): readonly CommandChoice[] {
    const words = this.#filter.text.toLowerCase().split(/\s+/);
    return this.#choices.filter(({ label, description = '' }) => {
      const text = `${label} ${description}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }
}
