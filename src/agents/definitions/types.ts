import type { Result } from '../../lib/result.js';
import type { AgentDefinition, DefinitionSource } from './definition.js';

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

/** The kinds of agents of a session. Nothing is read before something is asked for. */
export interface AgentBook {
  /** In force, sorted by name. What needs trust and has none is taken out of them. */
  list(): Promise<readonly AgentDefinition[]>;
  /** By its exact name, else by the only one that differs in case alone; as its file is now. */
  find(name: string): Promise<AgentDefinition | undefined>;
  /** The same, or why not, for whoever asked for it: what is wrong with its file, or what is near. */
  resolve(name: string): Promise<Result<AgentDefinition, string>>;
  problems(): Promise<readonly AgentProblem[]>;
  hidden(): Promise<readonly HiddenAgent[]>;
  documents(): Promise<readonly AgentDocument[]>;
  /** Looks at all places again. True: the list is another one. */
  refresh(): Promise<boolean>;
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
