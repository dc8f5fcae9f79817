import type { FileStat } from '../../platform/fs/fs.js';
import { basename, dirname, join } from '../../platform/fs/paths.js';
import type { CallView } from '../gate/view.js';
import { isSameFile, searchTwin } from '../paths/hard-links.js';
import type { ManyNamed } from '../paths/paths.js';
import { contextOf, restrictingUses, treeLook } from '../paths/tree-uses.js';
import { untilTooLong } from '../paths/tree-walk.js';
import type { RestrictionMatch } from '../rules/rule.js';
import { matches, segmentTokens } from '../rules/wildcard.js';
import { effectsOfWords } from '../shell/effects/effects.js';
import { HERE } from '../shell/effects/program.js';
import type { CommandContext, FoundFile, TreeSkips } from '../shell/effects/recursion.js';
import type { TreeUse } from '../shell/effects/trees.js';
import { treesOf } from '../shell/effects/uses.js';
import { mayWriteUnknown, possibleFileUse } from '../shell/file-commands.js';
import {
  literalWord,
  maySplit,
  programOf,
  type ShellReading,
  type ShellWord,
  type SimpleCommand,
} from '../shell/model.js';
import { commandsGiven, type FindCall, findCall, findTrees } from '../shell/programs/find.js';
import { factsOf } from '../shell/programs/index.js';
import { lookedUpByForeignCode } from '../shell/runners/foreign-code.js';
import { disguisesOf, fedCommand } from '../shell/runners/runners.js';
import { isWritingCode, writesSomewhere } from './protected-doubts.js';
import { PROTECTED_NAMES, type ProtectedPlace, protectedRule } from './protected-paths.js';

/**
 * A protected thing that a command comes across by itself, without anybody naming it, and changes:
 * `find . -delete`, `find . | xargs rm`, `chmod -R`, `cp -r x/. .`.
 */
export async function protectedByWalk(
  view: CallView,
  isHeld: (path: string) => boolean,
): Promise<RestrictionMatch | undefined> {
  const reading = await view.shell();
  if (reading === undefined) return undefined;
  const text = view.call.subject.command ?? '';
  const { judge } = view;
  const { roots } = view.call.workspace;
  const place = {
    rules: [protectedRule(isHeld)],
    view,
    look: treeLook(view),
    // A copy under a name that is not there yet changes nothing that anybody trusts, unless by that name.
    isTarget: async (path: string) =>
      isHeld(path) || (await judge.disk.lstat(path).catch(() => 'unseen')) !== undefined,
  };
  const around = surroundings(reading, text);
  for (const command of reading.commands) {
    const context = {
      ...contextOf(command, view),
      ...around,
      isWritingCode: (words: SimpleCommand['words']) => isWritingCode(words, command.input),
      lookedUp: (words: SimpleCommand['words']) => lookedUpByForeignCode(words, command.input),
    };
    for (const words of command.views) {
      const uses = writtenTrees(words, context)
        .flatMap((use) => fromRoots(use, roots))
        .flatMap(outsideCopies);
      const directories = command.directories ?? roots;
      const found = await restrictingUses(uses, { ...place, directories });
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** fail-closed: a start that is not known may be where everything is. */
function fromRoots(use: TreeUse, roots: readonly string[]): readonly TreeUse[] {
  return use.start.literal ? [use] : roots.map((root) => ({ ...use, start: literalWord(root) }));
}

/** Packages bring many protected names along, and none of them counts in there. */
const COPIES = 'node_modules';

function outsideCopies(use: TreeUse): readonly TreeUse[] {
  const { start, onto, skips } = use;
  if (onto === undefined && start.value.split('/').includes(COPIES)) return [];
  const directory = (name: string, path?: string): boolean =>
    name === COPIES || skips?.directory?.(name, path) === true;
  return [{ ...use, skips: { ...skips, directory } }];
}

type Around = Pick<WalkContext, 'codeWrites' | 'printsAreWritten' | 'mayInject'>;

function surroundings({ commands, opaque }: ShellReading, text: string): Around {
  // fail-closed: what cannot be followed may write whatever it is told.
  const isOpen = opaque !== undefined || commands.some(writesSomewhere);
  const isKept = keepsNames(text) || commands.some(feedsShell);
  return {
    codeWrites: isOpen || commands.some(writesFound),
    printsAreWritten: commands.some(writesWhatItIsFed) || (isOpen && isKept),
    mayInject: commands.some(({ assignments }) => assignments.some(holdsTests)),
  };
}

/** A value that is more than a name, to a program that takes words with dashes for what to do. */
function holdsTests({ value }: SimpleCommand['assignments'][number]): boolean {
  return /(^|\s)(-\w|[(!,])/.test(value.value);
}

/** Names go into variables, or a substitution lists them. */
function keepsNames(text: string): boolean {
  if (/\b(read|mapfile|readarray)\b/.test(text)) return true;
  const [, ...substitutions] = text.split(/\$\(|`|<\(/);
  return substitutions.some((inner) =>
    /\b(find|fd|fdfind|ls|tree|du|[a-z]*grep|rg|ag|ack)\b/.test(inner.split(')', 1)[0] ?? ''),
  );
}

/** `xargs rm`, and code of another language that may take names out of its input. */
function writesWhatItIsFed({ piped, words, views, input }: SimpleCommand): boolean {
  const fed = fedCommand(words);
  if (fed !== undefined && views.some(mayWriteUnknown)) return true;
  // fail-closed: a program that the table does not know may write what it is given.
  if (fed !== undefined && !isShell(fed) && isUnknownProgram(fed)) return true;
  return piped === true && views.some((view) => isWritingCode(view, input));
}

/** `xargs sh -c '…'`: what the shell does with the names is read like any other code. `| sh` runs them. */
function feedsShell({ words, views, piped }: SimpleCommand): boolean {
  if (fedCommand(words)?.some((word) => isShell([word])) === true) return true;
  return piped === true && views.some(isShell);
}

/** Code in a text in which the name of what was found is put. */
function writesFound({ views, redirections }: SimpleCommand): boolean {
  const isFound = (name: string): boolean => name.includes('{}');
  return (
    redirections.some(({ access, target }) => access === 'write' && isFound(target?.value ?? '')) ||
    views
      .filter((words) => factsOf(words).finds !== true)
      .some((words) => possibleFileUse(words).writes.some(isFound))
  );
}

/** What is known of the command line around a command. */
interface WalkContext extends CommandContext {
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

/** The directories that a command goes through and changes what it comes across, or may do so. */
function writtenTrees(words: readonly ShellWord[], context: WalkContext): readonly TreeUse[] {
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
    .filter(({ access }) => access !== 'delete')
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
  const isShown = words.some(({ value }) => /^-\w*[aAHu]|^--(all|almost|hidden|unr)/.test(value));
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
  return factsOf(words).shell === true;
}

function isUnknownProgram(words: readonly ShellWord[]): boolean {
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

/** What is written through another name; without a path: not all of `place` could be compared. */
interface Twin {
  readonly of: ManyNamed;
  readonly path?: string;
}

/** Our own directories hold sessions, of which there may be many. */
const DEEPEST_OWN = 4;
const DEEPEST_IN_HOME = 4;

/**
 * A protected file that one of these files with several names (hard links) is another name of: what is
 * written to the one is in the other. In the home only what lies directly in it counts as a place, and
 * in those what is near: caches of programs are large.
 */
export async function protectedTwin(
  files: readonly ManyNamed[],
  { judge, home }: CallView,
  { roots, own = [], isHeld }: ProtectedPlace & { isHeld(path: string): boolean },
): Promise<Twin | undefined> {
  const [first] = files;
  if (first === undefined) return undefined;
  const until = untilTooLong();
  let of: ManyNamed | undefined;
  const isTwin = (stat: FileStat): boolean => {
    of = files.find(({ file }) => isSameFile(file, stat));
    return of !== undefined;
  };
  const isCopy = (name: string, path = ''): boolean =>
    (name === 'node_modules' && !isHeld(path)) ||
    // What git keeps by its content: nobody runs or trusts it by name, and clones share it by hard links.
    ((name === 'objects' || name === 'lfs') && dirname(path).endsWith('/.git'));
  const isFarFromHome = (name: string, path = ''): boolean =>
    isCopy(name, path) || (dirname(path) === home && !mayHold(name));
  const below = (directory: string, depth: number, skip: TreeSkips['directory'] = isCopy) => ({
    directory,
    text: directory,
    depth,
    skips: { directory: skip },
  });
  const trees = [
    ...own.map((directory) => below(directory, DEEPEST_OWN)),
    below(home, DEEPEST_IN_HOME, isFarFromHome),
    ...roots.map((directory) => below(directory, Number.POSITIVE_INFINITY)),
  ];
  let doubt: Twin | undefined;
  for (const tree of trees) {
    const how = { judge, access: 'write', until, isTwin } as const;
    const found = await searchTwin([protectedRule(isHeld)], tree, how);
    if (found?.kind === 'covered') return { of: of ?? first, path: found.path };
    if (found !== undefined) doubt ??= { of: first };
  }
  return doubt;
}

function mayHold(name: string): boolean {
  const folded = name.toLowerCase();
  return PROTECTED_NAMES.directories.has(folded) || folded === '.config';
}
