import { readFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Result } from '../../src/lib/result.js';
import {
  type ClientConnection,
  type ConnectionDeps,
  createConnection,
} from '../../src/mcp/connection/connection.js';
import type {
  ElicitRequest,
  McpEntry,
  RawCallResult,
  ServerDeclaration,
  StdioEntry,
} from '../../src/mcp/server.js';
import { systemClock } from '../../src/platform/clock.js';
import { temporaryDirectory, testSupervisor } from '../process/helpers.js';

const FIXTURE = path.join(import.meta.dirname, 'connection-scripted.fixture.mjs');
const MODULES = path.resolve(import.meta.dirname, '../../node_modules');

export const never: AbortSignal = new AbortController().signal;

export function declared(entry: McpEntry, name = 'srv'): ServerDeclaration {
  return {
    name,
    key: name,
    scope: 'user',
    entry,
    origin: {},
    standing: { kind: 'ready' },
    contentHash: 'hash',
  };
}

export function nodeEntry(args: readonly string[], more: Partial<StdioEntry> = {}): StdioEntry {
  return { type: 'stdio', command: process.execPath, args, env: {}, ...more };
}

/** The scripted server of this folder, misbehaving as the plan says. */
export function scripted(plan: Readonly<Record<string, unknown>> = {}): StdioEntry {
  return nodeEntry([FIXTURE, JSON.stringify(plan)]);
}

/** The main file of one of the public servers. */
export function publicServer(name: string, ...args: string[]): StdioEntry {
  return nodeEntry([path.join(MODULES, '@modelcontextprotocol', name, 'dist/index.js'), ...args]);
}

export function remote(
  type: 'http' | 'sse' | 'ws',
  url: string,
  headers: Record<string, string> = {},
): McpEntry {
  return { type, url, headers };
}

/** A connection with real parts, closed when the test is over. */
export function connectTo(entry: McpEntry, more: Partial<ConnectionDeps> = {}): ClientConnection {
  const connection = createConnection(declared(entry), depsWith(more));
  onTestFinished(() => connection.close());
  return connection;
}

export function depsWith(more: Partial<ConnectionDeps> = {}): ConnectionDeps {
  return {
    processes: testSupervisor(),
    env: { PATH: process.env.PATH, HOME: '/home/me', ANTHROPIC_API_KEY: 'sk-ours', FOO: 'bar' },
    cwd: temporaryDirectory(),
    clock: systemClock,
    roots: () => ['/srv/a b'],
    elicit: async () => ({ action: 'decline' }),
    ...more,
  };
}

export function text(result: Result<RawCallResult, unknown>): string {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value.content.map((block) => String(block.text)).join('');
}

export function call(
  connection: ClientConnection,
  tool: string,
  args: Record<string, unknown> = {},
  signal: AbortSignal = never,
): Promise<Result<RawCallResult, import('../../src/mcp/server.js').SafeError>> {
  return connection.call({ tool, arguments: args }, signal);
}

export function journalLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trim().split('\n');
  } catch {
    return [];
  }
}

export function recorder(): { asked: ElicitRequest[]; elicit: ConnectionDeps['elicit'] } {
  const asked: ElicitRequest[] = [];
  return {
    asked,
    elicit: async (request) => {
      asked.push(request);
      return { action: 'accept', content: { name: 'Ada' } };
    },
  };
}
