import { PortcullisError } from '../errors.js';
import {
  journalDirectory,
  journalFilesIn,
  type ReadJournal,
  readJournal,
} from '../journal/journal.js';
import { basename, findRepositoryRoot } from '../platform/fs/paths.js';
import type { ProjectPlaces } from './places.js';

export type { JournalEntry } from '../journal/entry.js';
export type { ReadJournal } from '../journal/journal.js';

/** The decisions about tool calls in the sessions of a project. */
export interface ProjectJournal {
  /** The file that was written last comes first. */
  readonly files: readonly string[];
  read(file: string): Promise<ReadJournal>;
}

/** Finds the journals of a directory and of its repository; `session` is the beginning of an id. */
export function openProjectJournal(
  { cwd, stateDirectory }: ProjectPlaces,
  session: string | undefined,
): ProjectJournal {
  const directories = new Set([cwd, findRepositoryRoot(cwd) ?? cwd]);
  const files = [...directories]
    .flatMap((one) => journalFilesIn(journalDirectory({ stateDirectory, cwd: one })))
    .filter((file) => session === undefined || basename(file).startsWith(session));
  if (files.length === 0) {
    const whose = session === undefined ? 'for this directory' : `of a session ${session}`;
    throw new PortcullisError('io', `there is no journal ${whose}`, {
      remedy: 'decisions are kept from the first tool call of a session that is itself kept',
    });
  }
  return { files, read: readJournal };
}
