import type { ToolDefinition } from '../model/client.js';
import type { Permit } from '../permissions/gate/permit.js';
import type { FileStat } from '../platform/fs/fs.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { ResultBlock } from '../protocol/content.js';
import type { PermissionMode } from '../protocol/permissions.js';

/** What a tool does to the world. Shared code goes by this, never by tool names. */
export type ToolKind = 'read' | 'edit' | 'execute' | 'network' | 'control';

export interface PathAccess {
  /** Absolute and normalised, not yet resolved through symbolic links. */
  readonly path: string;
  readonly access: 'read' | 'write';
}

/** One place on disk under all the names that rules may know it by. */
export interface PathSpellings {
  /** As named, absolute and normalised. */
  readonly literal: string;
  /** With symbolic links followed. */
  readonly real: string;
  /** `real`, and the same place spelled through each root that is itself reached by a link. */
  readonly resolved: readonly string[];
  /** Of a file in a working tree of an agent: its names in the checkout. For restrictions alone. */
  readonly standsFor?: readonly string[];
  /** Its kind when the gate resolved it, links followed; absent where no rule needed it. */
  readonly kind?: FileStat['kind'];
  /** It goes through a link that is another one for every process (`/proc/self/cwd`): where it leads is not known. */
  readonly perProcess?: true;
}

/** A file that a call reads or writes, as the gate has found it. */
export interface TouchedPath {
  readonly access: PathAccess['access'];
  readonly spellings: PathSpellings;
}

/** What the gate judges a call by. */
export interface ToolSubject {
  /** Every file the call names. Empty for tools that touch none. */
  readonly paths: readonly PathAccess[];
  /** Shell code, for tools that run some. */
  readonly command?: string;
  readonly url?: string;
  /** One line for people and receipts. */
  readonly summary: string;
}

/** Where an agent works. One per agent; the shell moves `cwd`. */
export interface Workspace {
  readonly cwd: string;
  /** The directories that count as inside: the start directory first, then the added ones. */
  readonly roots: readonly string[];
  setCwd(directory: string): void;
}

/** What this agent has read, so that Write and Edit can tell a stale view from a current one. */
export interface ReadState {
  /** Remembers the version of a file that the model has now seen (whole, or a part of it). */
  note(path: string, version: FileVersion): void;
  get(path: string): FileVersion | undefined;
}

export interface FileVersion {
  readonly mtimeMs: number;
  readonly size: number;
  /** Content hash; decides when time and size cannot. */
  readonly hash: string;
  /** False when only a part was shown. */
  readonly whole: boolean;
  /** The lines that were shown, 1-based and inclusive, when it was a part. */
  readonly part?: { readonly from: number; readonly to: number; readonly total: number };
}

export interface ToolContext {
  readonly agent: AgentRef;
  readonly sessionId: string;
  readonly toolUseId: string;
  readonly signal: AbortSignal;
  readonly workspace: Workspace;
  readonly readState: ReadState;
  readonly mode: PermissionMode;
  setMode(mode: PermissionMode): void;
  /** A directory of this session for output that is too long to show; made on first use. */
  spillDirectory(): string;
  /** The files that the call names, as the gate resolved them; absent where no rule needed them. */
  readonly touched?: readonly TouchedPath[] | undefined;
  /** By which a search leaves out files that may not be shown. Absent or undefined: all may. */
  hiding?(): ((path: string) => Promise<boolean>) | undefined;
  /** What hooks said about this call for the agent that it starts. */
  readonly agentContext?: string;
  /** The same for every run of this call, where a worker may run it again for another one. */
  readonly idempotencyKey?: string | undefined;
  /** Shown to people while a long call runs; never to the model. */
  progress(text: string): void;
}

export interface ToolOutput {
  /** What the model reads. */
  readonly content: string | readonly ResultBlock[];
  readonly isError?: boolean;
  /** `tool_use_result` on the wire and `tool_response` in hooks. */
  readonly structured?: unknown;
  /** Files of ours that hold what is too long to show. Gone when a hook puts something else in its place. */
  readonly files?: readonly string[];
  /** Ends the run after this result, with this value (structured output). */
  readonly finish?: { readonly structuredOutput: unknown };
  /** Texts that follow the results of the step in the same message, as they are: the text of a skill. */
  readonly followUp?: readonly { readonly text: string }[];
}

export interface ValidationProblem {
  /** Path inside the input, `/edits/0/old_string`; empty for the input itself. */
  readonly path: string;
  readonly message: string;
}

export type Validate = (input: unknown) => Promise<readonly ValidationProblem[]>;

/** The server that a tool belongs to. */
export interface ToolOrigin {
  /** As it is configured. */
  readonly server: string;
  /** Its part of the tool names. */
  readonly key: string;
  /** The scope that declares the server; `sdk`: it is in the host's own process. */
  readonly source: string;
  /** An agent brings the server for itself: what agents have agreed to answers for it, not the session. */
  readonly ofAgent?: true;
  /** The tool's name on its server. */
  readonly tool: string;
  /** Never deferred behind ToolSearch. */
  readonly alwaysLoad: boolean;
}

/** A call by the name of its tool, as a model could have sent it. */
export interface CompletedCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Tool<Input = Record<string, unknown>> {
  readonly name: string;
  /** For people and searches. */
  readonly title?: string;
  /** Absent for built-in tools. */
  readonly origin?: ToolOrigin;
  /** Other names that models and rules use for it. */
  readonly aliases?: readonly string[];
  readonly kind: ToolKind;
  readonly definition: ToolDefinition;
  /** Empty when the input is valid. */
  readonly validate: Validate;
  /** `always`: whatever a list of tools names. Absent: unless a list leaves it out. */
  readonly offered?: 'always' | 'with-person' | 'on-request';
  /** True for tools that are themselves a question to a person. */
  readonly needsPerson?: boolean;
  /** What a model may send, where people may send more: takes away what is theirs alone. */
  fromModel?(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** The whole call that a valid input completes. It is judged and run in the place of this one. */
  completes?(input: Input): CompletedCall | undefined;
  subject(input: Input, workspace: Workspace): ToolSubject;
  /** Whether this call may run beside others. */
  concurrencySafe(input: Input): boolean | 'if-read-only';
  /** How many calls may be running for one more of this tool to begin. Default: as many as of any other. */
  maxConcurrency?(): number;
  /**
   * Does the work. Called from `tools/invoke.ts` alone, with the permit the gate gave for exactly
   * this input. Expected failures are an output with `isError`; a throw becomes one.
   */
  run(input: Input, context: ToolContext, permit: Permit): Promise<ToolOutput>;
  /**
   * What the model reads for a `structured` that took the place of the tool's own; undefined when it
   * is none that this tool could have given. Goes by its argument alone.
   */
  present?(structured: unknown): ToolOutput['content'] | undefined;
}

/** The pool holds tools of all input types; validation makes the cast at the one call site sound. */
// biome-ignore lint/suspicious/noExplicitAny: inputs differ per tool and are validated before use
export type AnyTool = Tool<any>;
