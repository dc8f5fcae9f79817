import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect } from 'vitest';
import { ASKS, openTerminal, READY, type Terminal } from '../e2e/terminal.js';
import { itWith } from '../support/programs.js';

/** `PICTURES=docs/pictures npx vitest run test/tui/pictures.test.ts` draws those of the documentation anew. */
const temporary = mkdtempSync(path.join(tmpdir(), 'portcullis-pictures-'));
const folder = process.env.PICTURES ?? temporary;
afterAll(() => rmSync(temporary, { recursive: true }));

const ANSWER = `The discount begins at **more than** ten pieces, the test expects it **from** ten.

| pieces | expected | now |
|-------:|---------:|----:|
| 9 | 18 | 18 |
| 10 | 18 | 20 |

\`\`\`js
return pieces > 10 ? total * 0.9 : total; // should be >=
\`\`\`

I change the comparison and run the tests again.`;
const FILE = `// Price of an order: a tenth off from ten pieces on.
export function price(pieces, each) {
  const total = pieces * each;
  return pieces > 10 ? total * 0.9 : total;
}
`;
const COLUMNS = 92;

itWith(['tmux'], 'draws the pictures of the documentation with the real program', async () => {
  const edit = { file_path: 'price.js', old_string: 'pieces > 10', new_string: 'pieces >= 10' };
  const terminal = await openTerminal({
    full: true,
    files: { 'price.js': FILE },
    args: ['--allowedTools', 'Bash(ls)'],
    script: [
      {
        blocks: [
          { tool: 'Read', input: { file_path: 'price.js' } },
          { tool: 'Bash', input: { command: 'ls' } },
        ],
      },
      { blocks: [ANSWER, { tool: 'Edit', input: edit }] },
      'It passes now: **2 of 2** tests.',
    ],
  });
  try {
    terminal.resize(COLUMNS, 38);
    await terminal.shows(READY);
    terminal.line('Why does the test for ten pieces fail?');
    await terminal.shows(ASKS);
    const permission = draw(terminal, 'permission');
    expect(permission).toMatch(/^<svg [\s\S]*Allow Edit\?[\s\S]*<\/svg>\s*$/);
    terminal.press('y');
    await terminal.shows('It passes now');
    expect(draw(terminal, 'answer')).toContain('It passes now');
  } finally {
    await terminal.close();
  }
});

function draw(terminal: Terminal, name: string): string {
  const rows = terminal.colours().replaceAll(terminal.project.root, '~').split('\n');
  // Above the program stands the command that started it.
  const start = rows.findLastIndex((row) => row.includes('left with $?')) + 1;
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${name}.svg`);
  writeFileSync(file, svg(rows.slice(start)));
  const text = readFileSync(file, 'utf8');
  expect(text).not.toContain(tmpdir());
  return text;
}

const CELL = { width: 8.4, height: 18 };
const PALETTE = '#3b4252 #bf616a #a3be8c #d8b46a #81a1c1 #b48ead #88c0d0 #d8dee9'.split(' ');
const ESCAPE = '\u001b';

function svg(rows: readonly string[]): string {
  const last = rows.findLastIndex((row) => spans(row).some(({ text }) => text.trim() !== ''));
  const shown = rows.slice(0, last + 1);
  const width = Math.ceil(COLUMNS * CELL.width) + 24;
  const height = shown.length * CELL.height + 24;
  const lines = shown.map((row, index) => {
    const y = 12 + (index + 0.75) * CELL.height;
    const texts = spans(row).filter(({ text }) => text.trim() !== '');
    return texts.map(({ text, column, style }) => {
      const x = (12 + column * CELL.width).toFixed(1);
      const length = (text.length * CELL.width).toFixed(1);
      const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      return `<text x="${x}" y="${y}" textLength="${length}" ${style}>${escaped}</text>`;
    });
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<rect width="100%" height="100%" rx="8" fill="#1d2129"/>
<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#d8dee9" xml:space="preserve">
${lines
  .map((line) => line.join(''))
  .filter((line) => line !== '')
  .join('\n')}
</g>
</svg>
`;
}

/** The parts of a row between changes of the style. */
function spans(row: string) {
  let codes: readonly string[] = [];
  let column = 0;
  return row.split(`${ESCAPE}[`).flatMap((part, index) => {
    const [, sgr = '', text = part] = index === 0 ? [] : (/^([0-9;]*)m(.*)$/.exec(part) ?? []);
    const added = sgr.split(';');
    const reset = added.findLastIndex((code) => code === '0' || (code === '' && index > 0));
    codes = reset < 0 ? [...codes, ...added] : added.slice(reset + 1);
    column += text.length;
    return text === '' ? [] : [{ text, column: column - text.length, style: styleOf(codes) }];
  });
}

function styleOf(codes: readonly string[]): string {
  const colour = codes.findLast((code) => /^(3[0-79]|9[0-7])$/.test(code));
  const styles = [
    ['1', 'font-weight="bold"'],
    ['2', 'opacity="0.6"'],
    ['3', 'font-style="italic"'],
    ['4', 'text-decoration="underline"'],
  ].flatMap(([code = '', style = '']) => (codes.includes(code) ? [style] : []));
  const fill = colour === undefined || colour === '39' ? undefined : PALETTE[Number(colour) % 10];
  return [...(fill === undefined ? [] : [`fill="${fill}"`]), ...styles].join(' ');
}
