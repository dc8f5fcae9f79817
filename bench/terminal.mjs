// Measures the terminal interface on a pseudo-terminal (`script` of util-linux) with a terminal emulator behind it:
// the first prompt on the screen, key press to screen while the model streams 200 tokens a second under a conversation of
// 10,000 lines, and the memory that takes.
//
//   node bench/terminal.mjs [--rounds=9]      exit code 1: a bound does not hold
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import xterm from '@xterm/headless';
import { option, writeTo } from './lib.mjs';

const SELF = fileURLToPath(import.meta.url);
const PROGRAM = path.join(path.dirname(SELF), '..', 'bin', 'portcullis');
const PROMPT = /^> ?$/m;
const LINES = 10_000;
const [COLUMNS, ROWS] = [100, 30];

if (process.argv.includes('--model')) serveModel();
else await measureAll();

/** The model, in a process of its own: a prompt with "lines" gets 10,000 lines at once, every other one a slow stream. */
function serveModel() {
  const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const usage = { input_tokens: 10, output_tokens: 1 };
  const block = { index: 0, content_block: { type: 'text', text: '' } };
  const delta = (text) =>
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method !== 'POST' || !request.url.includes('/messages')) return response.end('{}');
    process.send({ at: Date.now() });
    const { messages = [], tools = [], model } = JSON.parse(body);
    const last = JSON.stringify(messages.at(-1) ?? '');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], usage };
    response.write(
      `${event({ type: 'message_start', message })}${event({ type: 'content_block_start', ...block })}`,
    );
    // Titles and other side jobs have no tools.
    if (tools.length === 0) response.write(delta('A title'));
    else if (last.includes('lines')) {
      for (let at = 0; at < LINES; at += 100) {
        const rows = Array.from({ length: 100 }, (_, row) => `Line ${at + row} of a long answer.`);
        response.write(delta(`${rows.join('\n\n')}\n\n`));
      }
      response.write(delta('END OF LINES'));
    } else {
      const end = Date.now() + 120_000;
      for (let word = 0; Date.now() < end && !response.destroyed; word++) {
        response.write(delta(word % 12 === 11 ? 'word.\n\n' : 'word '));
        await pause(5);
      }
    }
    response.write(event({ type: 'content_block_stop', index: 0 }));
    const stop = { stop_reason: 'end_turn', stop_sequence: null };
    response.write(event({ type: 'message_delta', delta: stop, usage: { output_tokens: 9 } }));
    response.end(event({ type: 'message_stop' }));
  });
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
}

function programIn(root, url) {
  writeTo(root, { 'home/.keep': '', 'project/package.json': '{}' });
  const key = 'sk-ant-bench-00000000000000000000';
  const terminal = { TERM: 'xterm-256color', LANG: 'C.UTF-8', HOME: path.join(root, 'home') };
  return {
    argv: [PROGRAM, '--model', 'claude-sonnet-4-5'],
    cwd: path.join(root, 'project'),
    env: {
      PATH: process.env.PATH,
      ...terminal,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: key,
    },
  };
}

/** A program on a pseudo-terminal; `until` resolves with the time at which the bytes came that made the screen match. */
function openTerminal({ argv, env, cwd }) {
  const quoted = argv.map((word) => `'${word}'`).join(' ');
  const started = performance.now();
  const command = `stty cols ${COLUMNS} rows ${ROWS}; exec ${quoted}`;
  const stdio = ['pipe', 'pipe', 'inherit'];
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

/** Milliseconds from the start of the program without a terminal to its first request. */
async function headless({ argv, env, cwd }, model) {
  const started = Date.now();
  const requested = once(model, 'message');
  const child = spawn(argv[0], [...argv.slice(1), '-p', 'lines'], { env, cwd, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const [{ at: first }] = await requested;
  await ended;
  return first - started;
}

/** Every key until it is on the screen, while the model streams, and the most memory it took. */
async function keysWhileStreaming(program) {
  const terminal = openTerminal(program);
  const send = async (text, seen) => {
    await pause(1_500);
    terminal.type(text);
    await pause(300);
    terminal.type('\r');
    await terminal.until((screen) => screen.includes(seen));
  };
  await terminal.until((screen) => PROMPT.test(screen));
  await send('write lines', 'END OF LINES');
  await send('stream', 'word word');
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

async function measure(program, model) {
  const first = [];
  const bare = [];
  // The first round warms caches.
  for (let round = 0; round <= Number(option('rounds', '9')); round++) {
    const terminal = openTerminal(program);
    const shown = await terminal.until((screen) => PROMPT.test(screen));
    await terminal.close();
    const cold = await headless(program, model);
    if (round === 0) continue;
    first.push(shown - terminal.started);
    bare.push(cold);
  }
  const { times, memory } = await keysWhileStreaming(program);
  const ratio = at(first, 0.5) / at(bare, 0.5);
  console.log(`first prompt ${at(first, 0.5).toFixed(0)} ms, ${ratio.toFixed(2)} × a headless start (${at(bare, 0.5)} ms)
key to screen ${at(times, 0.5).toFixed(1)} ms, at 95 % ${at(times, 0.95).toFixed(1)} ms
memory ${memory.toFixed(0)} MB`);
  return ratio <= 1.6 && at(times, 0.95) <= 30 && memory <= 150;
}

async function measureAll() {
  const root = mkdtempSync(path.join(tmpdir(), 'portcullis-bench-'));
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'];
  const model = spawn(process.execPath, [SELF, '--model'], { stdio });
  try {
    const [{ port }] = await once(model, 'message');
    const holds = await measure(programIn(root, `http://127.0.0.1:${port}`), model);
    if (!holds) process.exitCode = 1;
  } finally {
    model.kill();
    rmSync(root, { recursive: true, force: true, maxRetries: 20 });
  }
}
