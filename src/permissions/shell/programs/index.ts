import { unknown } from '../effects/effect.js';
import { custom, type Program } from '../effects/program.js';
import { ARCHIVE } from './archive.js';
import { COREUTILS } from './coreutils.js';
import { FILES } from './files.js';
import { FIND } from './find.js';
import { GIT } from './git.js';
import { SEARCH } from './search.js';
import { TEXT } from './text.js';
import { TOOLS } from './tools.js';
import { TRANSFERRING } from './transfers.js';
import { WRAPPER_PROGRAMS } from './wrappers.js';

/** The one table: what each program does with the words that it is given. */
export const PROGRAMS: Readonly<Record<string, Program>> = {
  ...COREUTILS,
  ...SEARCH,
  ...FIND,
  ...TEXT,
  ...GIT,
  ...FILES,
  ...ARCHIVE,
  ...TRANSFERRING,
  ...TOOLS,
  ...WRAPPER_PROGRAMS,
  cd: custom((words) => [
    { kind: 'shell-state', what: 'directory' },
    ...words.filter(({ literal }) => !literal).map((word) => unknown('word', word)),
  ]),
};
