// node bench/mcp.mjs [--rounds=2000] [--json]: what our connection costs on top of the bare client library
// for one call of an echo tool. Both have a server process of their own and take turns.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = path.join(import.meta.dirname, '..');
const option = (name, fallback) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback;
const rounds = Number(option('rounds', '2000'));
/** Milliseconds that a call may cost more. */
const BAR_MS = 1;
const SERVER = `
import { createInterface } from 'node:readline';
const write = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') write(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } });
  else if (method === 'tools/list') write(id, { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
  else if (method === 'tools/call') write(id, { content: [{ type: 'text', text: params.arguments.text }] });
  else process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }) + '\\n');
}).on('close', () => process.exit(0));`;

const work = mkdtempSync(path.join(ROOT, 'node_modules', '.cache-mcp-'));
const project = mkdtempSync(path.join(os.tmpdir(), 'mcp-bench-'));
const server = path.join(work, 'server.mjs');
writeFileSync(server, SERVER);
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function ours() {
  const outfile = path.join(work, 'mcp.mjs');
  await build({
    absWorkingDir: ROOT,
    stdin: {
      contents: `
        export { createConnection } from './src/mcp/connection.ts';
        export { createProcessSupervisor } from './src/env/node-process.ts';
        export { systemClock } from './src/env/clock.ts';`,
      resolveDir: ROOT,
      loader: 'ts',
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    outfile,
    logLevel: 'error',
  });
  const { createConnection, createProcessSupervisor, systemClock } = await import(
    pathToFileURL(outfile).href
  );
  const entry = { type: 'stdio', command: process.execPath, args: [server], env: {} };
  const declaration = {
    name: 'echo',
    key: 'echo',
    scope: 'user',
    entry,
    origin: {},
    standing: { kind: 'ready' },
    contentHash: '',
  };
  const connection = createConnection(declaration, {
    processes: createProcessSupervisor(),
    env: process.env,
    cwd: project,
    clock: systemClock,
    roots: () => [project],
    elicit: async () => ({ action: 'decline' }),
  });
  const { signal } = new AbortController();
  return {
    call: async (text) => {
      const result = await connection.call(
        { tool: 'echo', arguments: { text }, onProgress() {} },
        signal,
      );
      if (!result.ok) throw new Error(result.error.message);
    },
    close: () => connection.close(),
  };
}

async function bare() {
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [server] }));
  return {
    call: (text) =>
      client.callTool({ name: 'echo', arguments: { text } }, { onprogress() {}, timeout: 60_000 }),
    close: () => client.close(),
  };
}

async function timed(side, text) {
  const from = performance.now();
  await side.call(text);
  return performance.now() - from;
}

const sides = { ours: await ours(), bare: await bare() };
const times = { ours: [], bare: [] };
try {
  for (let round = -200; round < rounds; round++) {
    for (const name of round % 2 === 0 ? ['ours', 'bare'] : ['bare', 'ours']) {
      const ms = await timed(sides[name], `round ${round}`);
      if (round >= 0) times[name].push(ms);
    }
  }
} finally {
  await Promise.all([sides.ours.close(), sides.bare.close()]);
  rmSync(work, { recursive: true, force: true });
  rmSync(project, { recursive: true, force: true });
}
const result = { oursMs: median(times.ours), bareMs: median(times.bare), barMs: BAR_MS };
const overheadMs = result.oursMs - result.bareMs;
if (process.argv.includes('--json')) console.log(JSON.stringify({ ...result, overheadMs }));
else {
  console.log(`MCP call, ours   ${result.oursMs.toFixed(3)} ms`);
  console.log(`MCP call, bare   ${result.bareMs.toFixed(3)} ms`);
  console.log(`overhead         ${overheadMs.toFixed(3)} ms (bar ${BAR_MS})`);
}
process.exitCode = overheadMs < BAR_MS ? 0 : 1;
