/** Who wrote an instruction. `memory`: notes of earlier sessions; `team`: notes that a team shares. */
export type InstructionScope = 'managed' | 'user' | 'project' | 'local' | 'memory' | 'team';

/** The same in the words of hooks. */
export type MemoryType = 'User' | 'Project' | 'Local' | 'Managed';

export const MEMORY_TYPES: Readonly<Record<InstructionScope, MemoryType>> = {
  managed: 'Managed',
  user: 'User',
  project: 'Project',
  local: 'Local',
  memory: 'User',
  team: 'Project',
};

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
  /** As it is shown: without its head, block comments and invisible characters. */
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
  /** An instruction file that the system does not let us read: it may hold restrictions. */
  readonly mayRestrict?: true;
  /** Whether a person should be told without asking. */
  readonly warn: boolean;
}

export interface LoadedFiles {
  /** In the order in which they are shown: broad before specific. */
  readonly files: readonly LoadedInstruction[];
  readonly skipped: readonly SkippedInstruction[];
}

/** A file with a meaning by its place. */
export interface Place {
  readonly path: string;
  readonly scope: InstructionScope;
  readonly kind: LoadedInstruction['kind'];
  /** The directory that it speaks for: the one with `.claude` in it, or the one that it lies in. */
  readonly base: string;
  /** Resolved directories that it may lie in without a question; absent: anywhere. */
  readonly within?: readonly string[];
  /** Resolved directories that it may include from without a question; absent: anywhere. */
  readonly includesWithin?: readonly string[];
  /** Above the project, where other users may write. */
  readonly aboveProject?: boolean;
  /** In a folder below the working directory. */
  readonly nested?: boolean;
  /** The file that includes it. */
  readonly parent?: string;
  /** A text that was shown already is not shown again. */
  readonly onceByContent?: boolean;
}

/** Where a directory's files may lie and include from. */
export type Area = Pick<Place, 'within' | 'includesWithin' | 'aboveProject' | 'nested'>;

/** A regular file that may be read. */
export interface Located {
  readonly real: string;
  /** Changes whenever the content does. */
  readonly stamp: string;
  readonly bytes: number;
  /** Why it is not shown; what it enforces holds all the same. */
  readonly hidden?: SkippedInstruction;
}

/** `absent`: nothing of that name. */
export type Sought = Located | SkippedInstruction | 'absent';

/** Why and how a file is taken. */
export interface LoadCause {
  readonly reason: LoadReason;
  /** The file whose use made it load. */
  readonly trigger?: string;
  /** It counts only for files that these patterns match. */
  readonly when?: FilePatterns;
  /** Includes keep this reason instead of their own. */
  readonly reasonForAll?: boolean;
}

/** A file that was read, with what is needed to look at it again. */
export interface Entry {
  readonly instruction: LoadedInstruction;
  readonly place: Place;
  readonly located: Located;
  /** Lines as in the file, those of the head empty; empty for programs and data. */
  readonly source: string;
  /** 0 for a file that was not included. */
  readonly depth: number;
  /** The line in the file, where the text is a part of one. */
  readonly line?: number;
  /** It counts only for files that these patterns match. */
  readonly when?: FilePatterns;
}

/** Patterns that say for which files something counts. */
export interface FilePatterns {
  readonly globs: readonly string[];
  /** Takes an absolute path. */
  fits(path: string): boolean;
}

/** A rule that waits for a file that its patterns match. */
export interface WaitingRule extends FilePatterns {
  readonly place: Place;
  readonly real: string;
}
