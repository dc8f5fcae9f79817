import type { MetaLine, TranscriptEntry } from '../protocol/transcript.js';

/** Where transcripts live. Appends are durable against the death of this process when they return. */
export interface SessionStore {
  /**
   * Appends lines to a session, all in one write. Never rewrites what is there. `agentId` selects a
   * subagent's own file beside the session's.
   */
  append(sessionId: string, lines: readonly (TranscriptEntry | MetaLine)[], agentId?: string): void;
  /** Every readable entry in file order; torn or foreign lines are skipped and counted. */
  read(sessionId: string): Promise<LoadedSession | undefined>;
  /** The newest session of this project, undefined when there is none. */
  newest(): Promise<string | undefined>;
  /** Finds a session by id, in this project first, then in all others. */
  find(idOrTitle: string): Promise<string | undefined>;
  /** Where the session's transcript is, or would be. */
  transcriptPath(sessionId: string): string;
  /** A directory beside the transcript for output too long to show, made on first use. */
  spillDirectory(sessionId: string): string;
}

export interface LoadedSession {
  readonly sessionId: string;
  readonly entries: readonly TranscriptEntry[];
  readonly skippedLines: number;
}
