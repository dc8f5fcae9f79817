import type { Usage } from '../../protocol/content.js';
import type { ThinkingConfig } from '../client.js';

/** Dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly cacheRead: number;
}

interface PriceList extends Price {
  /** A dearer price for the whole request when its prompt is longer than `above` tokens. */
  readonly long?: { readonly above: number; readonly price: Price };
}

const WEB_SEARCH_USD = 0.01;

/** Writing to the cache costs 1.25 times the input price for five minutes, twice for an hour. */
function price(input: number, output: number, cacheReadShare = 0.1): Price {
  return {
    input,
    output,
    cacheWrite5m: input * 1.25,
    cacheWrite1h: input * 2,
    cacheRead: input * cacheReadShare,
  };
}

/**
 * What is known of Anthropic's models. `thinking`: `budget` takes a token budget only, `both` a
 * budget or adaptive, `adaptive` no budget, `always` neither a budget nor switching off,
 * `between_tools` like adaptive with that word for "off".
 */
interface ModelFacts {
  readonly contextWindow: number;
  readonly maxOutput: number;
  readonly thinking: 'none' | 'budget' | 'both' | 'adaptive' | 'always' | 'between_tools';
  readonly effort: boolean;
  readonly forcedTool: boolean;
  /** Anthropic's list price, as published in October 2026. */
  readonly price: PriceList | undefined;
}

const M = 1_000_000;

function facts(
  [contextWindow, maxOutput]: readonly [number, number],
  thinking: ModelFacts['thinking'],
  { price, effort = true, forcedTool = true }: Partial<ModelFacts>,
): ModelFacts {
  return { contextWindow, maxOutput, thinking, effort, forcedTool, price };
}

const LARGE = [M, 128_000] as const;
const SMALL = [200_000, 64_000] as const;

const FACTS: ReadonlyMap<string, ModelFacts> = new Map([
  ['claude-fable-5-1', facts(LARGE, 'always', { price: price(10, 50, 0.025), forcedTool: false })],
  ['claude-mythos-5-1', facts(LARGE, 'always', { price: price(10, 50, 0.025), forcedTool: false })],
  ['claude-fable-5', facts(LARGE, 'always', { price: price(10, 50) })],
  ['claude-mythos-5', facts(LARGE, 'always', { price: price(10, 50) })],
  ['claude-opus-5-5', facts(LARGE, 'always', { price: price(4, 20, 0.05), forcedTool: false })],
  ['claude-opus-5', facts(LARGE, 'adaptive', { price: price(5, 25) })],
  ['claude-opus-4-8', facts(LARGE, 'adaptive', { price: price(5, 25) })],
  ['claude-opus-4-7', facts(LARGE, 'adaptive', { price: price(5, 25) })],
  ['claude-opus-4-6', facts(LARGE, 'both', { price: price(5, 25) })],
  ['claude-opus-4-5', facts(SMALL, 'budget', { price: price(5, 25) })],
  ['claude-opus-4-1', facts([200_000, 32_000], 'budget', { price: price(15, 75), effort: false })],
  ['claude-opus-4', facts([200_000, 32_000], 'budget', { price: price(15, 75), effort: false })],
  [
    'claude-sonnet-5-5',
    facts(LARGE, 'between_tools', { price: price(2, 10, 0.05), forcedTool: false }),
  ],
  ['claude-sonnet-5', facts(LARGE, 'adaptive', { price: price(2, 10) })],
  ['claude-sonnet-4-6', facts([M, 64_000], 'both', { price: price(3, 15) })],
  ['claude-sonnet-4-5', facts(SMALL, 'budget', { price: price(3, 15), effort: false })],
  ['claude-sonnet-4', facts(SMALL, 'budget', { price: price(3, 15), effort: false })],
  [
    'claude-haiku-5-5',
    facts(LARGE, 'adaptive', {
      price: { ...price(0.1, 0.5), long: { above: 100_000, price: price(0.5, 2.5) } },
    }),
  ],
  ['claude-haiku-4-5', facts(SMALL, 'budget', { price: price(1, 5), effort: false })],
  ['claude-3-7-sonnet', facts(SMALL, 'budget', { price: price(3, 15), effort: false })],
  ['claude-3-5-sonnet', facts([200_000, 8_192], 'none', { effort: false })],
  ['claude-3-5-haiku', facts([200_000, 8_192], 'none', { price: price(0.8, 4), effort: false })],
]);

/** The name under which a model is known here: without provider prefix, date, `[1m]` and the like. */
export function plainModelName(model: string): string {
  return model
    .toLowerCase()
    .replace(/\[[^\]]*\]$/, '')
    .replace(/^(?:.*\/)?(?:[a-z]{2,6}\.)?(?:anthropic\.)?(?=claude-)/, '')
    .replace(/(?:-v\d+(?::\d+)?)$/, '')
    .replace(/(?:[-@]\d{8}|-latest)$/, '')
    .replace(/-0$/, '');
}

export function knownLimits(
  model: string,
): { readonly contextWindow: number; readonly maxOutput: number } | undefined {
  const known = FACTS.get(plainModelName(model));
  return known && { contextWindow: known.contextWindow, maxOutput: known.maxOutput };
}

/** Some models refuse a request that forces a tool; they get the choice. */
export function acceptsForcedTool(model: string): boolean {
  return FACTS.get(plainModelName(model))?.forcedTool ?? true;
}

export function acceptedEffort(model: string, effort: string | undefined): string | undefined {
  return FACTS.get(plainModelName(model))?.effort === false ? undefined : effort;
}

const DEFAULT_BUDGET = 8_000;
const MIN_BUDGET = 1_024;

/** The nearest thinking setting that the model does not refuse. Unknown models get what was asked. */
export function acceptedThinking(
  model: string,
  thinking: ThinkingConfig | undefined,
  maxTokens: number,
): ThinkingConfig | { readonly type: 'between_tools' } | undefined {
  const kind = FACTS.get(plainModelName(model))?.thinking;
  if (thinking === undefined || kind === undefined || kind === 'both') return thinking;
  if (kind === 'none') return undefined;
  const shown =
    thinking.type === 'disabled' || thinking.display === undefined
      ? {}
      : { display: thinking.display };
  if (kind === 'budget') {
    if (thinking.type !== 'adaptive') return thinking;
    const budget = Math.min(DEFAULT_BUDGET, maxTokens - 1);
    return budget < MIN_BUDGET ? undefined : { type: 'enabled', budget_tokens: budget, ...shown };
  }
  if (thinking.type !== 'disabled') return { type: 'adaptive', ...shown };
  if (kind === 'always') return undefined;
  return kind === 'between_tools' ? { type: 'between_tools' } : thinking;
}

export interface CostQuestion {
  readonly model: string;
  readonly usage: Usage;
  /** `anthropic`, `openai-compatible` …: list prices are those of the first only. */
  readonly provider: string;
}

/** What a call cost in dollars; undefined when no price is known. Never a guess. */
export function costOf(question: CostQuestion): number | undefined {
  const { usage } = question;
  const list = priceList(question);
  if (list === undefined) return undefined;
  const written = usage.cache_creation_input_tokens;
  const prompt = usage.input_tokens + written + usage.cache_read_input_tokens;
  const price = list.long !== undefined && prompt > list.long.above ? list.long.price : list;
  const hour = Math.min(written, usage.cache_creation?.ephemeral_1h_input_tokens ?? 0);
  const tokens =
    usage.input_tokens * price.input +
    usage.output_tokens * price.output +
    (written - hour) * price.cacheWrite5m +
    hour * price.cacheWrite1h +
    usage.cache_read_input_tokens * price.cacheRead;
  return tokens / M + (usage.server_tool_use?.web_search_requests ?? 0) * WEB_SEARCH_USD;
}

/** Whether a budget in dollars can be kept with this model. */
export function hasPrice(question: Omit<CostQuestion, 'usage'>): boolean {
  return priceList(question) !== undefined;
}

function priceList({ model, provider }: Omit<CostQuestion, 'usage'>): PriceList | undefined {
  return provider === 'anthropic' ? FACTS.get(plainModelName(model))?.price : undefined;
}
