import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppendRenderer } from '../../src/tui/screen/append-renderer.js';
import { type Line, line, plainText, span } from '../../src/tui/screen/line.js';
import { type Frame, TailRenderer } from '../../src/tui/screen/tail-renderer.js';
import { TERMINAL_COLOURS } from '../../src/tui/screen/theme.js';
import { createEmulator, type Emulator } from './emulator.js';

const WORDS = [
  'word',
  '漢字仮名',
  'ﬁ',
  '👩‍👩‍👧‍👦',
  '🇩🇪',
  'שלום',
  'é',
  'x'.repeat(37),
  '⚠️',
  '한국어',
  'a b c',
];
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 12 }).map((words) => words.join(' '));
const size = fc.record({
  columns: fc.integer({ min: 20, max: 90 }),
  rows: fc.integer({ min: 1, max: 30 }),
});

type Step =
  | { readonly kind: 'commit'; readonly texts: readonly string[] }
  | { readonly kind: 'live'; readonly texts: readonly string[]; readonly caret: number | undefined }
  | { readonly kind: 'resize'; readonly columns: number; readonly rows: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('commit' as const),
      texts: fc.array(text, { maxLength: 6 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('live' as const),
      texts: fc.array(text, { maxLength: 12 }),
      caret: fc.option(fc.nat(11), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: size.map((to) => ({ kind: 'resize' as const, ...to })) },
);

interface Setup {
  readonly emulator: Emulator;
  readonly renderer: TailRenderer | AppendRenderer;
}

function setup(columns = 80, rows = 24, appendOnly = false): Setup {
  const emulator = createEmulator({ columns, rows });
  const output = { write: (data: string) => emulator.write(data), size: () => emulator.size };
  const renderer = appendOnly
    ? new AppendRenderer({ ...output, lineEnd: '\r\n' })
    : new TailRenderer({ ...output, palette: () => TERMINAL_COLOURS });
  return { emulator, renderer };
}

const NEVER = /\u001b\[[23]J/;

describe('the tail renderer', () => {
  it('writes every committed line once, whatever happens around it', async () => {
    await fc.assert(
      fc.asyncProperty(
        size,
        fc.array(step, { maxLength: 40 }),
        fc.boolean(),
        async (window, steps, appendOnly) => {
          const { emulator, renderer } = setup(window.columns, window.rows, appendOnly);
          emulator.write('before the program\r\n');
          await emulator.settle();
          let count = 0;
          let frame: Frame = { lines: [] };
          for (const next of steps) {
            if (next.kind === 'resize') {
              emulator.resize(next);
            } else if (next.kind === 'commit') {
              renderer.commit(next.texts.map((words) => line(`<${count++}>`, span(words, '1;31'))));
            } else {
              const lines = next.texts.map((words) => line(span(words, '2')));
              const row = Math.min(next.caret ?? 0, lines.length - 1);
              const offset = plainText(lines[row] ?? []).length;
              frame = {
                lines,
                caret:
                  next.caret === undefined || lines.length === 0
                    ? undefined
                    : { row, offset: Math.min(offset, 5) },
              };
            }
            renderer.draw(frame);
            await emulator.settle();
          }
          expect(emulator.sent).not.toMatch(appendOnly ? /\u001b/ : NEVER);
          const all = emulator.rows().join('\n');
          expect(all).toContain('before the program');
          const seen = [...all.matchAll(/<(\d+)>/g)].map(([, id]) => Number(id));
          expect(seen).toEqual(Array.from({ length: count }, (_, id) => id));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('puts the real cursor at the caret', async () => {
    await fc.assert(
      fc.asyncProperty(
        size,
        fc.array(text, { minLength: 1, maxLength: 9 }),
        fc.nat(8),
        fc.nat(19),
        async (window, texts, at, offset) => {
          const { emulator, renderer } = setup(window.columns, window.rows);
          const lines = texts.map((words) => line(words));
          const row = Math.min(at, lines.length - 1);
          const whole = plainText(lines[row] ?? []);
          const caret = { row, offset: Math.min(offset, whole.length) };
          renderer.commit([line('committed')]);
          renderer.draw({ lines, caret });
          await emulator.settle();
          // The emulator keeps half of a pair when the caret is put between its halves.
          const before = whole.slice(0, caret.offset).replace(/[\ud800-\udbff]$/u, '');
          const { before: cells } = emulator.cursor();
          expect(before.startsWith(cells.replace(/[\ud800-\udbff\ufffd]$/u, '').slice(0, 10))).toBe(
            true,
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  it('redraws only rows that changed', async () => {
    const { emulator, renderer } = setup();
    const rows = (status: string): Line[] => [line('first'), line('second'), line(status)];
    renderer.draw({ lines: rows('one'), caret: { row: 1, offset: 6 } });
    const before = emulator.sent.length;
    renderer.draw({ lines: rows('two'), caret: { row: 1, offset: 6 } });
    const added = emulator.sent.slice(before);
    expect(added).toContain('two');
    expect(added).not.toContain('first');
    const drawn = emulator.sent.length;
    renderer.draw({ lines: rows('two'), caret: { row: 1, offset: 6 } });
    expect(emulator.sent.length).toBe(drawn);
  });

  it('shows the rows around the caret when the frame is taller than the window', async () => {
    const { emulator, renderer } = setup(40, 5);
    const lines = Array.from({ length: 50 }, (_, index) => line(`row ${index}`));
    renderer.draw({ lines, caret: { row: 10, offset: 3 } });
    await emulator.settle();
    expect(emulator.screen().slice(0, 4)).toEqual(['row 10', 'row 11', 'row 12', 'row 13']);
    expect(emulator.cursor()).toEqual({ row: 0, before: 'row' });
    expect(emulator.rows()).toHaveLength(5);
  });

  it('draws one row in a window of one row', async () => {
    const { emulator, renderer } = setup(20, 1);
    for (let index = 0; index < 5; index++) {
      renderer.commit([line(`line ${index}`)]);
      renderer.draw({ lines: [line('> typed')], caret: { row: 0, offset: 3 } });
    }
    await emulator.settle();
    expect(emulator.rows()).toEqual(['line 0', 'line 1', 'line 2', 'line 3', 'line 4', '> typed']);
  });

  it('lets no escape sequence of a text through', async () => {
    const { emulator, renderer } = setup();
    const evil = '\u001b[2J\u001b]0;owned\u0007\u009b3J\u202edesrever\rstart';
    renderer.commit([line(evil), line({ text: `raw ${evil}` })]);
    renderer.draw({ lines: [line(span(evil, '1'))] });
    await emulator.settle();
    expect(emulator.sent).not.toMatch(NEVER);
    expect(emulator.sent).not.toContain('\u001b]0;');
    expect(emulator.sent).not.toContain('\u202e');
  });

  it('leaves an empty row and a visible cursor behind', async () => {
    const { emulator, renderer } = setup();
    renderer.commit([line('answer')]);
    renderer.draw({ lines: [line('box'), line('status')], caret: undefined });
    renderer.clear();
    await emulator.settle();
    expect(emulator.rows().slice(0, 3)).toEqual(['answer', '', '']);
    expect(emulator.sent.lastIndexOf('\u001b[?25h')).toBeGreaterThan(
      emulator.sent.lastIndexOf('\u001b[?25l'),
    );
  });
});
