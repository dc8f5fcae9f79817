import type { IdleDecision, InputMessage, LoopOutcome, ModelAnswer } from '../../loop/types.js';

/** Why a session ends, as hooks are told. */
export type SessionEndReason = 'clear' | 'resume' | 'logout' | 'prompt_input_exit' | 'other';

/** What hooks want before the first prompt. */
export interface Beginning {
  /** Stand beside the first prompt. */
  readonly inputs: readonly InputMessage[];
  /** Prompts that hooks give: each is a run of its own, before the person's. */
  readonly prompts: readonly InputMessage[];
}

/** What became of prompts that hooks were shown. */
export type Submitted =
  | { readonly kind: 'pass'; readonly inputs: readonly InputMessage[] }
  /** None of them goes to the model. */
  | {
      readonly kind: 'blocked';
      readonly message: string;
      /** All of them begin with the name of a command that does not exist. */
      readonly cause?: 'unknown_command' | undefined;
    };

/** Hooks around the runs of a session. Without any, each of these is over at once. */
export interface RunHooks {
  /** Once, before the first run. */
  begin(signal: AbortSignal): Promise<Beginning>;
  /** Prompts on their way to the model: what hooks add to them, or that they go no further. */
  submit(prompts: readonly InputMessage[], signal: AbortSignal): Promise<Submitted>;
  /** The model is done: leave, or go on with what a hook says. */
  beforeLeaving(answer: ModelAnswer, signal: AbortSignal): Promise<IdleDecision>;
  /** The run is over. */
  ended(outcome: LoopOutcome): Promise<void>;
  /** The session is over. */
  close(reason: SessionEndReason): Promise<void>;
}
