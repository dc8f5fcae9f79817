import { unknown } from '../effects/effect.js';
import { custom, type Program, rows } from '../effects/program.js';
import { ARCHIVE } from './archive.js';
import { COREUTILS, OTHER_COREUTILS } from './coreutils.js';
import { FILES } from './files.js';
import { FD, FIND } from './find.js';
import { GIT } from './git.js';
import { OTHER_SEARCHES, SEARCH } from './search.js';
import { OTHER_TEXT, TEXT } from './text.js';
import { TOOLS } from './tools.js';
import { TRANSFERRING } from './transfers.js';
import { WRAPPER_PROGRAMS } from './wrappers.js';

/** Grants take these for programs without a row: they may do more than the row says. */
const RESTRICTING: Readonly<Record<string, Program>> = {
  ...OTHER_COREUTILS,
  ...OTHER_SEARCHES,
  ...rows('fd fdfind', FD),
  ...OTHER_TEXT,
  ...FILES,
  ...ARCHIVE,
  ...TRANSFERRING,
};

/** The one table: what each program does with the words that it is given. */
export const PROGRAMS: Readonly<Record<string, Program>> = {
  ...Object.fromEntries(
    Object.entries(RESTRICTING).map(([name, row]) => [name, { ...row, restrictsOnly: true }]),
  ),
  ...COREUTILS,
  ...SEARCH,
  find: FIND,
  ...TEXT,
  git: GIT,
  ...TOOLS,
  ...WRAPPER_PROGRAMS,
  cd: custom((words) => [
    { kind: 'shell-state', what: 'directory' },
    ...words.filter(({ literal }) => !literal).map((word) => unknown('word', word)),
  ]),
};
