import { basename, extname } from '../env/paths.js';
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
  /** Lines as in the file, those of the head empty; nothing for files that are no prose. */
  readonly source: string;
  /** 0 for a file that nobody includes. */
  readonly depth: number;
  /** Of a text that stands on one line of another file. */
  readonly line?: number;
}

/** A rule that waits for a file that its patterns fit. */
export interface WaitingRule {
  readonly place: Place;
  readonly real: string;
  readonly globs: readonly string[];
  /** Takes an absolute path. */
  fits(path: string): boolean;
}

/** What one look at the disk has found; `seen` holds resolved paths. */
export interface Gathering {
  readonly entries: Entry[];
  /** Files that are not shown and whose restrictions hold. */
  readonly unshown: Entry[];
  readonly skipped: SkippedInstruction[];
  readonly waiting: WaitingRule[];
  readonly seen: Set<string>;
  included: number;
}

export function newGathering(seen: Iterable<string> = []): Gathering {
  return { entries: [], unshown: [], skipped: [], waiting: [], seen: new Set(seen), included: 0 };
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

/** Files that can be included below each other, counted from one that nobody includes. */
export const DEEPEST_INCLUDE = 4;
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
    const entry = { instruction, place, located, source, depth };
    if (located.hidden !== undefined) {
      into.skipped.push(located.hidden);
      into.unshown.push(entry);
      return;
    }
    into.entries.push(entry);
    await follow(entry, how, into);
  }

  async function follow(entry: Entry, how: Taking, into: Gathering): Promise<void> {
    const { place, located, source, depth } = entry;
    if (place.kind === 'memory' || !source.includes('@')) return;
    const { includeTargets, resolveTarget } = await import('./includes.js');
    for (const target of includeTargets(source)) {
      // Beside the file as it was found, or else beside what it is a link to.
      const found = await firstFound(
        [place.path, located.real].map((file) =>
          includeOf(place, resolveTarget(target, file, home)),
        ),
      );
      if (found === undefined) noteMissing(entry, target, into);
      else if (!isLocated(found.sought)) into.skipped.push(found.sought);
      else if (!into.seen.has(found.sought.real)) {
        const refused = refusedInclude(found.sought, depth, into);
        if (refused !== undefined) into.skipped.push(refused);
        else
          await takeLocated(found.include, { located: found.sought, how, depth: depth + 1 }, into);
      }
    }
  }

  async function firstFound(
    includes: readonly Place[],
  ): Promise<{ include: Place; sought: Exclude<Sought, 'absent'> } | undefined> {
    for (const include of includes) {
      const sought = await reader.locate(include);
      if (sought !== 'absent') return { include, sought };
    }
    return undefined;
  }

  return {
    prepare,
    async take(place, how, into, sought) {
      const found = sought ?? (await reader.locate(place));
      if (found === 'absent') return;
      if (isLocated(found)) await takeLocated(place, { located: found, how, depth: 0 }, into);
      else into.skipped.push(found);
    },
    takeIncludes: follow,
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
  { wanted, real }: Located,
  depth: number,
  into: Gathering,
): SkippedInstruction | undefined {
  if (depth >= DEEPEST_INCLUDE) {
    return skip(wanted, 'too deep', `it is included through more than ${DEEPEST_INCLUDE} files`);
  }
  if (![wanted.path, real].every(isTextName)) {
    return skip(wanted, 'not text', 'it is no kind of text file', { warn: false });
  }
  return ++into.included > MOST_INCLUDED
    ? skip(wanted, 'too many', `more than ${MOST_INCLUDED} files are included`, { warn: false })
    : undefined;
}

/** Many words begin with an at sign; only what looks like a file is worth a line in a report. */
function noteMissing({ place }: Entry, target: string, into: Gathering): void {
  if (!/^\.{0,2}\/|^~\/|\.md$/.test(target)) return;
  const wanted = { path: `@${target}`, scope: place.scope, parent: place.path };
  into.skipped.push(skip(wanted, 'missing', 'there is no such file', { warn: false }));
}

function isTextName(path: string): boolean {
  const extension = extname(path).slice(1).toLowerCase();
  return extension === '' || TEXT_EXTENSIONS.has(extension);
}

function isProseFile(path: string): boolean {
  const extension = extname(basename(path)).slice(1).toLowerCase();
  return extension === '' ? !basename(path).startsWith('.') : PROSE_EXTENSIONS.has(extension);
}

function isSame(entry: Entry, text: string): boolean {
  return entry.instruction.text.trim() === text.trim();
}
