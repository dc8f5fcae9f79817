import { sliceWhole } from '../lib/text/truncate.js';

/** Limits of the characters of one text, and of all texts of a value. */
export const MOST_OF_ONE = 40_000;
const MOST_OF_ALL = 400_000;
const MOST_ITEMS = 5_000;

/** A copy of a JSON value whose long texts are cut and say so; a short value is returned itself. */
export function shorten<T>(value: T): T {
  const budget = { left: MOST_OF_ALL, cut: false };
  const copy = cut(value, budget) as T;
  return budget.cut ? copy : value;
}

/** Whether `shorten` would cut nothing. */
export function isShort(value: unknown): boolean {
  return shorten(value) === value;
}

interface CutBudget {
  left: number;
  cut: boolean;
}

function cut(value: unknown, budget: CutBudget): unknown {
  if (typeof value === 'string') {
    const most = Math.max(0, Math.min(MOST_OF_ONE, budget.left));
    budget.left -= Math.min(value.length, most);
    if (value.length <= most) return value;
    budget.cut = true;
    return `${sliceWhole(value, 0, most)}… [${value.length - most} more characters]`;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (value.length > MOST_ITEMS) budget.cut = true;
    return value.slice(0, MOST_ITEMS).map((item) => cut(item, budget));
  }
  const entries = Object.entries(value);
  if (entries.length > MOST_ITEMS) budget.cut = true;
  return Object.fromEntries(
    entries.slice(0, MOST_ITEMS).map(([key, inner]) => [key, cut(inner, budget)]),
  );
}
