import type { Checkpoints } from '../../checkpoint/checkpoints.js';
import type { ContextReport } from '../../context/compaction/context-report.js';
import type { HookStat } from '../../hooks/dispatch/dispatcher.js';
import type { HookSet } from '../../hooks/registry/captured.js';
import type { Result } from '../../lib/result.js';
import type { InputMessage, LoopOutcome } from '../../loop/types.js';
import type { Message, Usage } from '../../protocol/content.js';
import type { SessionServers } from '../../protocol/mcp-status.js';
import type { PermissionDenial, PermissionMode } from '../../protocol/permissions.js';
import type { SessionInfo, SessionNews } from '../../protocol/session-events.js';
import type { ToolCallResult } from '../../protocol/tool-call.js';
import type { TeamView } from '../teams/team.js';
import type { HostRequests } from './host-requests.js';
import type { SessionInspection } from './inspection.js';
import type { ModelSwitchSource } from './model-choice.js';

/** The result of one prompt with all its accounting. */
export interface RunResult {
  readonly outcome: LoopOutcome;
  readonly durationMs: number;
  /** Time spent waiting for the model. */
  readonly apiMs: number;
  /** Tokens of this run's main conversation. */
  readonly usage: Usage;
  /** By model, since the session was opened. */
  readonly modelUsage: Readonly<Record<string, unknown>>;
  readonly cost: { readonly knownUsd: number; readonly unknownModels: readonly string[] };
  /** Usage by agent, when there was more than the main agent; adds up to the total. */
  readonly agents?: readonly Readonly<Record<string, unknown>>[];
  readonly denials: readonly PermissionDenial[];
  /** Refused calls that no later call of the same tool made up for. */
  readonly unrecoveredDenials: number;
}

export interface RunOptions {
  /** Takes messages that arrive during the run. */
  takeInput?(): readonly InputMessage[];
}

/** A shell command that a person typed. */
export interface TypedShell {
  /** Of the message that shows it to the model. */
  readonly uuid: string;
  readonly toolUseId: string;
  readonly command: string;
}

/** An open session: a conversation with one main agent, driven prompt by prompt. */
export interface AgentSession {
  readonly id: string;
  info(): SessionInfo;
  readonly inspect: SessionInspection;
  /**
   * Returns the prompts to run before the first one, each item as a run of its own. When a host does
   * not call it, the first run includes them.
   */
  begin(): Promise<readonly (readonly InputMessage[])[]>;
  run(prompts: readonly InputMessage[], options?: RunOptions): Promise<RunResult>;
  /** The conversation as the model sees it. */
  history(): readonly Message[];
  /** Adds to the conversation without calling the model; returns the reason when a hook blocks it. */
  append(prompts: readonly InputMessage[]): Promise<string | undefined>;
  /** Runs a command that a person typed between two turns; the model reads it and its output with the next prompt. */
  shell(typed: TypedShell): Promise<ToolCallResult>;
  /** Ends the running turn; false when none runs or it is already ending. */
  interrupt(): boolean;
  setMode(mode: PermissionMode): void;
  /**
   * Undefined returns to the model that the session was opened with. Resolves to the full name; rejects
   * when the model cannot be used or a hook blocks the change.
   */
  setModel(name: string | undefined, source: ModelSwitchSource): Promise<string>;
  /** The hooks in force and how long they took. */
  hooks(): HookReport;
  /** What the next request shows the model, by part and by file. */
  context(): Promise<ContextReport>;
  /** The team that the session leads or works in. */
  readonly team?: SessionTeam;
  readonly mcp: SessionServers;
  /** Requests of the driving program besides prompts. */
  readonly requests: HostRequests;
  /** The session's changes to files, and how to undo them. */
  readonly changes: SessionChanges;
  /** Adds a directory that counts as inside. */
  addDirectory(directory: string): Promise<void>;
  compact(instructions: string | undefined): Promise<boolean>;
  /** Tokens and cost since the session was opened. */
  accounts(): Pick<RunResult, 'modelUsage' | 'cost' | 'agents'>;
  /** Sends an event to the host on the session's own channel. */
  news(event: SessionNews): void;
  /** Results of finished background work that the agent has not received yet. */
  takeBackgroundInput(): readonly InputMessage[];
  onBackgroundInput(listener: () => void): void;
  /** Called while the host waits for a person's prompt; the returned function is called when one arrives. */
  awaitPrompt(): () => void;
  /** Waits, for a bounded time, for running background work; true when there is a result to deliver. */
  waitForBackground(): Promise<boolean>;
  /** Runs the end hooks, ends background work and child processes, and flushes what is unsaved. */
  close(reason?: SessionEndReason): Promise<void>;
}

export interface SessionChanges {
  /** Why there is none, in words for a person; undefined when there is one. */
  readonly off: string | undefined;
  /** Opens the journal if necessary; undefined when there is none. */
  journal(): Promise<Checkpoints> | undefined;
  /**
   * Rewinds the conversation to before a message of the person and returns that message; the later part
   * stays in the transcript as a branch. An error says why it cannot.
   */
  takeBackConversation(messageId: string): Promise<Result<{ readonly prompt: string }, string>>;
}

/** Which hooks are in force, and how long each has taken so far. */
export interface HookReport {
  readonly set: HookSet;
  readonly stats: readonly HookStat[];
}

export interface SessionTeam {
  view(): TeamView | undefined;
  /** True for a teammate that was dismissed and is ending. */
  isOver(): boolean;
}

/** Why a session ends, as hooks receive it. */
export type SessionEndReason = 'clear' | 'resume' | 'logout' | 'prompt_input_exit' | 'other';
