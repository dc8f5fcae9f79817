import type { ThinkingConfig } from '../client.js';

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
}

const M = 1_000_000;

function facts(
  limits: readonly [contextWindow: number, maxOutput: number],
  thinking: ModelFacts['thinking'],
  more: { readonly effort?: boolean; readonly forcedTool?: boolean } = {},
): ModelFacts {
  return {
    contextWindow: limits[0],
    maxOutput: limits[1],
    thinking,
    effort: more.effort ?? true,
    forcedTool: more.forcedTool ?? true,
  };
}

const FACTS: ReadonlyMap<string, ModelFacts> = new Map([
  ['claude-fable-5-1', facts([M, 128_000], 'always', { forcedTool: false })],
  ['claude-mythos-5-1', facts([M, 128_000], 'always', { forcedTool: false })],
  ['claude-fable-5', facts([M, 128_000], 'always')],
  ['claude-mythos-5', facts([M, 128_000], 'always')],
  ['claude-opus-5-5', facts([M, 128_000], 'always', { forcedTool: false })],
  ['claude-opus-5', facts([M, 128_000], 'adaptive')],
  ['claude-opus-4-8', facts([M, 128_000], 'adaptive')],
  ['claude-opus-4-7', facts([M, 128_000], 'adaptive')],
  ['claude-opus-4-6', facts([M, 128_000], 'both')],
  ['claude-opus-4-5', facts([200_000, 64_000], 'budget')],
  ['claude-opus-4-1', facts([200_000, 32_000], 'budget', { effort: false })],
  ['claude-opus-4', facts([200_000, 32_000], 'budget', { effort: false })],
  ['claude-sonnet-5-5', facts([M, 128_000], 'between_tools', { forcedTool: false })],
  ['claude-sonnet-5', facts([M, 128_000], 'adaptive')],
  ['claude-sonnet-4-6', facts([M, 64_000], 'both')],
  ['claude-sonnet-4-5', facts([200_000, 64_000], 'budget', { effort: false })],
  ['claude-sonnet-4', facts([200_000, 64_000], 'budget', { effort: false })],
  ['claude-haiku-5-5', facts([M, 128_000], 'adaptive')],
  ['claude-haiku-4-5', facts([200_000, 64_000], 'budget', { effort: false })],
  ['claude-3-7-sonnet', facts([200_000, 64_000], 'budget', { effort: false })],
  ['claude-3-5-sonnet', facts([200_000, 8_192], 'none', { effort: false })],
  ['claude-3-5-haiku', facts([200_000, 8_192], 'none', { effort: false })],
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
