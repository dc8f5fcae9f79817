import type { PermissionMode } from '../../protocol/permissions.js';

/** What an agent and its descendants may use; an absent unit has no limit of its own. */
export interface AgentBudget {
  /** Model calls. */
  readonly turns?: number;
  /** All tokens, including those read from a cache. */
  readonly tokens?: number;
  /** Dollars; models without a known price are refused. */
  readonly usd?: number;
  readonly seconds?: number;
  readonly fanOut?: number;
}

/** Where an agent works: its working directory and its only writable root. */
export type AgentWorkspace =
  | { readonly kind: 'inherit' }
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'worktree' }
  | { readonly kind: 'scratch' };

export const DEFINITION_SOURCES = [
  'managed',
  'flag',
  'project',
  'user',
  'plugin',
  'builtin',
] as const;
export type DefinitionSource = (typeof DEFINITION_SOURCES)[number];

/** An MCP server that an agent names: one of the session's, or one of its own. */
export type AgentServer =
  | { readonly name: string }
  | { readonly name: string; readonly config: Readonly<Record<string, unknown>> };

/** An agent type, defined by a file, a flag, the host or the program itself. */
export interface AgentDefinition {
  readonly name: string;
  /** When to delegate to it, as shown to the model. */
  readonly description: string;
  /** Loads the system prompt. */
  prompt(): Promise<string>;
  /** Undefined: all tools that subagents may have. Empty: none. */
  readonly tools?: readonly string[];
  readonly disallowedTools: readonly string[];
  /** Alias, full name or `inherit`. */
  readonly model?: string;
  readonly effort?: string;
  readonly permissionMode?: PermissionMode;
  readonly maxTurns?: number;
  /** Skills whose text the agent gets from the start. */
  readonly skills: readonly string[];
  readonly mcpServers: readonly AgentServer[];
  /** The `hooks` object as written; active while the agent lives, and only if its file is trusted. */
  readonly hooks?: Readonly<Record<string, unknown>>;
  readonly memory?: 'user' | 'project' | 'local';
  /** Always runs in the background. */
  readonly background: boolean;
  readonly isolation?: 'worktree';
  readonly color?: string;
  /** First prompt when the session runs as this agent. */
  readonly initialPrompt?: string;
  /** Leaves instruction files and the state of git out of its context. */
  readonly omitInstructions: boolean;
  /** Never runs in the background, even on request. */
  readonly foregroundOnly: boolean;
  readonly workspace: AgentWorkspace;
  readonly budget: AgentBudget;
  /** `bubble` passes calls that only a person can allow to the session; `deny` refuses them. */
  readonly asks: 'bubble' | 'deny';
  /** Cannot be resumed once it has ended. */
  readonly oneShot?: boolean;
  /**
   * False: the definition comes from a project's file in an untrusted folder. Hooks, memory, own
   * servers and a more permissive mode are removed then, and rules that grant something to its type do
   * not apply. Decided when the definition is looked up by name.
   */
  readonly trusted?: boolean;
  /** Fields of the file that are ignored because the folder is not trusted. */
  readonly heldBack?: readonly string[];
  readonly source: DefinitionSource;
  readonly file?: string;
  readonly line?: number;
  /** Hash of the source file, flag or host object, computed on demand. */
  contentHash(): string;
}

/** A problem of one definition that a person should know. */
export interface AgentFinding {
  /** An error disables the definition. */
  readonly severity: 'error' | 'warning';
  /** Line number, from 1. */
  readonly line?: number;
  readonly message: string;
  /** A warning shown at the start: the agent can do less than its file suggests. */
  readonly told?: true;
}

/** What a field's reader needs, and where it reports problems. */
export interface FieldContext {
  readonly field: string;
  readonly knownTools: readonly string[];
  /** False: the front matter is invalid YAML and was read line by line. */
  readonly isExact: boolean;
  /** Disables the definition. `inner` is the part of the value in question, used to find its line. */
  error(message: string, inner?: string): undefined;
  warn(message: string, more?: { readonly inner?: string } & Pick<AgentFinding, 'told'>): undefined;
}

export interface AgentProblem extends AgentFinding {
  readonly source: DefinitionSource;
  /** The file, or a flag such as `--agents`. */
  readonly place: string;
  /** The agent type, if it is known. */
  readonly name?: string;
}

/** A valid definition that is not in force because another has its name. */
export interface HiddenAgent {
  readonly name: string;
  readonly source: DefinitionSource;
  /** Its file, or the flag that gave it. */
  readonly place: string;
  readonly reason: string;
}

/** A Markdown file among the definitions without a name field: text for people. */
export interface AgentDocument {
  readonly file: string;
  readonly source: DefinitionSource;
}

/** The content of a definition, without its location. */
export type DefinitionFields = Omit<
  AgentDefinition,
  'prompt' | 'source' | 'file' | 'line' | 'contentHash' | 'trusted' | 'heldBack'
>;

/** `file:line`, for messages. */
export function placeOf({ place, line }: { place: string; line?: number | undefined }): string {
  return line === undefined ? place : `${place}:${line}`;
}

export const DEFAULT_FIELDS: Omit<DefinitionFields, 'name' | 'description'> = {
  disallowedTools: [],
  skills: [],
  mcpServers: [],
  background: false,
  omitInstructions: false,
  foregroundOnly: false,
  workspace: { kind: 'inherit' },
  budget: {},
  asks: 'bubble',
};
