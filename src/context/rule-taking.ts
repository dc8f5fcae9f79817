import { type FileMemory, NO_MEMORY } from '../env/file-memory.js';
import type { FileSystem } from '../env/fs.js';
import type { ParseYaml } from '../util/frontmatter.js';
import type { Gathering } from './instruction-gathering.js';
import type { InstructionLoader, Place, Taking } from './instruction-loader.js';
import { pathFrom } from './instruction-places.js';
import {
  type InstructionReader,
  isLocated,
  type Located,
  type Sought,
  skip,
} from './instruction-reader.js';
import type { InstructionScope } from './instruction-types.js';
import { gitignoreMatcher, type PathMatcher } from './path-matcher.js';
import { headIn, type RuleFile, readRuleHead, ruleFilesIn } from './rule-files.js';

/** Where a directory's files may lie and include from. */
export type Area = Pick<Place, 'within' | 'includesWithin' | 'aboveProject' | 'nested'>;

export interface RuleParts {
  readonly fs: Pick<FileSystem, 'list' | 'stat' | 'realPath'>;
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
  const { scope, area, bases } = directory;
  const { files, cut } = await ruleFilesIn(parts.fs, directory.path);
  const looked: (Looked | undefined)[] = [];
  const closer: { readonly rule: Place; readonly file: RuleFile; readonly index: number }[] = [];
  files.forEach((file, index) => {
    const rule: Place = { path: file.path, scope, kind: 'rule', base: bases[0], ...area };
    looked.push(knownRule(parts, rule, file));
    if (looked[index] === undefined) closer.push({ rule, file, index });
  });
  await mapLimited(closer, async ({ rule, file, index }) => {
    const sought = await parts.reader.locate({ ...rule, realDirectory: file.realDirectory });
    const globs = isLocated(sought) ? await globsOf(parts, sought) : undefined;
    looked[index] = { rule, sought, globs };
  });
  const waysTo = waysFrom(bases);
  for (const { rule, sought, globs } of looked.filter((one) => one !== undefined)) {
    if (globs === undefined || !isLocated(sought)) await parts.loader.take(rule, how, into, sought);
    else {
      const fits = fitsFrom(waysTo, globs, parts.matcher ?? gitignoreMatcher);
      into.waiting.push({ place: rule, real: sought.real, globs, fits });
    }
  }
  if (cut) {
    const wanted = { path: directory.path, scope };
    into.skipped.push(skip(wanted, 'too many', 'it holds more files than are looked at'));
  }
}

interface Looked {
  readonly rule: Place;
  readonly sought: Sought;
  /** Absent: it does not wait. */
  readonly globs: readonly string[] | undefined;
}

/** What is remembered needs no promise; undefined for a rule that has to be looked at closely. */
function knownRule(parts: RuleParts, rule: Place, { realDirectory }: RuleFile): Looked | undefined {
  const sought = parts.reader.locateNow({ ...rule, realDirectory });
  if (sought === undefined || sought === 'absent') return undefined;
  const globs = remembered(parts, sought);
  if (globs === undefined) return undefined;
  return { rule, sought, globs: globs === ALWAYS ? undefined : globs };
}

const HEAD_BYTES = 8 * 1024;
const SHORT_BYTES = 4 * 1024;
const AT_ONCE = 16;

/** The rest of a rule that waits is read when it is needed, and not even its head when it is known. */
async function globsOf(
  { reader, parseYaml, memory = NO_MEMORY }: RuleParts,
  located: Located,
): Promise<readonly string[] | undefined> {
  const known = remembered({ memory }, located);
  if (known !== undefined) return known === ALWAYS ? undefined : known;
  const read = await readGlobs({ reader, parseYaml }, located);
  if (read === 'unreadable') return undefined;
  const { real, stat } = located;
  if (stat !== undefined) memory.note(RULE, real, stat, read ?? ALWAYS);
  return read;
}

/** fail-closed: only a list of patterns lets a rule wait; what is neither is read again. */
function remembered(
  { memory = NO_MEMORY }: Pick<RuleParts, 'memory'>,
  { real, stat }: Located,
): readonly string[] | typeof ALWAYS | undefined {
  const said = stat === undefined ? undefined : memory.recall(RULE, real, stat);
  return said === ALWAYS || isTexts(said) ? said : undefined;
}

const RULE = 'rule';
const ALWAYS = 'always';

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
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
