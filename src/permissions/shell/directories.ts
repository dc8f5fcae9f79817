import { resolve } from '../../platform/fs/paths.js';
import { ownWords } from './evaluated-words.js';
import { nameOf, type ShellWord } from './model.js';

/** The directories that a command may find itself in; undefined when that is anybody's guess. */
export type Directories = readonly string[] | undefined;

/** Each change of directory that may fail may double them; no command means as many. */
const MOST_DIRECTORIES = 100;
const LONGEST_PATH = 4096;

export function union(a: Directories, b: Directories): Directories {
  if (a === b) return a;
  if (a === undefined || b === undefined) return undefined;
  const all = new Set([...a, ...b]);
  // fail-closed: among so many it may as well be anywhere.
  return all.size > MOST_DIRECTORIES ? undefined : [...all];
}

/** Where the shell is after a command that succeeded. */
export function directoriesAfter(
  words: readonly ShellWord[],
  directories: Directories,
  { home, assigned }: { readonly home: string; readonly assigned: ReadonlySet<string> },
): Directories {
  const mine = ownWords(words);
  const name = nameOf(mine);
  // A search path for directories, or another home, leads anywhere.
  const isLed = assigned.has('CDPATH') || assigned.has('HOME');
  if (name === 'cd') return isLed ? undefined : moved(mine, directories, home);
  if (name === 'set' && mine.slice(1).every(keepsCourse)) return directories;
  const movesUnseen = name === undefined && mine.length > 0;
  return movesUnseen || LOSES_TRACK.has(name ?? '') ? undefined : directories;
}

/** The target of a `cd`; undefined when only the shell knows it (`cd -`, `cd $x`). */
export function cdTarget(words: readonly ShellWord[], home: string): string | undefined {
  const targets = words.slice(1).filter((word) => !/^-[LPe@]+$|^--$/.test(word.value));
  const [target] = targets;
  if (target === undefined) return home;
  if (targets.length > 1 || !target.literal || target.pattern !== undefined) return undefined;
  // With `-P` two dots, here or in a later `cd`, lead on from where a link has led.
  if (words.some((word) => /^-[LPe@]*P/.test(word.value))) return undefined;
  return /^[-+]/.test(target.value) || target.value === '' ? undefined : target.value;
}

/** `set -euo pipefail` and the like: how the shell reacts, not where it is. */
function keepsCourse({ literal, value }: ShellWord): boolean {
  return literal && /^([-+][eux]*o?|errexit|nounset|pipefail|xtrace)$/.test(value);
}

const LOSES_TRACK = new Set([
  'pushd',
  'popd',
  'eval',
  'source',
  '.',
  'exec',
  'trap',
  'shopt',
  'set',
]);

function moved(words: readonly ShellWord[], directories: Directories, home: string): Directories {
  const target = cdTarget(words, home);
  if (target === undefined) return undefined;
  if (target.startsWith('/')) return [resolve(target)];
  const reached = directories?.map((directory) => resolve(directory, target));
  // fail-closed: no system takes such a path, so that the shell stays where it was, or is elsewhere.
  return reached?.some(({ length }) => length > LONGEST_PATH) === true ? undefined : reached;
}
