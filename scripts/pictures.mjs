// Draws the pictures of docs/terminal.md: runs the built program with a scripted model in tmux and writes what the
// window shows as SVG.
//   node scripts/pictures.mjs [folder]     default: docs/pictures
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ROOT } from './setup.mjs';

const COLUMNS = 92;
const ROWS = 38;
const CELL = { width: 8.4, height: 18 };
const PALETTE = [
  '#3b4252',
  '#bf616a',
  '#a3be8c',
  '#d8b46a',
  '#81a1c1',
  '#b48ead',
  '#88c0d0',
  '#d8dee9',
];
const FOREGROUND = '#d8dee9';
const BACKGROUND = '#1d2129';

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

const folder = path.resolve(ROOT, process.argv[2] ?? 'docs/pictures');
const root = mkdtempSync(path.join(tmpdir(), 'portcullis-pictures-'));
const tmux = (...args) =>
  execFileSync('tmux', ['-S', path.join(root, 'tmux'), '-f', '/dev/null', ...args], {
    encoding: 'utf8',
  });
try {
  mkdirSync(folder, { recursive: true });
  await start();
  await take('prompt', /price\.js\n/, () =>
    type('Why does the test for ten pieces fail?\n@pri', { enter: false }),
  );
  press('C-u', 'BSpace');
  press('Enter');
  await take('permission', /Esc refuses/);
  press('y');
  await take('answer', /It passes now/);
  type('/model');
  await take('picker', /type to narrow/);
  press('Escape');
  await pause(200);
  press('C-d');
  await shows(/the program has left/);
} finally {
  try {
    tmux('kill-server');
  } catch {
    // It has ended by itself.
  }
  rmSync(root, { recursive: true, force: true });
}

async function start() {
  const project = path.join(root, 'shop');
  mkdirSync(path.join(project, 'home'), { recursive: true });
  writeFileSync(path.join(project, 'price.js'), FILE);
  const file_path = path.join(project, 'price.js');
  const script = [
    {
      blocks: [
        { tool: 'Read', input: { file_path } },
        { tool: 'Bash', input: { command: 'ls' } },
      ],
    },
    {
      blocks: [
        ANSWER,
        {
          tool: 'Edit',
          input: { file_path, old_string: 'pieces > 10', new_string: 'pieces >= 10' },
        },
      ],
    },
    'It passes now: **2 of 2** tests.',
  ];
  writeFileSync(path.join(root, 'script.json'), JSON.stringify(script));
  const words = [
    process.execPath,
    path.join(ROOT, 'bin/portcullis'),
    '--script',
    path.join(root, 'script.json'),
    '--allowedTools',
    'Bash(ls)',
  ];
  const env = [
    `HOME=${path.join(root, 'home')}`,
    `PATH=${process.env.PATH}`,
    'LANG=C.UTF-8',
    'TERM=tmux-256color',
  ];
  const line = ['env', '-i', ...env, ...words].map((word) => `'${word}'`).join(' ');
  tmux(
    'new-session',
    '-d',
    '-s',
    'main',
    '-x',
    String(COLUMNS),
    '-y',
    String(ROWS),
    '-c',
    project,
    `${line}; echo the program has left; cat`,
  );
  await shows(/\n> ?\n/);
}

function press(...keys) {
  tmux('send-keys', '-t', 'main', ...keys);
}

function type(text, { enter = true } = {}) {
  text.split('\n').forEach((row, index) => {
    if (index > 0) press('C-j');
    tmux('send-keys', '-t', 'main', '-l', '--', row);
  });
  if (enter) press('Enter');
}

async function shows(pattern) {
  for (let tries = 0; tries < 200; tries++) {
    if (pattern.test(tmux('capture-pane', '-p', '-t', 'main'))) return;
    await pause(50);
  }
  throw new Error(`never on the screen: ${pattern}\n${tmux('capture-pane', '-p', '-t', 'main')}`);
}

async function take(name, pattern, before) {
  before?.();
  await shows(pattern);
  await pause(400);
  const rows = tmux('capture-pane', '-e', '-p', '-t', 'main').replaceAll(root, '~').split('\n');
  writeFileSync(path.join(folder, `${name}.svg`), svg(rows.slice(0, ROWS)));
  process.stdout.write(`wrote ${name}.svg\n`);
}

function svg(rows) {
  const last = rows.findLastIndex((row) => row.replace(/\u001b\[[0-9;]*m/g, '').trim() !== '');
  const shown = rows.slice(0, last + 1);
  const width = Math.ceil(COLUMNS * CELL.width) + 24;
  const height = shown.length * CELL.height + 24;
  const lines = shown.map((row, index) => {
    const y = 12 + (index + 0.75) * CELL.height;
    return spans(row)
      .filter(({ text }) => text.trim() !== '')
      .map(({ text, column, style }) => {
        const x = (12 + column * CELL.width).toFixed(1);
        const length = (text.length * CELL.width).toFixed(1);
        return `<text x="${x}" y="${y}" textLength="${length}" ${style}>${escaped(text)}</text>`;
      })
      .join('');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="${FOREGROUND}" xml:space="preserve">
${lines.filter((line) => line !== '').join('\n')}
</g>
</svg>
`;
}

function spans(row) {
  const found = [];
  let codes = [];
  let column = 0;
  for (const part of row.split(/(\u001b\[[0-9;]*m)/)) {
    const sgr = /^\u001b\[([0-9;]*)m$/.exec(part)?.[1];
    if (sgr === undefined) {
      if (part !== '') found.push({ text: part, column, style: styleOf(codes) });
      column += part.length;
    } else {
      const added = sgr === '' ? ['0'] : sgr.split(';');
      codes = added.includes('0') ? added.slice(added.lastIndexOf('0') + 1) : [...codes, ...added];
    }
  }
  return found;
}

function styleOf(codes) {
  const colour = codes.findLast((code) => /^(3[0-79]|9[0-7])$/.test(code));
  const parts = [];
  if (colour !== undefined && colour !== '39') parts.push(`fill="${PALETTE[Number(colour) % 10]}"`);
  if (codes.includes('1')) parts.push('font-weight="bold"');
  if (codes.includes('2')) parts.push('opacity="0.6"');
  if (codes.includes('3')) parts.push('font-style="italic"');
  if (codes.includes('4')) parts.push('text-decoration="underline"');
  return parts.join(' ');
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
