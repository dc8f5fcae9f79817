import type { InstructionFile } from '../../context/instructions/notes.js';
import type { Result } from '../../lib/result.js';
import type { ImageBlock, ResultBlock } from '../../protocol/content.js';
import type { PermissionUpdate } from '../../protocol/permissions.js';
import type { ThinkingWish } from './model-choice.js';

/** What a person can type as `/name`. */
export interface CommandRow {
  readonly name: string;
  readonly description: string;
  readonly argumentHint: string;
  /** The program's own; no file can change it. */
  readonly builtin?: true;
}

/** A kind of agent that the session could start. */
export interface AgentRow {
  readonly name: string;
  readonly description: string;
  readonly model?: string;
  readonly source: string;
  readonly file?: string;
}

export interface FileRequest {
  readonly path: string;
  readonly maxBytes: number;
}

export interface FileAnswer {
  readonly absolutePath: string;
  readonly bytes: Uint8Array;
  readonly truncated: boolean;
}

/** An image that a person puts into a prompt. */
export interface PromptImage {
  readonly block: ImageBlock;
  readonly bytes: number;
}

export interface TaskOutput {
  /** The end of it. */
  readonly text: string;
  readonly totalBytes: number;
  readonly truncated: boolean;
}

export interface ToolAnswer {
  readonly content: string | readonly ResultBlock[];
  readonly structured?: unknown;
}

/**
 * What the program that drives a session may ask of it besides prompts. It is no way around the gate:
 * what would be refused to the agent is refused here.
 */
export interface HostRequests {
  /** With `fresh` servers are asked again for their prompts. */
  commands(how?: { readonly fresh: boolean }): Promise<readonly CommandRow[]>;
  /** Called when the commands are others than before by what servers say. */
  onCommands(listener: () => void): void;
  /** Whether long conversations are summarised without anybody asking for it. */
  compactsByItself(): boolean;
  /** Names of all skills that are offered. */
  skills(): Promise<readonly string[]>;
  /** Names of output styles, the default first. */
  outputStyles(): Promise<readonly string[]>;
  agents(): Promise<readonly AgentRow[]>;
  /** From now on; what is not said stays. */
  setThinking(wish: ThinkingWish): void;
  /** Other settings of the command line, whole or not at all. An error: why not at all. */
  applySettings(
    changes: Readonly<Record<string, unknown>>,
  ): Promise<Result<{ undo(): Promise<void> }, string>>;
  /** Changes rules, mode or directories as a person's answer to a question could. */
  updatePermissions(
    updates: readonly PermissionUpdate[],
  ): Promise<{ readonly notes: readonly string[]; readonly refused?: string }>;
  /** Ends a background command or an agent. False: there is none of that id. */
  stopTask(id: string): Promise<boolean>;
  /** Ends the agents that nobody waits for. */
  stopAgents(): void;
  /** Undefined: there is no task of that id. */
  taskOutput(id: string): Promise<TaskOutput | undefined>;
  /** A file that the agent may read without anybody being asked. */
  readFile(request: FileRequest, signal: AbortSignal): Promise<Result<FileAnswer, string>>;
  /** The host vouches that the agent has seen this file as it was at that time. */
  seedRead(path: string, mtimeMs: number): Promise<void>;
  /** A call of a server's tool without a turn of the model, through the gate like any other. */
  callTool(
    call: { readonly tool: string; readonly input: Readonly<Record<string, unknown>> },
    signal: AbortSignal,
  ): Promise<Result<ToolAnswer, string>>;
  /** A resource of a server that is connected. */
  readResource(
    wanted: { readonly server: string; readonly uri: string },
    signal: AbortSignal,
  ): Promise<Result<readonly unknown[], string>>;
  /** An image that a person names by its path or pastes. Undefined: there is no such file, or it is no image. */
  readImage(
    image: { readonly path: string } | { readonly data: string },
    signal: AbortSignal,
  ): Promise<Result<PromptImage | undefined, string>>;
  /** Names of the files below the working directory, for completion; what ignore files leave out is not among them. */
  projectFiles(signal: AbortSignal): Promise<readonly string[]>;
  instructionFiles(): Promise<readonly InstructionFile[]>;
  /** Adds a note of a person to an instruction file. */
  addInstruction(file: InstructionFile, text: string): Promise<void>;
  rename(title: string): void;
  reloadSkills(): Promise<void>;
}
