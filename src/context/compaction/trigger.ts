import { isOn } from '../instructions/memory-files.js';

/** The environment variables that compaction reads. */
export type CompactEnvironment = Readonly<Record<string, string | undefined>>;

export interface ContextLimits {
  /** What fits into the model, in tokens. */
  readonly window: number;
  /** What an answer may take of it. */
  readonly maxOutput: number;
  readonly env: CompactEnvironment;
}

/** The same with what settings say: `autoCompactEnabled: false` is as good as the variable. */
export function compactEnvironment(
  env: CompactEnvironment,
  values: { get(name: string): { readonly value: unknown } | undefined },
): CompactEnvironment {
  const isOff = values.get('autoCompactEnabled')?.value === false;
  return isOff ? { ...env, DISABLE_AUTO_COMPACT: '1' } : env;
}

/** The number of tokens from which on the history is summarised unasked. None reaches it where that is off. */
export function autoCompactThreshold(limits: ContextLimits): number {
  return mayCompact('auto', limits.env) ? compactThreshold(limits) : Number.POSITIVE_INFINITY;
}

/** `DISABLE_COMPACT` turns all of it off, `DISABLE_AUTO_COMPACT` only automatic compaction. */
export function mayCompact(trigger: 'manual' | 'auto', env: CompactEnvironment): boolean {
  if (isOn(env.DISABLE_COMPACT)) return false;
  return trigger === 'manual' || !isOn(env.DISABLE_AUTO_COMPACT);
}

/**
 * The number of tokens from which on the history is summarised. Room for an answer and a buffer is
 * left, in proportion where the window is small.
 */
export function compactThreshold({ window, maxOutput, env }: ContextLimits): number {
  const wanted = positive(env.CLAUDE_CODE_AUTO_COMPACT_WINDOW);
  const size = wanted === undefined ? window : Math.min(window, wanted);
  const room = size - Math.min(maxOutput, MAX_ANSWER_ROOM, size * ANSWER_SHARE);
  const usual = room - Math.min(BUFFER, size * BUFFER_SHARE);
  const percent = positive(env.CLAUDE_AUTOCOMPACT_PCT_OVERRIDE);
  // It can only lower: a higher one would leave no room to summarise in.
  const lowered = percent === undefined ? usual : Math.min(usual, (room * percent) / 100);
  return Math.floor(lowered);
}

const MAX_ANSWER_ROOM = 20_000;
const ANSWER_SHARE = 0.25;
const BUFFER = 13_000;
const BUFFER_SHARE = 0.1;

/** Compaction that does not help: still too long, or full again at once, again and again. */
export interface CompactionBreaker {
  /** After a compaction. `rapid_refill`: end the run instead of going on like this. */
  compacted(after: {
    readonly turn: number;
    readonly postTokens: number;
    readonly threshold: number;
  }): 'go_on' | 'rapid_refill';
}

export function createCompactionBreaker(): CompactionBreaker {
  let lastTurn: number | undefined;
  let rapid = 0;
  return {
    compacted({ turn, postTokens, threshold }) {
      const isRapid = lastTurn !== undefined && turn - lastTurn <= RAPID_TURNS;
      rapid = isRapid ? rapid + 1 : 0;
      lastTurn = turn;
      return postTokens >= threshold || rapid >= MAX_RAPID ? 'rapid_refill' : 'go_on';
    },
  };
}

const RAPID_TURNS = 2;
const MAX_RAPID = 3;

function positive(value: string | undefined): number | undefined {
  const number = Number(value?.trim() || Number.NaN);
  return Number.isFinite(number) && number > 0 ? number : undefined;
}
