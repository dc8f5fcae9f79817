import type { MetaLine, TranscriptEntry } from '../../protocol/transcript.js';

export type NewLine = TranscriptEntry | MetaLine;

/** Stores transcripts; appended lines survive a crash of this process once `append` returns. */
export interface SessionStore {
  /**
   * Appends lines to a session in one write and never rewrites existing ones. `agentId` selects a
   * subagent's own file. Returns by how many characters the file has grown.
   *
   * Never throws for disk errors: lines that could not be saved are reported once (`onLost`), kept, and
   * saved before the lines of the next append.
   */
  append(sessionId: string, lines: readonly NewLine[], agentId?: string): number;
  /**
   * Every readable entry in file order; torn or foreign lines are skipped and counted. Undefined when
   * there is no such session.
   */
  read(sessionId: string, agentId?: string): Promise<LoadedSession | undefined>;
  /** A tool's structured output as it was passed to `append`, read from its file if it was long. */
  payload(sessionId: string, toolUseResult: unknown): Promise<unknown>;
  /** The subagents of a session that have a transcript. */
  agents(sessionId: string): Promise<readonly string[]>;
  /** The newest session of this project that has a conversation; undefined when there is none. */
  newest(): Promise<string | undefined>;
  /**
   * Finds a session by id, in this project first, then in all others, then by its exact title in this
   * project. Throws when more than one matches.
   */
  find(idOrTitle: string): Promise<string | undefined>;
  /** The path of the transcript, which need not exist. `agentId` selects a subagent's. */
  transcriptPath(sessionId: string, agentId?: string): string;
  /** Closes the file of an agent that has ended; a later append opens it again. */
  release(sessionId: string, agentId: string): void;
  /** A directory beside the transcript for long output, created on first use. */
  spillDirectory(sessionId: string): string;
  /** Tries to save unsaved lines once more and returns how many are still unsaved. */
  close(): number;
}

/** What a transcript says of its session besides the conversation; the last of each counts. */
export interface SessionFacts {
  readonly title?: string;
  readonly lastPrompt?: string;
  /** The agent that its main conversation runs as. */
  readonly agent?: string;
}

export interface LoadedSession extends SessionFacts {
  readonly sessionId: string;
  readonly entries: readonly TranscriptEntry[];
  /** Lines that are not a JSON object: cut off by a crash, or damaged. */
  readonly damagedLines?: number;
  /** Parents of entries of unknown kinds, by uuid: chains may pass through them. */
  readonly links?: ReadonlyMap<string, string | null>;
}

/** Lines that could not be saved; reported once, and again only after a save has worked. */
export interface LostLines {
  readonly sessionId: string;
  readonly path: string;
  readonly lines: number;
  /** What happened and what to do about it, ready to show. */
  readonly message: string;
  readonly remedy: string | undefined;
}
