import { statSync } from 'node:fs';
import { nodeTranscriptFiles, type TranscriptFiles } from './transcript-files.js';

/** What keeping a journal asks of the disk. */
export interface JournalFiles
  extends Pick<TranscriptFiles, 'openLog' | 'readLines' | 'readEnds' | 'list' | 'modifiedAt'> {
  /** 0 when there is no such file. */
  size(path: string): number;
}

export const nodeJournalFiles: JournalFiles = {
  ...nodeTranscriptFiles,
  size: (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0,
};
