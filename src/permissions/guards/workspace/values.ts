import type { SyntaxNode } from 'unbash';
import { relative, toPosix } from '../../../platform/fs/paths.js';
import type { CallView } from '../../gate/view.js';
import {
  nameOf,
  programOf,
  type ShellReading,
  type ShellWord,
  type SimpleCommand,
} from '../../shell/model.js';
import { readShell } from '../../shell/syntax/read.js';
import { leadsUp } from './places.js';

/** What the variables of a command line can be, as far as the line itself says it. */
export interface LineVariables {
  /** All that a word may become in these directories; undefined: that is decided elsewhere. */
  valuesOf(
    word: ShellWord,
    directories: readonly string[] | undefined,
  ): Promise<WordValues | undefined>;
}

export interface WordValues {
  readonly paths: readonly string[];
  /** What lies below them is meant, too. */
  readonly below: boolean;
}

type Place = Pick<CallView, 'judge' | 'home' | 'call' | 'facts'>;

/** More than anybody means by one word. */
const MOST_VALUES = 500;

export function lineVariables(
  { text, reading }: { readonly text: string; readonly reading: ShellReading },
  place: Place,
): LineVariables {
  let settings: Promise<Settings> | undefined;
  const known = new Map<string, Promise<readonly ShellWord[] | undefined>>();
  const wordsOf = async (name: string): Promise<readonly ShellWord[] | undefined> => {
    settings ??= settingsIn(text, reading);
    const { set, unclear, isUnclear } = await settings;
    const texts = set.get(name);
    // fail-closed: what is set elsewhere, or in a way that is not followed here, may be anything.
    if (texts === undefined || isUnclear || unclear.has(name)) return undefined;
    if (place.facts.exported?.().has(name) === true) return undefined;
    const { cwd } = place.call.workspace;
    const read = await readShell(`: ${texts.join(' ')}`, { cwd, home: place.home });
    const words = read.commands.length === 1 ? read.commands[0]?.words.slice(1) : undefined;
    if (read.opaque !== undefined || words === undefined) return undefined;
    return words.every(({ literal }) => literal) ? words : undefined;
  };
  const valuesOfName = async (
    name: string,
    directories: readonly string[],
  ): Promise<readonly Value[] | undefined> => {
    const read = known.get(name) ?? wordsOf(name);
    known.set(name, read);
    const words = await read;
    if (words === undefined) return undefined;
    // Where the loop or the assignment does not come to run it is empty.
    const values: Value[] = [{ text: '' }];
    for (const { value, pattern } of words) {
      const found =
        pattern === undefined ? [{ text: value }] : await fitting(pattern, directories, place);
      if (found === undefined) return undefined;
      values.push(...found);
    }
    return values;
  };
  return {
    async valuesOf({ raw }, directories = []) {
      const pieces = piecesOf(raw);
      if (pieces === undefined || directories.length === 0) return undefined;
      let found: readonly Value[] = [{ text: '' }];
      for (const piece of pieces) {
        const isName = 'name' in piece;
        const values = isName ? await valuesOfName(piece.name, directories) : [piece];
        if (values === undefined || found.length * values.length > MOST_VALUES) return undefined;
        // Outside of quotes the shell takes apart what it finds.
        const isSplit = isName && !piece.quoted && values.some(({ text }) => !PLAIN.test(text));
        const joint = isSplit ? undefined : joined(found, values);
        if (joint === undefined) return undefined;
        found = joint;
      }
      const paths = found.map(({ text }) => text);
      return { paths, below: found.some(({ by }) => by === 'unseen') };
    },
  };
}

const PLAIN = /^[\w./@:+%,=-]*$/;

interface Value {
  readonly text: string;
  /**
   * Of a pattern: what fits it may be another file when the line runs. `unseen`: the directory that all
   * of it lies in.
   */
  readonly by?: 'pattern' | 'unseen';
}

/** One behind the other. fail-closed: what fits a pattern is inside only where nothing around it leads away. */
function joined(before: readonly Value[], after: readonly Value[]): readonly Value[] | undefined {
  const all = before.flatMap((one) => after.map((other) => ({ one, other })));
  const isAway = all.some(
    ({ one, other }) =>
      (other.by !== undefined && one.text !== '' && (leadsUp(one.text) || leadsUp(other.text))) ||
      (one.by !== undefined && other.text.split('/').includes('..')),
  );
  if (isAway) return undefined;
  return all.map(({ one, other }) => {
    const by = one.by ?? other.by;
    return { text: one.text + other.text, by };
  });
}

/** The files that a pattern fits, as the shell names them; undefined: nobody can tell. */
async function fitting(
  pattern: string,
  directories: readonly string[],
  { judge }: Pick<Place, 'judge'>,
): Promise<readonly Value[] | undefined> {
  // Up to the first wildcard it is plain: all that fits lies in there.
  const top = /^(?:[^*?[\\]*\/)?/.exec(pattern)?.[0] ?? '';
  const values: Value[] = [{ text: top === '' ? './' : top, by: 'pattern' }];
  for (const directory of directories) {
    const files = await judge.expand(directory, pattern);
    if (files === undefined && leadsUp(pattern)) return undefined;
    if (files === undefined) values.push({ text: './', by: 'unseen' });
    const named = (file: string): string =>
      pattern.startsWith('/') ? file : toPosix(relative(directory, file));
    for (const file of files ?? []) values.push({ text: named(file), by: 'pattern' });
  }
  return values;
}

type Piece = { readonly text: string } | { readonly name: string; readonly quoted: boolean };

/** A word of plain text and whole variables; undefined for every other. */
function piecesOf(raw: string): readonly Piece[] | undefined {
  const pieces: Piece[] = [];
  let quoted = false;
  const part =
    /"|\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})|([\w./@:+%,=-]+)|([ ()'*?[\]{}#~;&|<>!^]+)/gy;
  let at = 0;
  for (let found = part.exec(raw); found !== null; found = part.exec(raw)) {
    const [whole, bare, braced, text, inQuotes] = found;
    at = part.lastIndex;
    const name = bare ?? braced;
    if (whole === '"') quoted = !quoted;
    else if (name !== undefined) pieces.push({ name, quoted });
    else if (text !== undefined) pieces.push({ text });
    else if (quoted && inQuotes !== undefined) pieces.push({ text: inQuotes });
    else return undefined;
    if (at === raw.length) break;
  }
  return at === raw.length && !quoted && raw !== '' ? pieces : undefined;
}

interface Settings {
  /** By name: the words it is set to, as written. */
  readonly set: ReadonlyMap<string, readonly string[]>;
  /** Set in a way that is not followed here. */
  readonly unclear: ReadonlySet<string>;
  /** Any may be. */
  readonly isUnclear: boolean;
}

/** Builtins that set variables by their names, and those that may set any. */
const SETTERS =
  /^(read|mapfile|readarray|getopts|export|declare|typeset|local|readonly|unset|let|printf|wait|set)$/;
const ANY_SETTERS = /^(\.|source|eval|trap|alias|enable|shopt|exec|function)$/;

async function settingsIn(text: string, { commands }: ShellReading): Promise<Settings> {
  const { parse, forEachChild } = await import('unbash');
  const set = new Map<string, string[]>();
  const unclear = new Set<string>();
  const put = (name: string, words: readonly { readonly text: string }[]): void => {
    set.set(name, [...(set.get(name) ?? []), ...words.map((word) => word.text)]);
  };
  const look = (node: SyntaxNode): void => {
    if (node.type === 'For' && node.wordlist !== undefined) put(node.name.value, node.wordlist);
    else if (node.type === 'For' || node.type === 'Select') unclear.add(node.name.value);
    if (node.type === 'Assignment') {
      const isPlain =
        node.value.type === 'Word' && node.append !== true && node.index === undefined;
      if (isPlain && node.value.type === 'Word') put(node.name, [node.value]);
      else unclear.add(node.name);
    }
    // `X=1 program` sets it for that one alone.
    if (node.type === 'Command' && node.name !== undefined) {
      for (const one of node.prefix) if (one.type === 'Assignment') unclear.add(one.name);
    }
    // `${X:=value}` sets it on the way.
    if (node.type === 'ParameterExpansion' && node.text.includes('=')) unclear.add(node.parameter);
    forEachChild(node, look);
  };
  look(parse(text));
  let isUnclear = false;
  for (const view of commands.flatMap(({ views }) => views)) {
    const at = view.findIndex(({ value }) => !/^(builtin|command)$/.test(value));
    const [first, ...rest] = view.slice(at);
    if (ANY_SETTERS.test(first?.value ?? '')) isUnclear = true;
    if (!SETTERS.test(first?.value ?? '')) continue;
    if (rest.some(({ literal }) => !literal)) isUnclear ||= first?.value !== 'printf';
    for (const { value } of rest) unclear.add(/^[A-Za-z_]\w*/.exec(value)?.[0] ?? '');
  }
  return { set, unclear, isUnclear };
}

/**
 * The names that a command gets from the one in front of it; empty: names of what lies in directories
 * that the line itself names, which are judged there. Undefined: they may be any.
 */
export function fedNames(
  command: SimpleCommand,
  { commands }: Pick<ShellReading, 'commands'>,
): readonly string[] | undefined {
  const values = command.words.map(({ value }) => value);
  if (WALKS.test(programOf(command.words) ?? '')) {
    return values.some((value) => /^-files0-from/.test(value)) ? undefined : [];
  }
  // fail-closed: then they come out of a file.
  if (values.some((value) => /^(-[a-zA-Z0-9]*a|--arg)/.test(value))) return undefined;
  let at = commands.indexOf(command);
  // fail-closed: of what a substitution adds nobody knows whose input it is.
  while (at > 0 && commands[at]?.piped === true && isPlain(commands[at])) at--;
  const first = commands[at];
  const between = commands.slice(at + 1, commands.indexOf(command));
  if (first === undefined || first === command || first.piped === true || !isPlain(first)) {
    return undefined;
  }
  if (!between.every(passesOn)) return undefined;
  if (nameOf(first.words) === 'echo') {
    return first.words.slice(1).flatMap(({ value }) => value.split(/\s+/));
  }
  return listsNames(first) ? [] : undefined;
}

function isPlain(command: SimpleCommand | undefined): boolean {
  return (
    command?.words.every(({ literal }) => literal) === true &&
    command.redirections.every(
      ({ access, target }) => access !== 'read' && target?.literal !== false,
    )
  );
}

const WALKS = /^(find|fd|fdfind)$/;

/** Programs that print names of what they go through, and nothing else. */
function listsNames({ words }: SimpleCommand): boolean {
  const [, ...rest] = words.map(({ value }) => value);
  const has = (option: RegExp): boolean => rest.some((value) => option.test(value));
  switch (programOf(words)) {
    case 'find':
      return !has(/^-(f?printf|fprint0?|f?ls|exec|execdir|ok|okdir|files0-from)$/);
    case 'fd':
    case 'fdfind':
      return !has(/^(-\w*[xX]|--exec|--exec-batch|--format)/);
    case 'ls':
      // A long list tells where links lead, too.
      return !has(/^-\w*[lgno]|^--(format|full-time|numeric|hyperlink|zero)/);
    case 'git':
      return rest[0] === 'ls-files' && !has(/^--format/);
    case 'grep':
    case 'egrep':
    case 'fgrep':
      return has(/^-[a-zA-Z]*l|^--files-with-matches$/) && !has(/^--label/);
    case 'rg':
      return (
        has(/^(-[a-zA-Z]*l|--files|--files-with-matches)$/) &&
        !has(/^(-r|--replace|--path-separator)/)
      );
    default:
      return false;
  }
}

/** Leaves lines of its input out or puts them in order, and changes none. */
function passesOn({ words }: SimpleCommand): boolean {
  const rest = words.slice(1).map(({ value }) => value);
  const isNumber = (value: string, at: number): boolean =>
    /^\+?\d+$/.test(value) && /^-[nkmABC]$/.test(rest[at - 1] ?? '');
  // What stands by itself is a file, which is read in place of the input.
  const operands = rest.filter((value, at) => !value.startsWith('-') && !isNumber(value, at));
  const options = rest.filter((value) => value.startsWith('-'));
  switch (programOf(words)) {
    case 'head':
    case 'tail':
    case 'sort':
    case 'uniq':
      return (
        operands.length === 0 && options.every((value) => /^-[abdfhiknqruVv]*\d*$/.test(value))
      );
    case 'grep':
    case 'egrep':
    case 'fgrep':
      return operands.length === 1 && options.every((value) => /^-[EFGPivwxABCm]+\d*$/.test(value));
    default:
      return false;
  }
}
