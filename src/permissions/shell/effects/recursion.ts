import { matches, segmentTokens } from '../../rules/wildcard.js';
import type { ShellWord } from '../model.js';

/** How a command goes through a directory by itself, with all that is in it. */
export interface Recursion {
  /** It goes where links in the tree lead. */
  readonly follows?: boolean;
  /** How deep it goes; absent: all the way. */
  readonly depth?: number;
  /** Names are listed, and no file is opened. */
  readonly namesOnly?: boolean;
  /** It makes what its sources hold there (where they are written to), and leaves all else that lies there alone. */
  readonly made?: true;
  readonly skips?: TreeSkips;
  /** Files that are not meant, by their real paths. */
  readonly known?: (path: string) => boolean;
  /** Why the user must be asked where a file is found: it may be left out in a way that is not followed here. */
  readonly unsure?: string | undefined;
  /** What it finds is handed to a program, which follows a link that it is given. */
  readonly handsOn?: boolean;
  /** Commands that are run for what it finds: they may change it. */
  readonly handedTo?: readonly (readonly ShellWord[])[];
  /** Further names under which what it finds is written, from the directory that the command runs in. */
  readonly also?: (found: FoundFile) => readonly string[];
  /** Only files count in which this text is, in any case. */
  readonly holding?: string | undefined;
  /** How to leave out a name, as an option of this command. */
  readonly leaveOut?: (name: string, kind: 'file' | 'directory') => string;
}

export interface TreeTarget {
  readonly path: string;
  /** Where the shell decides which it is. */
  readonly pattern?: string | undefined;
  /** Whether the name of what is copied is added: always, never, or where the target is a directory. */
  readonly named: 'always' | 'never' | 'in-directory';
}

export interface FoundFile {
  readonly path: string;
  readonly name: string;
  /** As the command names it. */
  readonly text: string;
}

/** A test of a name, and of the path as the command writes it, where that is known. */
export type EntryTest = (name: string, path?: string) => boolean;

/** What surely is not looked at, by its own name. */
export interface TreeSkips {
  readonly file?: EntryTest;
  readonly directory?: EntryTest;
  /** Directories that are changed themselves, not only what is in them; absent: all unless files are left out. */
  readonly itself?: EntryTest;
  /** Directories that are taken as a whole: by their names, nothing in them is left out. */
  readonly neverIn?: EntryTest;
  /** Names with a dot in front, unless an ignore file takes them in again. */
  readonly hidden?: boolean;
  /** What ignore files name. */
  readonly ignored?: 'git' | 'search';
  /** What neither its dot nor an ignore file keeps out. */
  readonly shown?: (name: string) => boolean;
  /** What git keeps. */
  readonly tracked?: boolean;
}

/** What surrounds a command and changes what it does. */
export interface CommandContext {
  /** Text comes in from the command in front of it. */
  readonly fed: boolean;
  /** Whether the command line names a variable, and so may set it. */
  names(variable: string): boolean;
  /** Whether a variable may be set, by the command line or from outside. */
  mayBeSet(variable: string): boolean;
}

/**
 * Whether a name fits one of these globs, for what a command leaves out: only globs that every
 * program reads alike count.
 */
export function globMatcher(globs: readonly string[]): (name: string) => boolean {
  // fail-closed: braces, sets and slashes mean other things to other programs.
  const tokens = globs
    .filter((glob) => /^[^/{}[\]\\!,]+$/.test(glob))
    .map((glob) => segmentTokens(glob));
  return (name) => tokens.some((one) => matches(one, name));
}

/** For what is taken in: a glob that is not understood may fit anything. */
export function broadMatcher(globs: readonly string[]): (name: string) => boolean {
  const simple = globs.filter((glob) => /^[^/{}[\]\\!,]+$/.test(glob));
  const fits = globMatcher(simple);
  return (name) => simple.length < globs.length || fits(name);
}

/** As of many programs: a glob that ends with a slash speaks of directories alone. */
export function leftOutBy(
  globs: readonly string[],
): Required<Pick<TreeSkips, 'file' | 'directory'>> {
  return {
    file: globMatcher(globs.filter((glob) => !glob.endsWith('/'))),
    directory: globMatcher(globs.map((glob) => glob.replace(/\/$/, ''))),
  };
}
