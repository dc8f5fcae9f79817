import { basename, join } from '../platform/fs/paths.js';
import type { TranscriptFiles } from '../platform/fs/transcript-files.js';
import { ChainReader, type ChainState, type Hash } from './chain.js';
import { type JournalEntry, readEntry } from './entry.js';

export interface ReadJournal {
  readonly file: string;
  readonly session: string;
  readonly entries: readonly JournalEntry[];
  readonly chain: ChainState;
}

type Files = Pick<TranscriptFiles, 'readLines' | 'list' | 'modifiedAt'>;

/** Reads one session's journal and follows its chain. */
export async function readJournal(file: string, files: Files, hash: Hash): Promise<ReadJournal> {
  const chain = new ChainReader(hash);
  const entries: JournalEntry[] = [];
  await files.readLines(file, (line) => {
    const entry = readEntry(chain.read(line));
    if (entry !== undefined) entries.push(entry);
  });
  return { file, session: basename(file, '.jsonl'), entries, chain: chain.state() };
}

/** Whether nobody changed a journal after it was written, and if so, the first line that shows it. */
export async function verifyChain(file: string, files: Files, hash: Hash): Promise<ChainState> {
  return (await readJournal(file, files, hash)).chain;
}

/** The journals of a project, the one written last first. */
export function journalFilesIn(directory: string, files: Files): readonly string[] {
  return files
    .list(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(directory, name))
    .map((file) => ({ file, at: files.modifiedAt(file) ?? 0 }))
    .sort((a, b) => b.at - a.at)
    .map(({ file }) => file);
}
