import { isAbsolute, resolve } from '../../platform/fs/paths.js';

/** One simple command of a command line, as far as it is known before the shell runs. */
export interface TouchingCommand {
  /** Program and arguments; undefined where a word is decided at run time or holds wildcards. */
  readonly words: readonly (string | undefined)[];
  /** Where it may run; undefined when that is not known. */
  readonly directories: readonly string[] | undefined;
  /** Files that it is redirected from, as far as they are known. */
  readonly redirected?: readonly string[];
}

/**
 * The files whose content a command shows, and those that a redirection reads: instructions that wait
 * for them come into play, as with Read. Listing a directory shows nothing. What cannot be told is left
 * out.
 */
export function filesShownBy(command: TouchingCommand): readonly string[] {
  const [program, ...words] = command.words;
  const reader = program === undefined ? undefined : READERS.get(programName(program));
  const operands = reader === undefined ? [] : operandsOf(words, reader);
  const names = [...operands.filter((name) => name !== '-'), ...(command.redirected ?? [])];
  const { directories } = command;
  if (directories === undefined) return [];
  return names.flatMap((name) => {
    if (name === '' || DEVICE.test(name)) return [];
    return isAbsolute(name)
      ? [resolve(name)]
      : directories.map((directory) => resolve(directory, name));
  });
}

/** `2>/dev/null` stands in many commands and is about no file. */
const DEVICE = /^\/dev\//;

interface ReaderProgram {
  /** Letters of options that take the next word. */
  readonly takes: string;
  /** Operands before the files, unless one of the options `instead` has said it: a pattern, a script. */
  readonly before: number;
  readonly instead: string;
}

const plain = (takes = ''): ReaderProgram => ({ takes, before: 0, instead: '' });
const grep: ReaderProgram = { takes: 'efmABCDd', before: 1, instead: 'ef' };

const READERS: ReadonlyMap<string, ReaderProgram> = new Map([
  ...['cat', 'tac', 'nl', 'less', 'more', 'bat', 'wc', 'strings'].map(
    (name) => [name, plain()] as const,
  ),
  ...['head', 'tail'].map((name) => [name, plain('nc')] as const),
  ...['grep', 'egrep', 'fgrep', 'zgrep'].map((name) => [name, grep] as const),
  ['rg', { takes: 'efmABCgtTjMEr', before: 1, instead: 'ef' }],
  ['sed', { takes: 'efl', before: 1, instead: 'ef' }],
  ['awk', { takes: 'fvF', before: 1, instead: 'f' }],
  ['jq', { takes: 'fL', before: 1, instead: 'f' }],
  ['cut', plain('dfbc')],
  ['sort', plain('kotST')],
  ['uniq', plain('fsw')],
  ['diff', plain('UCIxX')],
  ['xxd', plain('cglos')],
  ['od', plain('ANjtw')],
]);

function operandsOf(words: readonly (string | undefined)[], reader: ReaderProgram): string[] {
  const operands: string[] = [];
  let before = reader.before;
  let onlyOperands = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (!onlyOperands && word === '--') onlyOperands = true;
    else if (!onlyOperands && word?.startsWith('--') === true) {
      if (/^--(?:regexp|file|expression|from-file)(?:=|$)/.test(word)) before = 0;
      if (/^--(?:regexp|file|expression|from-file|lines|bytes|max-count)$/.test(word)) at++;
    } else if (!onlyOperands && word !== undefined && /^-[^-]/.test(word)) {
      const taking = [...word.slice(1)].findIndex((letter) => reader.takes.includes(letter));
      const letter = word.charAt(taking + 1);
      if (taking !== -1 && reader.instead.includes(letter)) before = 0;
      // The last letter takes the next word, an earlier one the rest of this word.
      if (taking !== -1 && taking + 2 === word.length) at++;
    } else if (before > 0) before--;
    else if (word !== undefined) operands.push(word);
  }
  return operands;
}

function programName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}
