import {
  dirname,
  displayPath,
  gitDirectory,
  isInside,
  nearestRepository,
  relative,
  resolve,
} from '../../platform/fs/paths.js';
import type { PathFileSystem } from '../paths/paths.js';
import { restrictingUses, type TreePlace } from '../paths/tree-uses.js';
import { pathRulesIn, restrictedNames, restrictingPath } from '../rules/list.js';
import type { RestrictionMatch } from '../rules/rule.js';
import { matches, segmentTokens } from '../rules/wildcard.js';
import type { CommandContext } from '../shell/effects/recursion.js';
import type { TreeUse } from '../shell/effects/trees.js';
import type { ShellWord } from '../shell/model.js';
import { bareRepository } from './config.js';
import type { GitUse, TrackedUse } from './takes.js';
import { isUnchanged, type RestrictedFile, restrictedFiles, trackedNames } from './tracked.js';

type Match = RestrictionMatch | undefined;

/** Variables that lead git to another repository, or to another list of its files. */
const LEADS = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_OBJECT_DIRECTORY'];

/** A restriction on a file that a git command takes in, from the working tree or out of its store. */
export async function restrictingGit(
  use: GitUse,
  place: TreePlace,
  context: CommandContext,
): Promise<Match> {
  const { rules, directories } = place;
  const accesses = [...use.tracked, ...use.trees, ...use.outside].map(({ access }) => access);
  const relevant = pathRulesIn(rules).find(
    ({ spec }) =>
      accesses.length > 0 &&
      (spec.access === 'read' || accesses.some((access) => access !== 'read')),
  );
  if (relevant === undefined) return undefined;
  const lead = use.elsewhere ?? LEADS.find((name) => context.names(name));
  if (lead !== undefined || directories === undefined) {
    // fail-closed: which files those are cannot be told.
    const why =
      lead === undefined
        ? 'the directory it runs in is decided at run time'
        : `${lead} leads git to other files`;
    return { rule: relevant.rule, sure: 'maybe', detail: why };
  }
  return await surest(directories, async (start) => {
    const directory = use.moves.reduce((at, move) => resolve(at, move), start);
    const here = { ...place, directories: [directory] };
    const roots = await repositoriesOf(directory, place.view.judge.disk);
    if (roots.length === 0) return await restrictingUses([...use.trees, ...use.outside], here);
    return await surest(roots, (root) => restrictingIn(use, { directory, root }, here));
  });
}

/** The first match that is sure, else the first that is possible. */
async function surest<T>(items: Iterable<T>, find: (item: T) => Promise<Match>): Promise<Match> {
  let possible: Match;
  for (const item of items) {
    const found = await find(item);
    if (found?.sure === 'yes') return found;
    possible ??= found;
  }
  return possible;
}

async function restrictingIn(
  use: GitUse,
  repository: Repository,
  place: TreePlace,
): Promise<Match> {
  const { directory, root } = repository;
  const { judge } = place.view;
  const [first] = pathRulesIn(place.rules);
  const { real } = await judge.spell(directory);
  if (first !== undefined && (await bareRepository(judge.disk, real, root)) !== undefined) {
    // fail-closed: what its names stand for is no file beside them.
    const detail = 'git runs in a repository without a working tree';
    return { rule: first.rule, sure: 'maybe', detail };
  }
  const leaves = use.outside.some(
    ({ start }) => start.literal && !isInside(resolve(directory, start.value), root),
  );
  const trees = await Promise.all(
    [...use.trees, ...(leaves ? use.outside : [])].map((tree) => withKnown(tree, root, place)),
  );
  const ways = [
    () => restrictingUses(trees, place),
    ...use.tracked.map((one) => () => restrictingTracked(one, repository, place)),
  ];
  return await surest(ways, (way) => way());
}

/** Commands for what git does not know leave alone what it does. */
async function withKnown(tree: TreeUse, root: string, { view }: TreePlace): Promise<TreeUse> {
  if (tree.skips?.tracked !== true) return tree;
  const names = await trackedNames(root, view.judge);
  if (names === undefined) return tree;
  const { real } = await view.judge.spell(root);
  return { ...tree, known: (path) => names.has(relative(real, path)) };
}

interface Repository {
  readonly directory: string;
  readonly root: string;
}

async function restrictingTracked(
  use: TrackedUse,
  repository: Repository,
  place: TreePlace,
): Promise<Match> {
  const { rules, view } = place;
  const { root } = repository;
  const given = await operandsOf(use, repository, place);
  const named = await restrictingObject(given.objects, use, place);
  if (named !== undefined) return named;
  const [first] = pathRulesIn(rules);
  // fail-closed: `HEAD:$x` may be any file.
  if (first !== undefined && use.open.some(({ literal, raw }) => !literal && raw.includes(':'))) {
    return { rule: first.rule, sure: 'maybe', detail: 'what it prints is decided at run time' };
  }
  const isAll = use.scope === 'all' && (given.objects.length === 0 || given.revisions.length > 0);
  if (!isAll && given.paths.length + given.objects.length + given.revisions.length === 0) {
    return undefined;
  }
  const spellings = await view.judge.spell(root);
  const roots = restrictedNames(spellings);
  const { disk } = view.judge;
  const restricted = await restrictedFiles(rules, { roots, access: use.access }, view.judge);
  if (restricted === undefined) {
    const rule = pathRulesIn(rules)[0]?.rule;
    const detail = 'the list of files that git keeps cannot be followed';
    return rule === undefined ? undefined : { rule, sure: 'maybe', detail };
  }
  const onlyChanged = use.onlyChanged({
    revisions: given.revisions.length + given.objects.length,
    paths: given.paths.length,
  });
  const isMeant = meantBy(given, { isAll, repository });
  const mayMean = use.byContent === true && use.open.some(({ literal }) => !literal);
  for (const file of restricted.files) {
    if (!isMeant(file)) {
      if (!mayMean) continue;
      // fail-closed: it may be the name of this one's content.
      return { rule: file.rule, sure: 'maybe', detail: 'what it prints is decided at run time' };
    }
    const path = resolve(root, file.name);
    const { indexMs } = restricted;
    if (onlyChanged && (await isUnchanged(path, file, { fs: disk, indexMs }))) continue;
    return matchOf(file, use, displayPath(path, view.call.workspace.cwd));
  }
  return undefined;
}

interface Operands {
  readonly revisions: readonly string[];
  /** Paths behind a revision and a colon. */
  readonly objects: readonly string[];
  readonly paths: readonly string[];
}

/** What is in front of `--` is a path where there is such a path: git takes it for nothing else then. */
async function operandsOf(
  { open, paths, scope, openAreRevisions = false, openNarrows = true }: TrackedUse,
  { directory, root }: Repository,
  { view }: TreePlace,
): Promise<Operands> {
  const revisions: string[] = [];
  const objects: string[] = [];
  const found: string[] = paths.map(({ value, literal }) => (literal ? value : '.'));
  /** Those that may be something else, too. */
  const unsure: string[] = [];
  const add = (path: string): void => {
    (openNarrows ? found : unsure).push(path);
  };
  for (const word of open) {
    const named = objectPaths(word);
    // Where there is no such object, git takes a word with wildcards for a path.
    if (named.length > 0 && /[*?[\\]/.test(word.value)) add(word.value.replace(/^:/, ''));
    if (named.length > 0) objects.push(...named.map((one) => fromRoot(one, { directory, root })));
    else if (!word.literal) revisions.push(word.raw);
    else if (openAreRevisions) revisions.push(word.value);
    else if (/^:[!^(]/.test(word.value)) add(word.value);
    // No name of a revision has a wildcard.
    else if (/^[^{]*[*?[\\]/.test(word.value)) add(word.value);
    else if (word.value.startsWith(':/')) {
      // A revision by its message in the first place, and a path where there is no such message.
      revisions.push(word.value);
      unsure.push(word.value);
    } else if (await isThere(resolve(directory, word.value), view)) add(word.value);
    else revisions.push(word.value);
  }
  // Alone in front of everything it may be the revision: then it narrows nothing down.
  if (found.length > 0 || scope === 'named') found.push(...unsure);
  return { revisions, objects, paths: found };
}

async function isThere(path: string, { judge }: TreePlace['view']): Promise<boolean> {
  try {
    return (await judge.disk.lstat(path)) !== undefined;
  } catch {
    // A revision may be no name that a file can have.
    return false;
  }
}

/** `HEAD:path`, `:path` and `:0:path`; also of a word whose beginning is decided at run time. */
function objectPaths({ value, literal, raw }: ShellWord): readonly string[] {
  const text = literal ? value : raw.replace(/["']/g, '');
  if (/^:[!^(/]/.test(text)) return [];
  // A revision may hold colons of its own (`HEAD@{10:30}:path`), so each may be the one.
  const parts = text.split(':');
  return parts
    .map((_, at) => parts.slice(at).join(':'))
    .slice(1)
    .filter((path) => path !== '' && (literal || !/[$`]/.test(path)));
}

/** From the root of the repository, unless it begins with a dot. */
function fromRoot(path: string, { directory, root }: Repository): string {
  return /^\.{1,2}(\/|$)/.test(path) ? resolve(directory, path) : resolve(root, `./${path}`);
}

async function restrictingObject(
  objects: readonly string[],
  use: TrackedUse,
  { rules, view }: TreePlace,
): Promise<Match> {
  for (const path of objects) {
    const spellings = await view.judge.spell(path);
    const rule = restrictingPath(rules, [{ access: use.access, spellings }], view.judge.budget);
    if (rule === undefined) continue;
    const shown = displayPath(path, view.call.workspace.cwd);
    return { rule, sure: 'yes', detail: `it would print ${shown} as git keeps it` };
  }
  return undefined;
}

function meantBy(
  { paths, objects, revisions }: Operands,
  { isAll, repository: { directory, root } }: { isAll: boolean; repository: Repository },
): (file: RestrictedFile) => boolean {
  const prefix = relative(root, directory);
  const specs = paths.map((path) => {
    if (path.startsWith('/')) return parsePathspec(`:/${relative(root, path)}`, '');
    return parsePathspec(path, prefix);
  });
  const isIn = within(specs);
  const below = objects.map((path) => relative(root, path));
  // `ID^{}` and `TAG-5-gID` mean the object too.
  const ids = revisions.flatMap(
    (text) => /(?:^|-g)([0-9a-f]{4,40})(?=$|[\^~@])/i.exec(text)?.[1] ?? [],
  );
  return ({ name, id }) =>
    ((isAll || specs.length > 0) && isIn(name)) ||
    below.some((path) => path === '' || name === path || name.startsWith(`${path}/`)) ||
    ids.some((text) => id.startsWith(text.toLowerCase()));
}

function matchOf({ rule, name }: RestrictedFile, use: TrackedUse, shown: string): RestrictionMatch {
  const does = use.access === 'read' ? 'would print' : 'would change';
  const help = `leave it out with -- . ':(exclude,top)${name}', or name narrower paths`;
  return { rule, sure: 'yes', detail: `it ${does} ${shown}, which git keeps; ${help}` };
}

/** Whether a path of git's command line takes a file in; `maybe` where that is not followed here. */
interface Pathspec {
  readonly excludes: boolean;
  covers(name: string): 'yes' | 'maybe' | 'no';
}

const MAGIC = /^:(?:\(([a-z,]*)\)|([!^/]+):?)(.*)$/s;

/** `prefix` is the way from the root of the working tree to the directory that the command runs in. */
export function parsePathspec(text: string, prefix: string): Pathspec {
  const magic = MAGIC.exec(text);
  const words = magic === null ? [] : wordsOf(magic[1], magic[2]);
  const excludes = words.includes('exclude');
  const isPlain = words.every((word) => word === 'exclude' || word === 'top' || word === '');
  // fail-closed: other magic may take anything in, and leaves nothing out for sure.
  if (!isPlain || (text.startsWith(':') && magic === null)) {
    return { excludes, covers: () => 'maybe' };
  }
  const rest = magic?.[3] ?? text;
  const path = normal(words.includes('top') ? rest : `${prefix}/${rest}`);
  if (path === undefined) return { excludes, covers: () => 'maybe' };
  const isWild = /[*?[\\]/.test(path);
  const tokens = isWild ? segmentTokens(path) : [];
  return {
    excludes,
    covers: (name) => {
      const isIn = path === '' || name === path || name.startsWith(`${path}/`);
      return isIn || (isWild && matches(tokens, name)) ? 'yes' : 'no';
    },
  };
}

/** Which of the files are meant. */
export function within(specs: readonly Pathspec[]): (name: string) => boolean {
  const takes = specs.filter(({ excludes }) => !excludes);
  const leaves = specs.filter(({ excludes }) => excludes);
  return (name) =>
    (takes.length === 0 || takes.some((spec) => spec.covers(name) !== 'no')) &&
    !leaves.some((spec) => spec.covers(name) === 'yes');
}

function wordsOf(long: string | undefined, short: string | undefined): readonly string[] {
  if (long !== undefined) return long.split(',');
  return [...(short ?? '')].map((sign) => (sign === '/' ? 'top' : 'exclude'));
}

/** Without dots; undefined when it leads out of the working tree. */
function normal(path: string): string | undefined {
  const kept: string[] = [];
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') kept.push(name);
    else if (kept.pop() === undefined) return undefined;
  }
  return kept.join('/');
}

/**
 * The working trees of which one is git's for a directory: up to the first that surely is a repository.
 * What only looks like one is passed over by git.
 */
async function repositoriesOf(directory: string, disk: PathFileSystem): Promise<readonly string[]> {
  const found: string[] = [];
  let root = nearestRepository(directory);
  while (root !== undefined) {
    found.push(root);
    if (dirname(root) === root || (await isRepository(root, disk))) break;
    root = nearestRepository(dirname(root));
  }
  return found;
}

async function isRepository(root: string, disk: PathFileSystem): Promise<boolean> {
  const own = gitDirectory(root);
  if (own === undefined) return false;
  try {
    const head = await disk.readText(resolve(own, 'HEAD'), { maxBytes: LONGEST_HEAD });
    if (!/^(ref:\s*refs\/\S+|[0-9a-f]{40,64})\s*$/.test(head)) return false;
    if ((await disk.lstat(resolve(own, 'commondir'))) !== undefined) return true;
    const parts = await Promise.all(
      ['objects', 'refs'].map((name) => disk.lstat(resolve(own, name))),
    );
    return parts.every((part) => part !== undefined);
  } catch {
    // fail-closed: it does not count as one, and those above it are looked at too.
    return false;
  }
}

const LONGEST_HEAD = 4096;
