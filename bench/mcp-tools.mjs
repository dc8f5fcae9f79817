// node bench/mcp-tools.mjs [--rounds=15] [--json]: what 1,000 tools of 20 MCP servers cost before the
// first request when they come from the cache, with 500 of them approved earlier. Each round is a
// process of its own: a session starts once, with nothing warm.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import vm from 'node:vm';

const ROOT = path.join(import.meta.dirname, '..');
const option = (name, fallback) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback;
const rounds = Number(option('rounds', '15'));
/** Bound that the median must hold. */
const BAR_MS = 10;
const SERVERS = 20;
const TOOLS = 50;

/** Set in the process of a round: where the bundle and the state are. */
const child = option('child', undefined)?.split(path.delimiter);
const work = child?.[0] ?? mkdtempSync(path.join(ROOT, 'node_modules', '.cache-mcp-tools-'));
const stateDirectory = child?.[1] ?? mkdtempSync(path.join(os.tmpdir(), 'mcp-tools-bench-'));
const outfile = path.join(work, 'mcp-tools.cjs');

async function bundle() {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: ROOT,
    stdin: {
      contents: `
        export { sha256 } from './src/env/hash.ts';
        export { sortedNames } from './src/util/sorted-names.ts';
        export { nodeFileSystem } from './src/env/node-fs.ts';
        export { createPool } from './src/tools/pool.ts';
        export { deferral, deferredToolsReminder } from './src/tools/deferral.ts';
        export { openToolCache } from './src/mcp/tool-cache.ts';
        export { openToolApprovals } from './src/mcp/tool-approvals.ts';
        export { createToolBook } from './src/mcp/tool-book.ts';
        export { definitionTokens, listingOf } from './src/mcp/tool-listing.ts';`,
      resolveDir: ROOT,
      loader: 'ts',
    },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    outfile,
    loader: { '.md': 'text' },
    logLevel: 'error',
    external: ['@modelcontextprotocol/*'],
  });
}

const rawTool = (server, at) => ({
  name: `tool_${at}_of_many`,
  description: `Looks up number ${at} of server ${server}. ${'It takes words and gives words back. '.repeat(12)}`,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(
      ['query', 'limit', 'cursor', 'sort', 'filter'].map((name) => [
        name,
        { type: 'string', description: `The ${name} that is wanted, in the usual form.` },
      ]),
    ),
    required: ['query'],
  },
});

const connectionOf = (name) => ({
  declaration: {
    name,
    key: name,
    scope: 'user',
    entry: { type: 'http', url: 'http://127.0.0.1:1/', headers: {} },
    origin: { file: '/home/x/.claude.json' },
    standing: { kind: 'ready' },
    contentHash: `hash of ${name}`,
  },
  status: () => ({ state: 'pending' }),
  onChange: () => undefined,
});

async function start(lib, connections) {
  const place = { fs: lib.nodeFileSystem, stateDirectory };
  const cache = lib.openToolCache(place);
  const approvals = lib.openToolApprovals(place);
  const book = lib.createToolBook({
    fs: place.fs,
    approvals,
    env: {},
    builtinNames: [],
    tell: () => undefined,
  });
  const found = await Promise.all(
    connections.map(async (connection) => {
      const listing = await cache.read(connection.declaration);
      const make = await book.remember(connection, listing);
      return { listing, make, name: connection.declaration.name };
    }),
  );
  const definitionsTokens = lib.definitionTokens(found.map(({ listing }) => listing));
  const { defer } = lib.deferral({
    env: {},
    definitionsTokens,
    windowTokens: 200_000,
    searchDenied: false,
  });
  const unmade = {
    names: lib.sortedNames(found.flatMap(({ listing }) => listing.brief.names)),
    make: () => found.flatMap(({ make }) => make()),
  };
  const pool = lib.createPool([], {
    defer: (tool) => defer && tool.origin?.alwaysLoad !== true,
    unmade,
  });
  const servers = found.map(({ name, listing }) => ({
    name,
    tools: listing.brief.names,
    instructions: listing.instructions,
  }));
  const text = lib.deferredToolsReminder({ servers, occasion: 'start' });
  return {
    tools: pool.names.length,
    sent: pool.definitions.length,
    chars: text?.length,
    definitionsTokens,
  };
}

const connections = Array.from({ length: SERVERS }, (_, at) => connectionOf(`server${at}`));

async function prepare(lib) {
  const place = { fs: lib.nodeFileSystem, stateDirectory };
  for (const { declaration } of connections) {
    const tools = Array.from({ length: TOOLS }, (_, at) => rawTool(declaration.name, at));
    const instructions = 'Use the tools with care.';
    const listing = lib.listingOf({ declaration, tools, instructions, builtinNames: [] });
    await lib.openToolCache(place).write(declaration, listing);
    await lib.openToolApprovals(place).record(declaration, listing.tools.slice(0, TOOLS / 2));
  }
}

/** As bin/portcullis loads the program: with the code that an earlier run has compiled. */
function load() {
  const cacheFile = `${outfile}.cache`;
  const source = `(function (module, require) {${readFileSync(outfile, 'utf8')}\n})`;
  const cachedData = existsSync(cacheFile) ? readFileSync(cacheFile) : undefined;
  const script = new vm.Script(source, {
    filename: outfile,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const module = { exports: {} };
  script.runInThisContext()(module, createRequire(outfile));
  return { lib: module.exports, keep: () => writeFileSync(cacheFile, script.createCachedData()) };
}

async function measure(lib) {
  // A session has hashed and read files before it comes to its servers.
  lib.sha256('');
  await lib.nodeFileSystem.readBytes(import.meta.filename);
  const used = process.cpuUsage();
  const started = performance.now();
  const seen = await start(lib, connections);
  const ms = performance.now() - started;
  const { user, system } = process.cpuUsage(used);
  return { ...seen, ms, cpuMs: (user + system) / 1000 };
}

function report(runs) {
  const middle = (name) => runs.map((run) => run[name]).sort((a, b) => a - b)[runs.length >> 1];
  const least = Math.min(...runs.map(({ ms }) => ms));
  const { tools, sent, definitionsTokens } = runs[0];
  const result = {
    tools,
    sent,
    definitionsTokens,
    ms: middle('ms'),
    least,
    cpuMs: middle('cpuMs'),
  };
  const text = `${tools} tools of ${SERVERS} servers from the cache: ${result.ms.toFixed(2)} ms (least ${least.toFixed(2)}, work ${result.cpuMs.toFixed(2)}; bar ${BAR_MS}); ${sent} definitions sent, ${definitionsTokens} tokens deferred`;
  console.log(process.argv.includes('--json') ? JSON.stringify(result) : text);
  if (result.ms > BAR_MS) process.exitCode = 1;
}

if (child !== undefined) {
  console.log(JSON.stringify(await measure(load().lib)));
} else {
  try {
    await bundle();
    const { lib, keep } = load();
    await prepare(lib);
    await start(lib, connections);
    keep();
    const place = `--child=${work}${path.delimiter}${stateDirectory}`;
    const run = () =>
      JSON.parse(
        execFileSync(process.execPath, [import.meta.filename, place], { encoding: 'utf8' }),
      );
    report(Array.from({ length: rounds }, run));
  } finally {
    rmSync(work, { recursive: true, force: true });
    rmSync(stateDirectory, { recursive: true, force: true });
  }
}
