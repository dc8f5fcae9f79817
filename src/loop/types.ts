import type { ModelEvent, ModelFailure, ModelRequest, StreamEvent } from '../model/client.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type {
  AssistantBlock,
  AssistantMessage,
  Message,
  ModelStopReason,
  ToolUseBlock,
  Usage,
  UserBlock,
} from '../protocol/content.js';
import type { MalformedInput, ToolCallResult } from '../protocol/tool-call.js';

export type { MalformedInput, ToolCallResult };

/** One answer of the model, complete. */
export interface ModelAnswer {
  readonly id: string;
  readonly model: string;
  readonly message: AssistantMessage;
  /** One id per content block: the wire frame and the transcript line of a block share it. */
  readonly blockIds: readonly string[];
  readonly stopReason: ModelStopReason | null;
  readonly usage: Usage;
  /** By tool use id. */
  readonly malformed: ReadonlyMap<string, MalformedInput>;
  readonly requestId?: string | undefined;
}

/** A prompt or steering message on its way into the conversation. */
export interface InputMessage {
  readonly uuid: string;
  readonly content: readonly UserBlock[];
  /** Hidden from people: reminders, nudges of the runtime. */
  readonly meta?: boolean;
  /**
   * Text and nothing else: no command is looked for in it, and no mention. The client has composed it, or
   * the host says that no person typed it.
   */
  readonly verbatim?: boolean;
  /**
   * What of it a person said, where that is not all of it: only there an `@` names something. Commands are
   * looked for in the whole. A hook's `initialUserMessage` has no word of a person and starts a skill where
   * it is a run of its own; an agent's `initialPrompt` has none either and goes before the first prompt
   * as text.
   */
  readonly typed?: string;
}

/** Why a run ended. Each maps to one `terminal_reason` and one exit code. */
export type StopReason =
  | { readonly kind: 'completed'; readonly stopReason: ModelStopReason | null }
  | { readonly kind: 'finished'; readonly structuredOutput: unknown }
  /** `words`: whose limit it was, where it was not the agent's own. */
  | { readonly kind: 'max_turns'; readonly limit: number; readonly words?: string }
  | {
      readonly kind: 'budget';
      /** 0 for a budget that is not of dollars. */
      readonly limitUsd: number;
      readonly spentUsd: number;
      /** Which budget it is, where it is not that of dollars for the session. */
      readonly words?: string;
      readonly by?: 'time';
    }
  | { readonly kind: 'aborted'; readonly during: 'streaming' | 'tools' }
  | { readonly kind: 'hook_stopped'; readonly message: string }
  /** A Stop hook said that the turn ends here, whatever others say. */
  | { readonly kind: 'stop_prevented'; readonly message: string }
  /** A hook kept the prompt from the model, or its first word names no command (`cause`). */
  | {
      readonly kind: 'prompt_blocked';
      readonly message: string;
      readonly cause?: 'unknown_command' | undefined;
    }
  /** A hook put the one call of the answer off; resuming the session asks about it again. */
  | { readonly kind: 'tool_deferred'; readonly call: ToolUseBlock }
  | { readonly kind: 'model_failure'; readonly failure: ModelFailure }
  | { readonly kind: 'stuck'; readonly message: string }
  | {
      readonly kind: 'structured_output_missing';
      readonly attempts: number;
      /** Why it was not asked for that often. */
      readonly message?: string;
    };

export type LoopEvent =
  /** The model is about to be asked. */
  | { readonly type: 'requesting' }
  /** A raw event of the model's stream. */
  | { readonly type: 'stream'; readonly event: StreamEvent }
  /** A content block is complete; the answer is not. */
  | {
      readonly type: 'block';
      readonly block: AssistantBlock;
      readonly uuid: string;
      readonly answerId: string;
      readonly model: string;
      readonly usage: Usage;
    }
  | {
      readonly type: 'answer';
      readonly answer: ModelAnswer;
      /** What screens show in place of a text block, by its index. */
      readonly display?: Readonly<Record<number, string>> | undefined;
    }
  | { readonly type: 'retry'; readonly event: Extract<ModelEvent, { type: 'retry' | 'fallback' }> }
  | { readonly type: 'tool_result'; readonly call: ToolUseBlock; readonly result: ToolCallResult }
  | { readonly type: 'input'; readonly message: InputMessage }
  /** An event of a subagent's loop; no loop emits it about itself. */
  | { readonly type: 'child'; readonly agent: AgentRef; readonly event: LoopEvent };

/** The conversation as the model sees it. The loop is its only writer during a run. */
export interface Conversation {
  readonly messages: readonly Message[];
  append(message: Message): void;
  replace(messages: readonly Message[]): void;
}

/** What happens when the model calls nothing more. */
export type IdleDecision =
  | (InputMessage & {
      /** Further information, not a new task: the answer counts as part of the turn before. */
      readonly sameTurn?: boolean;
    })
  | { readonly leave: StopReason }
  | undefined;

/** The calls of one answer with their results, in call order. */
export type FinishedBatch = readonly {
  readonly call: ToolUseBlock;
  readonly result: ToolCallResult;
}[];

export interface BatchEnd {
  /** Go after the results, in the same message. */
  readonly inputs: readonly InputMessage[];
  /** The turn ends, and why. */
  readonly stop?: string;
}

/** Everything that the loop can do. It knows no files, no permissions, no wire. */
export interface LoopDeps {
  readonly conversation: Conversation;
  /** Freezes what the model is shown this turn; compacts first where needed. */
  prepareTurn(signal: AbortSignal): Promise<ModelRequest>;
  callModel(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** Whether this call may run beside others. */
  isConcurrencySafe(call: ToolUseBlock): Promise<boolean>;
  /** How many calls of a group may run at once when this one begins; undefined: as many as usual. */
  maxConcurrency?(call: ToolUseBlock): number | undefined;
  /** Runs one call and always has a result, an error if need be. */
  runTool(
    call: ToolUseBlock,
    malformed: MalformedInput | undefined,
    signal: AbortSignal,
  ): Promise<ToolCallResult>;
  /**
   * Starts slow preparations without effects for all calls of an answer. Returns what ends them, called when
   * all calls have their results.
   */
  prepareCalls?(calls: readonly ToolUseBlock[], signal: AbortSignal): Promise<() => void>;
  /** What screens show in place of the answer's texts, by block; asked before the answer is shown. */
  display?(answer: ModelAnswer): Promise<Readonly<Record<number, string>> | undefined>;
  /** Called when all calls of an answer have their results: adds input, or ends the turn. */
  afterBatch?(batch: FinishedBatch, signal: AbortSignal): Promise<BatchEnd>;
  /** Whether a run may end with a deferred call. */
  readonly mayDefer?: boolean;
  /** Takes the messages that arrived meanwhile. */
  takeInput(): Promise<readonly InputMessage[]>;
  /** Asked before each model call. */
  shouldStop(turnsTaken: number): StopReason | undefined;
  /** The model calls nothing more: leave, go on with one more message, or leave for another reason. */
  onIdle(answer: ModelAnswer, signal: AbortSignal): Promise<IdleDecision>;
  /** The request was too long for the model. True: the history was shortened, try again. */
  onPromptTooLong(signal: AbortSignal): Promise<boolean>;
  /** Makes the message durable. Must return before anything else happens with it. */
  recordInput(message: InputMessage): void;
  recordAnswer(answer: ModelAnswer): void;
  recordResult(call: ToolUseBlock, result: ToolCallResult): void;
  emit(event: LoopEvent): void;
  /** False: no event reports an answer before it is complete (`stream`, `block`). */
  readonly emitPartials?: boolean | undefined;
  uuid(): string;
}

export interface LoopOutcome {
  readonly reason: StopReason;
  /** Model round-trips of this run. */
  readonly turns: number;
  /** The last answer's text. */
  readonly text: string;
  readonly lastAnswer: ModelAnswer | undefined;
  /** What screens show in place of the last answer's text. */
  readonly display?: string | undefined;
}
