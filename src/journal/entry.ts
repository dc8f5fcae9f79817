import { listOf, object, oneOf, text } from '../lib/shape.js';
import { redact, redactDeep } from '../lib/text/redact.js';
import type { Receipt, TraceStep } from '../protocol/permissions.js';

/** One decision as the journal keeps it. */
export interface JournalEntry {
  readonly v: 1;
  /** Counts from 1 in each file. */
  readonly n: number;
  /** ISO time. */
  readonly time: string;
  readonly session: string;
  /** Where the agent was working. */
  readonly cwd: string;
  /** Secrets of known shapes are taken out, long texts are cut. */
  readonly receipt: Receipt;
  /** The input was too long to keep whole, so the call cannot be judged again. */
  readonly cut?: true;
}

/** A decision that is not on disk yet. */
export interface PendingEntry {
  readonly time: string;
  readonly cwd: string;
  readonly receipt: Receipt;
  /** The input of the receipt: bounded, and no longer changed. */
  readonly input: unknown;
  readonly isCut: boolean;
}

export function pendingEntry(
  receipt: Receipt,
  { time, cwd }: Pick<PendingEntry, 'time' | 'cwd'>,
): PendingEntry {
  const budget = { left: LONGEST_INPUT, cut: false };
  return { time, cwd, receipt, input: bounded(receipt.input, budget), isCut: budget.cut };
}

/** The position of an entry. */
export interface EntryPlace {
  readonly n: number;
  readonly session: string;
  /** The hash of the line before. */
  readonly prev: string;
}

/** An entry as it is written down: JSON, without secrets. */
export function entryText(pending: PendingEntry, { n, session, prev }: EntryPlace): string {
  const { time, cwd, receipt, input, isCut } = pending;
  const { command, runs, effects } = receipt;
  const kept = {
    toolUseId: receipt.toolUseId,
    tool: receipt.tool,
    agent: receipt.agent,
    decision: receipt.decision,
    // A hook goes by what it runs, and with that it may have been given a secret.
    decidedBy: cleanText(receipt.decidedBy),
    reason: cleanText(receipt.reason),
    input: redactDeep(input),
    mode: receipt.mode,
    command: command === undefined ? undefined : cleanText(command),
    runs: runs === undefined ? undefined : cleanText(runs),
    ms: receipt.ms,
    effects: effects === undefined ? undefined : redactDeep(effects),
    time: receipt.time,
    sessionId: receipt.sessionId,
    trace: receipt.trace.map(cleanStep),
  } satisfies Record<keyof Receipt, unknown>;
  const cut = isCut ? true : undefined;
  return JSON.stringify({ v: 1, n, time, session, cwd, cut, prev, receipt: kept });
}

function cleanStep({ guard, decision, ms, reason, source, failure }: TraceStep) {
  return {
    guard: cleanText(guard),
    decision,
    ms,
    reason: reason === undefined ? undefined : cleanText(reason),
    source: source === undefined ? undefined : cleanText(source),
    failure: failure === undefined ? undefined : cleanText(failure),
  } satisfies Record<keyof TraceStep, unknown>;
}

const entryShape = object({
  v: oneOf(1),
  time: text,
  session: text,
  cwd: text,
  receipt: object({ toolUseId: text, tool: text, decision: text, trace: listOf(object({})) }),
});

/** A line of the journal, or undefined when it is none. */
export function readEntry(value: unknown): JournalEntry | undefined {
  return entryShape(value) ? (value as unknown as JournalEntry) : undefined;
}

const LONGEST_INPUT = 32_000;

function bounded(value: unknown, budget: { left: number; cut: boolean }): unknown {
  if (typeof value === 'string') {
    const most = Math.max(0, Math.min(LONGEST_TEXT, budget.left));
    budget.left -= Math.min(value.length, most) + 2;
    if (value.length <= most) return value;
    budget.cut = true;
    return `${cleanBeginning(value, most)}… [${value.length - most} more characters]`;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (budget.left <= 0) {
    budget.cut = true;
    return Array.isArray(value) ? [] : {};
  }
  if (Array.isArray(value)) {
    const kept: unknown[] = [];
    for (const inner of value) {
      if (budget.left <= 0) {
        budget.cut = true;
        break;
      }
      budget.left -= 2;
      kept.push(bounded(inner, budget));
    }
    return kept;
  }
  const kept: Record<string, unknown> = Object.create(null);
  for (const [key, inner] of Object.entries(value)) {
    budget.left -= key.length + 4;
    kept[key] = bounded(inner, budget);
  }
  return kept;
}

/** What is longer is cut before it is written down. */
export const LONGEST_TEXT = 8_000;

/** Further than that no secret that matters reaches. */
const LONGEST_SECRET = 1_000;

/** A text as it may be written down: without secrets of known shapes, and not too long. */
export function cleanText(text: string): string {
  return text.length > LONGEST_TEXT ? cleanBeginning(text, LONGEST_TEXT) : redact(text);
}

/**
 * The beginning of a text. What was cut in its middle has no known shape any more, so secrets are taken out of
 * more than is kept.
 */
function cleanBeginning(text: string, most: number): string {
  if (most === 0) return '';
  const seen = most + LONGEST_SECRET;
  const clean = redact(text.slice(0, seen));
  return clean.slice(0, text.length > seen ? Math.max(0, clean.length - LONGEST_SECRET) : most);
}
