import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { orderOf as completeOrder, mailOf } from '../../src/fleet/order.js';
import { readReceipts } from '../../src/fleet/receipts.js';
import type { Fleet, FleetSession, SessionOrder } from '../../src/fleet/types.js';
import { refOf } from '../../src/fleet/worker/workspace.js';
import { type FakeModelServer, startFakeModelServer } from '../../src/testing/fake-model-server.js';

export const PROGRAM = fileURLToPath(new URL('../../bin/portcullis', import.meta.url));

/** What a task does, by its kind. */
export type TaskKind = 'unsafe' | 'keyed' | 'write' | 'mcp' | 'ask' | 'talk' | 'slow';

/** A fleet of real worker processes, with a model that does what prompts like `task:write:a1` say. */
export interface Rig {
  readonly root: string;
  readonly model: FakeModelServer;
  readonly env: Record<string, string>;
  order(more?: Partial<SessionOrder>): SessionOrder;
  /** For tasks of the kind `mcp`: the session starts an MCP server. */
  orderWithServer(): SessionOrder;
  startWorker(args?: readonly string[], env?: Record<string, string>, program?: string): RigWorker;
  /** Tokens with how often their effect happened. */
  effects(kind: 'unsafe' | 'keyed' | 'mcp'): ReadonlyMap<string, number>;
  /** When the model was asked. */
  times(): readonly number[];
  cli(...args: string[]): string;
  close(): Promise<void>;
}

export interface RigWorker {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly log: () => readonly Record<string, unknown>[];
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

export async function openRig(fleetAddress: (root: string) => string): Promise<Rig> {
  const root = mkdtempSync(path.join(tmpdir(), 'portcullis-fleet-rig-'));
  for (const name of ['home', 'effects/unsafe', 'effects/keyed', 'effects/mcp', 'bin']) {
    mkdirSync(path.join(root, name), { recursive: true });
  }
  writeProgram(
    path.join(root, 'bin/unsafe'),
    `echo "$PORTCULLIS_CALL_ID" >> ${root}/effects/unsafe/"$1"\n`,
  );
  writeProgram(
    path.join(root, 'bin/keyed'),
    `mkdir "${root}/effects/keyed/$1.$(printf %s "$PORTCULLIS_CALL_ID" | tr -c 'a-zA-Z0-9_-' '_')" 2>/dev/null; exit 0\n`,
  );
  writeProgram(path.join(root, 'bin/slow'), 'sleep 60\n');
  writeFileSync(path.join(root, 'bin/server.mjs'), mcpServer(path.join(root, 'effects/mcp')));
  const times: number[] = [];
  const model = await startFakeModelServer({
    script: Array.from({ length: 60_000 }, () => reply(root, times)),
  });
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: path.join(root, 'home'),
    LANG: 'C.UTF-8',
    TMPDIR: root,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'test-key',
    PORTCULLIS_FLEET: fleetAddress(root),
  };
  const workers: RigWorker[] = [];
  const allowedTools = [
    `Bash(${root}/bin/unsafe *)`,
    `Bash(${root}/bin/keyed *)`,
    `Bash(${root}/bin/slow)`,
    'Write',
    'mcp__rec',
  ];
  const idempotent = [`Bash(${root}/bin/keyed)`, 'mcp__rec__*'];
  const server = { command: process.execPath, args: [path.join(root, 'bin/server.mjs')] };
  return {
    root,
    model,
    env,
    order: (more = {}) => completeOrder({ options: { allowedTools }, idempotent, ...more }),
    orderWithServer: () =>
      completeOrder({ options: { allowedTools, mcpServers: { rec: server } }, idempotent }),
    startWorker(args = [], more = {}, program = PROGRAM) {
      const own = ['worker', ...args, '--root', path.join(root, 'work')];
      const worker = launch([program, ...own], { ...env, ...more });
      workers.push(worker);
      return worker;
    },
    effects(kind) {
      const directory = path.join(root, 'effects', kind);
      const counts = new Map<string, number>();
      for (const name of readdirSync(directory)) {
        const token = name.split('.')[0] ?? '';
        const times = kind === 'unsafe' ? lines(path.join(directory, name)) : 1;
        counts.set(token, (counts.get(token) ?? 0) + times);
      }
      return counts;
    },
    times: () => times,
    cli: (...args) =>
      execFileSync(process.execPath, [PROGRAM, ...args], {
        env,
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    async close() {
      for (const { child } of workers) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGCONT');
        child.kill('SIGKILL');
      }
      await Promise.all(workers.map(({ ended }) => ended));
      await model.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

function launch(args: readonly string[], env: Record<string, string>): RigWorker {
  const child = spawn(process.execPath, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve) =>
    child.once('exit', (code) => resolve(code)),
  );
  return {
    child,
    pid: child.pid ?? 0,
    output: () => output,
    log: () =>
      output
        .split('\n')
        .flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line)] : [])),
    ended,
  };
}

/** Calls the tool that the newest task names, then says that it is done. */
function reply(root: string, times: number[]) {
  return (request: { readonly lastUser: string }) => {
    times.push(Date.now());
    const tasks = [...request.lastUser.matchAll(/task:(\w+):([\w-]+)/g)];
    const [, kind = '', token = ''] = tasks.at(-1) ?? [];
    const id = `call_${token}`;
    switch (kind) {
      case 'unsafe':
      case 'keyed':
        return { tool: 'Bash', id, input: { command: `${root}/bin/${kind} ${token}` } };
      case 'slow':
        return { tool: 'Bash', id, input: { command: `${root}/bin/slow` } };
      case 'write':
        return { tool: 'Write', id, input: { file_path: `${token}.txt`, content: `${token}\n` } };
      case 'mcp':
        return { tool: 'mcp__rec__record', id, input: { token } };
      case 'ask':
        return { tool: 'Bash', id, input: { command: `touch ${token}.asked` } };
      default:
        return `done ${token}`;
    }
  };
}

function writeProgram(file: string, body: string): void {
  writeFileSync(file, `#!/bin/sh\n${body}`);
  chmodSync(file, 0o755);
}

/** A server with one tool that happens once for each key. */
function mcpServer(directory: string): string {
  return `import { mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') return say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'rec', version: '1' } } });
  if (method === 'tools/list') return say({ id, result: { tools: [{ name: 'record', inputSchema: { type: 'object', properties: { token: { type: 'string' } } } }] } });
  if (method !== 'tools/call') return say({ id, error: { code: -32601, message: 'unknown' } });
  const key = String(params._meta?.idempotencyKey ?? 'none').replace(/[^\\w-]/g, '_');
  try { mkdirSync(${JSON.stringify(directory)} + '/' + params.arguments.token + '.' + key); } catch {}
  say({ id, result: { content: [{ type: 'text', text: 'recorded' }] } });
});
`;
}

function lines(file: string): number {
  return readFileSync(file, 'utf8').trimEnd().split('\n').length;
}

export async function until(check: () => Promise<boolean> | boolean, ms = 150_000): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error('it did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export { mailOf };

/** Problems of a session's transcript: every entry hangs on one that came before, and every call has one result. */
export async function transcriptProblems(
  fleet: Fleet,
  session: FleetSession,
): Promise<readonly string[]> {
  const { id } = session.order;
  const problems: string[] = [];
  const known = new Set<string>();
  const calls = new Map<string, number>();
  let last: string | null = null;
  for (const { seq, line } of await fleet.entries(id)) {
    const entry = JSON.parse(line);
    if (typeof entry.uuid !== 'string') continue;
    if (known.has(entry.uuid)) problems.push(`${id} ${seq}: twice`);
    if (entry.parentUuid !== last)
      problems.push(`${id} ${seq}: hangs on ${entry.parentUuid}, not on ${last}`);
    known.add(entry.uuid);
    last = entry.uuid;
    for (const block of Array.isArray(entry.message?.content) ? entry.message.content : []) {
      if (block.type === 'tool_use') calls.set(block.id, calls.get(block.id) ?? 0);
      if (block.type === 'tool_result')
        calls.set(block.tool_use_id, (calls.get(block.tool_use_id) ?? 0) + 1);
    }
  }
  for (const [call, results] of calls)
    if (results !== 1) problems.push(`${id}: ${call} has ${results} results`);
  const { chain } = readReceipts(await fleet.receipts(id));
  if (!chain.ok) problems.push(`${id}: receipt ${chain.line}: ${chain.reason}`);
  return problems;
}

/** The files of the last snapshot. */
export function snapshotFiles(root: string, session: FleetSession): readonly string[] {
  const store = path.join(root, 'work/snapshots.git');
  if (session.snapshot === undefined || !existsSync(store)) return [];
  const ref = refOf(session.order.id, session.snapshot);
  const listed = execFileSync('git', ['--git-dir', store, 'ls-tree', '-r', '--name-only', ref], {
    encoding: 'utf8',
  });
  return listed.trim().split('\n').filter(Boolean);
}
