import type { InputMessage, LoopEvent, SessionInfo, SessionNews } from '../harness.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { Usage } from '../protocol/content.js';
import type { PermissionDenial } from '../protocol/permissions.js';
import type { Question } from './questions.js';

/** One event of a session, in the order in which it happened. JSON values only. */
export interface Envelope {
  /** Starts at 1 and grows by one with every event of the session. */
  readonly seq: number;
  /** ISO time. */
  readonly time: string;
  readonly event: SessionEvent;
}

/** Everything that a client can see happen. */
export type SessionEvent = LoopEvent | SessionNews | RunnerEvent;

/** What the turn runner adds to the events of the agent loop and of the session. */
export type RunnerEvent =
  /** The session is open, or a new one took its place (`/clear`, `/resume`). */
  | { readonly type: 'opened'; readonly info: SessionInfo; readonly replaces?: string }
  | {
      readonly type: 'prompt';
      readonly id: string;
      readonly state: 'queued' | 'started' | 'cancelled' | 'completed';
      /** The prompt itself, with `queued`. */
      readonly prompt?: QueuedPrompt;
    }
  | {
      readonly type: 'turn_started';
      readonly info: SessionInfo;
      readonly prompts: readonly string[];
    }
  | { readonly type: 'turn_finished'; readonly turn: TurnResult }
  | { readonly type: 'tool'; readonly call: ToolCallView; readonly state: ToolCallState }
  | { readonly type: 'question'; readonly question: Question }
  | {
      readonly type: 'question_closed';
      readonly id: string;
      readonly outcome: 'answered' | 'expired' | 'withdrawn' | 'refused';
      /** The client that answered. */
      readonly by?: string;
    }
  /** The output of a slash command. */
  | { readonly type: 'command_output'; readonly line: string; readonly output: CommandOutput }
  | { readonly type: 'commands_changed' }
  | { readonly type: 'closed'; readonly reason: string };

/** A prompt that has not started yet. */
export interface QueuedPrompt {
  readonly message: InputMessage;
  /** `later`: not folded into a running turn. `now`: before all others. */
  readonly priority: 'now' | 'next' | 'later';
  /** The client chose the id and wants to hear what becomes of the prompt. */
  readonly named: boolean;
  /** Where the client says the prompt comes from. */
  readonly origin?: Readonly<Record<string, unknown>>;
  /** Only added to the conversation; the model is not asked. */
  readonly append?: boolean;
}

export type ToolCallState =
  | { readonly kind: 'pending' }
  | { readonly kind: 'running' }
  | { readonly kind: 'output'; readonly text: string }
  | { readonly kind: 'denied'; readonly reason: string }
  | { readonly kind: 'done' | 'failed' };

export interface ToolCallView {
  readonly toolUseId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly agent: AgentRef;
}

/** How a turn ended. */
export interface TurnResult {
  /** The kind of the loop's stop reason: `completed`, `aborted`, `max_turns`, … */
  readonly end: string;
  /** One line for people where the turn did not simply complete; empty otherwise. */
  readonly problem: string;
  readonly text: string;
  readonly durationMs: number;
  readonly usage: Usage;
  readonly costUsd: number;
  readonly denials: readonly PermissionDenial[];
}

/** What a slash command prints, and what the client does next. */
export interface CommandOutput {
  /** Plain text; may be empty. */
  readonly text: string;
  readonly failed?: boolean;
  /** A list to choose from: a picker in a terminal, numbered lines elsewhere. */
  readonly choices?: readonly CommandChoice[];
  /** Text to put into the input line. */
  readonly draft?: string;
  /** The client leaves the session. */
  readonly exit?: boolean;
}

export interface CommandChoice {
  readonly label: string;
  readonly description?: string;
  /** The command line that choosing it runs. */
  readonly line: string;
  readonly current?: boolean;
}
