import { own } from '../../lib/own.js';
import { resolve } from '../../platform/fs/paths.js';
import { type Directories, union } from './directories.js';
import { programOf, type ShellWord, UNKNOWN_WORD } from './model.js';

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
