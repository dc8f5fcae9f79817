import type { SyntaxNode } from 'unbash';
import { relative } from '../../../platform/fs/paths.js';
import type { CallView } from '../../gate/view.js';
import {
  literalWord,
  type ShellReading,
  type ShellWord,
  type SimpleCommand,
} from '../../shell/model.js';
import { readShell } from '../../shell/syntax/read.js';
import { variablesSetBy } from '../../shell/syntax/set-variables.js';
import { leadsUp } from './words.js';

/**
 * All words that a word with variables may become in these directories, as far as the line itself says what they
 * are set to; undefined: that is decided elsewhere.
 */
export type LineValues = (
  word: ShellWord,
  directories: readonly string[] | undefined,
) => Promise<readonly ShellWord[] | undefined>;

type Place = Pick<CallView, 'judge' | 'home' | 'call' | 'facts'>;

/** More than anybody means by one word. */
const MOST_VALUES = 500;

export function lineValues(
  { text, reading }: { readonly text: string; readonly reading: ShellReading },
  place: Place,
): LineValues {
  let settings: Promise<Settings> | undefined;
  /** What a variable is set to; undefined: it may be anything. */
  const setTo = async (name: string): Promise<readonly ShellWord[] | undefined> => {
    settings ??= settingsIn(text);
    const set = await settings;
    const texts = set.get(name);
    // fail-closed: what is set elsewhere, or in a way that is not followed here, may be anything; so may all
    // that the shell splits by other signs, and what a builtin sets that runs text.
    if (texts === undefined || set.has('IFS') || reading.commands.some(setsAny)) return undefined;
    if (place.facts.exported?.().has(name) === true) return undefined;
    const { cwd } = place.call.workspace;
    const read = await readShell(`: ${texts.join(' ')}`, { cwd, home: place.home });
    const words = read.commands.length === 1 ? read.commands[0]?.words.slice(1) : undefined;
    const isKnown = read.opaque === undefined && words?.every(({ literal }) => literal) === true;
    // Where the loop or the assignment does not come to run it is empty.
    return isKnown ? [literalWord(''), ...words] : undefined;
  };
  return async ({ raw }, directories = []) => {
    const pieces = piecesOf(raw);
    if (pieces === undefined || directories.length === 0) return undefined;
    let found: readonly ShellWord[] = [literalWord('')];
    for (const piece of pieces) {
      const isName = 'name' in piece;
      const values = isName ? await setTo(piece.name) : [literalWord(piece.text)];
      if (values === undefined || found.length * values.length > MOST_VALUES) return undefined;
      // Outside of quotes the shell takes apart what it finds.
      if (isName && !piece.quoted && !(await staysWhole(values, directories, place))) {
        return undefined;
      }
      found = found.flatMap((one) => values.map((other) => joined(one, other)));
    }
    // fail-closed: what fits a pattern is inside only where nothing around it leads away.
    const isAway = found.some(({ pattern, value }) => pattern !== undefined && leadsUp(value));
    return isAway && pieces.length > 1 ? undefined : found;
  };
}

function joined(one: ShellWord, other: ShellWord): ShellWord {
  const isWild = one.pattern !== undefined || other.pattern !== undefined;
  const word = literalWord(one.value + other.value);
  return isWild ? { ...word, pattern: patternOf(one) + patternOf(other) } : word;
}

function patternOf({ value, pattern }: ShellWord): string {
  return pattern ?? value.replace(/[\\*?[\]]/g, '\\$&');
}

const PLAIN = /^[\w./@:+%,=-]*$/;

/** Whether none of these, and of the names that fit them, is more than one word. */
async function staysWhole(
  values: readonly ShellWord[],
  directories: readonly string[],
  { judge }: Place,
): Promise<boolean> {
  for (const { value, pattern } of values) {
    if (pattern === undefined && !PLAIN.test(value)) return false;
    if (pattern === undefined) continue;
    for (const directory of directories) {
      const files = await judge.expand(directory, pattern);
      if (files?.every((file) => PLAIN.test(relative(directory, file))) !== true) return false;
    }
  }
  return true;
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

/** Builtins that change what words and names stand for. */
const CHANGES_WORDS = /^(\.|source|eval|trap|alias|enable|shopt|exec|function|set)$/;

function setsAny({ views }: SimpleCommand): boolean {
  return views.some((view) => {
    const first = view.find(({ value }) => !/^(builtin|command)$/.test(value));
    return CHANGES_WORDS.test(first?.value ?? '');
  });
}

/** By name: the words it is set to, as written; undefined: in a way that is not followed here. */
type Settings = ReadonlyMap<string, readonly string[] | undefined>;

async function settingsIn(text: string): Promise<Settings> {
  const { parse, forEachChild } = await import('unbash');
  const set = new Map<string, readonly string[] | undefined>();
  const put = (name: string, words: readonly { readonly text: string }[] | undefined): void => {
    const before = set.has(name) ? set.get(name) : [];
    const isKnown = before !== undefined && words !== undefined;
    set.set(name, isKnown ? [...before, ...words.map((word) => word.text)] : undefined);
  };
  const look = (node: SyntaxNode): void => {
    // Arithmetic sets nothing but numbers.
    const names = node.type.startsWith('Arithmetic') ? [] : variablesSetBy(node);
    for (const name of names) put(name, wordsFor(node));
    // `X=1 program` sets it for that one alone.
    if (node.type === 'Command' && node.name !== undefined) {
      for (const one of node.prefix) if (one.type === 'Assignment') put(one.name, undefined);
    }
    forEachChild(node, look);
  };
  look(parse(text));
  return set;
}

/** What a loop or a plain assignment sets its variable to. */
function wordsFor(node: SyntaxNode): readonly { readonly text: string }[] | undefined {
  if (node.type === 'For') return node.wordlist;
  const isPlain = node.type === 'Assignment' && node.append !== true && node.index === undefined;
  return isPlain && node.value.type === 'Word' ? [node.value] : undefined;
}
