import { own } from '../../../lib/own.js';
import { basename } from '../../../platform/fs/paths.js';
import { effectsOfWords } from '../../shell/effects/effects.js';
import {
  literalWord,
  nameOf,
  programOf,
  type ShellWord,
  type SimpleCommand,
} from '../../shell/model.js';
import { type FindCall, findCall, RUNS } from '../../shell/programs/find.js';
import { factsOf } from '../../shell/programs/index.js';
import { PLACEHOLDER } from '../../shell/runners/runners.js';
import type { NameWalk } from './places.js';
import { leadsUp } from './words.js';

/** Names that a command gets from another one. */
export interface FedNames {
  /** Those that the line itself tells. */
  readonly words: readonly ShellWord[];
  /** Those of what lies in directories that the line names, which are judged there. */
  readonly walk?: NameWalk | undefined;
}

/** The names that a command gets from the one in front of it, or finds itself; undefined: they may be any. */
export function fedNames(
  command: SimpleCommand,
  { follows }: { readonly follows: boolean },
): FedNames | undefined {
  const values = command.words.map(({ value }) => value);
  if (factsOf(command.words).finds === true) {
    if (values.some((value) => /^-files0-from/.test(value))) return undefined;
    // `{}/name` is another file, which may be any link.
    const isOther = values.some((value) => value !== '{}' && PLACEHOLDER.test(value));
    return walkOf(command.words, { isAny: follows || isOther, isRun: true, isSplit: false });
  }
  // fail-closed: then they come out of a file.
  if (values.some((value) => /^(-[a-zA-Z0-9]*a|--arg)/.test(value))) return undefined;
  if (!isPlain(command)) return undefined;
  let first = command.fedBy;
  while (first !== undefined && isPlain(first) && passesOn(first)) first = first.fedBy;
  if (first === undefined || first.piped === true || !isPlain(first)) return undefined;
  if (nameOf(first.words) === 'echo') {
    const words = first.words.slice(1);
    // fail-closed: the shell decides which names fit, and the program what it does with them; it takes quotes away.
    if (words.some(({ pattern, value }) => pattern !== undefined || /['"\\]/.test(value))) {
      return undefined;
    }
    return { words: words.flatMap(({ value }) => value.split(/\s+/).map(literalWord)) };
  }
  // fail-closed: names from there are other files here.
  const isHere = JSON.stringify(first.directories) === JSON.stringify(command.directories);
  if (!listsNames(first) || !isHere) return undefined;
  const isWhole = endsByZero(first) && takesZero(command);
  return walkOf(first.words, { isAny: follows, isRun: false, isSplit: !isWhole });
}

interface Handing {
  /** What is made of the names may be any link there. */
  readonly isAny: boolean;
  /** The program runs the command for what it finds. */
  readonly isRun: boolean;
  /** The names go through a pipe that takes blanks for their ends. */
  readonly isSplit: boolean;
}

/** Where a program that lists names finds them. */
function walkOf(
  words: readonly ShellWord[],
  { isAny, isRun, isSplit }: Handing,
): FedNames | undefined {
  const program = programOf(words) ?? '';
  const rest = words.slice(1);
  const values = rest.map(({ value }) => value);
  const from = (starts: readonly string[], how: Partial<NameWalk>): FedNames | undefined => {
    // fail-closed: of a name with blanks each piece is another file.
    if (isSplit && !starts.every(isOneWord)) return undefined;
    const isName = isSplit ? isOneWord : undefined;
    return { words: [], walk: { starts, deep: true, mayBe: () => true, isName, ...how } };
  };
  const noLinks = { mayBe: () => false };
  if (program === 'find') {
    const call = findCall(rest);
    const isFiles = !isAny && findsFilesOnly(call);
    if (isFiles && !isSplit) return { words: [] };
    // fail-closed: what a pattern outside of the directory matches is unknown.
    if (call.starts.some((start) => !start.literal || leadsAway(start))) return undefined;
    const starts = call.starts.map(({ value, pattern }) => (pattern === undefined ? value : '.'));
    if (isFiles) return from(starts.length === 0 ? ['.'] : starts, noLinks);
    const tests = isRun ? call.reach.actions : call.reach.prints;
    const mayBe = (path: string): boolean =>
      isAny || tests.some((test) => test(basename(path), 'link') !== 'no');
    return from(['.', ...starts], { mayBe });
  }
  if (rest.some(leadsAway)) return undefined;
  const operands = rest.filter(({ value, pattern }) => !/^-/.test(value) && pattern === undefined);
  const starts = ['.', ...operands.map(({ value }) => value)];
  if (program === 'ls') {
    const isDeep = values.some((value) => /^(-\w*R|--recursive)/.test(value));
    return from(starts, { deep: isAny || isDeep });
  }
  // A search names no link unless it follows them, which is judged by itself.
  const isSearch = !/^(git|fd|fdfind)$/.test(program);
  if (isAny || !isSearch) return from(starts, {});
  return isSplit ? from(searched(words), noLinks) : { words: [] };
}

/** Where a search finds the files that it names. */
function searched(words: readonly ShellWord[]): readonly string[] {
  const targets = effectsOfWords(words).flatMap((one) => (one.kind === 'path' ? one.target : []));
  return targets.map(({ value, pattern }) => (pattern === undefined ? value : '.'));
}

/** A name that stays one where names are separated by blanks. */
function isOneWord(name: string): boolean {
  return !/[\s'"\\]/.test(name);
}

/** `-print0`, `-Z`, `-0`, `-z`: names end with a zero byte. */
function endsByZero({ words }: SimpleCommand): boolean {
  const option = own(ZERO, programOf(words) ?? '');
  return option !== undefined && words.slice(1).some(({ value }) => option.test(value));
}

function takesZero({ words, fedBy }: SimpleCommand): boolean {
  // Behind a filter they are lines again.
  const isNext = fedBy !== undefined && own(ZERO, programOf(fedBy.words) ?? '') !== undefined;
  return isNext && words.slice(1).some(({ value }) => /^(-[a-z]*0|--null)$/.test(value));
}

function leadsAway({ value, pattern }: ShellWord): boolean {
  return pattern !== undefined && (leadsUp(pattern) || value.startsWith('-'));
}

/** `find . -type f -name x -exec cat {}`: no link is among them. */
function findsFilesOnly({ values, follows }: FindCall): boolean {
  const at = values.findIndex((value, index) => value === '-type' && values[index + 1] === 'f');
  const action = values.findIndex((value) => RUNS.test(value) || /^-print/.test(value));
  const isOpen = values.some((value) => /^(-o|-or|,|!|-not|\(|\)|.*\[)$/.test(value));
  return at !== -1 && (action === -1 || at < action) && !isOpen && !follows;
}

/** fail-closed: of what a substitution adds nobody knows whose input it is. */
function isPlain({ words, redirections }: SimpleCommand): boolean {
  return (
    words.every(({ literal }) => literal) &&
    redirections.every(({ access, target }) => access !== 'read' && target?.literal !== false)
  );
}

const ZERO: Readonly<Record<string, RegExp>> = {
  find: /^-print0$/,
  fd: /^(-0|--print0)$/,
  fdfind: /^(-0|--print0)$/,
  git: /^-z$/,
  grep: /^(-[rRlins]*Z|--null)$/,
  rg: /^(-[lincws]*0|--null)$/,
};

const GREP = {
  needs: /^-[a-zA-Z]*l|^--files-with-matches$/,
  never: /^--label/,
};
const GIT = { never: /^--format/ };
const FD = { never: /^(-\w*[xX]|--exec|--exec-batch|--format)/ };

/** Programs that print names of what they go through: with an option that has to be there, and those that print more. */
const LISTS: Readonly<Record<string, { readonly needs?: RegExp; readonly never: RegExp }>> = {
  find: { never: /^-(f?printf|fprint0?|f?ls|exec|execdir|ok|okdir|files0-from)$/ },
  fd: FD,
  fdfind: FD,
  // A long list tells where links lead, too; `..` is among all names.
  ls: { never: /^-\w*[lgnoaf]|^--(al|format|full-time|numeric|hyperlink|zero)/ },
  git: GIT,
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  rg: {
    needs: /^(-[a-zA-Z]*l|--files|--files-with-matches)$/,
    never: /^(-r|--replace|--path-separator)/,
  },
};

function listsNames({ words }: SimpleCommand): boolean {
  const rule = own(LISTS, programOf(words) ?? '');
  const has = (option: RegExp): boolean => words.slice(1).some(({ value }) => option.test(value));
  // Only in front of everything else it is the subcommand.
  const isOther = rule === GIT && words[1]?.value !== 'ls-files';
  return (
    rule !== undefined &&
    !isOther &&
    !has(rule.never) &&
    (rule.needs === undefined || has(rule.needs))
  );
}

/** Leaves lines of its input out or puts them in order, and changes none. */
function passesOn({ words }: SimpleCommand): boolean {
  const rest = words.slice(1).map(({ value }) => value);
  const isNumber = (value: string, at: number): boolean =>
    /^\+?\d+$/.test(value) && /^-[nkmABC]$/.test(rest[at - 1] ?? '');
  // A name by itself is a file, which is read in place of the input.
  const operands = rest.filter((value, at) => !value.startsWith('-') && !isNumber(value, at));
  const program = programOf(words) ?? '';
  const isSearch = /^[ef]?grep$/.test(program);
  if (!isSearch && !/^(head|tail|sort|uniq)$/.test(program)) return false;
  const known = isSearch ? /^-[EFGPivwxABCm]+\d*$/ : /^-[abdfhiknqruVv]*\d*$/;
  const options = rest.filter((value) => value.startsWith('-'));
  return operands.length === (isSearch ? 1 : 0) && options.every((value) => known.test(value));
}
