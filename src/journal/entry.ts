import type { Receipt } from '../protocol/permissions.js';
import { extended } from '../util/extended.js';
import { isRecord } from '../util/own.js';
import { redact, redactDeep } from '../util/redact.js';

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

const LONGEST_TEXT = 8_000;
const LONGEST_INPUT = 32_000;

/** A receipt with a copy of its input that is not too long and that nobody changes. */
export interface BoundedReceipt {
  readonly receipt: Receipt;
  readonly input: unknown;
  readonly isCut: boolean;
}

export function boundedReceipt(receipt: Receipt): BoundedReceipt {
  const budget = { left: LONGEST_INPUT, cut: false };
  return { receipt, input: bounded(receipt.input, budget), isCut: budget.cut };
}

/** The receipt as it may be written down. */
export function withoutSecrets({ receipt, input }: BoundedReceipt): Receipt {
  const clean: { -readonly [Field in keyof Receipt]: Receipt[Field] } = extended(receipt, {
    input: redactDeep(input),
    reason: cleanText(receipt.reason),
    trace: cleanTrace(receipt.trace),
  });
  if (receipt.command !== undefined) clean.command = cleanText(receipt.command);
  return clean;
}

function cleanText(text: string): string {
  return redact(text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text);
}

type Step = Receipt['trace'][number];

/** Itself when there is nothing to take out: nearly always, and it has a step of every guard. */
function cleanTrace(trace: Receipt['trace']): Receipt['trace'] {
  let copy: Step[] | undefined;
  let at = 0;
  for (const step of trace) {
    const clean = cleanStep(step);
    if (clean !== step) {
      copy ??= [...trace];
      copy[at] = clean;
    }
    at++;
  }
  return copy ?? trace;
}

function cleanStep(step: Step): Step {
  // Most guards have nothing to say.
  if (step.reason === undefined && step.source === undefined && step.failure === undefined) {
    return step;
  }
  const reason = step.reason === undefined ? undefined : cleanText(step.reason);
  const source = step.source === undefined ? undefined : cleanText(step.source);
  const failure = step.failure === undefined ? undefined : cleanText(step.failure);
  if (reason === step.reason && source === step.source && failure === step.failure) return step;
  return {
    ...step,
    ...(reason === undefined ? {} : { reason }),
    ...(source === undefined ? {} : { source }),
    ...(failure === undefined ? {} : { failure }),
  };
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

function bounded(value: unknown, budget: { left: number; cut: boolean }): unknown {
  if (typeof value === 'string') {
    const most = Math.max(0, Math.min(LONGEST_TEXT, budget.left));
    budget.left -= Math.min(value.length, most) + 2;
    if (value.length <= most) return value;
    budget.cut = true;
    return `${value.slice(0, most)}… [${value.length - most} more characters]`;
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
