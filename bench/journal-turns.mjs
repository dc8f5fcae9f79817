// What the change journal adds to a Bash call of the whole program: the same session with the journal and
// without it, taking turns, so that load on the machine meets both.
import { fork, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..');
const PROGRAM = path.join(ROOT, 'bin/portcullis');
const ARGS = ['-p', 'go', '--model', 'claude-sonnet-4-5', '--allowedTools', 'Bash'];
/** The journal is opened, and code runs for the first times. */
const WARM_UP = 5;

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Milliseconds between an answer of the model and the next request, with the journal and without it. */
export async function turnTimes({ project, home, turns, reps, delayMs = 0, firstMs = 0 }) {
  const mock = fork(path.join(ROOT, 'bench/mock-model.mjs'));
  const ask = (message) =>
    new Promise((resolve) => {
      mock.once('message', resolve);
      if (message !== undefined) mock.send(message);
    });
  const { port } = await ask();
  const once = async (kind) => {
    const first = { name: 'Bash', input: { command: `sleep ${firstMs / 1000}` } };
    const calls = firstMs > 0 ? [first] : [];
    const wanted = WARM_UP + turns;
    await ask({ plan: { op: 'bash', turns: wanted, calls, cwd: project, delayMs } });
    const own = path.join(home, kind);
    mkdirSync(own, { recursive: true });
    const env = {
      PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: own,
      LANG: 'C.UTF-8',
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      ANTHROPIC_API_KEY: 'bench',
      ...(kind === 'off' ? { CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING: '1' } : {}),
    };
    const child = spawn(PROGRAM, ARGS, { cwd: project, env, stdio: 'ignore' });
    const code = await new Promise((resolve) => child.on('exit', resolve));
    const { records } = await ask({});
    if (code !== 0 || records.length !== wanted + 1) {
      throw new Error(`journal ${kind}: exit ${code}, ${records.length} requests`);
    }
    const gaps = records.slice(1).map((record, at) => (record.end - records[at].last) / 1e6);
    return gaps.slice(WARM_UP);
  };
  const times = { on: [], off: [] };
  for (let rep = -1; rep < reps; rep++) {
    for (const kind of ['on', 'off'].sort(() => Math.random() - 0.5)) {
      const gaps = await once(kind);
      // The first round fills caches and is not counted.
      if (rep >= 0) times[kind].push(...gaps);
    }
  }
  mock.disconnect();
  return { on: median(times.on), off: median(times.off) };
}
