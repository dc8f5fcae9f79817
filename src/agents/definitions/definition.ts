import type { PermissionMode } from '../../protocol/permissions.js';

/** What an agent may use up; its own part and that of everybody below it. Absent: no bound of its own. */
export interface AgentBudget {
  /** Model round-trips. */
  readonly turns?: number;
  /** All tokens, those read from a cache included. */
  readonly tokens?: number;
  /** Dollars. Refused where a price is not known. */
  readonly usd?: number;
  readonly seconds?: number;
  /** Agents that it may start in all. */
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

/** A server that an agent names: one of the session's, or one of its own. */
export type AgentServer =
  | { readonly name: string }
  | { readonly name: string; readonly config: Readonly<Record<string, unknown>> };

/** A kind of agent, as a file, a flag, the host or the program itself defines it. */
export interface AgentDefinition {
  /** Its `agent_type`. */
  readonly name: string;
  /** When to delegate to it: what the model reads. */
  readonly description: string;
  /** The system prompt. Read when it is needed. */
  prompt(): Promise<string>;
  /** Undefined: everything that subagents may have. Empty: nothing. */
  readonly tools?: readonly string[];
  readonly disallowedTools: readonly string[];
  /** Alias, full name or `inherit`. */
  readonly model?: string;
  readonly effort?: string;
  readonly permissionMode?: PermissionMode;
  readonly maxTurns?: number;
  /** Skills whose text it is given from the start. */
  readonly skills: readonly string[];
  readonly mcpServers: readonly AgentServer[];
  /** The `hooks` object as written; in force while the agent lives, and only if its file is trusted. */
  readonly hooks?: Readonly<Record<string, unknown>>;
  readonly memory?: 'user' | 'project' | 'local';
  /** Always runs in the background. */
  readonly background: boolean;
  readonly isolation?: 'worktree';
  readonly color?: string;
  /** First prompt when the session runs as this agent. */
  readonly initialPrompt?: string;
  /** Neither instruction files nor the state of git in its context. */
  readonly omitInstructions: boolean;
  /** Never runs in the background, whoever asks. */
  readonly foregroundOnly: boolean;
  readonly workspace: AgentWorkspace;
  readonly budget: AgentBudget;
  /** What happens to calls that only a person could allow. */
  readonly asks: 'bubble' | 'deny';
  /** Cannot be gone on with once it has ended. */
  readonly oneShot?: boolean;
  /**
   * False: of a project's file, and the folder is not trusted. Then hooks, memory, servers of its own
   * and a mode that allows more are already taken out, and rules that grant something to its type
   * are not meant for it. Decided where the definition is looked up by its name.
   */
  readonly trusted?: boolean;
  /** Fields of the file that do not count because the folder is not trusted. */
  readonly heldBack?: readonly string[];
  readonly source: DefinitionSource;
  readonly file?: string;
  readonly line?: number;
  /** Hash of the file, flag or host's object it comes from. Hardly anybody asks. */
  contentHash(): string;
}

/** Something about one definition that a person should know. */
export interface AgentFinding {
  /** An error keeps the definition from being in force. */
  readonly severity: 'error' | 'warning';
  /** From 1. */
  readonly line?: number;
  readonly message: string;
  /** A warning shown at the start: the agent can do less than its file suggests. */
  readonly told?: true;
}

/** What a field is read with, and where what is wrong with its value goes. */
export interface FieldContext {
  /** The name of the field. */
  readonly field: string;
  readonly knownTools: readonly string[];
  /** False: the head is not what YAML allows, and was read line by line. */
  readonly isExact: boolean;
  /** Takes the definition out of force. `inner`: the text in the value that it is about, for its line. */
  error(message: string, inner?: string): undefined;
  warn(message: string, more?: { readonly inner?: string } & Pick<AgentFinding, 'told'>): undefined;
}

/** A finding with the place it is about. */
export interface AgentProblem extends AgentFinding {
  readonly source: DefinitionSource;
  /** The file; `--agents` and the like where there is none. */
  readonly place: string;
  /** The type that it would have defined, where that is known. */
  readonly name?: string;
}

/** A definition that is whole and not in force, because another has its name. */
export interface HiddenAgent {
  readonly name: string;
  readonly source: DefinitionSource;
  /** Its file, or what stands for one. */
  readonly place: string;
  readonly reason: string;
}

/** A Markdown file among the definitions that names no agent: text for people. */
export interface AgentDocument {
  readonly file: string;
  readonly source: DefinitionSource;
}

/** What a definition says, without where it stands. */
export type DefinitionFields = Omit<
  AgentDefinition,
  'prompt' | 'source' | 'file' | 'line' | 'contentHash' | 'trusted' | 'heldBack'
>;

/** `file:line`, for messages. */
export function placeOf({ place, line }: { place: string; line?: number | undefined }): string {
  return line === undefined ? place : `${place}:${line}`;
}

/** What holds where a definition does not say otherwise. */
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
