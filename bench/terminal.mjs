// Measures the terminal interface on a pseudo-terminal (`script` of util-linux) with a terminal emulator behind it:
// the first prompt on the screen, key press to screen while the model streams 200 tokens a second under a conversation of
// 10,000 lines, and the memory that takes.
//
//   node bench/terminal.mjs [--rounds=9]      exit code 1: a bound does not hold
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import xterm from '@xterm/headless';
import { openBench, option, writeTo } from './lib.mjs';

const PROMPT = /^> ?$/m;
const [COLUMNS, ROWS] = [100, 30];

const bench = await openBench();
const program = bench.builds.now;
const cwd = path.join(bench.root, 'project');
writeTo(cwd, { 'package.json': '{}' });
try {
  if (!(await measure())) process.exitCode = 1;
} finally {
  bench.close();
}

/** A program on a pseudo-terminal; `until` resolves with the time at which the bytes came that made the screen match. */
function openTerminal() {
  const started = performance.now();
  const command = `stty cols ${COLUMNS} rows ${ROWS}; exec '${program}' --model claude-sonnet-4-5`;
  const stdio = ['pipe', 'pipe', 'inherit'];
  const env = { ...bench.environment, TERM: 'xterm-256color' };
  const child = spawn('script', ['-qfec', command, '/dev/null'], { env, cwd, stdio });
  const size = { cols: COLUMNS, rows: ROWS };
  const screen = new xterm.Terminal({ ...size, scrollback: 0, allowProposedApi: true });
  const waiting = new Set();
  screen.onData((reply) => child.stdin.write(reply));
  child.stdin.on('error', () => undefined);
  const rows = () => {
    const { active } = screen.buffer;
    const row = (index) => active.getLine(active.baseY + index)?.translateToString(true) ?? '';
    return Array.from({ length: ROWS }, (_, index) => row(index)).join('\n');
  };
  const pid = () => Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'));
  child.stdout.on('data', (data) => {
    const at = performance.now();
    screen.write(data, () => {
      for (const one of [...waiting]) one(at);
    });
  });
  return {
    started,
    status: () => readFileSync(`/proc/${pid()}/status`, 'utf8'),
    type: (text) => child.stdin.write(text),
    until: (matches) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`never on the screen:\n${rows()}`)),
          60_000,
        );
        const look = (at) => {
          if (!matches(rows())) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(at);
        };
        waiting.add(look);
        look(performance.now());
      }),
    close: () => process.kill(pid(), 'SIGKILL') && once(child, 'exit'),
  };
}

/** Every key until it is on the screen, while the model streams, and the most memory it took. */
async function keysWhileStreaming() {
  const terminal = openTerminal();
  const send = async (text, seen) => {
    await bench.plan({ text });
    await pause(1_500);
    terminal.type(text);
    await pause(300);
    terminal.type('\r');
    await terminal.until((screen) => screen.includes(seen));
  };
  await terminal.until((screen) => PROMPT.test(screen));
  await send('lines', 'END OF LINES');
  await send('words', 'word word');
  const times = [];
  let typed = '';
  for (let key = 0; key < 200; key++) {
    await pause(37 + (key % 17) * 3);
    const letter = 'qzxjkvw'[key % 7];
    typed += letter;
    const pressed = performance.now();
    terminal.type(letter);
    const seen = await terminal.until((screen) => screen.includes(typed));
    // Fewer letters may be on the screen by chance.
    if (typed.length > 3) times.push(seen - pressed);
    if (typed.length < 40) continue;
    terminal.type('\u0015');
    typed = '';
  }
  const memory = Number(/VmHWM:\s+(\d+)/.exec(terminal.status())?.[1]) / 1024;
  await terminal.close();
  return { times, memory };
}

function at(times, share) {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

async function measure() {
  const first = [];
  const bare = [];
  // The first round warms caches.
  for (let round = 0; round <= Number(option('rounds', '9')); round++) {
    const terminal = openTerminal();
    const shown = await terminal.until((screen) => PROMPT.test(screen));
    await terminal.close();
    const cold = await bench.run({ program, cwd, plan: { turns: 0 } });
    if (round === 0) continue;
    first.push(shown - terminal.started);
    bare.push(cold.first);
  }
  const { times, memory } = await keysWhileStreaming();
  const ratio = at(first, 0.5) / at(bare, 0.5);
  console.log(`first prompt ${at(first, 0.5).toFixed(0)} ms, ${ratio.toFixed(2)} × a headless start (${at(bare, 0.5).toFixed(0)} ms)
key to screen ${at(times, 0.5).toFixed(1)} ms, at 95 % ${at(times, 0.95).toFixed(1)} ms
memory ${memory.toFixed(0)} MB`);
  return ratio <= 1.6 && at(times, 0.95) <= 30 && memory <= 150;
}
