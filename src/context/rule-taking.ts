import type { FileSystem } from '../env/fs.js';
import type { ParseYaml } from '../util/frontmatter.js';
import type { Gathering, InstructionLoader, Place, Taking } from './instruction-loader.js';
import { pathFrom } from './instruction-places.js';
import { type InstructionReader, isLocated, type Located, skip } from './instruction-reader.js';
import type { InstructionScope } from './instruction-types.js';
import { gitignoreMatcher, type PathMatcher } from './path-matcher.js';
import { headIn, readRuleHead, ruleFilesIn } from './rule-files.js';

/** Where a directory's files may lie and include from. */
export type Area = Pick<Place, 'within' | 'includesWithin' | 'aboveProject' | 'nested'>;

export interface RuleParts {
  readonly fs: Pick<FileSystem, 'list' | 'stat' | 'realPath'>;
  readonly reader: InstructionReader;
  readonly loader: InstructionLoader;
  /** Absent: patterns are read as of .gitignore. */
  readonly matcher?: PathMatcher;
  readonly parseYaml?: ParseYaml;
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
  const looked = await mapLimited(files, async ({ path, realDirectory }) => {
    const rule: Place = { path, scope, kind: 'rule', base: bases[0], ...area };
    const sought = await parts.reader.locate({ ...rule, realDirectory });
    if (!isLocated(sought)) return { rule, sought };
    return { rule, sought, globs: await globsOf(parts, sought) };
  });
  const waysTo = waysFrom(bases);
  for (const { rule, sought, globs } of looked) {
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

const HEAD_BYTES = 8 * 1024;
const SHORT_BYTES = 4 * 1024;
const AT_ONCE = 16;

/** The rest of a rule that waits is read when it is needed. */
async function globsOf(
  { reader, parseYaml }: RuleParts,
  located: Located,
): Promise<readonly string[] | undefined> {
  // The whole of a short file costs no more than its head.
  if (located.bytes <= SHORT_BYTES) return await globsOfWhole({ reader, parseYaml }, located);
  // What cannot be read now cannot be read when it is taken either, and is named there.
  const head = await reader.readHead(located, HEAD_BYTES).catch(() => '');
  const kind = headIn(head);
  if (kind === 'none') return undefined;
  if (kind === 'whole') return (await readRuleHead(head, parseYaml)).globs;
  return await globsOfWhole({ reader, parseYaml }, located);
}

async function globsOfWhole(
  { reader, parseYaml }: Pick<RuleParts, 'reader' | 'parseYaml'>,
  located: Located,
): Promise<readonly string[] | undefined> {
  const read = await reader.read(located);
  if (!read.ok || headIn(read.value.text) === 'none') return undefined;
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
