import type { Usage } from '../protocol/content.js';
import { type Amounts, NOTHING, nanosOf, plus } from './units.js';

/** What an agent used in earlier processes, excluding its descendants. */
export interface AgentUsage {
  readonly path: string;
  readonly calls: readonly { readonly model: string; readonly usage: Usage }[];
  /** When it was working. */
  readonly work: readonly Span[];
}

/** A time span in milliseconds since 1970. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Usage of earlier processes, counted when a budget is opened again. */
export interface PriorUsage {
  readonly spent: Amounts;
  /** The model of a call whose price is not known. */
  readonly unpriced: string | undefined;
  /** Descendants that were started. */
  readonly started: number;
  readonly seconds: number;
}

/** Sums what an agent and all its descendants used. */
export function priorUsageOf(
  uses: readonly AgentUsage[],
  path: string,
  price: (model: string, usage: Usage) => number | undefined,
): PriorUsage {
  const below = uses.filter((use) => use.path.startsWith(`${path}/`));
  const all = [...uses.filter((use) => use.path === path), ...below];
  let spent = NOTHING;
  let unpriced: string | undefined;
  for (const { model, usage } of all.flatMap(({ calls }) => calls)) {
    const usd = price(model, usage);
    if (usd === undefined) unpriced ??= model;
    spent = plus(spent, { turns: 1, tokens: tokensIn(usage), nanoUsd: nanosOf(usd ?? 0) });
  }
  return { spent, unpriced, started: below.length, seconds: secondsIn(all) };
}

export function tokensIn(usage: Usage): number {
  return (
    usage.input_tokens +
    usage.output_tokens +
    usage.cache_creation_input_tokens +
    usage.cache_read_input_tokens
  );
}

/** The time in which agents worked; overlapping spans count once. */
function secondsIn(uses: readonly AgentUsage[]): number {
  const spans = uses.flatMap(({ work }) => work).sort((a, b) => a.from - b.from);
  let total = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const { from, to } of spans) {
    total += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return total / 1000;
}
