// npm run conformance: the public MCP conformance suite (npm, pinned) against our client, all its client
// scenarios. What is known to fail stands in test/conformance/expected-failures.yaml; a name there that
// passes, or that no scenario has, fails the run as well.
//   npm run conformance                       all scenarios
//   npm run conformance -- auth/basic-cimd    only those whose name contains a word
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { parse } from 'yaml';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const CACHE = path.join('node_modules', '.cache', `conformance-${process.pid}`);
const SUITE = path.join(CACHE, 'suite.mjs');
const CLIENT = path.join(CACHE, 'client.mjs');
const MOST_EXPECTED = 2;
const SCENARIO_MS = 30_000;
const AT_ONCE = 2;
/** It measures milliseconds, which another scenario beside it would spoil. */
const ALONE = new Set(['sse-retry']);

const withGlob = {
  name: 'fs-with-glob',
  setup(builder) {
    builder.onResolve({ filter: /^fs$/ }, ({ importer }) =>
      importer.includes(path.join('@modelcontextprotocol', 'conformance'))
        ? { path: 'fs', namespace: 'fs-with-glob' }
        : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: 'fs-with-glob' }, () => ({
      // Used only where repositories are graded, which is not done here.
      contents: `export * from 'node:fs'; export const globSync = () => [];`,
    }));
  },
};

const { positionals: words, values } = parseArgs({
  allowPositionals: true,
  options: {
    'expected-failures': {
      type: 'string',
      default: path.join(ROOT, 'test', 'conformance', 'expected-failures.yaml'),
    },
  },
});
mkdirSync(path.join(ROOT, CACHE), { recursive: true });
try {
  await prepare();
  process.exitCode = await runAll();
} finally {
  rmSync(path.join(ROOT, CACHE), { recursive: true, force: true });
}

/** Bundles the client, and the suite for the Node we support, which lacks one function it imports. */
async function prepare() {
  const common = {
    bundle: true,
    platform: 'node',
    format: 'esm',
    absWorkingDir: ROOT,
    // With everything in one file each of the many processes starts in half the time.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
  };
  await build({
    ...common,
    entryPoints: ['test/conformance/client.ts'],
    outfile: CLIENT,
    loader: { '.md': 'text' },
    logLevel: 'warning',
  });
  await build({
    ...common,
    entryPoints: ['node_modules/@modelcontextprotocol/conformance/dist/index.js'],
    outfile: SUITE,
    plugins: [withGlob],
    logLevel: 'error',
  });
}

async function runAll() {
  const all = await scenarios();
  const expected = expectedFailures();
  const chosen = all.filter((name) => words.every((word) => name.includes(word)));
  const queue = chosen.filter((name) => !ALONE.has(name));
  const failed = new Map();
  const note = async (name) => {
    const { code, text } = await runScenario(name, ALONE.has(name) ? 3 : 1);
    const word = code === 0 ? 'passed' : expected.has(name) ? 'failed, as expected' : 'FAILED';
    process.stdout.write(`${word.padEnd(20)} ${name}\n`);
    if (code !== 0) failed.set(name, text);
  };
  for (const name of chosen.filter((one) => ALONE.has(one))) await note(name);
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let name = queue.shift(); name !== undefined; name = queue.shift()) await note(name);
    }),
  );
  return verdict({ all, chosen, failed, expected });
}

/** Milliseconds that a busy machine spoils are measured again; nothing else gets a second chance. */
async function runScenario(name, attempts) {
  const how = ['--command', `node ${CLIENT}`, '--timeout', String(SCENARIO_MS)];
  const ended = await run(['client', '--scenario', name, ...how]);
  return ended.code === 0 || attempts === 1 ? ended : await runScenario(name, attempts - 1);
}

function verdict({ all, chosen, failed, expected }) {
  const problems = [];
  for (const [name, text] of failed) {
    if (!expected.has(name)) problems.push(`${name} failed:\n${text}`);
  }
  for (const name of expected) {
    if (!all.includes(name))
      problems.push(`no scenario is called ${name}; remove it from the list`);
    else if (chosen.includes(name) && !failed.has(name)) {
      problems.push(`${name} passes; remove it from the list of expected failures`);
    }
  }
  if (expected.size > MOST_EXPECTED)
    problems.push(`more than ${MOST_EXPECTED} failures are expected`);
  if (chosen.length === 0) problems.push('no scenario was run');
  for (const problem of problems) process.stderr.write(`\n${problem}\n`);
  process.stdout.write(
    `\n${chosen.length - failed.size} of ${chosen.length} scenarios passed, ${failed.size} failed, ${problems.length} problems\n`,
  );
  return problems.length === 0 ? 0 : 1;
}

function expectedFailures() {
  const read = parse(readFileSync(values['expected-failures'], 'utf8'));
  return new Set(read?.client ?? []);
}

async function scenarios() {
  const { code, text } = await run(['list', '--client']);
  const names = [...text.matchAll(/^ {2}- (\S+)/gm)].map((match) => match[1]);
  if (code !== 0 || names.length === 0) throw new Error(`the suite lists no scenarios:\n${text}`);
  return names;
}

function run(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [SUITE, ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    const take = (chunk) => {
      text += chunk;
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('close', (code) => resolve({ code, text }));
  });
}
