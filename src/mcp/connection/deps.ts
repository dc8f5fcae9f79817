import type { AuthProvider } from '@modelcontextprotocol/client';
import type { Result } from '../../lib/result.js';
import type { Clock } from '../../platform/clock.js';
import type { Environment } from '../../platform/environment.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import type { Elicit, McpConnection, McpEntry } from '../server.js';

/** A connection with what only its owner needs. */
export interface ClientConnection extends McpConnection {
  /** The working directories changed: a connected server of the old protocol is told. Never rejects. */
  rootsChanged(): Promise<void>;
  /** For people alone, never for the model: up to 64 KiB of what the child wrote to standard error. */
  stderr(): string;
}

/** The way to a server in the host's process: JSON-RPC messages that the host carries. */
export interface SdkBridge {
  /** Resolves with the answer to a request; what it resolves with for a notification is ignored. */
  send(message: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Set by the connection. To be called with what the server sends by itself. */
  onmessage?: ((message: unknown) => void) | undefined;
}

/** What a server says that the token lacks (403, `insufficient_scope`). */
export interface StepUpChallenge {
  readonly scope?: string;
  readonly resourceMetadataUrl?: string;
  readonly description?: string;
}

export interface ConnectionDeps {
  readonly processes: Pick<ProcessSupervisor, 'open'>;
  /** The whole environment. Children get the minimal part; time limits and proxies are read from it. */
  readonly env: Environment;
  /** Where children run. */
  readonly cwd: string;
  readonly clock: Clock;
  /** The working directories, as the server may know them. */
  roots(): readonly string[];
  readonly elicit: Elicit;
  /** Not used where the headers carry an `Authorization` of their own. */
  readonly authProvider?: AuthProvider;
  /** True: a token with more scope is stored, and the refused request is sent once more. */
  readonly stepUp?: (challenge: StepUpChallenge) => Promise<boolean>;
  /** Called before somebody wants a server back whose sign-in was missing. */
  readonly refreshAuth?: () => Promise<void>;
  /** Further headers, which win over the entry's: asked per connection, and once more on 401 and 403. */
  readonly headers?: () => Promise<Result<Record<string, string>, string>>;
  /** Of `sdk` entries. */
  readonly sdkTransport?: SdkBridge;
  /** File for what the child writes to standard error. */
  readonly log?: string;
  /** Told, for people, what is not to be missed of a server. */
  onNote?(text: string): void;
  readonly clientInfo?: { readonly name: string; readonly version: string };
  /** In place of what the environment and the entry say. */
  readonly timeouts?: Partial<ConnectionTimeouts>;
}

/** All in milliseconds. */
export interface ConnectionTimeouts {
  /** One connect with all its attempts (`MCP_TIMEOUT`). */
  readonly connectMs: number;
  /** One call, waiting for people left out (`timeout` of the entry, else `MCP_TOOL_TIMEOUT`). */
  readonly totalMs: number;
  /** Silence of the server during a call; progress ends it. */
  readonly idleMs: number;
  /** Until a server that says nothing to the new protocol's first question is spoken to in the old one. */
  readonly probeMs: number;
  /** A whole list, with all its pages and attempts (`MCP_TIMEOUT`). */
  readonly listMs: number;
  /** Between the end of its input and the first signal. */
  readonly closeMs: number;
  /** Silence after which people hear that a call still runs. */
  readonly stillRunningMs: number;
  /** Least time between two texts of the server's own progress. */
  readonly progressGapMs: number;
  /** First pause before a restart; doubled each time. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** A server that lived this long has not started in vain. */
  readonly stableMs: number;
}

export const LONGEST_TIMER_MS = 2_147_483_647;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** What the entry says first, then the environment, then the defaults. */
export function timeoutsFor(
  entry: McpEntry,
  env: Environment,
  overrides: Partial<ConnectionTimeouts> = {},
): ConnectionTimeouts {
  const connectMs = milliseconds(env.MCP_TIMEOUT) ?? 30 * SECOND;
  const hardMs = entry.timeout !== undefined && entry.timeout >= SECOND ? entry.timeout : undefined;
  const idleMs = idleFor(entry);
  const isStdio = entry.type === 'stdio';
  return {
    connectMs,
    totalMs: hardMs ?? milliseconds(env.MCP_TOOL_TIMEOUT) ?? 100_000 * SECOND,
    idleMs: Math.max(idleMs, hardMs ?? 0),
    probeMs: Math.min((isStdio ? 2 : 10) * SECOND, connectMs / 3),
    listMs: connectMs,
    closeMs: SECOND,
    stillRunningMs: 30 * SECOND,
    progressGapMs: SECOND,
    backoffMs: SECOND,
    maxBackoffMs: 30 * SECOND,
    stableMs: 30 * SECOND,
    ...overrides,
  };
}

function idleFor(entry: McpEntry): number {
  if (entry.type === 'sdk') return LONGEST_TIMER_MS;
  return entry.type === 'stdio' ? 30 * MINUTE : 5 * MINUTE;
}

function milliseconds(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,15}$/.test(text.trim())) return undefined;
  const value = Number(text);
  return value > 0 ? Math.min(value, LONGEST_TIMER_MS) : undefined;
}
