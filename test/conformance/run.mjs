// npm run conformance: the public MCP conformance suite (npm, pinned) against our client, all its client scenarios.
// test/conformance/expected-failures.yaml lists what is known to fail; a name there that passes, or that no scenario
// has, fails the run as well.
//   npm run conformance -- auth/basic-cimd    only those whose name contains a word
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { parse } from 'yaml';
import { ROOT } from '../../scripts/setup.mjs';

const CACHE = path.join('node_modules', '.cache', `conformance-${process.pid}`);
const SUITE = path.join(CACHE, 'suite.mjs');
const CLIENT = path.join(CACHE, 'client.mjs');
const MOST_EXPECTED = 2;
const SCENARIO_MS = 30_000;
/** It measures milliseconds, which another scenario beside it would spoil; a busy machine gets three attempts. */
const TIMED = 'sse-retry';

const { positionals: words, values } = parseArgs({
  allowPositionals: true,
  options: {
    'expected-failures': {
      type: 'string',
      default: path.join(ROOT, 'test/conformance/expected-failures.yaml'),
    },
  },
});
mkdirSync(path.join(ROOT, CACHE), { recursive: true });
try {
  await bundle('test/conformance/client.ts', CLIENT);
  await bundle('node_modules/@modelcontextprotocol/conformance/dist/index.js', SUITE);
  process.exitCode = await runAll();
} finally {
  rmSync(path.join(ROOT, CACHE), { recursive: true, force: true });
}

/** In one file each of the many processes starts in half the time. */
async function bundle(entry, outfile) {
  const require =
    "import { createRequire } from 'node:module';const require=createRequire(import.meta.url);";
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    absWorkingDir: ROOT,
    loader: { '.md': 'text' },
    banner: { js: require },
    logLevel: 'error',
    plugins: [{ name: 'glob', setup: addGlob }],
  });
}

/** The suite imports a function that Node 20 lacks, and uses it for another purpose only. */
function addGlob(builder) {
  builder.onResolve({ filter: /^fs$/ }, ({ importer }) =>
    importer.includes(path.join('@modelcontextprotocol', 'conformance'))
      ? { path: 'fs', namespace: 'glob' }
      : undefined,
  );
  builder.onLoad({ filter: /.*/, namespace: 'glob' }, () => ({
    contents: "export * from 'node:fs'; export const globSync = () => [];",
  }));
}

async function runAll() {
  const expected = new Set(parse(readFileSync(values['expected-failures'], 'utf8'))?.client ?? []);
  const all = await listScenarios();
  const chosen = all.filter((name) => words.every((word) => name.includes(word)));
  const failed = new Map();
  const play = async (name, attempts = 1) => {
    const how = ['--command', `node ${CLIENT}`, '--timeout', String(SCENARIO_MS)];
    const { code, text } = await run(['client', '--scenario', name, ...how]);
    if (code !== 0 && attempts > 1) return await play(name, attempts - 1);
    const word = code === 0 ? 'passed' : expected.has(name) ? 'failed, as expected' : 'FAILED';
    process.stdout.write(`${word.padEnd(20)} ${name}\n`);
    if (code !== 0) failed.set(name, text);
  };
  if (chosen.includes(TIMED)) await play(TIMED, 3);
  const queue = chosen.filter((name) => name !== TIMED);
  const drain = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) await play(name);
  };
  await Promise.all([drain(), drain()]);
  const problems = [
    ...[...failed].flatMap(([name, text]) =>
      expected.has(name) ? [] : [`${name} failed:\n${text}`],
    ),
    ...[...expected].flatMap((name) => {
      if (!all.includes(name)) return [`no scenario is called ${name}; remove it from the list`];
      if (!chosen.includes(name) || failed.has(name)) return [];
      return [`${name} passes; remove it from the list of expected failures`];
    }),
    ...(expected.size > MOST_EXPECTED ? [`more than ${MOST_EXPECTED} failures are expected`] : []),
    ...(chosen.length === 0 ? ['no scenario was run'] : []),
  ];
  for (const problem of problems) process.stderr.write(`\n${problem}\n`);
  const passed = chosen.length - failed.size;
  process.stdout.write(
    `\n${passed} of ${chosen.length} scenarios passed, ${failed.size} failed, ${problems.length} problems\n`,
  );
  return problems.length === 0 ? 0 : 1;
}

async function listScenarios() {
  const { code, text } = await run(['list', '--client']);
  const names = [...text.matchAll(/^ {2}- (\S+)/gm)].map((match) => match[1]);
  if (code !== 0 || names.length === 0) throw new Error(`the suite lists no scenarios:\n${text}`);
  return names;
}

async function run(args) {
  const stdio = ['ignore', 'pipe', 'pipe'];
  const child = spawn(process.execPath, [SUITE, ...args], { cwd: ROOT, stdio });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      text += chunk;
    });
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, text };
}
