import type { Environment } from '../../platform/environment.js';
import type { McpEntry } from '../server.js';

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
