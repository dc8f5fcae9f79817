import { own } from '../../../lib/own.js';
import { wordSet } from '../../../lib/patterns/word-set.js';
import { resolve } from '../../../platform/fs/paths.js';
import { type OptionTable, optionTable, parseOptions } from '../effects/options.js';
import { nameOf, programOf, type ShellWord } from '../model.js';
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

const LOSES_TRACK = wordSet('pushd popd eval source . exec trap shopt set');

function moved(words: readonly ShellWord[], directories: Directories, home: string): Directories {
  const target = cdTarget(words, home);
  if (target === undefined) return undefined;
  if (target.startsWith('/')) return [resolve(target)];
  const reached = directories?.map((directory) => resolve(directory, target));
  // fail-closed: no system takes such a path, so that the shell stays where it was, or is elsewhere.
  return reached?.some(({ length }) => length > LONGEST_PATH) === true ? undefined : reached;
}

/** Programs that start another one in a directory of their own choice, by the options that name it. */
const MOVERS: Readonly<Record<string, OptionTable>> = Object.fromEntries(
  `env -C: chdir:
  sudo -D: chdir:
  run0 -D: chdir:
  unshare -w: wd:
  nsenter -w: wd:
  systemd-run working-directory:
  start-stop-daemon -d: chdir:
  daemonize -c: chdir:
  bwrap chdir:
  proot -w: cwd: pwd:
  parallel workdir: wd:
  watchexec workdir:
  bun cwd:
  bunx cwd:
  cargo -C:
  go -C:
  just -d: working-directory:
  mise -C: cd:
  nodemon cwd:
  npm -C: prefix:
  npx -C: prefix:
  pdm -p: project:
  pnpm -C: dir: prefix:
  poetry -C: directory:
  uv directory:
  uvx directory:
  yarn cwd:`
    .split('\n')
    .map((line): [string, OptionTable] => {
      const [name = '', ...options] = line.trim().split(' ');
      return [name, optionTable(options.join(' '))];
    }),
);

/** Where the program behind `env -C dir` and the like may run, besides where the shell is. */
export function launchedIn(
  views: readonly (readonly ShellWord[])[],
  directories: Directories,
): Directories {
  let all = directories;
  for (const view of views) {
    const program = programOf(view) ?? '';
    const table = own(MOVERS, program);
    if (table === undefined) continue;
    // fail-closed: `env -S` splits a text by rules of its own.
    if (program === 'env' && splitsMove(view)) return undefined;
    for (const { word: target } of parseOptions(view.slice(1), table).values) {
      // fail-closed: what is decided at run time may be any directory.
      if (!target.literal || target.pattern !== undefined || target.value === '') return undefined;
      // From each place so far: one such program may start another, and of several options some
      // programs take the last while others add them up.
      all = union(
        all,
        all?.map((directory) => resolve(directory, target.value.replace(/^=/, ''))),
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
