// node bench/console.mjs [--calls=400]: whether a session is slower while a console is joined and a page follows its
// events. The options of bench/lib.mjs apply.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { interleave, median, openBench, option, printTable, textFiles, writeTo } from './lib.mjs';

const rounds = Number(option('rounds', '7'));
const turns = Number(option('calls', '400'));
const bench = await openBench();
const program = bench.builds.now;
const cwd = path.join(bench.root, 'project');
writeTo(cwd, textFiles(turns));
const runSession = () => bench.run({ program, cwd, plan: { op: 'Read', turns } });
let followed = 0;

async function runJoined() {
  const page = await openPage();
  try {
    return await runSession();
  } finally {
    await page.close();
  }
}

/** A console, and a reader that follows whatever session runs, as its page does. */
async function openPage() {
  const child = spawn(process.execPath, [program, 'console'], {
    env: { PATH: process.env.PATH, HOME: path.join(bench.root, 'home') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout, 'data');
  const { origin, hash } = new URL(/http\S+/.exec(String(said))[0]);
  const over = new AbortController();
  const headers = { authorization: `Bearer ${hash.replace('#token=', '')}` };
  const get = (at) => fetch(`${origin}/api/${at}`, { headers, signal: over.signal });
  const follow = async () => {
    while (!over.signal.aborted) {
      const { sessions } = await (await get('overview')).json();
      const [session] = sessions;
      if (session?.state === 'working' || session?.state === 'idle')
        for await (const chunk of (await get(`stream?key=${session.key}&after=0`)).body) {
          const text = Buffer.from(chunk).toString();
          followed += text.split('"type":"event"').length - 1;
          if (text.includes('"type":"gone"')) break;
        }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const following = follow().catch(() => undefined);
  return {
    async close() {
      over.abort();
      await following;
      child.kill();
      await once(child, 'close');
    },
  };
}

try {
  const runs = await interleave(rounds, { alone: runSession, joined: runJoined });
  const wall = (name) => median(runs[name].map((run) => run.wall));
  printTable(
    rounds,
    [`${turns} calls`, 'wall, ms', 'above alone'],
    Object.keys(runs).map((name) => [
      name,
      wall(name).toFixed(0),
      `${((wall(name) / wall('alone') - 1) * 100).toFixed(1)} %`,
    ]),
  );
  console.log(`\n${Math.round(followed / (rounds + 1))} events were followed in each`);
} finally {
  bench.close();
}
