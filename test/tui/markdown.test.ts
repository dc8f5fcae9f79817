import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proposedChange } from '../../src/client/proposed-change.js';
import { type Line, lineWidth, plainText } from '../../src/tui/screen/line.js';
import { renderHunks } from '../../src/tui/views/diff-view.js';
import { loadHighlighter } from '../../src/tui/views/highlight.js';
import { renderMarkdown } from '../../src/tui/views/markdown.js';
import { MarkdownStream } from '../../src/tui/views/markdown-stream.js';

const text = (rows: readonly Line[]): string =>
  rows.map((row) => plainText(row).trimEnd()).join('\n');

const SAMPLE = `# Title

A paragraph with **bold**, \`code\` and a [link](https://example.org/x).
Second line &amp; more.

- one
- two
  - nested
- three

1. first
2. second

   continued
3. third

| name | size |
|------|-----:|
| a | 1 |
| 漢字 | 22 |

\`\`\`ts
const x = 1; // one
/* two
   rows */
\`\`\`

> quoted
> text

---

The end.`;

describe('Markdown', () => {
  it('is laid out as blocks', () => {
    expect(text(renderMarkdown(SAMPLE, 60))).toBe(`Title

A paragraph with bold, code and a link
(https://example.org/x).
Second line & more.

• one
• two
  • nested
• three

1. first
2. second
   continued
3. third

name │ size
─────┼─────
a    │    1
漢字 │   22

  const x = 1; // one
  /* two
     rows */

│ quoted
│ text

────────────────────────────────────────

The end.`);
  });

  it('never exceeds the window', () => {
    for (const columns of [1, 3, 7, 20, 33]) {
      for (const row of renderMarkdown(SAMPLE, columns))
        expect(lineWidth(row)).toBeLessThanOrEqual(Math.max(columns, 6));
    }
  });

  it('streams to the same rows as it has when it is whole, however it is cut', () => {
    const whole = text(renderMarkdown(SAMPLE, 50));
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 60 }),
        (cuts) => {
          const stream = new MarkdownStream();
          const rows: Line[] = [];
          let rest = SAMPLE;
          for (let index = 0; rest !== ''; index++) {
            const cut = cuts[index % cuts.length] ?? 1;
            stream.push(rest.slice(0, cut));
            rest = rest.slice(cut);
            rows.push(...stream.take(50));
            stream.open(50);
          }
          rows.push(...stream.finish(50));
          expect(text(rows)).toBe(whole);
        },
      ),
    );
  });

  it('hands out the lines of an open code block as they come', () => {
    const stream = new MarkdownStream();
    stream.push('```\nfirst\nsecond\nthi');
    expect(text(stream.take(40))).toBe('  first\n  second');
    expect(text(stream.open(40))).toBe('  thi');
  });

  it('colours code once the highlighter is loaded', async () => {
    await loadHighlighter();
    const [row] = renderMarkdown('```js\nconst a = "<&>";\n```', 40);
    expect(row?.find(({ text: part }) => part === 'const')?.style).toBe('magenta');
    expect(plainText(row ?? [])).toBe('  const a = "<&>";');
  });

  it('shows no escape sequence', () => {
    const rows = renderMarkdown('a\u001b[2Jb `c\u009b3J` [x](javascript:\u001b]0;t\u0007)', 80);
    expect(text(rows)).not.toMatch(/[\u001b\u009b\u0007]/);
  });
});

describe('a change of a file', () => {
  it('is compared with the file, with line numbers', () => {
    const file = `${Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join('\n')}\n`;
    const change = proposedChange(
      'Edit',
      { file_path: '/p/a.txt', old_string: 'line 12', new_string: 'line twelve' },
      () => file,
    );
    expect(text(renderHunks(change?.hunks ?? [], 60))).toBe(
      [
        ' 9   line 9',
        '10   line 10',
        '11   line 11',
        '12 - line 12',
        '12 + line twelve',
        '13   line 13',
        '14   line 14',
        '15   line 15',
      ].join('\n'),
    );
  });

  it('says so when the file does not hold the text', () => {
    const change = proposedChange(
      'Edit',
      { file_path: '/p', old_string: 'x', new_string: 'y' },
      () => 'other',
    );
    expect(change?.note).toContain('does not contain');
    expect(change?.hunks.flatMap(({ lines }) => lines)).toEqual(['-x', '+y']);
  });
});
