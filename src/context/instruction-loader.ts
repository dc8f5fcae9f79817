import { basename, dirname, extname, isAbsolute } from '../env/paths.js';
import type { ParseYaml } from '../util/frontmatter.js';
import type { Result } from '../util/result.js';
import {
  type InstructionReader,
  isLocated,
  type Located,
  type Sought,
  skip,
  type Wanted,
} from './instruction-reader.js';
import { firstLines, withoutBlockComments, withoutHidden } from './instruction-text.js';
import {
  type LoadedInstruction,
  type LoadReason,
  memoryTypeOf,
  type SkippedInstruction,
} from './instruction-types.js';
import { PROSE_EXTENSIONS, TEXT_EXTENSIONS } from './text-extensions.js';

/** A file with a meaning by its place. */
export interface Place extends Wanted {
  readonly kind: LoadedInstruction['kind'];
  /** The directory that it speaks for: the one with `.claude` in it, or the one that it lies in. */
  readonly base: string;
  /** Resolved directories that it may include from without a question; absent: anywhere. */
  readonly includesWithin?: readonly string[];
  /** A text that stands already elsewhere is not shown again. */
  readonly onceByContent?: boolean;
}

/** Why and how a file is taken. */
export interface Taking {
  readonly reason: LoadReason;
  /** The file whose use made it load. */
  readonly trigger?: string;
  /** Includes keep this reason instead of their own. */
  readonly reasonForAll?: boolean;
}

/** A file that is shown, with what is needed to look at it again. */
export interface Entry {
  readonly instruction: LoadedInstruction;
  readonly place: Place;
  readonly located: Located;
  /** Lines as in the file; those of the head are empty. */
  readonly source: string;
}

/** What one look at the disk has found; `seen` holds resolved paths. */
export interface Gathering {
  readonly entries: Entry[];
  readonly skipped: SkippedInstruction[];
  readonly seen: Set<string>;
  included: number;
}

export function newGathering(seen: Iterable<string> = []): Gathering {
  return { entries: [], skipped: [], seen: new Set(seen), included: 0 };
}

export interface LoaderParts {
  readonly reader: InstructionReader;
  readonly home: string;
  readonly parseYaml?: ParseYaml;
}

export interface InstructionLoader {
  /** Takes a file and what it includes, right behind it. */
  take(place: Place, how: Taking, into: Gathering, sought?: Sought): Promise<void>;
  /** One file as it is now, without what it includes. */
  prepare(place: Place, located: Located): Promise<Result<Prepared, SkippedInstruction>>;
  /** What a file that is shown already includes now and did not before. */
  takeIncludes(entry: Entry, how: Taking, into: Gathering): Promise<void>;
}

export interface Prepared {
  readonly text: string;
  readonly source: string;
  readonly notes: readonly string[];
  readonly globs?: readonly string[];
}

/** Included files of one gathering; more is a mistake or an attack. */
const MOST_INCLUDED = 500;
export const MEMORY_CAP = { lines: 200, bytes: 25 * 1024 } as const;

export function createInstructionLoader(parts: LoaderParts): InstructionLoader {
  const { reader, home } = parts;

  const prepare: InstructionLoader['prepare'] = async (place, located) => {
    const read = await reader.read(located);
    if (!read.ok) return read;
    const isProse = isProseFile(place.path);
    const rule =
      place.kind === 'rule'
        ? await (await import('./rule-files.js')).readRuleHead(read.value.text, parts.parseYaml)
        : undefined;
    const body = rule?.body ?? read.value.text;
    const shown = withoutHidden(isProse ? withoutBlockComments(body) : body);
    const cut = place.kind === 'memory' ? firstLines(shown.text, MEMORY_CAP) : { text: shown.text };
    const source = rule === undefined ? body : '\n'.repeat(rule.bodyLine - 1) + body;
    return {
      ok: true,
      value: {
        text: cut.text,
        source: isProse ? source : '',
        notes: [
          ...read.value.notes,
          ...(rule?.notes ?? []),
          ...(shown.removed === 0 ? [] : [`${shown.removed} invisible characters were taken out`]),
          ...(cut.note === undefined ? [] : [cut.note]),
        ],
        ...(rule?.globs === undefined ? {} : { globs: rule.globs }),
      },
    };
  };

  async function takeLocated(
    place: Place,
    { located, how, depth }: { located: Located; how: Taking; depth: number },
    into: Gathering,
  ): Promise<void> {
    if (into.seen.has(located.real)) return;
    into.seen.add(located.real);
    const prepared = await prepare(place, located);
    if (!prepared.ok) {
      into.skipped.push(prepared.error);
      return;
    }
    const { text, notes, globs, source } = prepared.value;
    if (text.trim() === '' && notes.length === 0) return;
    if (place.onceByContent === true && into.entries.some((one) => isSame(one, text))) return;
    const instruction: LoadedInstruction = {
      path: place.path,
      scope: place.scope,
      memoryType: memoryTypeOf(place.scope),
      kind: place.kind,
      loadReason: place.parent === undefined || how.reasonForAll === true ? how.reason : 'include',
      text,
      bytes: located.bytes,
      notes,
      ...(globs === undefined ? {} : { globs }),
      ...(place.parent === undefined ? {} : { parent: place.parent }),
      ...(how.trigger === undefined ? {} : { trigger: how.trigger }),
    };
    const entry = { instruction, place, located, source };
    into.entries.push(entry);
    await follow(entry, { how, depth }, into);
  }

  async function follow(
    entry: Entry,
    { how, depth }: { how: Taking; depth: number },
    into: Gathering,
  ): Promise<void> {
    if (entry.place.kind === 'memory' || entry.source === '' || !entry.source.includes('@')) return;
    const { DEEPEST_INCLUDE, includeTargets, resolveTarget } = await import('./includes.js');
    for (const target of includeTargets(entry.source)) {
      const { place, located } = entry;
      const from = [place.path, located.real].map((file) => resolveTarget(target, file, home));
      // Beside the file as it was found, or else beside what it is a link to.
      for (const path of new Set(from)) {
        const include = includeOf(place, path);
        const sought = await reader.locate(include);
        if (sought === 'absent') {
          noteMissing(include, target, into);
          continue;
        }
        const refused = isLocated(sought) ? refusedInclude(sought, depth, DEEPEST_INCLUDE) : sought;
        if (isLocated(sought) && into.seen.has(sought.real)) break;
        if (refused !== undefined) into.skipped.push(refused);
        else if (++into.included > MOST_INCLUDED) {
          into.skipped.push(
            skip(include, 'too many', `more than ${MOST_INCLUDED} files are included`),
          );
          return;
        } else if (isLocated(sought)) {
          await takeLocated(include, { located: sought, how, depth: depth + 1 }, into);
        }
        break;
      }
    }
  }

  return {
    prepare,
    async take(place, how, into, sought) {
      const found = sought ?? (await reader.locate(place));
      if (found === 'absent') return;
      if (isLocated(found)) await takeLocated(place, { located: found, how, depth: 0 }, into);
      else into.skipped.push(found);
    },
    takeIncludes: (entry, how, into) => follow(entry, { how, depth: depthOf(entry) }, into),
  };
}

function includeOf(from: Place, path: string): Place {
  const { includesWithin } = from;
  return {
    path,
    scope: from.scope,
    kind: 'file',
    base: from.base,
    parent: from.path,
    ...(includesWithin === undefined ? {} : { within: includesWithin, includesWithin }),
  };
}

function refusedInclude(
  located: Located,
  depth: number,
  deepest: number,
): SkippedInstruction | undefined {
  const { wanted, real } = located;
  if (depth >= deepest) {
    return skip(wanted, 'too deep', `it is included through more than ${deepest} files`);
  }
  if (![wanted.path, real].every((path) => isTextName(path))) {
    return skip(wanted, 'not text', 'it is no kind of text file', { warn: false });
  }
  return undefined;
}

/** Many words begin with an at sign; only what looks like a file is worth a line in a report. */
function noteMissing(wanted: Wanted, target: string, into: Gathering): void {
  const isFile = isAbsolute(target) || /^\.{1,2}\/|^~\/|\.md$/.test(target);
  if (isFile) into.skipped.push(skip(wanted, 'missing', 'there is no such file', { warn: false }));
}

function isTextName(path: string): boolean {
  const extension = extname(path).slice(1).toLowerCase();
  return extension === '' || TEXT_EXTENSIONS.has(extension);
}

function isProseFile(path: string): boolean {
  const extension = extname(basename(path)).slice(1).toLowerCase();
  return extension === '' ? !basename(path).startsWith('.') : PROSE_EXTENSIONS.has(extension);
}

/** How deep an entry is nested is not kept: one step less than the limit keeps a change bounded. */
function depthOf(entry: Entry): number {
  return entry.place.parent === undefined ? 0 : 3;
}

function isSame(entry: Entry, text: string): boolean {
  return entry.instruction.text.trim() === text.trim();
}

/** The directory that a file in `.claude` speaks for is the one around it. */
export function baseOf(path: string): string {
  const directory = dirname(path);
  return basename(directory) === '.claude' ? dirname(directory) : directory;
}
