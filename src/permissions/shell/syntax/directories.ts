import { own } from '../../../lib/own.js';
import { resolve } from '../../../platform/fs/paths.js';
import { nameOf, programOf, type ShellWord, UNKNOWN_WORD } from '../model.js';
import { ownWords } from './evaluated-words.js';

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

interface MoveOption {
  /** One letter, alone or at the end of a bundle, with its value behind it or in the next word. */
  readonly letter?: string;
  /** Long, also cut short as far as programs take it. */
  readonly long?: string;
  /** In full, with one dash or two, its value in the next word or behind `=`. */
  readonly word?: string;
}

/** Programs that start another one in a directory of their own choice. */
const MOVERS: Readonly<Record<string, readonly MoveOption[]>> = {
  env: [{ letter: 'C', long: 'chdir' }],
  sudo: [{ letter: 'D', long: 'chdir' }],
  run0: [{ letter: 'D', long: 'chdir' }],
  unshare: [{ letter: 'w', long: 'wd' }],
  nsenter: [{ letter: 'w', long: 'wd' }],
  'systemd-run': [{ long: 'working-directory' }],
  'start-stop-daemon': [{ letter: 'd', long: 'chdir' }],
  daemonize: [{ letter: 'c', long: 'chdir' }],
  bwrap: [{ long: 'chdir' }],
  proot: [
    { letter: 'w', long: 'cwd' },
    { letter: 'w', long: 'pwd' },
  ],
  parallel: [{ long: 'workdir' }, { long: 'wd' }],
  watchexec: [{ long: 'workdir' }],
  bun: [{ long: 'cwd' }],
  bunx: [{ long: 'cwd' }],
  cargo: [{ letter: 'C' }],
  go: [{ word: 'C' }],
  just: [{ letter: 'd', long: 'working-directory' }],
  mise: [{ letter: 'C', long: 'cd' }],
  nodemon: [{ long: 'cwd' }],
  npm: [{ letter: 'C', long: 'prefix' }],
  npx: [{ letter: 'C', long: 'prefix' }],
  pdm: [{ letter: 'p', long: 'project' }],
  pnpm: [{ letter: 'C', long: 'dir' }, { word: 'prefix' }],
  poetry: [{ letter: 'C', long: 'directory' }],
  uv: [{ long: 'directory' }],
  uvx: [{ long: 'directory' }],
  yarn: [{ long: 'cwd' }],
};

/** Where the program behind `env -C dir` and the like may run, besides where the shell is. */
export function launchedIn(
  views: readonly (readonly ShellWord[])[],
  directories: Directories,
): Directories {
  let all = directories;
  for (const view of views) {
    const program = programOf(view) ?? '';
    const options = own(MOVERS, program);
    if (options === undefined) continue;
    // fail-closed: `env -S` splits a text by rules of its own.
    if (program === 'env' && splitsMove(view)) return undefined;
    for (const target of targetsOf(view, options)) {
      // fail-closed: what is decided at run time may be any directory.
      if (!target.literal || target.pattern !== undefined || target.value === '') return undefined;
      // From each place so far: one such program may start another, and of several options some
      // programs take the last while others add them up.
      all = union(
        all,
        all?.map((directory) => resolve(directory, target.value)),
      );
    }
  }
  return all;
}

function splitsMove([, ...words]: readonly ShellWord[]): boolean {
  return words.some(
    ({ value, raw }, at) =>
      /^-[A-Za-z]*S|^--s/.test(value) && /-C|--c/.test(`${raw}${words[at + 1]?.raw}`),
  );
}

/** None: it stays where it is. */
function targetsOf(
  [, ...words]: readonly ShellWord[],
  options: readonly MoveOption[],
): readonly ShellWord[] {
  return words.flatMap((word, at) =>
    options.flatMap((option) => optionValue(word, words[at + 1] ?? UNKNOWN_WORD, option) ?? []),
  );
}

function optionValue(
  word: ShellWord,
  next: ShellWord,
  { letter, long, word: full }: MoveOption,
): ShellWord | undefined {
  const [, written, inline] = /^--?([A-Za-z-]+)(?:=(.*))?$/s.exec(word.value) ?? [];
  const isLong = word.value.startsWith('--');
  if (written !== undefined) {
    const isMeant = written === full || (isLong && long?.startsWith(written) === true);
    if (isMeant) return inline === undefined ? next : { ...word, value: inline };
  }
  if (letter === undefined || isLong) return undefined;
  const at = /^-[A-Za-z]/.test(word.value) ? word.value.indexOf(letter) : -1;
  if (at < 1) return undefined;
  const rest = word.value.slice(at + 1);
  return rest === '' ? next : { ...word, value: rest };
}
