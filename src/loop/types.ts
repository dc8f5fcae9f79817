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

/** One complete answer of the model. */
export interface ModelAnswer {
  readonly id: string;
  readonly model: string;
  readonly message: AssistantMessage;
  /** One id per content block, shared by its wire frame and its transcript line. */
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
  /** Hidden from people: reminders and notes of the runtime. */
  readonly meta?: boolean;
  /**
   * Plain text in which no command or mention is looked up: the client composed it, or the host
   * says that no person typed it.
   */
  readonly verbatim?: boolean;
  /**
   * The part that a person typed, where it is not the whole text. An `@` is a mention only there;
   * commands are looked for in the whole. A hook's `initialUserMessage` has no typed part, and
   * neither has an agent's `initialPrompt`, which is prepended to the first prompt as text.
   */
  readonly typed?: string;
}

/** Why a run ended; each kind maps to one `terminal_reason` and one exit code. */
export type StopReason =
  | { readonly kind: 'completed'; readonly stopReason: ModelStopReason | null }
  | { readonly kind: 'finished'; readonly structuredOutput: unknown }
  /** `words` names the budget whose limit it was, unless it was the agent's own. */
  | { readonly kind: 'max_turns'; readonly limit: number; readonly words?: string }
  | {
      readonly kind: 'budget';
      /** 0 for a budget in another unit than dollars. */
      readonly limitUsd: number;
      readonly spentUsd: number;
      /** Names the budget, unless it is the session's budget in dollars. */
      readonly words?: string;
      readonly by?: 'time';
    }
  | { readonly kind: 'aborted'; readonly during: 'streaming' | 'tools' }
  | { readonly kind: 'hook_stopped'; readonly message: string }
  /** A Stop hook ended the turn; the answers of other hooks do not count. */
  | { readonly kind: 'stop_prevented'; readonly message: string }
  /** A hook blocked the prompt, or its first word names no command (`cause`). */
  | {
      readonly kind: 'prompt_blocked';
      readonly message: string;
      readonly cause?: 'unknown_command' | undefined;
    }
  /** A hook deferred the only call of the answer; resuming the session asks about it again. */
  | { readonly kind: 'tool_deferred'; readonly call: ToolUseBlock }
  | { readonly kind: 'model_failure'; readonly failure: ModelFailure }
  | { readonly kind: 'stuck'; readonly message: string }
  | {
      readonly kind: 'structured_output_missing';
      readonly attempts: number;
      /** Why the structured answer was given up before the last retry. */
      readonly message?: string;
    };

export type LoopEvent =
  /** Emitted right before a request to the model. */
  | { readonly type: 'requesting' }
  /** A raw event of the model's stream. */
  | { readonly type: 'stream'; readonly event: StreamEvent }
  /** A content block is complete while its answer still streams. */
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
      /** Replacement texts for display, by block index. */
      readonly display?: Readonly<Record<number, string>> | undefined;
    }
  | { readonly type: 'retry'; readonly event: Extract<ModelEvent, { type: 'retry' | 'fallback' }> }
  | { readonly type: 'tool_result'; readonly call: ToolUseBlock; readonly result: ToolCallResult }
  | { readonly type: 'input'; readonly message: InputMessage }
  /** An event of a subagent's loop, wrapped by its parent. */
  | { readonly type: 'child'; readonly agent: AgentRef; readonly event: LoopEvent };

/** The conversation as the model sees it. The loop is its only writer during a run. */
export interface Conversation {
  readonly messages: readonly Message[];
  append(message: Message): void;
  replace(messages: readonly Message[]): void;
}

/** What to do when the answer has no tool calls. */
export type IdleDecision =
  | (InputMessage & {
      /** Additional information, not a new task: the answer counts as part of the previous turn. */
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
  /** Added after the results, in the same message. */
  readonly inputs: readonly InputMessage[];
  /** Ends the turn, with the reason. */
  readonly stop?: string;
}

/** Everything that the loop can do: it has no access to files, permissions or the wire of its own. */
export interface LoopDeps {
  readonly conversation: Conversation;
  /** Builds the request of this turn, compacting the history first where needed. */
  prepareTurn(signal: AbortSignal): Promise<ModelRequest>;
  callModel(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** Whether this call may run in parallel with others. */
  isConcurrencySafe(call: ToolUseBlock): Promise<boolean>;
  /** How many calls of a group may run at once when this one starts; undefined means the default. */
  maxConcurrency?(call: ToolUseBlock): number | undefined;
  /** Runs one call; a failure becomes an error result. */
  runTool(
    call: ToolUseBlock,
    malformed: MalformedInput | undefined,
    signal: AbortSignal,
  ): Promise<ToolCallResult>;
  /**
   * Starts slow preparations without side effects for all calls of an answer; the returned function
   * ends them once all calls have results.
   */
  prepareCalls?(calls: readonly ToolUseBlock[], signal: AbortSignal): Promise<() => void>;
  /** Replacement texts for display, by block index; asked before the answer is shown. */
  display?(answer: ModelAnswer): Promise<Readonly<Record<number, string>> | undefined>;
  /** Called when all calls of an answer have their results: adds input, or ends the turn. */
  afterBatch?(batch: FinishedBatch, signal: AbortSignal): Promise<BatchEnd>;
  /** Whether a run may end with a deferred call. */
  readonly mayDefer?: boolean;
  /** Takes the messages that arrived during the turn. */
  takeInput(): Promise<readonly InputMessage[]>;
  /** Called before each model call. */
  shouldStop(turnsTaken: number): StopReason | undefined;
  /** Called when the answer has no tool calls: end the run, continue with a message, or end for another reason. */
  onIdle(answer: ModelAnswer, signal: AbortSignal): Promise<IdleDecision>;
  /**
   * Called when the request was too long for the model; true means that the history was shortened
   * and the loop tries again.
   */
  onPromptTooLong(signal: AbortSignal): Promise<boolean>;
  /** Makes the message durable before the loop uses it. */
  recordInput(message: InputMessage): void;
  recordAnswer(answer: ModelAnswer): void;
  recordResult(call: ToolUseBlock, result: ToolCallResult): void;
  emit(event: LoopEvent): void;
  /** False: no `stream` or `block` events are emitted before an answer is complete. */
  readonly emitPartials?: boolean | undefined;
  uuid(): string;
}

export interface LoopOutcome {
  readonly reason: StopReason;
  /** Model calls of this run. */
  readonly turns: number;
  readonly text: string;
  readonly lastAnswer: ModelAnswer | undefined;
  /** Replacement for the last answer's text on screens. */
  readonly display?: string | undefined;
}
