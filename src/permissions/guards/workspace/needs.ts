import { dirname, isInside, join, nearestRepository, resolve } from '../../../platform/fs/paths.js';
import { bareRepository } from '../../git/config.js';
import { overwrittenBy } from '../../paths/copies.js';
import { linksStay, type PathSpellings } from '../../paths/paths.js';
import { ALONE } from '../../shell/effects/program.js';
import { isPath } from '../../shell/effects/trees.js';
import { effectsWherever, simpleFileUse, treesOf } from '../../shell/effects/uses.js';
import {
  nameOf,
  programOf,
  type ShellWord,
  type SimpleCommand,
  UNKNOWN_WORD,
} from '../../shell/model.js';
import { filesInForeignCode } from '../../shell/runners/foreign-code.js';
import { disguisesOf, unwrapForGrant } from '../../shell/runners/runners.js';
import { cdTarget } from '../../shell/syntax/directories.js';
import { fedNames } from './fed-names.js';
import { gitPlacesFiles, gitProblem, pushProblem, readGit, textlessOperands } from './git.js';
import { type FencePlace, isWithin, type NameWalk, writeProblem } from './places.js';
import type { LineValues } from './values.js';
import {
  asLooks,
  EXPORTS,
  existing,
  isInterpreter,
  isScript,
  keepsAbsolute,
  type Looks,
  leaves,
  looksOf,
  pathCandidates,
  pathsInText,
  patternsOf,
  steeringIn,
  steers,
} from './words.js';

type Words = readonly ShellWord[];

/** A command line, and what is known of it as a whole. */
export interface Line extends FencePlace {
  readonly links: LinkWatch;
  readonly valuesOf: LineValues;
  /** Whether some command changes to a directory that is not checked. */
  readonly strays: boolean;
}

/** Files that a command needs to be allowed, or why it may not run whatever they are. */
export type Need =
  | string
  | {
      readonly access: 'read' | 'write' | 'value';
      readonly paths?: readonly string[];
      readonly patterns?: readonly string[];
      /** What lies below is meant, too. */
      readonly below?: boolean;
      /** Links below are followed. */
      readonly follows?: boolean;
      /** Of what lies below, links of these names are followed. */
      readonly walk?: NameWalk;
      /** From where; absent: from where the command runs. */
      readonly from?: readonly string[] | undefined;
    };

type Needs = AsyncGenerator<Need, void>;

/** What a command needs, by all that it may run. */
export async function* needsOf(command: SimpleCommand, line: Line): Needs {
  for (const { name, value } of command.assignments) {
    if (steers(name)) yield `it sets ${name}, which decides where commands work`;
    yield valueNeed(value.value);
  }
  for (const { access, target } of command.redirections) {
    if (access === 'none' || target === undefined) continue;
    if (access === 'read') yield* needsOfLooks(asLooks([target]), command, line);
    else if (target.literal && target.pattern === undefined) {
      yield { access: 'write', paths: [target.value] };
    } else yield unreadable(`the redirection to ${target.raw} is decided at run time`);
  }
  for (const words of viewsOf(command)) yield* needsOfView(words, command, line);
}

async function* needsOfView(words: Words, command: SimpleCommand, line: Line): Needs {
  const steering = words.map(steeringIn).find((one) => one !== undefined);
  if (steering !== undefined) yield `it sets ${steering}, which decides where commands work`;
  const name = nameOf(words) ?? '';
  if (name.includes('/')) yield { access: 'read', paths: [name] };
  if (EXPORTS.has(name)) for (const { value } of words.slice(1)) yield valueNeed(value);
  if (name === 'cd' || name === 'pushd') {
    yield* needsOfCd(words, command, line);
    return;
  }
  const looks = looksOf(words);
  if (programOf(words) === 'git') {
    yield* needsOfGit(words, command, line);
    if (looks !== undefined) {
      // Of two paths of which one lies elsewhere, diff compares the files.
      yield* needsOfLooks(looks, command, line);
      return;
    }
    const paths = textlessOperands(readGit(words).rest).flatMap(pathCandidates);
    yield { access: 'write', paths, patterns: patternsOf(words) };
  } else if (looks === undefined) yield* needsOfWriter(words, command, line);
  else yield* needsOfLooks(looks, command, line);
}

/** Programs write where variables say. */
function valueNeed(value: string): Need {
  return {
    access: 'value',
    paths: [value, ...pathCandidates(value)].filter((path) => path !== ''),
  };
}

async function* needsOfLooks(
  { reads, patterns, unknown, filesOnly, below, around }: Looks,
  command: SimpleCommand,
  { fence, valuesOf }: Line,
): Needs {
  if (fence.hidden.length === 0) return;
  const found: ShellWord[] = [];
  for (const word of unknown) {
    const fed = word.raw === '' ? fedNames(command, { follows: filesOnly === true }) : undefined;
    if (fed?.walk !== undefined) yield { access: 'read', walk: fed.walk };
    const values = word.raw === '' ? fed?.words : await valuesOf(word, command.directories);
    // fail-closed: what is decided at run time may be a file of the main checkout.
    if (values === undefined) {
      yield unreadable(`which file ${word.raw || 'its input names'} is is decided at run time`);
    }
    found.push(...(values ?? []));
  }
  const { reads: named, patterns: wild } = asLooks(found);
  const isNamed = reads.length + patterns.length + unknown.length > 0;
  const isAround = around === true && !isNamed;
  yield {
    access: 'read',
    // A program that is given no file looks around where it is.
    paths: [...reads, ...named, ...(isAround ? ['.'] : [])],
    patterns: [...patterns, ...wild],
    below: below === true,
    follows: filesOnly === true,
  };
}

/** Moving into the main checkout is refused at once; elsewhere only looking is left. */
async function* needsOfCd(words: Words, command: SimpleCommand, line: Line): Needs {
  const { fence, view } = line;
  const target = cdTarget(words, view.home);
  if (target === undefined) {
    const named = words.slice(1).filter(({ value }) => !/^[-+]/.test(value));
    yield* needsOfLooks(asLooks(named), command, line);
    return;
  }
  yield { access: 'read', paths: [target] };
  const ways: PathSpellings[] = [];
  for (const directory of command.directories ?? []) {
    ways.push(...(await view.judge.spellFrom(directory, target)));
  }
  // `cd -P link/..` is elsewhere than `cd link/..`; the shell's own choice is not followed here.
  const inside = ways.filter(({ real }) => isWithin(real, fence.writable));
  if (inside.length > 0 && inside.length < ways.length) {
    yield unreadable(`\`cd ${target}\` leads to different places through links`);
  }
}

async function* needsOfGit(words: Words, command: SimpleCommand, line: Line): Needs {
  const { fence, view } = line;
  // A repository elsewhere is not this agent's, whatever is asked of it.
  const away = await directoryProblem(command, line);
  if (away !== undefined) yield away;
  const unknown = words.find((word) => !word.literal);
  if (unknown !== undefined) yield unreadable(`git is given ${unknown.raw}`);
  const problem = gitProblem(words, { whole: fence.isolation !== undefined });
  if (problem !== undefined) yield `${problem}; run git in ${fence.workspace} without it`;
  const { name, rest, moves } = readGit(words);
  const bare = await bareProblem(command.directories ?? [], moves, line);
  if (bare !== undefined) yield unreadable(bare);
  const pushed = name === 'push' && (await pushProblem(rest, { fence, judge: view.judge }));
  if (pushed) yield pushed;
  let from = command.directories;
  for (const move of moves) {
    yield { access: 'write', paths: [move], from };
    from = from?.map((directory) => resolve(directory, move));
  }
}

/** fail-closed: a repository without a working tree of its own may name any directory for one. */
async function bareProblem(
  directories: readonly string[],
  moves: readonly string[],
  { view }: Line,
): Promise<string | undefined> {
  for (const directory of directories) {
    const { real } = await view.judge.spell(resolve(directory, ...moves));
    const found = await bareRepository(view.judge.disk, real, nearestRepository(real));
    if (found !== undefined) return `${found} is a repository without a working tree`;
  }
  return undefined;
}

async function* needsOfWriter(words: Words, command: SimpleCommand, line: Line): Needs {
  const program = programOf(words) ?? '';
  const elsewhere = leaves(words);
  if (elsewhere !== undefined) {
    yield `\`${elsewhere}\` works elsewhere, later or as somebody else, where no workspace holds it`;
  }
  const away = await directoryProblem(command, line);
  if (away !== undefined) yield away;
  const unknown = words.find((word) => !word.literal);
  if (unknown !== undefined) {
    const what = unknown.raw === '' ? 'arguments from its input' : unknown.raw;
    yield unreadable(`\`${program}\` may write, and is given ${what}, decided at run time`);
  }
  if (program === 'find' && words.some(({ value }) => /^-([LH]|follow)$/.test(value))) {
    yield unreadable('it goes where links lead');
  }
  if (/^(tar|bsdtar)$/.test(program) && words.some(keepsAbsolute)) {
    yield unreadable('it unpacks files by their absolute names');
  }
  yield* needsOfTrees(words, command, line);
  const overwritten = await overwrittenBy(words, command.directories ?? [], line.view.judge);
  // fail-closed: which files the target has already may be any.
  if (overwritten === undefined) yield unreadable('it copies what a pattern stands for');
  yield { access: 'write', paths: overwritten ?? [] };
  const patterns = patternsOf(words);
  const simple = simpleFileUse(words);
  if (simple !== undefined) {
    yield { access: 'read', paths: simple.reads, below: true };
    yield { access: 'write', paths: simple.writes, patterns };
    return;
  }
  if (program === 'ln' && words.some(({ value }) => value.split('/').includes('..'))) {
    yield unreadable('a link that goes up by ".." leads elsewhere once it is moved');
  }
  const plain = words.slice(1).filter((word) => word.pattern === undefined);
  const values = plain.map((word) => word.value).filter((value) => !isScript(program, value));
  const isCode = isInterpreter(words);
  // For programs that take code, `/re/ { … }` is no file.
  const candidates = values.flatMap(pathCandidates);
  const texts = [...values.filter((value) => isCode || /\s/.test(value))];
  const mentioned = [...texts, ...(isCode ? [command.input] : [])].flatMap(pathsInText);
  // A name in quotes may be a link that leads elsewhere.
  const quoted = filesInForeignCode(words, command.input).filter((name) => /^[\w.@-]/.test(name));
  const paths = isCode
    ? await existing([...candidates, ...mentioned, ...quoted], line)
    : [...candidates, ...(await existing(mentioned, line))];
  yield { access: 'write', paths, patterns };
}

/** What it goes through by itself, with all that links there lead to. */
async function* needsOfTrees(words: Words, command: SimpleCommand, line: Line): Needs {
  if (programOf(words) === 'find') return;
  if (line.fence.hidden.length > 0 && treesOf(words, ALONE).some(({ start }) => !start.literal)) {
    yield unreadable(`\`${programOf(words)}\` takes names of files from elsewhere`);
  }
  const effects = effectsWherever(words);
  // fail-closed: an option that is not known may be the one that follows links.
  const isOpen = effects.some((effect) => effect.kind === 'unknown' && effect.why === 'option');
  for (const { access, target, moves = [], recursion } of effects.filter(isPath)) {
    if (recursion === undefined || recursion.made === true) continue;
    if (recursion.follows !== true && !(isOpen && access === 'read')) continue;
    const from = command.directories?.map((one) =>
      resolve(one, ...moves.map(({ value }) => value)),
    );
    const how = access === 'read' ? 'read' : 'write';
    yield { access: how, paths: [target.value], follows: true, from };
  }
}

async function directoryProblem(command: SimpleCommand, line: Line): Promise<string | undefined> {
  if (command.directories === undefined) return unreadable(LOST);
  for (const directory of command.directories) {
    const spelled = await line.view.judge.spell(directory);
    const problem =
      writeProblem(line.fence, spelled) ?? (await line.links.problem(join(directory, 'any')));
    if (problem !== undefined)
      return `\`${command.raw.split('\n', 1)[0]?.slice(0, 80)}\` would run there: ${problem}`;
  }
  return undefined;
}

/** What runs, behind wrappers that are fully understood; else whatever any word may stand for. */
export function viewsOf(command: SimpleCommand): readonly Words[] {
  const { words, fed } = unwrapForGrant(command.words);
  if (words === command.words) return command.views;
  const own = new Set<ShellWord>([UNKNOWN_WORD, ...command.words]);
  const isPart = (view: Words): boolean => view.every((word) => own.has(word));
  const inner = disguisesOf(words).views.map((view) => (fed ? [...view, UNKNOWN_WORD] : view));
  return [...inner, ...command.views.filter((view) => !isPart(view))];
}

export const LOST =
  'the directory it runs in is not known (after set, pushd, eval, `cd -` or a loop)';

export function unreadable(why: string): string {
  return `it cannot be told that the command stays in the workspace: ${why}. Write it in simple commands with plain words`;
}

/**
 * Paths are looked up before a command line runs. A command in it that puts a link in place makes
 * paths of later commands lead elsewhere; this tells which ones may.
 */
export interface LinkWatch {
  /** A command has been judged and comes before those that follow: all that it may run, and where. */
  after(
    views: readonly (readonly ShellWord[])[],
    directories: readonly string[] | undefined,
  ): Promise<void>;
  /** Why nobody can tell where a path leads by then. */
  problem(path: string): Promise<string | undefined>;
}

const MOVES_FILES = new Set(['mv', 'cp', 'rsync', 'install']);
const UNPACKS = new Set('tar bsdtar unzip 7z 7za cpio patch ar rpm2cpio dpkg-deb'.split(' '));

/** `roots`: directories that are there by themselves, whatever becomes of what is in them. */
export function createLinkWatch(
  { fs, view }: Pick<FencePlace, 'fs' | 'view'>,
  roots: readonly string[],
): LinkWatch {
  const risky: string[] = [];
  /** Links may be where there was nothing; or also where there is something now. */
  let reach: 'none' | 'new' | 'any' = 'none';

  /** Whether one of these is a link, or a directory with one in it. */
  async function anyLink(paths: readonly string[]): Promise<boolean> {
    for (const path of paths) {
      if ((await fs.lstat(path))?.kind === 'symlink') return true;
      const start = await view.judge.spell(path);
      if (!(await linksStay([start], view.judge, { isFine: () => false }))) return true;
    }
    return false;
  }

  async function look(words: readonly ShellWord[], directories: readonly string[]): Promise<void> {
    const program = programOf(words) ?? '';
    // fail-closed: what puts files in place by itself may replace a directory by a link.
    if (UNPACKS.has(program) || (program === 'git' && gitPlacesFiles(words))) reach = 'any';
    if (program !== 'ln' && !MOVES_FILES.has(program)) return;
    const values = words.slice(1).map((word) => word.value);
    const operands = values.filter((value) => value !== '' && !value.startsWith('-'));
    const places = directories.flatMap((directory) =>
      operands.map((operand) => resolve(directory, operand)),
    );
    if (program !== 'ln' && !(await anyLink(sourcesOf(values, places)))) return;
    if (reach === 'none') reach = 'new';
    risky.push(...places);
  }

  return {
    async after(views, directories = []) {
      for (const words of views) await look(words, directories);
    },
    async problem(path) {
      const under = risky.find((place) => path !== place && isInside(path, place));
      if (under !== undefined) {
        return `${path} goes through ${under}, which is a link by then; use another call for it`;
      }
      const parent = dirname(path);
      if (reach === 'none' || roots.includes(parent)) return undefined;
      if (reach === 'new' && (await fs.stat(parent)) !== undefined) return undefined;
      return `${parent} may be a link by then; use another call for it`;
    },
  };
}

/** All but the last, which is where they go, unless an option says where. */
function sourcesOf(values: readonly string[], places: readonly string[]): readonly string[] {
  const isNamed = values.some((value) => /^(-[a-zA-Z]*t|--target-dir)/.test(value));
  return isNamed ? places : places.slice(0, -1);
}
