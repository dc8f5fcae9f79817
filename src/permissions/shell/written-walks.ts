import { matches, segmentTokens } from '../wildcard.js';
import { possibleFileUse } from './file-commands.js';
import type { NameTest } from './find-reach.js';
import { literalWord, programOf, type ShellWord, UNKNOWN_WORD } from './model.js';
import { disguisesOf } from './runners.js';
import { type FindCall, type FoundCommand, findCall, NAMES_ALONE } from './tree-find.js';
import type { TreeContext, TreeTarget, TreeUse } from './tree-use.js';
import { treesOf } from './trees-of.js';

/** A way through a directory on which a command changes what it comes across. */
export interface WrittenWalk {
  readonly start: ShellWord;
  /** Directories that it goes to first. */
  readonly moves?: readonly string[];
  readonly follows: boolean;
  readonly depth: number;
  /** What it is about. */
  readonly reaches: NameTest;
  /** Directories that it surely does not go into. */
  readonly avoids: NameTest;
  /** What is written for each thing that is reached: `{}` stands for it. */
  readonly written: readonly WrittenName[];
  /** A directory that is reached goes with all that is in it, and a link with what it leads to. */
  readonly isWhole: boolean;
  /** Where it is written to again, in the place of what is reached. */
  readonly onto?: TreeTarget;
  /** The names become words of other commands, and a blank in one makes two of it. */
  readonly isSplit: boolean;
  /** Files count in which this text is, in any case. */
  readonly holding?: string;
}

export interface WrittenName {
  readonly text: string;
  /** It is named from where the thing lies. */
  readonly isNear: boolean;
}

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

const ITSELF: WrittenName = { text: '{}', isNear: false };
const NEVER: NameTest = () => 'no';
const ALWAYS: NameTest = () => 'maybe';
const HERE = literalWord('.');
/** Whoever takes a directory away as a whole leaves nothing in it that a program could run or trust. */
const TAKES_AWAY = /^(g?rm|srm|trash(-put)?|rimraf|g?mv)$/i;

export function writtenWalks(
  words: readonly ShellWord[],
  context: WalkContext,
): readonly WrittenWalk[] {
  const program = programOf(words)?.toLowerCase() ?? '';
  if (program === 'find' || program === 'gfind' || isHiddenFind(words)) {
    return walksOfFind(words.slice(1), context);
  }
  if (TAKES_AWAY.test(program)) return [];
  const lookedUp = context.isWritingCode(words) ? context.lookedUp(words) : [];
  if (lookedUp.length > 0) return lookedUp.map(walkOfPattern);
  const holding = SEARCHES.test(program) ? wantedBy(words) : undefined;
  const isListed = context.printsAreWritten && SEARCHES.test(program);
  const removes = words.some(({ value }) => /^--remove/.test(value));
  const uses = treesOf(words, context).map((use) => ({
    ...walkOf(removes ? { ...use, access: 'write' } : use, { isListed }),
    holding,
  }));
  const listed = context.printsAreWritten && LISTS_HIDDEN.test(program) ? [listing(words)] : [];
  return [...uses.filter(({ written, onto }) => written.length > 0 || onto), ...listed];
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

function listing(words: readonly ShellWord[]): WrittenWalk {
  const start = words.slice(1).find(({ value }) => !value.startsWith('-')) ?? HERE;
  const isShown = words.some(({ value }) =>
    /^-[a-zA-Z]*[aAHu]|^--(all|almost|hidden|unr)/.test(value),
  );
  const avoids: NameTest = (name) => (!isShown && name.startsWith('.') ? 'yes' : 'no');
  return {
    ...PLAIN,
    start: programOf(words)?.startsWith('fd') === true ? HERE : start,
    reaches: (name) => (!isShown && name.startsWith('.') && name !== '.' ? 'no' : 'maybe'),
    avoids,
    written: [ITSELF],
    isSplit: true,
  };
}

/** From which directory on is not known, so from here. */
function walkOfPattern(pattern: string): WrittenWalk {
  const last = pattern.split('/').at(-1) ?? '';
  // Other patterns may fit anything.
  const tokens = /^[^{}[\]\\]+$/.test(last) ? segmentTokens(last) : undefined;
  return {
    ...PLAIN,
    start: HERE,
    reaches: (name) => (tokens === undefined || matches(tokens, name) ? 'maybe' : 'no'),
    avoids: NEVER,
    written: [ITSELF],
  };
}

const PLAIN = {
  follows: false,
  depth: Number.POSITIVE_INFINITY,
  isWhole: false,
  isSplit: false,
} as const;

function walksOfFind(words: readonly ShellWord[], context: WalkContext): readonly WrittenWalk[] {
  const call = findCall(words);
  const { reach, commands, starts } = call;
  const isInjected = context.mayInject && words.some(maySplit);
  const deletes = call.deletes || isInjected;
  const given = commands.filter((one) => !NAMES_ALONE.test(programOf(one.words) ?? ''));
  const written = given.flatMap((one) => writtenFor(one, context));
  const isListed = context.printsAreWritten;
  if (!deletes && written.length === 0 && !isListed) return [];
  const told = [
    ...(deletes || written.length > 0 ? reach.actions : []),
    // What is run for them may print them as well.
    ...(isListed ? [...reach.prints, ...reach.actions] : []),
  ];
  const walk: Omit<WrittenWalk, 'start'> = {
    follows: call.follows,
    depth: deepest(call),
    reaches: isInjected ? ALWAYS : any(told),
    avoids: isInjected ? NEVER : sure(reach.prunes),
    written: deletes || isListed ? [ITSELF, ...written] : written,
    isWhole: written.length > 0 || isListed,
    isSplit: isListed,
  };
  return (starts.length === 0 ? [HERE] : starts).map((start) => ({ start, ...walk }));
}

/** fail-closed: a variable without quotes may hold further tests and actions. */
function maySplit({ literal, raw }: ShellWord): boolean {
  return !literal && raw.startsWith('$') && !raw.startsWith('$(');
}

/** `-maxdepth 2`; the greatest where there are several. */
function deepest({ values }: FindCall): number {
  const given = values.flatMap((value, at) =>
    value === '-maxdepth' ? [Number.parseInt(values[at + 1] ?? '', 10)] : [],
  );
  // fail-closed: one that is decided at run time may be any.
  return given.length === 0 || given.some(Number.isNaN)
    ? Number.POSITIVE_INFINITY
    : Math.max(...given);
}

/** What a command writes that is run for each thing that is found. */
function writtenFor({ action, words }: FoundCommand, context: WalkContext): readonly WrittenName[] {
  const isNear = action.endsWith('dir');
  const { views, scripts } = disguisesOf(words);
  const names = views.flatMap((view) => possibleFileUse(view).writes);
  const isCode =
    views.some((view) => context.isWritingCode(view)) || (scripts.length > 0 && context.codeWrites);
  return [
    ...(isCode ? [ITSELF] : []),
    ...names
      .filter((name) => name.includes('{}') || (isNear && !name.startsWith('/')))
      .map((text) => ({ text, isNear: isNear && !text.startsWith('{}') })),
  ];
}

/** The same for any other program that goes through directories. */
function walkOf(use: TreeUse, { isListed }: { readonly isListed: boolean }): WrittenWalk {
  const { start, skips = {}, onto, moves, access } = use;
  const isOut: NameTest = (name, kind) => {
    const isHidden = skips.hidden === true && name.startsWith('.') && name !== '.';
    const isSkipped = kind === 'directory' ? skips.directory : skips.file;
    return isHidden || isSkipped?.(name) === true ? 'yes' : 'no';
  };
  return {
    ...PLAIN,
    start: start.literal ? start : UNKNOWN_WORD,
    moves,
    onto,
    follows: use.follows === true,
    depth: use.depth ?? Number.POSITIVE_INFINITY,
    reaches: (name, kind) => {
      // A search names the files in which it finds something.
      const isLeft = isListed && kind === 'directory';
      return isLeft || isOut(name, kind) === 'yes' ? 'no' : 'maybe';
    },
    avoids: (name, kind) => (kind === 'directory' ? isOut(name, kind) : 'no'),
    written: access === 'write' || isListed ? [ITSELF] : [],
    isSplit: isListed,
  };
}

function any(tests: readonly NameTest[]): NameTest {
  return (...entry) => (tests.some((test) => test(...entry) !== 'no') ? 'maybe' : 'no');
}

function sure(tests: readonly NameTest[]): NameTest {
  return (...entry) => (tests.some((test) => test(...entry) === 'yes') ? 'yes' : 'no');
}
