import type { CommandChoice } from '../../client/events.js';
import { Editor } from '../input/editor.js';
import type { Key } from '../input/keys.js';
import { cutLine, type Line, line, STYLE, span } from '../screen/line.js';
import type { WindowSize } from '../screen/tail-renderer.js';
import { CLOSE, type Overlay, type OverlayResult, STAY } from './overlay.js';

/** A list to choose from, narrowed by typing: sessions, models, points to rewind to. */
export class Picker implements Overlay {
  readonly #title: string;
  readonly #choices: readonly CommandChoice[];
  readonly #filter = new Editor();
  #selected: number;

  constructor(title: string, choices: readonly CommandChoice[]) {
    this.#title = title;
    this.#choices = choices;
    this.#selected = Math.max(
      0,
      choices.findIndex(({ current }) => current === true),
    );
  }

  view({ columns, rows }: WindowSize) {
    const found = this.#found();
    const height = Math.max(1, Math.floor((rows - 3) / 2));
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
        cutLine(line(span(`    ${choice.description ?? ''}`, STYLE.dim)), columns),
      ];
    });
    const edited = this.#filter.layout(columns, {
      first: line(span('> ', STYLE.accent)),
      rest: line('  '),
    });
    const none = found.length === 0 ? [line(span('  Nothing matches.', STYLE.dim))] : [];
    return {
      lines: [
        cutLine(
          line(
            span(this.#title.split('\n')[0] ?? '', STYLE.heading),
            span('  ↑↓ and Enter, type to narrow, Esc closes', STYLE.dim),
          ),
          columns,
        ),
        edited.lines[0] ?? [],
        ...shown,
        ...none,
      ],
      caret: { row: 1, offset: edited.caret.offset },
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
