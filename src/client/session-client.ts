import type { SessionInfo } from '../app.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { ImageBlock, UserBlock } from '../protocol/content.js';
import type { PermissionMode } from '../protocol/permissions.js';
import type { AgentSpent, BackgroundTask } from '../protocol/session-events.js';
import type { CommandOutput, Envelope, QueuedPrompt, ToolCallView } from './events.js';
import type { AnyAnswer, Question } from './questions.js';

/**
 * One client of a session: a terminal, a web page, an editor, a host on the wire. Any number of clients
 * share a session; all of them see the same events in the same order. JSON values only.
 */
export interface SessionClient {
  /** Names the client in events: `terminal`, `wire`, `console`. */
  readonly name: string;
  /** Of the session that is open now; `/clear` and `/resume` change it. */
  readonly sessionId: string;
  /** What is true now. Events with a larger `seq` are not in it. */
  snapshot(): Promise<SessionSnapshot>;
  /** Calls the listener with every event, in order, from now on or after `after`. Returns the end of it. */
  subscribe(listener: (envelope: Envelope) => void, options?: EventOptions): () => void;
  /** The same as a stream. Ends with the session, the client or the signal. */
  events(options?: EventOptions & { readonly signal?: AbortSignal }): AsyncIterable<Envelope>;
  /** Rejects with a `PortcullisError` fit to be shown. */
  send<K extends CommandName>(
    name: K,
    params: Commands[K]['params'],
    signal?: AbortSignal,
  ): Promise<Commands[K]['result']>;
  /**
   * The first valid answer wins; `closed`: another client was faster, or the question is over. Rejects where the
   * answer does not fit the question, which stays open.
   */
  answer(id: string, answer: AnyAnswer): Promise<'accepted' | 'closed'>;
  /** Leaves the session, which goes on for others. Questions that only this client could answer are refused. */
  close(): void;
}

export interface EventOptions {
  /** Replays what came after this event first. */
  readonly after?: number;
  /** Whether parts of an unfinished answer are delivered (`stream`, `block`). Absent: they are. */
  readonly deltas?: boolean;
}

/** For a client that joins now. */
export interface SessionSnapshot {
  /** The last event that is in it. */
  readonly seq: number;
  /** The first event that can still be replayed. */
  readonly replayFrom: number;
  readonly state: 'opening' | 'idle' | 'running' | 'requires_action' | 'closed';
  /** Absent while the session is opening. */
  readonly info?: SessionInfo;
  readonly queue: readonly QueuedPrompt[];
  /** Tool calls that have no result yet. */
  readonly calls: readonly ToolCallView[];
  readonly tasks: readonly BackgroundTask[];
  /** The agents that work for another one now. */
  readonly agents: readonly AgentView[];
  readonly questions: readonly Question[];
  readonly usage: {
    readonly costUsd: number;
    readonly unknownModels: readonly string[];
    readonly modelUsage: Readonly<Record<string, unknown>>;
    /** How full the model's window is, where it is known. */
    readonly contextTokens?: number;
    readonly contextWindow?: number;
    /** What the main agent used by itself, and what is left for the session. */
    readonly main?: AgentSpent | undefined;
  };
}

export interface AgentView {
  readonly agent: AgentRef;
  readonly description: string;
  readonly spent?: AgentSpent | undefined;
}

/** What a client can ask of the session, by name. */
export interface Commands {
  readonly prompt: {
    readonly params: {
      readonly content: readonly UserBlock[];
      /** A UUID of the client's choice. */
      readonly id?: string;
      readonly priority?: QueuedPrompt['priority'];
      /** No command and no mention is looked for in it. */
      readonly verbatim?: boolean;
      /** The part of it that a person typed, where that is not all of it. */
      readonly typed?: string;
    };
    readonly result: { readonly id: string };
  };
  readonly cancelPrompt: {
    readonly params: { readonly id: string };
    readonly result: { readonly cancelled: boolean };
  };
  readonly interrupt: {
    readonly params: { readonly cancelQueued?: boolean; readonly stopTasks?: boolean };
    readonly result: { readonly interrupted: boolean; readonly stillQueued: readonly string[] };
  };
  /** A slash command: `/model opus`. */
  readonly command: { readonly params: { readonly line: string }; readonly result: CommandOutput };
  /** A shell command that the person typed with `!`. Resolves at its end; rejects while a turn runs. */
  readonly shell: { readonly params: { readonly command: string }; readonly result: null };
  /** A note that the person typed with `#`: asks for the instruction file, and adds it there. */
  readonly remember: {
    readonly params: { readonly text: string };
    readonly result: {
      /** Where it was added; absent: the person chose not to. */
      readonly path?: string | undefined;
    };
  };
  /** An image for a prompt, by its path or as base64; absent: there is no image of that name. */
  readonly image: {
    readonly params: { readonly path: string } | { readonly data: string };
    readonly result: {
      readonly image?: { readonly block: ImageBlock; readonly bytes: number } | undefined;
    };
  };
  /** Completions for the word at the cursor: commands and their arguments, `@` files and agents. */
  readonly complete: {
    readonly params: { readonly text: string; readonly cursor: number };
    readonly result: readonly Completion[];
  };
  readonly configure: {
    readonly params: {
      readonly mode?: PermissionMode;
      /** `default` goes back to the model that the session was opened with. */
      readonly model?: string;
      readonly title?: string;
    };
    readonly result: SessionInfo;
  };
  /** The conversation so far, oldest first: what a client shows that joins or resumes. */
  readonly history: {
    readonly params: { readonly limit?: number };
    readonly result: readonly HistoryEntry[];
  };
  readonly task: {
    readonly params: { readonly id: string; readonly action: 'stop' | 'output' };
    readonly result: { readonly found: boolean; readonly output?: string };
  };
  /** Ends the session for all its clients. */
  readonly end: { readonly params: { readonly reason?: string }; readonly result: null };
}

export type CommandName = keyof Commands;

/** The text of the prompt, and where the caret is in it. */
export interface CompletionQuery {
  readonly text: string;
  readonly cursor: number;
  readonly signal: AbortSignal;
}

export interface Completion {
  /** Replaces the text from `from` to the cursor. */
  readonly text: string;
  readonly from: number;
  readonly description?: string;
}

export interface HistoryEntry {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** Names of the tools that the answer called. */
  readonly tools?: readonly string[];
}
