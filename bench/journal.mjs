// node bench/journal.mjs [--reps=15] [--only=turns,look,small,store] [--files=10000,100000] [--large] [--check] [--json]:
// what the change journal costs: a look at the tree, measured against one `git add -A` of a shadow
// repository of the same tree (both take turns, so that load on the machine meets both), and what it adds
// to a Bash call of the whole program. `--large`: the latter also in the large trees.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ensureBuilt } from '../scripts/setup.mjs';
import { turnTimes } from './journal-turns.mjs';

const ROOT = path.join(import.meta.dirname, '..');
const option = (name, fallback) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback;
const reps = Number(option('reps', '15'));
const only = option('only', 'turns,look,small,store').split(',');
/** Bounds that must hold. */
const BARS = { ratio: 1.5, smallMs: 3, storeMb: 20, addedMs: 3 };
const TREES = option('files', '10000,100000').split(',').map(Number);

const cache = mkdtempSync(path.join(ROOT, 'node_modules', '.cache-journal-'));
const work = mkdtempSync(path.join(os.tmpdir(), 'portcullis-journal-'));
const figures = [];
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const round = (value, digits = 1) => Number(value.toFixed(digits));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function tell(name, value, unit, bar) {
  const holds = bar === undefined || value <= bar;
  figures.push({ name, value, unit, bar, holds });
  const verdict = bar === undefined ? '' : `  (at most ${bar} ${unit}: ${holds ? 'yes' : 'NO'})`;
  console.log(`${name}: ${value} ${unit}${verdict}`);
}

async function bundle() {
  const outfile = path.join(cache, 'tracker.mjs');
  await build({
    absWorkingDir: ROOT,
    stdin: {
      contents: `export { openBlobStore, openTracker } from './src/checkpoint/tracker.ts';`,
      resolveDir: ROOT,
      loader: 'ts',
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outfile,
    logLevel: 'error',
  });
  return import(pathToFileURL(outfile).href);
}

function makeTree(root, count) {
  for (let at = 0; at < count; at++) {
    const directory = path.join(
      root,
      `area-${Math.floor(at / 1000)}`,
      `part-${Math.floor(at / 20) % 50}`,
    );
    if (at % 20 === 0) mkdirSync(directory, { recursive: true });
    const line = `export const value${at} = ${at}; // ${(at * 2654435761) % 4294967296}\n`;
    writeFileSync(path.join(directory, `file-${at}.ts`), line.repeat(10 + (at % 60)));
  }
}

/** Longest time in which nothing else could run. */
function watchLag() {
  let last = performance.now();
  let worst = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    worst = Math.max(worst, now - last - 1);
    last = now;
  }, 1);
  return () => {
    clearInterval(timer);
    return worst;
  };
}

async function timed(run) {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

function shadowGit(root, directory) {
  const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  const git = (...args) => execFileSync('git', args, { cwd: root, env, stdio: 'ignore' });
  git('init', '-q', '--bare', directory);
  return () => git('--git-dir', directory, '--work-tree', root, 'add', '-A');
}

async function withTracker(parts, root, run) {
  const directory = path.join(work, 'store');
  const store = parts.openBlobStore({ directory });
  const indexFile = path.join(directory, 'tree.index');
  const endLag = watchLag();
  const start = performance.now();
  const tracker = parts.openTracker({ root, store, indexFile });
  await tracker.ready;
  const facts = { readyMs: performance.now() - start, lagMs: endLag(), store, indexFile };
  try {
    return await run(tracker, facts);
  } finally {
    await tracker.close();
    await store.close();
  }
}

/** Alternately: one change and `git add -A`, one change and a look. */
async function lookFigures(parts, count) {
  const root = path.join(work, 'tree');
  makeTree(root, count);
  const add = shadowGit(root, path.join(work, 'shadow.git'));
  const firstGit = await timed(add);
  const name = `${count / 1000}k files`;
  await withTracker(parts, root, async (tracker, { readyMs, lagMs, store }) => {
    tell(`${name}, first index`, round(readyMs, 0), 'ms');
    tell(`${name}, first index beside git's`, round(readyMs / firstGit, 2), '×');
    tell(`${name}, longest stretch of the first index`, round(lagMs, 0), 'ms');
    tell(`${name}, store`, round((await store.size()) / 1e6, 1), 'MB');
    const git = [];
    const look = [];
    for (let rep = 0; rep < reps; rep++) {
      const file = path.join(
        root,
        `area-${rep % 10}/part-${rep % 50}/file-${(rep % 10) * 1000 + (rep % 50) * 20}.ts`,
      );
      writeFileSync(file, `of git ${rep}`);
      git.push(await timed(add));
      await tracker.look();
      await pause(25);
      writeFileSync(file, `of the look ${rep}`);
      let found;
      look.push(
        await timed(async () => {
          found = await tracker.look();
        }),
      );
      if (found.changes.length !== 1) throw new Error(`${found.changes.length} changes`);
    }
    tell(`${name}, git add -A`, round(median(git)), 'ms');
    tell(`${name}, a look`, round(median(look)), 'ms');
    tell(`${name}, a look beside git`, round(median(look) / median(git), 2), '×', BARS.ratio);
  });
  await withTracker(parts, root, async (_, { readyMs }) =>
    tell(`${name}, first index of a later session`, round(readyMs, 0), 'ms'),
  );
  rmSync(root, { recursive: true });
  rmSync(path.join(work, 'shadow.git'), { recursive: true });
  rmSync(path.join(work, 'store'), { recursive: true });
}

/** The project of the other benchmarks. */
function makeSmall() {
  const root = path.join(work, 'small');
  mkdirSync(root);
  for (let at = 0; at < 500; at++) {
    const text = `file ${at}\n${`line of text in file ${at}\n`.repeat(8)}`;
    writeFileSync(path.join(root, `f${at}.txt`), text);
  }
  return root;
}

/** What the journal adds to a Bash call of the whole program. */
async function turnFigures() {
  ensureBuilt();
  const small = { project: makeSmall(), home: path.join(work, 'homes'), reps };
  for (const [model, plan] of [
    ['a model that answers at once', { turns: 45 }],
    ['a model that takes 500 ms', { turns: 8, delayMs: 500, reps: Math.ceil(reps / 5) }],
  ]) {
    const { on, off } = await turnTimes({ ...small, ...plan });
    tell(`500 files, ${model}, a Bash turn`, round(on, 2), 'ms');
    tell(`500 files, ${model}, added by the journal`, round(on - off, 2), 'ms', BARS.addedMs);
  }
  rmSync(small.project, { recursive: true });
  rmSync(small.home, { recursive: true });
  if (!process.argv.includes('--large')) return;
  for (const count of TREES) await largeTurnFigures(count);
}

async function largeTurnFigures(count) {
  const project = path.join(work, 'tree');
  const shadow = path.join(work, 'shadow.git');
  const home = path.join(work, 'homes');
  makeTree(project, count);
  const add = shadowGit(project, shadow);
  await timed(add);
  const git = [];
  for (let rep = 0; rep < reps; rep++) git.push(await timed(add));
  // Time for the first index, which is not what is measured here.
  const firstMs = count / 5;
  const few = Math.max(1, Math.ceil(reps / 5));
  const { on, off } = await turnTimes({ project, home, turns: 15, reps: few, firstMs });
  const name = `${count / 1000}k files`;
  tell(`${name}, a Bash turn`, round(on), 'ms');
  tell(`${name}, added by the journal`, round(on - off), 'ms');
  tell(`${name}, added beside git`, round((on - off) / median(git), 2), '×', BARS.ratio);
  for (const made of [project, shadow, home]) rmSync(made, { recursive: true });
}

async function smallFigures(parts) {
  const root = makeSmall();
  await withTracker(parts, root, async (tracker, { readyMs }) => {
    tell('500 files, first index', round(readyMs, 0), 'ms');
    const idle = [];
    const changed = [];
    for (let rep = 0; rep < 10 * reps; rep++) {
      await pause(5);
      writeFileSync(path.join(root, `f${rep % 500}.txt`), `changed ${rep}`);
      changed.push(await timed(() => tracker.look()));
      await pause(25);
      await tracker.look();
      idle.push(await timed(() => tracker.look()));
    }
    tell('500 files, a look without a change', round(median(idle), 2), 'ms', BARS.smallMs);
    tell('500 files, a look after a change', round(median(changed), 2), 'ms', BARS.smallMs);
  });
  rmSync(root, { recursive: true });
  rmSync(path.join(work, 'store'), { recursive: true });
}

function contents(kind) {
  let seed = 7;
  const random = () => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return seed / 0x7fffffff;
  };
  if (kind === 'random') {
    const bytes = Buffer.from(Array.from({ length: 1e6 }, () => random() * 256));
    return () => {
      const at = Math.floor(random() * (bytes.length - 100));
      for (let index = 0; index < 100; index++) bytes[at + index] = random() * 256;
      return bytes;
    };
  }
  const word = () => Math.floor(random() * 2000).toString(36);
  const lines = [];
  for (let size = 0; size < 1e6; size += lines.at(-1).length + 1) {
    lines.push(Array.from({ length: 8 }, word).join(' '));
  }
  return () => {
    lines.splice(Math.floor(random() * lines.length), 1, `edited ${word()} ${word()}`, word());
    return Buffer.from(lines.join('\n'));
  };
}

/** 500 edits of a file of 1 MB, each looked at. */
async function storeFigures(parts, kind) {
  const root = path.join(work, 'edits');
  mkdirSync(root);
  const next = contents(kind);
  const file = path.join(root, 'data');
  writeFileSync(file, next());
  await withTracker(parts, root, async (tracker, { store }) => {
    const looks = [];
    for (let edit = 0; edit < 500; edit++) {
      writeFileSync(file, next());
      looks.push(await timed(() => tracker.look()));
    }
    await tracker.settled();
    tell(
      `500 edits of 1 MB of ${kind}, store`,
      round((await store.size()) / 1e6, 1),
      'MB',
      BARS.storeMb,
    );
    tell(`500 edits of 1 MB of ${kind}, a look`, round(median(looks), 1), 'ms');
  });
  rmSync(root, { recursive: true });
  rmSync(path.join(work, 'store'), { recursive: true });
}

try {
  const parts = await bundle();
  if (only.includes('turns')) await turnFigures();
  if (only.includes('small')) await smallFigures(parts);
  if (only.includes('store')) {
    await storeFigures(parts, 'random');
    await storeFigures(parts, 'text');
  }
  if (only.includes('look')) for (const count of TREES) await lookFigures(parts, count);
  if (process.argv.includes('--json')) console.log(JSON.stringify(figures, null, 1));
  if (process.argv.includes('--check') && figures.some(({ holds }) => !holds)) process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
  rmSync(cache, { recursive: true, force: true });
}
