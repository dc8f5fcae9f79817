import { messageOf, PortcullisError } from '../../errors.js';
import type { Scene } from '../../hooks/dispatch/scene.js';
import type { ModelHooks, ModelSwitched } from '../../hooks/events/model.js';
import { costOf } from '../../model/catalog/models.js';
import type { Clock } from '../../platform/clock.js';
import { ZERO_USAGE } from '../../protocol/content.js';
import type { ModelChoices } from './model-choice.js';
import type { ModelSwitchSource } from './session.js';

export interface ModelSwitchDeps {
  readonly choices: ModelChoices;
  readonly provider: string;
  readonly hooks: ModelHooks;
  readonly clock: Pick<Clock, 'monotonic'>;
  scene(): Scene;
  /** Puts a hook's question to a person; absent: what hooks want asked is refused. */
  readonly confirm?: ((question: string) => Promise<boolean>) | undefined;
  /** Tokens that the conversation takes now. */
  contextTokens(): number;
  /** What hooks say to the model that takes over. */
  tell(texts: readonly string[]): Promise<void>;
}

export interface ModelSwitches {
  /** Throws when the model cannot be used or a hook holds the switch back. */
  set(name: string | undefined, source: ModelSwitchSource): Promise<string>;
  /** For the rest of the turn, because of a skill that a person typed. Resolves to why it stays as it is. */
  forTurn(name: string): Promise<string | undefined>;
  /** Another model answers than the one that was asked. */
  fellBack(from: string, to: string): Promise<void>;
  /** The model has answered: what it read is in the provider's cache for a while. */
  answered(): void;
}

/** How long a provider keeps what it has read, unless asked otherwise. */
const CACHE_MS = 5 * 60_000;

/** Changes of the model, with the hooks that guard and follow them. */
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
  /** Asks the hooks, changes, and tells them. */
  const change = async <T>(
    wanted: { readonly name: string | undefined; readonly source: ModelSwitchSource },
    apply: () => T,
  ): Promise<T> => {
    const from = choices.current().model;
    const to = choices.resolve(wanted.name);
    if (to === from) return apply();
    const facing = { ...facts(from, to, wanted.name ?? null), source: wanted.source };
    const { refusal } = await hooks.before(
      facing,
      deps.scene(),
      deps.confirm && { confirm: deps.confirm },
    );
    if (refusal !== undefined) {
      throw new PortcullisError('denied', `the model stays ${from}: ${refusal}`);
    }
    const done = apply();
    await deps.tell(await hooks.after(facing, deps.scene()));
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
      await deps.tell(await hooks.after(fallen, deps.scene()));
    },
    answered() {
      lastAnswer = deps.clock.monotonic();
    },
  };
}
