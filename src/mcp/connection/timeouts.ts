import type { Environment } from '../../platform/environment.js';
import type { McpEntry } from '../server.js';

/** In milliseconds. */
export interface ConnectionTimeouts {
  /** One connect with all its attempts (`MCP_TIMEOUT`). */
  readonly connectMs: number;
  /** One call without the time people take to answer (`timeout` of the entry, else `MCP_TOOL_TIMEOUT`). */
  readonly totalMs: number;
  /** Silence during a call; progress resets it. */
  readonly idleMs: number;
  /** How long the first modern request may take before the legacy protocol is tried. */
  readonly probeMs: number;
  /** One list with all its pages and attempts (`MCP_TIMEOUT`). */
  readonly listMs: number;
  /** From closing a child's input to the first signal. */
  readonly closeMs: number;
  /** The silence after which people see that a call still runs. */
  readonly stillRunningMs: number;
  /** The minimum time between two progress messages of the server. */
  readonly progressGapMs: number;
  /** The first pause before a restart; doubles each time. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** A server that ran this long resets the back-off. */
  readonly stableMs: number;
}

export const LONGEST_TIMER_MS = 2_147_483_647;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** The entry comes first, then the environment, then the defaults. */
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
