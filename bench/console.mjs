// Measures whether a session is slower while a console is joined and a page follows its events.
//   node bench/console.mjs [rounds] [calls]
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startFakeModelServer } from '../dist/lib/testing.js';
import { ensureBuilt, ROOT } from '../scripts/setup.mjs';

ensureBuilt();
const [rounds = 7, calls = 120] = process.argv.slice(2).map(Number);
const bin = path.join(ROOT, 'bin/portcullis');
const root = mkdtempSync(path.join(tmpdir(), 'portcullis-bench-'));
const home = path.join(root, 'home');
const cwd = path.join(root, 'project');
for (const directory of [home, cwd]) mkdirSync(directory);
writeFileSync(path.join(cwd, 'a.txt'), 'hello\n'.repeat(200));
const text = 'All of it is read. '.repeat(40);

/** Milliseconds of a session from its start to its end, and of processor time that it took. */
async function runSession() {
  const read = { tool: 'Read', input: { file_path: 'a.txt' } };
  const server = await startFakeModelServer({ script: [...Array(calls).fill(read), text] });
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: 'k',
  };
  const begun = performance.now();
  const program = [process.execPath, bin, '-p', 'read it often', '--max-turns', `${calls + 2}`];
  // The shell tells what its children took.
  const child = spawn(
    'sh',
    ['-c', '"$@" >/dev/null || echo "ended with $?" >&2; times', 'sh', ...program],
    {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let said = '';
  child.stdout.on('data', (data) => {
    said += data;
  });
  await new Promise((resolve) => child.once('close', resolve));
  const wall = performance.now() - begun;
  await server.close();
  if (server.problems().length > 0) throw new Error('the session was cut short');
  const times = [...said.matchAll(/(\d+)m([\d.]+)s/g)].slice(2);
  const cpu = times.reduce((sum, [, minutes, seconds]) => sum + minutes * 60e3 + seconds * 1e3, 0);
  return { wall, cpu };
}

/** A console with a page that follows whatever session runs. */
async function openConsole() {
  const child = spawn(process.execPath, [bin, 'console'], {
    env: { PATH: process.env.PATH, HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((resolve) => {
    child.stdout.once('data', (data) => resolve(/http\S+/.exec(String(data))[0]));
  });
  const { origin, hash } = new URL(url);
  const headers = { authorization: `Bearer ${hash.replace('#token=', '')}` };
  const over = new AbortController();
  let events = 0;
  const follow = async () => {
    while (!over.signal.aborted) {
      const { sessions } = await (await fetch(`${origin}/api/overview`, { headers })).json();
      const [session] = sessions;
      if (session?.state === 'working' || session?.state === 'idle') {
        const options = { headers, signal: over.signal };
        const stream = await fetch(`${origin}/api/stream?key=${session.key}&after=0`, options);
        for await (const chunk of stream.body) {
          const said = Buffer.from(chunk).toString();
          events += said.split('"type":"event"').length - 1;
          if (said.includes('"type":"gone"')) break;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const following = follow().catch(() => undefined);
  return {
    events: () => events,
    async close() {
      over.abort();
      await following;
      child.kill();
      await new Promise((resolve) => child.once('close', resolve));
    },
  };
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const [alone, joined] = [[], []];
let followed = 0;
await runSession();
for (let round = 0; round < rounds; round++) {
  alone.push(await runSession());
  const page = await openConsole();
  joined.push(await runSession());
  followed += page.events();
  await page.close();
}
rmSync(root, { recursive: true, force: true });
console.log(
  `${calls} calls a session, ${rounds} rounds, ${Math.round(followed / rounds)} events followed in each`,
);
for (const what of ['wall', 'cpu']) {
  const [before, after] = [alone, joined].map((runs) => median(runs.map((run) => run[what])));
  const difference = (((after - before) / before) * 100).toFixed(1);
  console.log(
    `${what}: ${before.toFixed(0)} ms alone, ${after.toFixed(0)} ms joined, ${difference} %`,
  );
}
