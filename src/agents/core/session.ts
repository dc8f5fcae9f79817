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

/** One prompt, answered or not, with everything its result carries. */
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
  /** What each agent used by itself, where there were others than the main one; adds up to the total. */
  readonly agents?: readonly Readonly<Record<string, unknown>>[];
  readonly denials: readonly PermissionDenial[];
  /** Refused calls that no later call of the same tool made up for. */
  readonly unrecoveredDenials: number;
}

export interface RunOptions {
  /** Messages that arrive while the run is going on. */
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
   * What comes before the first prompt: each item is a run of its own, with these prompts. A host
   * that does not ask gets all of it with its first run.
   */
  begin(): Promise<readonly (readonly InputMessage[])[]>;
  run(prompts: readonly InputMessage[], options?: RunOptions): Promise<RunResult>;
  /** The conversation as the model sees it. */
  history(): readonly Message[];
  /** Adds to the conversation without asking the model. A text: why a hook holds it back. */
  append(prompts: readonly InputMessage[]): Promise<string | undefined>;
  /** Runs a command that a person typed, between two turns. The model reads it and its output with the next prompt. */
  shell(typed: TypedShell): Promise<ToolCallResult>;
  /** Ends the running turn. False when there is none, or it is being ended already. */
  interrupt(): boolean;
  setMode(mode: PermissionMode): void;
  /**
   * Undefined goes back to the model the session was opened with. Resolves to the full name; rejects
   * when the model cannot be used or a hook holds the switch back.
   */
  setModel(name: string | undefined, source: ModelSwitchSource): Promise<string>;
  /** The hooks in force and what they took. */
  hooks(): HookReport;
  /** What the model is shown with the next request, by part and by file. */
  context(): Promise<ContextReport>;
  /** The team that it leads or works in. */
  readonly team?: SessionTeam;
  /** Its MCP servers. */
  readonly mcp: SessionServers;
  /** What the program that drives the session may ask for besides prompts. */
  readonly requests: HostRequests;
  /** What it changed, and the way back. */
  readonly changes: SessionChanges;
  /** Counts one more directory as inside. */
  addDirectory(directory: string): Promise<void>;
  compact(instructions: string | undefined): Promise<boolean>;
  /** Tokens and cost since the session was opened. */
  accounts(): Pick<RunResult, 'modelUsage' | 'cost' | 'agents'>;
  /** Tells the host something on the session's own channel. */
  news(event: SessionNews): void;
  /** Finished background work that the agent has not been told of yet. */
  takeBackgroundInput(): readonly InputMessage[];
  onBackgroundInput(listener: () => void): void;
  /** The host waits for a person's prompt; what it returns is called when one comes. */
  awaitPrompt(): () => void;
  /** Waits, for a bounded time, for running background work. True: there is something to tell. */
  waitForBackground(): Promise<boolean>;
  /** Tells hooks, ends background work and child processes, and flushes what is unsaved. */
  close(reason?: SessionEndReason): Promise<void>;
}

/** The change journal of a session. */
export interface SessionChanges {
  /** Why there is none, in words for a person; undefined: there is one. */
  readonly off: string | undefined;
  /** Opens it where it is not open yet. Undefined: there is none. */
  journal(): Promise<Checkpoints> | undefined;
  /**
   * Takes the conversation back to where it was before this message of the person; what was said since
   * stays in the transcript, on a branch of its own. Gives the message back. An error: why it cannot be.
   */
  takeBackConversation(messageId: string): Promise<Result<{ readonly prompt: string }, string>>;
}

/** Which hooks are in force, and how long each took so far. */
export interface HookReport {
  readonly set: HookSet;
  readonly stats: readonly HookStat[];
}

export interface SessionTeam {
  /** Undefined: there is none yet. */
  view(): TeamView | undefined;
  /** It works for another session and has been let go: it ends now. */
  isOver(): boolean;
}

/** Why a session ends, as hooks are told. */
export type SessionEndReason = 'clear' | 'resume' | 'logout' | 'prompt_input_exit' | 'other';
