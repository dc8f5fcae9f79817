import { type FileMemory, NO_MEMORY } from '../env/file-memory.js';
import type { ParseYaml } from '../util/parse-yaml.js';
import type { WaitingRule } from './instruction-entry.js';
import type { Gathering } from './instruction-gathering.js';
import type { InstructionLoader, Place, Taking } from './instruction-loader.js';
import { pathFrom } from './instruction-places.js';
import {
  type InstructionReader,
  isLocated,
  type Located,
  skip,
  unreadable,
} from './instruction-reader.js';
import type { InstructionScope } from './instruction-types.js';
import { gitignoreMatcher, type PathMatcher } from './path-matcher.js';
import { realPathIn } from './plain-file.js';
import {
  headIn,
  plainGlobs,
  type RuleFile,
  type RuleFiles,
  readRuleHead,
  ruleFilesIn,
} from './rule-files.js';
import { isTexts, type Looked, type RuleGround, sealedRules, sealRules } from './sealed-rules.js';

/** Where a directory's files may lie and include from. */
export type Area = Pick<Place, 'within' | 'includesWithin' | 'aboveProject' | 'nested'>;

export interface RuleParts {
  readonly fs: RuleFiles;
  readonly reader: InstructionReader;
  readonly loader: InstructionLoader;
  /** Absent: patterns are read as of .gitignore. */
  readonly matcher?: PathMatcher;
  readonly parseYaml?: ParseYaml;
  /** Heads that earlier starts have read. Absent: every file is read. */
  readonly memory?: FileMemory;
}

export interface RuleDirectory {
  readonly path: string;
  readonly scope: InstructionScope;
  readonly area: Area;
  /** The directories that patterns are meant from; the first is the one the rules speak for. */
  readonly bases: readonly [string, ...string[]];
}

/** Takes the rules of a directory that apply always, and notes those that wait. */
export async function takeRules(
  parts: RuleParts,
  directory: RuleDirectory,
  { how, into }: { how: Taking; into: Gathering },
): Promise<void> {
  const { path, scope, area } = directory;
  const ground = groundOf(parts, directory);
  const sealed = await sealedRules(parts, path, ground);
  const at = Date.now();
  const found = sealed?.rest ?? (await ruleFilesIn(parts.fs, path));
  const looked = await lookAt(parts, found.files, ground);
  const waiting: WaitingRule[] = [];
  for (const { rule, sought, globs } of looked) {
    if (!isLocated(sought)) await parts.loader.take(rule, how, into, sought);
    else if (globs === undefined) {
      const taking = parts.loader.takeNow(rule, how, into, sought);
      if (taking !== undefined) await taking;
    } else waiting.push({ place: rule, real: sought.real, globs, fits: ground.fitsFor(globs) });
  }
  into.waiting.push(...inOrder(sealed?.waiting ?? [], waiting));
  for (const closed of found.closed) {
    const wanted = { path: closed.path, scope, ...area };
    into.skipped.push(unreadable(wanted, closed.why, { isThere: true }));
  }
  if (found.cut) {
    into.skipped.push(skip({ path, scope }, 'too many', 'it holds more files than are looked at'));
  }
  if (sealed === undefined) sealRules(parts, path, { found, ground, at, looked });
}

/** Mostly there are only the ones or the others, and both are in order. */
function inOrder(some: readonly WaitingRule[], others: readonly WaitingRule[]) {
  if (some.length === 0 || others.length === 0) return [...some, ...others];
  return [...some, ...others].sort((a, b) => (a.place.path < b.place.path ? -1 : 1));
}

function groundOf(parts: RuleParts, { scope, area, bases }: RuleDirectory): RuleGround {
  const waysTo = waysFrom(bases);
  return {
    place: { scope, kind: 'rule', base: bases[0], ...area },
    fitsFor: (globs) => fitsFrom(waysTo, globs, parts.matcher ?? gitignoreMatcher),
  };
}

/** In the order of the files. */
async function lookAt(
  parts: RuleParts,
  files: readonly RuleFile[],
  { place }: RuleGround,
): Promise<readonly Looked[]> {
  const looked: (Looked | undefined)[] = [];
  const closer: { readonly rule: Place; readonly file: RuleFile; readonly index: number }[] = [];
  files.forEach((file, index) => {
    const rule: Place = { path: file.path, ...place };
    looked.push(plainRule(parts, rule, file));
    if (looked[index] === undefined) closer.push({ rule, file, index });
  });
  await mapLimited(closer, async ({ rule, file, index }) => {
    const sought = await parts.reader.locate({ ...rule, realDirectory: file.realDirectory });
    const globs = isLocated(sought) ? await globsOf(parts, sought) : undefined;
    looked[index] = { rule, sought, globs };
  });
  return looked.filter((one) => one !== undefined);
}

/**
 * Most rules need no promise: one that an earlier start saw waiting is not even read, and any other has a
 * plain head or none. Undefined for a rule that has to be looked at closely.
 */
function plainRule(parts: RuleParts, rule: Place, { realDirectory }: RuleFile): Looked | undefined {
  const { reader } = parts;
  const memory = headsOf(parts);
  const wanted = { realDirectory, ...rule };
  if (memory.knows(realPathIn(realDirectory, rule.path))) {
    const sought = reader.locateNow(wanted);
    const globs = isThere(sought) ? remembered(memory, sought) : undefined;
    if (isThere(sought) && globs !== undefined) return { rule, sought, globs };
  }
  const read = reader.readNow(wanted);
  const globs = read === undefined ? undefined : plainGlobs(read.text);
  if (read === undefined || globs === undefined) return undefined;
  const sought = read.located;
  if (globs === 'always') return { rule, sought, globs: undefined };
  remember(memory, sought, globs);
  return { rule, sought, globs };
}

function isThere(sought: Located | 'absent' | undefined): sought is Located {
  return sought !== undefined && sought !== 'absent';
}

const HEAD_BYTES = 8 * 1024;
const SHORT_BYTES = 4 * 1024;
const AT_ONCE = 16;

/** The rest of a rule that waits is read when it is needed, and not even its head when it is known. */
async function globsOf(parts: RuleParts, located: Located): Promise<readonly string[] | undefined> {
  const { reader, parseYaml } = parts;
  const memory = headsOf(parts);
  const known = remembered(memory, located);
  if (known !== undefined) return known;
  const read = await readGlobs({ reader, parseYaml }, located);
  if (read === 'unreadable') return undefined;
  if (read !== undefined) remember(memory, located, read);
  return read;
}

/**
 * Only of rules that wait: what applies always has to be read anyway, and says itself that it does.
 * fail-closed: only a list of patterns lets a rule wait; what is anything else is read again.
 */
function remembered(memory: FileMemory, { real, stat }: Located): readonly string[] | undefined {
  const said = stat === undefined ? undefined : memory.recall(RULE, real, stat);
  return isTexts(said) ? said : undefined;
}

function remember(memory: FileMemory, { real, stat }: Located, globs: readonly string[]): void {
  if (stat !== undefined) memory.note(RULE, real, stat, globs);
}

const RULE = 'rule';

/** Of their own: what is remembered of hundreds of skills is not read for a few rules. */
function headsOf({ memory = NO_MEMORY }: Pick<RuleParts, 'memory'>): FileMemory {
  return memory.drawer('rules');
}

type Globs = readonly string[] | undefined | 'unreadable';

async function readGlobs(parts: HeadParts, located: Located): Promise<Globs> {
  // The whole of a short file costs no more than its head.
  if (located.bytes <= SHORT_BYTES) return await globsOfWhole(parts, located);
  // What cannot be read now cannot be read when it is taken either, and is named there.
  const head = await parts.reader.readHead(located, HEAD_BYTES).catch(() => undefined);
  if (head === undefined) return 'unreadable';
  const kind = headIn(head);
  if (kind === 'none') return undefined;
  if (kind === 'whole') return (await readRuleHead(head, parts.parseYaml)).globs;
  return await globsOfWhole(parts, located);
}

type HeadParts = Pick<RuleParts, 'reader'> & { readonly parseYaml: ParseYaml | undefined };

async function globsOfWhole({ reader, parseYaml }: HeadParts, located: Located): Promise<Globs> {
  const read = await reader.read(located);
  if (!read.ok) return 'unreadable';
  if (headIn(read.value.text) === 'none') return undefined;
  return (await readRuleHead(read.value.text, parseYaml)).globs;
}

function fitsFrom(
  waysTo: (path: string) => readonly string[],
  globs: readonly string[],
  matcher: PathMatcher,
): (path: string) => boolean {
  let compiled: ((path: string) => boolean) | undefined;
  return (path) => {
    const ways = waysTo(path);
    if (ways.length === 0) return false;
    compiled ??= matcher(globs);
    return ways.some(compiled);
  };
}

/** A path as seen from each directory that it lies in. The rules of a directory ask one after the other. */
function waysFrom(bases: readonly string[]): (path: string) => readonly string[] {
  let last: { path: string; ways: readonly string[] } | undefined;
  return (path) => {
    if (last?.path !== path) {
      const ways = bases.map((base) => pathFrom(base, path)).filter((way) => way !== undefined);
      last = { path, ways: [...new Set(ways)] };
    }
    return last.ways;
  };
}

/** Results in order of the items. */
async function mapLimited<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [at, item] of queue) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
  return results;
}
