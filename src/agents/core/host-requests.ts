import type { InstructionFile } from '../../context/instructions/notes.js';
import type { Result } from '../../lib/result.js';
import type { ImageBlock, ResultBlock } from '../../protocol/content.js';
import type { PermissionUpdate } from '../../protocol/permissions.js';
import type { ThinkingOverride } from './model-choice.js';

/** A command that a person can type as `/name`. */
export interface CommandRow {
  readonly name: string;
  readonly description: string;
  readonly argumentHint: string;
  /** Built in; no file can change it. */
  readonly builtin?: true;
}

/** An agent type that the session can start. */
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

/** An image that a person adds to a prompt. */
export interface PromptImage {
  readonly block: ImageBlock;
  readonly bytes: number;
}

export interface TaskOutput {
  /** The last part of the output. */
  readonly text: string;
  readonly totalBytes: number;
  readonly truncated: boolean;
}

export interface ToolAnswer {
  readonly content: string | readonly ResultBlock[];
  readonly structured?: unknown;
}

/**
 * Requests that a driving program may make of a session besides prompts. None bypasses the gate: a call
 * that the agent would be refused is refused here too.
 */
export interface HostRequests {
  /** `fresh` asks the servers for their prompts again. */
  commands(how?: { readonly fresh: boolean }): Promise<readonly CommandRow[]>;
  /** Called when servers have changed their prompts. */
  onCommands(listener: () => void): void;
  /** Whether long conversations are summarised automatically. */
  compactsByItself(): boolean;
  skills(): Promise<readonly string[]>;
  /** Names of output styles, the default first. */
  outputStyles(): Promise<readonly string[]>;
  agents(): Promise<readonly AgentRow[]>;
  /** Takes effect with the next request; absent fields keep their values. */
  setThinking(override: ThinkingOverride): void;
  /** Replaces settings of the command line completely, or returns an error and changes nothing. */
  applySettings(
    changes: Readonly<Record<string, unknown>>,
  ): Promise<Result<{ undo(): Promise<void> }, string>>;
  /** Changes rules, mode or directories as a person's answer to a question could. */
  updatePermissions(
    updates: readonly PermissionUpdate[],
  ): Promise<{ readonly notes: readonly string[]; readonly refused?: string }>;
  /** Ends a background command or an agent; false for an unknown id. */
  stopTask(id: string): Promise<boolean>;
  /** Ends the agents that run in the background. */
  stopAgents(): void;
  taskOutput(id: string): Promise<TaskOutput | undefined>;
  /** Reads a file that the agent may read without asking a person. */
  readFile(request: FileRequest, signal: AbortSignal): Promise<Result<FileAnswer, string>>;
  /** Marks a file as read by the agent in its version of that time, on the host's word. */
  seedRead(path: string, mtimeMs: number): Promise<void>;
  /** Calls a server's tool through the gate, without a turn of the model. */
  callTool(
    call: { readonly tool: string; readonly input: Readonly<Record<string, unknown>> },
    signal: AbortSignal,
  ): Promise<Result<ToolAnswer, string>>;
  readResource(
    wanted: { readonly server: string; readonly uri: string },
    signal: AbortSignal,
  ): Promise<Result<readonly unknown[], string>>;
  /** Reads an image by path or pasted data; undefined when there is none. */
  readImage(
    image: { readonly path: string } | { readonly data: string },
    signal: AbortSignal,
  ): Promise<Result<PromptImage | undefined, string>>;
  /** Names of the files below the working directory for completion, except those in ignore files. */
  projectFiles(signal: AbortSignal): Promise<readonly string[]>;
  instructionFiles(): Promise<readonly InstructionFile[]>;
  /** Adds a person's note to an instruction file. */
  addInstruction(file: InstructionFile, text: string): Promise<void>;
  rename(title: string): void;
  reloadSkills(): Promise<void>;
}
