import type { ParseYaml } from '../../lib/parse-yaml.js';
import type { Gathering } from './load-result.js';
import type { InstructionLoader, Place, Taking } from './loader.js';
import { gitignoreMatcher, type PathMatcher } from './path-matcher.js';
import { pathFrom } from './places.js';
import { type InstructionReader, isLocated, type Located, skip, unreadable } from './reader.js';
import { type RuleFiles, readRuleHead, ruleFilesIn } from './rule-files.js';
import type { InstructionScope } from './types.js';

/** Where a directory's files may lie and include from. */
export type Area = Pick<Place, 'within' | 'includesWithin' | 'aboveProject' | 'nested'>;

export interface RuleParts {
  readonly fs: RuleFiles;
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
  { path, scope, area, bases }: RuleDirectory,
  { how, into }: { how: Taking; into: Gathering },
): Promise<void> {
  const { reader, loader, matcher = gitignoreMatcher } = parts;
  const found = await ruleFilesIn(parts.fs, path);
  for (const { path: file, realDirectory } of found.files) {
    const place: Place = { path: file, scope, kind: 'rule', base: bases[0], ...area };
    const sought = await reader.locate({ ...place, realDirectory });
    const globs = isLocated(sought) ? await globsOf(parts, sought) : undefined;
    if (globs === undefined || !isLocated(sought)) await loader.take(place, how, into, sought);
    else
      into.waiting.push({ place, real: sought.real, globs, fits: fitsFrom(bases, globs, matcher) });
  }
  for (const closed of found.closed) {
    const wanted = { path: closed.path, scope, ...area };
    into.skipped.push(unreadable(wanted, closed.why, { isThere: true }));
  }
  if (found.cut) {
    into.skipped.push(skip({ path, scope }, 'too many', 'it holds more files than are looked at'));
  }
}

/** Undefined: the rule applies always, or cannot be read, which is said where it is taken. */
async function globsOf(
  { reader, parseYaml }: RuleParts,
  located: Located,
): Promise<readonly string[] | undefined> {
  const read = await reader.read(located);
  return read.ok ? (await readRuleHead(read.value.text, parseYaml)).globs : undefined;
}

function fitsFrom(
  bases: readonly string[],
  globs: readonly string[],
  matcher: PathMatcher,
): (path: string) => boolean {
  const matches = matcher(globs);
  return (path) =>
    bases
      .map((base) => pathFrom(base, path))
      .some((relative) => relative !== undefined && matches(relative));
}
