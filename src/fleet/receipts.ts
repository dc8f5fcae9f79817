import { ChainReader } from '../journal/chain.js';
import { type JournalEntry, readEntry } from '../journal/entry.js';
import type { ReadJournal } from '../journal/journal.js';

/** Reads the receipts of a session and follows their chain: whether one was changed, removed or inserted. */
export function readReceipts(lines: readonly string[]): Pick<ReadJournal, 'entries' | 'chain'> {
  const chain = new ChainReader();
  const entries: JournalEntry[] = [];
  for (const line of lines) {
    const entry = readEntry(chain.read(line));
    if (entry !== undefined) entries.push(entry);
  }
  return { entries, chain: chain.state() };
}
