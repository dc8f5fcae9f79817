import { knownLimits, plainModelName } from './models.js';
import { trimmed } from './provider.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ResolvedModel {
  /** What is sent to the provider. */
  readonly id: string;
  readonly contextWindow: number;
  readonly maxOutput: number;
  /** False: the limits are assumed. */
  readonly known: boolean;
  /** Betas that this choice needs. */
  readonly betas: readonly string[];
}

const TARGETS: ReadonlyMap<string, { readonly id: string; readonly variable: string }> = new Map([
  ['fable', { id: 'claude-fable-5-1', variable: 'ANTHROPIC_DEFAULT_FABLE_MODEL' }],
  ['opus', { id: 'claude-opus-5-5', variable: 'ANTHROPIC_DEFAULT_OPUS_MODEL' }],
  ['sonnet', { id: 'claude-sonnet-5-5', variable: 'ANTHROPIC_DEFAULT_SONNET_MODEL' }],
  ['haiku', { id: 'claude-haiku-5-5', variable: 'ANTHROPIC_DEFAULT_HAIKU_MODEL' }],
]);

/** Words that mean another alias. `opusplan` plans with opus; outside plan mode it is sonnet. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['default', 'opus'],
  ['best', 'opus'],
  ['opusplan', 'sonnet'],
]);

export const MODEL_ALIASES: readonly string[] = [...TARGETS.keys(), ...SYNONYMS.keys()];

const ASSUMED_CONTEXT = 200_000;
const ASSUMED_OUTPUT = 32_000;
const LONG_CONTEXT = 1_000_000;

/**
 * An alias becomes the id that it stands for today; every other name passes through. `[1m]` behind a
 * name asks for the window of a million tokens. Without a name ANTHROPIC_MODEL counts, then
 * ANTHROPIC_DEFAULT_MODEL, then `default`.
 */
export function resolveModel(name: string | undefined, environment: Environment): ResolvedModel {
  const wanted =
    trimmed(name) ??
    trimmed(environment.ANTHROPIC_MODEL) ??
    trimmed(environment.ANTHROPIC_DEFAULT_MODEL);
  const [, bare = '', long] = /^(.*?)(\[1m\])?$/i.exec(wanted ?? 'default') ?? [];
  const target = aliasTarget(bare, environment);
  const [, id = '', longTarget] = /^(.*?)(\[1m\])?$/i.exec(target) ?? [];
  return withLimits(id, { long: long !== undefined || longTarget !== undefined, environment });
}

function aliasTarget(name: string, environment: Environment): string {
  const word = name.toLowerCase();
  if (word === 'default') {
    const chosen = trimmed(environment.ANTHROPIC_DEFAULT_MODEL);
    if (chosen !== undefined && chosen.toLowerCase() !== 'default') {
      return aliasTarget(chosen, { ...environment, ANTHROPIC_DEFAULT_MODEL: undefined });
    }
  }
  const target = TARGETS.get(SYNONYMS.get(word) ?? word);
  if (target === undefined) return name;
  return trimmed(environment[target.variable]) ?? target.id;
}

function withLimits(
  id: string,
  options: { readonly long: boolean; readonly environment: Environment },
): ResolvedModel {
  const known = knownLimits(id);
  const override = positive(options.environment.CLAUDE_CODE_MAX_CONTEXT_TOKENS);
  const window = options.long ? LONG_CONTEXT : (known?.contextWindow ?? ASSUMED_CONTEXT);
  const needsBeta = options.long && LONG_CONTEXT_BETA_MODELS.has(plainModelName(id));
  return {
    id,
    contextWindow: override ?? window,
    maxOutput: known?.maxOutput ?? ASSUMED_OUTPUT,
    known: known !== undefined,
    betas: needsBeta ? ['context-1m-2025-08-07'] : [],
  };
}

/** Later models have the long window without asking. */
const LONG_CONTEXT_BETA_MODELS: ReadonlySet<string> = new Set([
  'claude-sonnet-4-5',
  'claude-sonnet-4',
]);

function positive(text: string | undefined): number | undefined {
  const value = Number(trimmed(text));
  return Number.isFinite(value) && value > 0 ? Math.floor(value) : undefined;
}
