import { basename, dirname, join } from '../../platform/fs/paths.js';
import { matches, segmentTokens } from '../wildcard.js';
import { effectsOfWords } from './effects/effects.js';
import { possibleFileUse } from './file-commands.js';
import { literalWord, maySplit, programOf, type ShellWord } from './model.js';
import { SHELLS } from './runner-tables.js';
import { disguisesOf } from './runners.js';
import { commandsGiven, type FindCall, findCall, findTrees } from './tree-find.js';
import type { FoundFile, TreeContext, TreeUse } from './tree-use.js';
import { treesOf } from './trees-of.js';

/** What is known of the command line around a command. */
export interface WalkContext extends TreeContext {
  /** Whether code that cannot be followed, or that a shell is given, writes what it is told to. */
  readonly codeWrites: boolean;
  /** Whether what is printed becomes names of files that are written. */
  readonly printsAreWritten: boolean;
  /** Whether variables of this command line may become several words. */
  readonly mayInject: boolean;
  isWritingCode(words: readonly ShellWord[]): boolean;
  /** Patterns that code of another language looks files up with. */
  lookedUp(words: readonly ShellWord[]): readonly string[];
}

const HERE = literalWord('.');

/** The directories that a command goes through and changes what it comes across, or may do so. */
export function writtenTrees(
  words: readonly ShellWord[],
  context: WalkContext,
): readonly TreeUse[] {
  const program = programOf(words)?.toLowerCase() ?? '';
  if (program === 'find' || program === 'gfind' || isHiddenFind(words)) {
    return writtenByFind(findCall(words.slice(1)), words, context);
  }
  const lookedUp = context.isWritingCode(words) ? context.lookedUp(words) : [];
  if (lookedUp.length > 0) return lookedUp.map(treeOfPattern);
  const isSearch = SEARCHES.test(program);
  const isListed = context.printsAreWritten && isSearch;
  const removes = words.some(({ value }) => /^--remove/.test(value));
  const uses = treesOf(words, context)
    // A directory that is taken away as a whole leaves nothing that a program could run or trust.
    .filter(({ takesAway }) => takesAway !== true)
    .map((use): TreeUse => {
      if (!isListed) return removes ? { ...use, access: 'write' } : use;
      // A search names the files in which it finds something.
      const skips = { ...use.skips, itself: () => false };
      return { ...use, skips, access: 'write', also: piecesOf, holding: wantedBy(words) };
    });
  const listed = context.printsAreWritten && LISTS_HIDDEN.test(program) ? [listing(words)] : [];
  return [...uses, ...listed];
}

/** A program that is decided at run time, with actions of find. */
function isHiddenFind(words: readonly ShellWord[]): boolean {
  if (words[0]?.literal !== false) return false;
  return words.some(({ value }) => /^-(delete|exec|execdir|ok|okdir)$/.test(value));
}

const SEARCHES = /^([efz]?grep|rgrep|rg|ag|ack)$/;

/** What a search looks for, where that is a plain word and all that is listed has it. */
function wantedBy(words: readonly ShellWord[]): string | undefined {
  const values = words.slice(1).map(({ value, literal }) => (literal ? value : '-?'));
  const isOdd = values.some(
    (value) => /^-/.test(value) && !/^(-[rRlinHsIEF]+|--exclude(-dir)?=.+)$/.test(value),
  );
  const [first = ''] = values.filter((value) => !value.startsWith('-'));
  return !isOdd && /^[\w-]+$/.test(first) ? first.toLowerCase() : undefined;
}

/** Listings that name what lies below their operands, with all that is hidden. */
const LISTS_HIDDEN = /^(fd|fdfind|ls|tree|du)$/;

function listing(words: readonly ShellWord[]): TreeUse {
  const start = words.slice(1).find(({ value }) => !value.startsWith('-')) ?? HERE;
  const isShown = words.some(({ value }) =>
    /^-[a-zA-Z]*[aAHu]|^--(all|almost|hidden|unr)/.test(value),
  );
  const isHidden = (name: string): boolean => !isShown && name.startsWith('.') && name !== '.';
  return {
    start: programOf(words)?.startsWith('fd') === true ? HERE : start,
    access: 'write',
    skips: { file: isHidden, directory: isHidden, itself: (name) => !isHidden(name) },
    also: piecesOf,
  };
}

/** From which directory on is not known, so from here. */
function treeOfPattern(pattern: string): TreeUse {
  const last = pattern.split('/').at(-1) ?? '';
  // Other patterns may fit anything.
  const tokens = /^[^{}[\]\\]+$/.test(last) ? segmentTokens(last) : undefined;
  const isFound = (name: string): boolean => tokens === undefined || matches(tokens, name);
  const skips = { file: (name: string) => !isFound(name), itself: isFound };
  return { start: HERE, access: 'write', skips };
}

function writtenByFind(
  call: FindCall,
  words: readonly ShellWord[],
  context: WalkContext,
): readonly TreeUse[] {
  const { reach } = call;
  // fail-closed: a variable without quotes may hold further tests and actions.
  const isInjected = context.mayInject && words.slice(1).some(maySplit);
  const isListed = context.printsAreWritten;
  const written = commandsGiven(call).flatMap(({ action, words: run }) =>
    writtenFor(run, { ...context, isNear: action.endsWith('dir') }),
  );
  const isDeleted = call.deletes || isInjected;
  if (!isDeleted && !isListed && written.length === 0) return [];
  const tests = [
    ...(isDeleted || written.length > 0 ? reach.actions : []),
    // What is run for them may print them as well.
    ...(isListed ? [...reach.prints, ...reach.actions] : []),
  ];
  const isItself =
    isDeleted || isListed || written.some((name) => name({ ...ANY }).includes(ANY.path));
  return findTrees(call, isInjected ? [() => 'maybe'] : tests).map((use) => ({
    ...use,
    ...(isInjected ? { depth: Number.POSITIVE_INFINITY } : {}),
    skips: {
      ...use.skips,
      ...(isInjected ? { directory: () => false } : {}),
      ...(isListed ? { neverIn: use.skips?.itself ?? (() => true) } : {}),
    },
    access: isItself ? 'write' : 'read',
    handsOn: written.length > 0 || isListed,
    also: (found) => [
      ...written.flatMap((name) => name(found)),
      ...(isListed ? piecesOf(found) : []),
    ],
  }));
}

const ANY: FoundFile = { path: '/{}', name: '{}', text: '{}' };

/** The names that a command writes for what is found. */
type WrittenName = (found: FoundFile) => readonly string[];

/** What a command writes that is run for each thing that is found. */
function writtenFor(
  words: readonly ShellWord[],
  context: WalkContext & { readonly isNear: boolean },
): readonly WrittenName[] {
  const { views, scripts } = disguisesOf(words);
  const isCode =
    views.some((view) => context.isWritingCode(view)) || (scripts.length > 0 && context.codeWrites);
  // fail-closed: a program that the table does not know may write what it is given.
  const isUnknown = !views.some(isShell) && views.every(isUnknownProgram);
  const names = views.flatMap((view) => possibleFileUse(view).writes);
  return [
    ...(isCode || isUnknown ? [({ path }: FoundFile) => [path]] : []),
    ...names
      .filter((name) => name.includes('{}') || (context.isNear && !name.startsWith('/')))
      .map((name) => nameFor(name, context)),
  ];
}

function isShell(words: readonly ShellWord[]): boolean {
  return SHELLS.has(programOf(words) ?? '');
}

export function isUnknownProgram(words: readonly ShellWord[]): boolean {
  return effectsOfWords(words).some(
    ({ kind, ...rest }) => kind === 'unknown' && 'why' in rest && rest.why === 'program',
  );
}

function nameFor(text: string, { isNear }: { readonly isNear: boolean }): WrittenName {
  return ({ path, name }) => {
    if (text.startsWith('{}')) return [path + text.slice(2)];
    const filled = text.replaceAll('{}', name);
    return [isNear ? join(dirname(path), filled) : filled];
  };
}

/** What a name with blanks becomes where nothing keeps it together. */
function piecesOf({ text }: FoundFile): readonly string[] {
  if (!/[\s'"\\]/.test(text)) return [];
  const pieces = text.split(/[\s'"\\]+/).filter((piece) => piece !== '');
  // fail-closed: a directory above takes along what is protected in it.
  return pieces.flatMap((piece) =>
    /^[./]*$/.test(piece) || basename(piece) === '' ? ['.git'] : [piece],
  );
}
