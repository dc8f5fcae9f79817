import type { Receipt } from '../protocol/permissions.js';
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

/** A receipt whose input is a copy of its own, and not too long. */
export interface BoundedReceipt {
  readonly receipt: Receipt;
  readonly cut: Pick<JournalEntry, 'cut'>;
}

export function boundedReceipt(receipt: Receipt): BoundedReceipt {
  const budget = { left: LONGEST_INPUT, cut: false };
  const input = bounded(receipt.input, budget);
  return { receipt: { ...receipt, input }, cut: budget.cut ? { cut: true } : {} };
}

/** The same as it may be written down. */
export function withoutSecrets({ receipt, cut }: BoundedReceipt): BoundedReceipt {
  return {
    cut,
    receipt: {
      ...receipt,
      input: redactDeep(receipt.input),
      reason: clean(receipt.reason),
      ...(receipt.command === undefined ? {} : { command: clean(receipt.command) }),
      trace: receipt.trace.map(cleanStep),
    },
  };
}

function clean(text: string): string {
  return redact(text.slice(0, LONGEST_TEXT));
}

type Step = Receipt['trace'][number];

function cleanStep(step: Step): Step {
  const { reason, source, failure } = step;
  // Most guards have nothing to say.
  if (reason === undefined && source === undefined && failure === undefined) return step;
  return {
    ...step,
    ...(reason === undefined ? {} : { reason: clean(reason) }),
    ...(source === undefined ? {} : { source: clean(source) }),
    ...(failure === undefined ? {} : { failure: clean(failure) }),
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
