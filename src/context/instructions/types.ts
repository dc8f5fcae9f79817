/** Whose word it is. `memory`: notes of earlier sessions; `team`: notes that a team shares. */
export type InstructionScope = 'managed' | 'user' | 'project' | 'local' | 'memory' | 'team';

/** The same in the words of hooks. */
export type MemoryType = 'User' | 'Project' | 'Local' | 'Managed';

export type LoadReason =
  | 'session_start'
  | 'nested_traversal'
  | 'path_glob_match'
  | 'include'
  | 'compact';

/** One file that the model is shown. */
export interface LoadedInstruction {
  /** As it was found, not resolved through links. For `setting`: the settings file. */
  readonly path: string;
  readonly scope: InstructionScope;
  readonly memoryType: MemoryType;
  readonly kind: 'file' | 'rule' | 'memory' | 'setting';
  readonly loadReason: LoadReason;
  /** As it is shown: without its head, block comments and characters that nobody can see. */
  readonly text: string;
  /** On disk. */
  readonly bytes: number;
  /** What was done to the text, or is wrong with the file; for people and for the model. */
  readonly notes: readonly string[];
  /** The patterns of a rule that waits for matching files. */
  readonly globs?: readonly string[];
  /** The file that includes it. */
  readonly parent?: string;
  /** The file whose use made it load. */
  readonly trigger?: string;
}

export type SkipKind =
  | 'missing'
  | 'not regular'
  | 'too large'
  | 'unreadable'
  | 'not text'
  | 'external'
  | 'hidden'
  | 'foreign'
  | 'excluded'
  | 'too deep'
  | 'too many'
  | 'disabled';

/** A file that is not shown, and why. */
export interface SkippedInstruction {
  readonly path: string;
  readonly scope: InstructionScope;
  readonly kind: SkipKind;
  /** Completes "it was not read: …". */
  readonly reason: string;
  /** The file that includes it. */
  readonly parent?: string;
  /** Of an `external` one: where it really is. An approval is for this path. */
  readonly realPath?: string;
  /** Of an `external` one: a person has said no. */
  readonly declined?: boolean;
  /** It is there, where it counts, and the system does not let it be read: it may hold restrictions. */
  readonly mayRestrict?: true;
  /** Whether a person should be told without asking. */
  readonly warn: boolean;
}

export interface LoadedFiles {
  /** In the order in which they are shown: broad before specific. */
  readonly files: readonly LoadedInstruction[];
  readonly skipped: readonly SkippedInstruction[];
}

const MEMORY_TYPES: Readonly<Record<InstructionScope, MemoryType>> = {
  managed: 'Managed',
  user: 'User',
  project: 'Project',
  local: 'Local',
  memory: 'User',
  team: 'Project',
};

export function memoryTypeOf(scope: InstructionScope): MemoryType {
  return MEMORY_TYPES[scope];
}
