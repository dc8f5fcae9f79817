import { messageOf, PortcullisError } from '../../errors.js';
import type { EventDeps } from '../../hooks/answers/round.js';
import type { Scene } from '../../hooks/dispatch/scene.js';
import {
  afterModelSwitch,
  beforeModelSwitch,
  type ModelSwitched,
} from '../../hooks/events/model.js';
import { MODEL_ALIASES, type ResolvedModel, resolveModel } from '../../model/catalog/aliases.js';
import { costOf, hasPrice } from '../../model/catalog/models.js';
import type { ThinkingConfig, ThinkingDisplay } from '../../model/client.js';
import type { Clock } from '../../platform/clock.js';
import { ZERO_USAGE } from '../../protocol/content.js';
import type { ModelOffer } from '../../protocol/session-events.js';
import type { ModelChoice } from './agent.js';

export interface ModelChoiceOptions {
  readonly name: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly provider: string;
  readonly thinking?: 'adaptive' | 'enabled' | 'disabled' | undefined;
  readonly maxThinkingTokens?: number | undefined;
  readonly thinkingDisplay?: ThinkingDisplay | undefined;
  readonly effort?: string | undefined;
  readonly betas?: readonly string[] | undefined;
  readonly maxBudgetUsd?: number | undefined;
  /** Names or aliases of models to try when the model is not available. */
  readonly fallbackModels?: readonly string[] | undefined;
}

/** The model and effort that a skill sets for the rest of a turn; an absent field changes nothing. */
export interface ModelOverride {
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
}

/** A host's change of thinking; an absent field changes nothing, null restores the initial value. */
export interface ThinkingOverride {
  /** 0 turns thinking off. */
  readonly tokens?: number | null;
  readonly display?: ThinkingDisplay | null;
}

export type ModelLimits = Pick<ResolvedModel, 'contextWindow' | 'maxOutput'>;

/** The model in use, which changes only between turns. */
export interface ModelChoices {
  current(): ModelChoice;
  limits(): ModelLimits;
  /** A cheap model for side jobs; the current one when none is known. */
  small(): string;
  /** Resolved full names. */
  readonly fallbacks: readonly string[];
  /** The full name of the model that `set` would choose; throws as `set` does. */
  resolve(name: string | undefined): string;
  /** Undefined returns to the model that the session was opened with. */
  set(name: string | undefined): string;
  /** Overrides the choice until the turn ends; repeated calls add up. Throws as `set` does. */
  forTurn(override: ModelOverride): void;
  endTurn(): void;
  /** Changes thinking from now on. */
  think(override: ThinkingOverride): void;
  /** The choice for another agent, based on the current model; throws as `set` does. */
  other(override: ModelOverride): { readonly choice: ModelChoice; readonly limits: ModelLimits };
  /** Models that can be chosen by name. */
  offers(): readonly ModelOffer[];
}

/** Longer answers are rare, and a higher limit would only reserve context. */
const MAX_ANSWER_TOKENS = 32_000;

export function createModelChoices(options: ModelChoiceOptions): ModelChoices {
  const pick = (name: string | undefined): ResolvedModel => {
    const model = resolveModel(name, options.env);
    refuseUnpricedBudget(model.id, options);
    return model;
  };
  let chosen = pick(options.name);
  let turn: { readonly model?: ResolvedModel; readonly effort?: string } = {};
  let thinking: Pick<ModelChoiceOptions, 'thinking' | 'maxThinkingTokens' | 'thinkingDisplay'> = {};
  let model = chosen;
  let current = choiceFor(model, options);
  const settle = (): void => {
    model = turn.model ?? chosen;
    current = choiceFor(model, {
      ...options,
      ...thinking,
      effort: turn.effort ?? options.effort,
    });
  };
  return {
    current: () => current,
    limits: () => model,
    fallbacks: (options.fallbackModels ?? []).map((name) => pick(name).id),
    small: () =>
      options.provider === 'anthropic' ? resolveModel('haiku', options.env).id : model.id,
    resolve: (name) => pick(name ?? options.name).id,
    set(name) {
      chosen = pick(name ?? options.name);
      // A model chosen during the turn overrides the one that a skill set.
      turn = { effort: turn.effort };
      settle();
      return model.id;
    },
    forTurn(override) {
      turn = {
        model: override.model === undefined ? turn.model : pick(override.model),
        effort: override.effort ?? turn.effort,
      };
      settle();
    },
    endTurn() {
      if (turn.model === undefined && turn.effort === undefined) return;
      turn = {};
      settle();
    },
    think({ tokens, display }) {
      const { thinkingDisplay, ...budget } = thinking;
      const shown = display === undefined ? thinkingDisplay : (display ?? undefined);
      const given = tokens === null ? {} : { thinking: undefined, maxThinkingTokens: tokens };
      thinking = {
        ...(tokens === undefined ? budget : given),
        thinkingDisplay: shown,
      };
      settle();
    },
    other(override) {
      // Without any override the agent shares the current choice.
      if (override.model === undefined && override.effort === undefined)
        return { choice: current, limits: model };
      const wanted = override.model === undefined ? model : pick(override.model);
      const effort = override.effort ?? turn.effort ?? options.effort;
      return { choice: choiceFor(wanted, { ...options, ...thinking, effort }), limits: wanted };
    },
    offers: () => offersOf(options, model.id),
  };
}

/** Aliases where the provider has them, otherwise the current model only. */
function offersOf(options: ModelChoiceOptions, current: string): readonly ModelOffer[] {
  const names = options.provider === 'anthropic' ? MODEL_ALIASES : [current];
  return names.map((value) => {
    const { id, contextWindow } = resolveModel(value, options.env);
    const description = `${id}, context of ${Math.round(contextWindow / 1000)}k tokens`;
    return { value, displayName: value, description, resolvedModel: id };
  });
}

function choiceFor(model: ResolvedModel, options: ModelChoiceOptions): ModelChoice {
  const betas = [...model.betas, ...(options.betas ?? [])];
  const thinking = thinkingFor(options);
  return Object.freeze({
    model: model.id,
    maxTokens: Math.min(model.maxOutput, maxAnswer(options.env)),
    thinking,
    effort: options.effort,
    ...(betas.length === 0 ? {} : { betas }),
  });
}

function maxAnswer(env: ModelChoiceOptions['env']): number {
  const wanted = Number(env.CLAUDE_CODE_MAX_OUTPUT_TOKENS);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : MAX_ANSWER_TOKENS;
}

function thinkingFor(options: ModelChoiceOptions): ThinkingConfig | undefined {
  const fromEnvironment = Number(options.env.MAX_THINKING_TOKENS);
  const budget =
    options.maxThinkingTokens ??
    (options.env.MAX_THINKING_TOKENS !== undefined && Number.isInteger(fromEnvironment)
      ? fromEnvironment
      : undefined);
  if (options.thinking === 'disabled' || budget === 0) return { type: 'disabled' };
  const { thinkingDisplay: display } = options;
  if (budget !== undefined) return { type: 'enabled', budget_tokens: budget, display };
  if (options.thinking === 'adaptive' || options.thinking === 'enabled')
    return { type: 'adaptive', display };
  return undefined;
}

/** fail-closed: a budget in dollars is refused when the model's price is not known. */
function refuseUnpricedBudget(model: string, options: ModelChoiceOptions): void {
  if (options.maxBudgetUsd === undefined || hasPrice({ model, provider: options.provider })) return;
  throw new PortcullisError(
    'config',
    `a budget in dollars cannot be kept: no price is known for ${model}`,
    {
      remedy: 'limit the run with --max-turns instead, or use a model whose price is known',
    },
  );
}

/** The origin of a model change. */
export type ModelSwitchSource = 'command' | 'picker' | 'sdk';

export interface ModelSwitchDeps {
  readonly choices: ModelChoices;
  readonly provider: string;
  readonly hooks: EventDeps;
  readonly clock: Pick<Clock, 'monotonic'>;
  scene(): Scene;
  /** Asks a person a hook's question; when absent, such a change is refused. */
  readonly confirm?: ((question: string) => Promise<boolean>) | undefined;
  /** Tokens of the conversation now. */
  contextTokens(): number;
  /** Passes notes of hooks to the new model. */
  tell(texts: readonly string[]): Promise<void>;
}

export interface ModelSwitches {
  /** Throws when the model cannot be used or a hook blocks the change. */
  set(name: string | undefined, source: ModelSwitchSource): Promise<string>;
  /**
   * Changes the model for the rest of the turn, for a skill that a person typed; resolves to the reason
   * if it stays.
   */
  forTurn(name: string): Promise<string | undefined>;
  /** A fallback model answered instead of the requested one. */
  fellBack(from: string, to: string): Promise<void>;
  /** The model has answered, so the provider's cache is warm for a while. */
  answered(): void;
}

/** How long a provider caches a prompt by default. */
const CACHE_MS = 5 * 60_000;

/** Changes the model, with the hooks before and after a change. */
export function createModelSwitches(deps: ModelSwitchDeps): ModelSwitches {
  const { choices, hooks } = deps;
  let lastAnswer: number | undefined;
  const facts = (from: string, to: string, requested: string | null) => {
    const tokens = deps.contextTokens();
    const usage = { ...ZERO_USAGE, cache_creation_input_tokens: tokens };
    const cost = costOf({ model: to, provider: deps.provider, usage });
    return {
      from_model: from,
      to_model: to,
      requested_model: requested,
      context_tokens: tokens,
      prompt_cache_warm: lastAnswer !== undefined && deps.clock.monotonic() - lastAnswer < CACHE_MS,
      cache_ttl: '5m',
      estimated_cache_write_usd: cost ?? 0,
      pricing: cost === undefined ? 'default' : 'catalog',
    } as const satisfies Omit<ModelSwitched, 'source'>;
  };
  const change = async <T>(
    wanted: { readonly name: string | undefined; readonly source: ModelSwitchSource },
    apply: () => T,
  ): Promise<T> => {
    const from = choices.current().model;
    const to = choices.resolve(wanted.name);
    if (to === from) return apply();
    const facing = { ...facts(from, to, wanted.name ?? null), source: wanted.source };
    const refusal = await beforeModelSwitch(hooks, facing, deps.scene(), deps.confirm);
    if (refusal !== undefined) {
      throw new PortcullisError('denied', `the model stays ${from}: ${refusal}`);
    }
    const done = apply();
    await deps.tell(await afterModelSwitch(hooks, facing, deps.scene()));
    return done;
  };
  return {
    set: (name, source) => change({ name, source }, () => choices.set(name)),
    async forTurn(name) {
      try {
        await change({ name, source: 'command' }, () => choices.forTurn({ model: name }));
        return undefined;
      } catch (thrown) {
        return messageOf(thrown);
      }
    },
    async fellBack(from, to) {
      const fallen = { ...facts(from, to, null), source: 'auto' as const };
      await deps.tell(await afterModelSwitch(hooks, fallen, deps.scene()));
    },
    answered() {
      lastAnswer = deps.clock.monotonic();
    },
  };
}
