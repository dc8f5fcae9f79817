// node bench/mcp-start.mjs [--rounds=15] [--json]: what 1,000 tools of 20 MCP servers add to a start of
// the whole program, from its spawn to its first request, when their names come from the cache. Starts
// with and without servers take turns, so that load on the machine meets both.
import { fork, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureBuilt, ensureInstalled, ROOT } from '../scripts/setup.mjs';

ensureInstalled();
ensureBuilt();
const option = (name, fallback) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback;
const rounds = Number(option('rounds', '15'));
/** Bound that the difference of the medians must hold. */
const BAR_MS = 10;
const SERVERS = 20;
const TOOLS = 50;
const PROGRAM = path.join(ROOT, 'bin/portcullis');

/** Answers what a session asks before it calls: it is started for the first run alone. */
const SERVER = `
const parameters = Object.fromEntries(['query', 'limit', 'cursor', 'sort', 'filter'].map((name) => [
  name, { type: 'string', description: 'The ' + name + ' that is wanted, in the usual form.' }]));
const tools = Array.from({ length: ${TOOLS} }, (_, at) => ({
  name: 'tool_' + at + '_of_many',
  description: 'Looks up number ' + at + '. ' + 'It takes words and gives words back. '.repeat(12),
  inputSchema: { type: 'object', properties: parameters, required: ['query'] },
}));
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: 'many', version: '1' }, instructions: 'Use the tools with care.' }),
  'tools/list': () => ({ tools }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'done' }] }),
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const body = answer ? { result: answer(params) } : { error: { code: -32601, message: 'no' } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\\n');
});`;

const work = mkdtempSync(path.join(os.tmpdir(), 'portcullis-mcp-start-'));
const project = path.join(work, 'project');
mkdirSync(project);
const serverFile = path.join(work, 'server.cjs');
writeFileSync(serverFile, SERVER);
const names = Array.from({ length: SERVERS }, (_, at) => `server${at}`);
const homes = { without: path.join(work, 'home-without'), with: path.join(work, 'home-with') };
for (const home of Object.values(homes)) mkdirSync(home);
const entry = { command: process.execPath, args: [serverFile] };
writeFileSync(
  path.join(homes.with, '.claude.json'),
  JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, entry])) }),
);

const mock = fork(path.join(ROOT, 'bench/mock-model.mjs'));
const ask = (message) =>
  new Promise((resolve) => {
    mock.once('message', resolve);
    if (message !== undefined) mock.send(message);
  });
const { port } = await ask();

function started(kind, args) {
  const env = {
    PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: homes[kind],
    LANG: 'C.UTF-8',
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: 'bench',
  };
  const node = option('node-options', '');
  const child = spawn(process.execPath, [...node.split(' ').filter(Boolean), PROGRAM, ...args], {
    cwd: project,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  mock.send({ client: child.pid });
  return new Promise((resolve) => child.on('exit', resolve));
}

async function once(kind, calls = []) {
  await ask({ plan: { calls, turns: calls.length, cwd: project, prefix: calls.length === 0 } });
  const spawned = Number(process.hrtime.bigint());
  const flags = ['--allowedTools', names.map((name) => `mcp__${name}`).join()];
  const code = await started(kind, ['-p', 'go', '--model', 'claude-sonnet-4-5', ...flags]);
  const { records } = await ask({});
  if (code !== 0 || records.length !== calls.length + 1)
    throw new Error(`${kind}: exit ${code}, ${records.length} requests`);
  const [{ end, work, hashed }] = records;
  return { ms: (end - spawned) / 1e6, work: work ?? 0, body: hashed };
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
try {
  // The first start asks the servers. The tools of half of them are called, and so approved.
  const toolName = (server, at) => `mcp__${server}__tool_${at}_of_many`;
  const called = names
    .slice(0, SERVERS / 2)
    .flatMap((server) => Array.from({ length: TOOLS }, (_, at) => toolName(server, at)));
  await once('with');
  await once(
    'with',
    called.map((name) => ({ name, input: { query: 'x' } })),
  );
  const { body } = await once('with');
  if (!body.includes(toolName(names[0], 0))) throw new Error('the model is told of no tools');
  await once('without');
  const seen = { without: [], with: [] };
  for (let round = 0; round < rounds; round++) {
    for (const kind of Object.keys(seen).sort(() => Math.random() - 0.5)) {
      seen[kind].push(await once(kind));
    }
  }
  const middle = (kind, what) => median(seen[kind].map((run) => run[what]));
  const added = (what) => middle('with', what) - middle('without', what);
  // What load on the machine adds, it adds to all but the luckiest.
  const least = (kind) => Math.min(...seen[kind].map(({ work }) => work));
  const result = {
    without: middle('without', 'ms'),
    with: middle('with', 'ms'),
    added: added('ms'),
    addedWork: added('work'),
    leastWork: least('with') - least('without'),
  };
  const text = `spawn → first request: ${result.without.toFixed(1)} ms without servers, ${result.with.toFixed(1)} ms with ${SERVERS} servers × ${TOOLS} tools from the cache; added ${result.added.toFixed(1)} ms, of them work ${result.addedWork.toFixed(1)} ms, at least ${result.leastWork.toFixed(1)} ms (bar ${BAR_MS})`;
  console.log(process.argv.includes('--json') ? JSON.stringify(result) : text);
  // On a machine with other things to do, waiting for a processor is not ours.
  const measured = result.addedWork === 0 ? result.added : result.addedWork;
  if (measured > BAR_MS) process.exitCode = 1;
} finally {
  mock.disconnect();
  rmSync(work, { recursive: true, force: true });
}
