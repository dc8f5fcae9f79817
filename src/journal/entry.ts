import type { Receipt } from '../protocol/permissions.js';
import { isRecord } from '../util/own.js';
import { redactDeep } from '../util/redact.js';
import { isSealed } from '../util/sealed.js';
import { cleanBeginning, cleanText, LONGEST_TEXT } from './clean-text.js';
import { traceText } from './trace-text.js';

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
  /** The input of the receipt: not too long, and nobody changes it any more. */
  readonly input: unknown;
  readonly isCut: boolean;
}

export function pendingEntry(
  receipt: Receipt,
  { time, cwd }: Pick<PendingEntry, 'time' | 'cwd'>,
): PendingEntry {
  const { input } = receipt;
  // Nobody can change it, and nothing of it would be cut.
  if (isSealed(input) && isShort(input)) return { time, cwd, receipt, input, isCut: false };
  const budget = { left: LONGEST_INPUT, cut: false };
  return { time, cwd, receipt, input: bounded(input, budget), isCut: budget.cut };
}

/** Where an entry stands. */
export interface EntryPlace {
  readonly n: number;
  readonly session: string;
  /** The hash of the line before. */
  readonly prev: string;
}

/** An entry as it is written down: JSON, without secrets. */
export function entryText(pending: PendingEntry, { n, session, prev }: EntryPlace): string {
  const { time, cwd, receipt, input, isCut } = pending;
  const { command, effects } = receipt;
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
    ms: receipt.ms,
    effects: effects === undefined ? undefined : redactDeep(effects),
    time: receipt.time,
    sessionId: receipt.sessionId,
  } satisfies Record<Exclude<keyof Receipt, 'trace'>, unknown>;
  const cut = isCut ? true : undefined;
  // The receipt comes last, for its trace is put in at the end: that is most of the text, and mostly known.
  const text = JSON.stringify({ v: 1, n, time, session, cwd, cut, prev, receipt: kept });
  return `${text.slice(0, -2)},"trace":${traceText(receipt.trace)}}}`;
}

/** A line of the journal, or undefined when it is none. */
export function readEntry(value: unknown): JournalEntry | undefined {
  if (!isRecord(value) || value.v !== 1 || !isRecord(value.receipt)) return undefined;
  const { receipt } = value;
  const isWhole =
    typeof value.time === 'string' &&
    typeof value.session === 'string' &&
    typeof value.cwd === 'string' &&
    typeof receipt.toolUseId === 'string' &&
    typeof receipt.tool === 'string' &&
    typeof receipt.decision === 'string' &&
    Array.isArray(receipt.trace);
  return isWhole ? (value as unknown as JournalEntry) : undefined;
}

const LONGEST_INPUT = 32_000;

/** Shorter than any text may be on its own, all its parts together. */
function isShort(value: unknown): boolean {
  return leftAfter(value, LONGEST_TEXT) >= 0;
}

/** What is left of a length; never more than `bounded` would leave of it. */
function leftAfter(value: unknown, length: number): number {
  if (typeof value === 'string') return length - value.length - 2;
  if (typeof value !== 'object' || value === null) return length;
  let left = length;
  for (const key of Object.keys(value)) {
    if (left < 0) return left;
    left = leftAfter((value as Record<string, unknown>)[key], left - key.length - 4);
  }
  return left;
}

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
