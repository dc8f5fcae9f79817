import { nodeTranscriptFiles, type TranscriptFiles } from './transcript-files.js';

/** What keeping a journal asks of the disk. */
export type JournalFiles = Pick<
  TranscriptFiles,
  'openLog' | 'readLines' | 'readEnds' | 'list' | 'modifiedAt'
>;

export const nodeJournalFiles: JournalFiles = nodeTranscriptFiles;
