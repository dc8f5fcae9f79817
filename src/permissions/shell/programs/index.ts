import { own } from '../../../lib/own.js';
import type { ProgramFacts } from '../effects/facts.js';
import { type Program, rows } from '../effects/program.js';
import { programOf, type ShellWord } from '../model.js';
import { ARCHIVE } from './archive.js';
import { BUILTINS } from './builtins.js';
import { COMPILERS } from './compilers.js';
import { COREUTILS, OTHER_COREUTILS } from './coreutils.js';
import { FILES } from './files.js';
import { FD, FIND } from './find.js';
import { GIT } from './git.js';
import { MACHINE } from './machine.js';
import { PACKAGES } from './packages.js';
import { RUNTIMES } from './runtimes.js';
import { OTHER_SEARCHES, SEARCH } from './search.js';
import { SERVICES } from './services.js';
import { OTHER_TEXT, TEXT } from './text.js';
import { TRANSFERRING } from './transfers.js';
import { RUNNERS, WRAPPER_PROGRAMS } from './wrappers.js';

type Rows = Readonly<Record<string, Program>>;

/** Grants take these for programs without a row: they may do more than the row says. */
const RESTRICTING: readonly Rows[] = [
  OTHER_COREUTILS,
  OTHER_SEARCHES,
  rows('fd fdfind', FD),
  OTHER_TEXT,
  FILES,
  ARCHIVE,
  TRANSFERRING,
];

/** The one table: what each program does with the words that it is given, and what else is known of it. */
const PROGRAMS: Rows = merged([
  ...RESTRICTING.map((group) => mapRows(group, (row) => ({ ...row, restrictsOnly: true }))),
  COREUTILS,
  SEARCH,
  { find: FIND },
  TEXT,
  { git: GIT },
  PACKAGES,
  COMPILERS,
  RUNTIMES,
  SERVICES,
  MACHINE,
  WRAPPER_PROGRAMS,
  RUNNERS,
  BUILTINS,
]);

function merged(groups: readonly Rows[]): Rows {
  const all: Record<string, Program> = {};
  for (const [name, row] of groups.flatMap((group) => Object.entries(group))) {
    if (Object.hasOwn(all, name)) throw new Error(`two rows for ${name}`);
    all[name] = row;
  }
  return all;
}

function mapRows(group: Rows, change: (row: Program) => Program): Rows {
  return Object.fromEntries(Object.entries(group).map(([name, row]) => [name, change(row)]));
}

/** The rows that say what the words of a program do. */
export const MODELLED: Rows = Object.fromEntries(
  Object.entries(PROGRAMS).filter(([, row]) => row.unmodelled !== true),
);

/** What the words of a program of exactly this name do, where the table models it. */
export function modelOf(name: string | undefined): Program | undefined {
  return own(MODELLED, name ?? '');
}

const ALIASED = Object.values(PROGRAMS).filter(({ facts }) => facts?.aliases !== undefined);
const NO_FACTS: ProgramFacts = {};
/** No system takes a longer name of a file. */
const LONGEST_NAME = 255;

/** What is known of a program, wherever it lies, whatever its case and version and by which of its names. */
export function factsOf(words: readonly ShellWord[]): ProgramFacts {
  return factsOfName(programOf(words) ?? '');
}

/** Whether the table has a row for exactly this name. */
export function isListed(program: string): boolean {
  return Object.hasOwn(PROGRAMS, program);
}

export function factsOfName(program: string): ProgramFacts {
  const name = program.toLowerCase();
  if (name.length > LONGEST_NAME) return NO_FACTS;
  const bare = name.replace(/-?\d+(\.\d+)*$/, '');
  const row = own(PROGRAMS, name) ?? own(PROGRAMS, bare) ?? byAlias(name) ?? byAlias(bare);
  return row?.facts ?? NO_FACTS;
}

function byAlias(name: string): Program | undefined {
  return ALIASED.find(({ facts }) => facts?.aliases?.test(name) === true);
}
