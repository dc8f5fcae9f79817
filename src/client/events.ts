import type { InputMessage, LoopEvent, RunResult, SessionInfo, SessionNews } from '../app.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { ToolCallResult } from '../protocol/tool-call.js';
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
export type SessionEvent = AgentEvent | SessionNews | RunnerEvent;

/** What an agent does, step by step. */
export type AgentEvent =
  | Exclude<LoopEvent, { type: 'answer' | 'child' }>
  | AnswerEvent
  | { readonly type: 'child'; readonly agent: AgentRef; readonly event: AgentEvent };

/** A whole answer of the model. */
export interface AnswerEvent {
  readonly type: 'answer';
  readonly answer: Omit<Extract<LoopEvent, { type: 'answer' }>['answer'], 'malformed'>;
  /** What screens show in place of a text block, by its index. */
  readonly display?: Readonly<Record<number, string>>;
}

/** What the turn runner adds to the events of the agent and of the session. */
export type RunnerEvent =
  /** The conversation ends here and goes on as another session (`/clear`, `/resume`). */
  | {
      readonly type: 'replacing';
      readonly trigger: 'clear' | 'resume';
      readonly newId: string;
      readonly promptId?: string | undefined;
    }
  /** The session is open, or a new one took its place. */
  | { readonly type: 'opened'; readonly info: SessionInfo }
  | {
      readonly type: 'prompt';
      readonly id: string;
      readonly state: 'queued' | 'started' | 'cancelled' | 'completed';
      /** The client chose the id and wants to hear what becomes of the prompt. */
      readonly named: boolean;
      /** With `queued`. */
      readonly content?: InputMessage['content'];
    }
  | {
      readonly type: 'turn_started';
      readonly info: SessionInfo;
      /** Ids of prompts that their clients chose. */
      readonly prompts: readonly string[];
      /** A call that was put off earlier is taken up again. */
      readonly resumes?: boolean | undefined;
    }
  | { readonly type: 'turn_finished'; readonly turn: TurnResult }
  | { readonly type: 'tool'; readonly call: ToolCallView; readonly state: ToolCallState }
  /** A person runs a shell command; with `result` it has ended. */
  | {
      readonly type: 'shell';
      readonly call: ToolCallView;
      readonly result?: ToolCallResult | undefined;
    }
  | { readonly type: 'question'; readonly question: Question }
  | {
      readonly type: 'question_closed';
      readonly id: string;
      readonly outcome: 'answered' | 'expired' | 'withdrawn' | 'refused';
      /** The client that answered. */
      readonly by?: string | undefined;
    }
  /** What a slash command printed. */
  | {
      readonly type: 'command_output';
      readonly line: string;
      readonly output: CommandOutput;
      readonly durationMs: number;
    }
  /** Messages were added to the conversation without asking the model. */
  | {
      readonly type: 'appended';
      /** Why a hook held them back; empty: it did not. */
      readonly problem: string;
      readonly durationMs: number;
    }
  /** Which slash commands there are has changed. */
  | { readonly type: 'commands_changed' }
  /** Nothing is left to do: the session is about to close. */
  | { readonly type: 'closing' }
  | { readonly type: 'closed'; readonly reason: string };

/** A prompt that has not started yet. */
export interface QueuedPrompt {
  readonly message: InputMessage;
  /** `later`: not folded into a running turn. `now`: before all others. */
  readonly priority: 'now' | 'next' | 'later';
  /** The client chose the id and wants to hear what becomes of the prompt. */
  readonly named: boolean;
  /** Where the client says the prompt comes from. */
  readonly origin?: Readonly<Record<string, unknown>> | undefined;
  /** Only added to the conversation; the model is not asked. */
  readonly append?: boolean | undefined;
  /** A slash command of the runtime, run in the order of the queue: `/clear`. */
  readonly command?: string | undefined;
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
  /** One line for people where the turn did not simply complete; empty otherwise. */
  readonly problem: string;
  /** The text of the last answer. */
  readonly text: string;
  readonly run: Turn;
  /** Ids of the prompts that it answered. */
  readonly prompts: readonly string[];
  readonly origin?: Readonly<Record<string, unknown>> | undefined;
  /** How many prompts still wait. */
  readonly queued: number;
  /** It ran before the first prompt, for a hook or a call that was put off. */
  readonly opening?: boolean | undefined;
}

/** The accounts of a turn; JSON. */
export type Turn = Omit<RunResult, 'outcome'> & {
  readonly outcome: Omit<RunResult['outcome'], 'lastAnswer'> & {
    readonly lastAnswer: AnswerEvent['answer'] | undefined;
  };
};

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
