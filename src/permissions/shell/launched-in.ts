import { resolve } from '../../env/paths.js';
import { type Directories, union } from './directories.js';
import { nameOf, type ShellWord } from './model.js';

interface MoveOption {
  /** One letter, alone or at the end of a bundle, with its value behind it or in the next word. */
  readonly letter?: string;
  /** Long, also cut short as far as programs take it. */
  readonly long: string;
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
};

/** Where the program behind `env -C dir` and the like may run, besides where the shell is. */
export function launchedIn(
  views: readonly (readonly ShellWord[])[],
  directories: Directories,
): Directories {
  let all = directories;
  for (const view of views) {
    const name = nameOf(view);
    const options = name === undefined ? undefined : MOVERS[name];
    if (options === undefined || !Object.hasOwn(MOVERS, name ?? '')) continue;
    const target = targetOf(view, options);
    if (target === 'unknown') return undefined;
    if (target === undefined) continue;
    // From each place so far: one such program may start another.
    all = union(
      all,
      all?.map((directory) => resolve(directory, target)),
    );
  }
  return all;
}

/** Undefined: it stays where it is. */
function targetOf(
  [, ...words]: readonly ShellWord[],
  options: readonly MoveOption[],
): string | undefined | 'unknown' {
  for (const [at, word] of words.entries()) {
    // fail-closed: `env -S` splits a text by rules of its own.
    if (/^-[A-Za-z]*S|^--s/.test(word.value) && /-C|--c/.test(`${word.raw}${words[at + 1]?.raw}`)) {
      return 'unknown';
    }
    for (const { letter, long } of options) {
      const value = optionValue(word, words[at + 1], { letter, long });
      if (value === undefined) continue;
      // fail-closed: what is decided at run time may be any directory.
      if (!value.literal || value.pattern !== undefined || value.value === '') return 'unknown';
      return value.value;
    }
  }
  return undefined;
}

function optionValue(
  word: ShellWord,
  next: ShellWord | undefined,
  { letter, long }: { readonly letter: string | undefined; readonly long: string },
): ShellWord | undefined {
  const [, written, inline] = /^--?([a-z-]+)(?:=(.*))?$/s.exec(word.value) ?? [];
  if (word.value.startsWith('--') && written !== undefined && long.startsWith(written)) {
    return inline === undefined ? (next ?? UNKNOWN) : { ...word, value: inline };
  }
  if (letter === undefined || word.value.startsWith('--')) return undefined;
  const at = /^-[A-Za-z]/.test(word.value) ? word.value.indexOf(letter) : -1;
  if (at < 1) return undefined;
  const rest = word.value.slice(at + 1);
  return rest === '' ? (next ?? UNKNOWN) : { ...word, value: rest };
}

const UNKNOWN: ShellWord = { value: '', literal: false, raw: '' };
