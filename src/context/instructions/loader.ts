import { ok, type Result } from '../../lib/result.js';
import { basename, extname } from '../../platform/fs/paths.js';
import { includeTargets, resolveTarget } from './includes.js';
import { admit, type LoadResult, mayLookUp } from './load-result.js';
import { type InstructionReader, type InstructionText, isLocated, skip } from './reader.js';
import { type RuleHead, readRuleHead } from './rules.js';
import { firstLines, withoutBlockComments, withoutHidden } from './text.js';
import { DOCUMENT_EXTENSIONS, isTextName, PROSE_EXTENSIONS } from './text-extensions.js';
import {
  type Entry,
  type LoadCause,
  type Located,
  MEMORY_TYPES,
  type Place,
  type SkippedInstruction,
  type Sought,
} from './types.js';

/** A file as it is shown and as its rules are read. */
export interface Prepared {
  readonly text: string;
  readonly source: string;
  readonly notes: readonly string[];
  readonly globs?: readonly string[];
}

/** What a path leads to; `prepared` where the file was read as well. */
export interface Look {
  readonly sought: Sought;
  readonly prepared?: Result<Prepared, SkippedInstruction>;
}

export interface InstructionLoader {
  /** Takes a file and what it includes, right behind it. */
  take(place: Place, how: LoadCause, into: LoadResult, look?: Look): Promise<void>;
  /** One file as it is now, without what it includes. */
  look(place: Place, realDirectory?: string): Promise<Look>;
  prepare(place: Place, located: Located): Promise<Result<Prepared, SkippedInstruction>>;
  /** What a file includes now and did not before; `unshown`: only for what that enforces. */
  takeIncludes(
    entry: Entry,
    how: LoadCause,
    into: LoadResult,
    options?: { readonly unshown: boolean },
  ): Promise<void>;
}

/** Files that can be shown below each other, counted from one that is not included. */
const DEEPEST_INCLUDE = 4;
/** Included files of one load that are shown; more is a mistake or an attack. */
const MOST_INCLUDED = 500;
export const MEMORY_CAP = { lines: 200, bytes: 25 * 1024 } as const;

interface Found {
  readonly located: Located;
  readonly how: LoadCause;
  readonly depth: number;
  /** The file is loaded for its restrictions only and not shown. */
  readonly unshown: boolean;
  readonly prepared?: Look['prepared'];
}

export function createInstructionLoader(
  reader: InstructionReader,
  home: string,
): InstructionLoader {
  const prepare: InstructionLoader['prepare'] = async (place, located) => {
    const read = await reader.read(place, located);
    if (!read.ok) return read;
    const head = place.kind === 'rule' ? await readRuleHead(read.value.text) : undefined;
    return ok(preparedFrom(place, located, { read: read.value, head }));
  };

  async function takeLocated(place: Place, found: Found, into: LoadResult): Promise<void> {
    const { located, how, unshown } = found;
    const isNew = !into.seen.has(located.real);
    const toShow = isNew && !unshown;
    // fail-closed: the first reference to a file decides how it is shown, not for which agents its rules hold.
    const toEnforce = mayHoldRules(place.path, located.real) && admit(into, place, located);
    if (!toShow && !toEnforce) return;
    if (toShow) into.seen.add(located.real);
    const prepared = found.prepared ?? (await prepare(place, located));
    if (!prepared.ok) {
      if (isNew) into.skipped.push(prepared.error);
      return;
    }
    const { text, notes } = prepared.value;
    if (text.trim() === '' && notes.length === 0) return;
    if (toShow && located.hidden !== undefined) into.skipped.push(located.hidden);
    const isRepeated =
      place.onceByContent === true &&
      into.entries.some(({ instruction }) => instruction.text.trim() === text.trim());
    const isShown = toShow && located.hidden === undefined && !isRepeated;
    if (!isShown && !toEnforce) return;
    const entry = entryOf(place, found, prepared.value);
    (isShown ? into.entries : into.unshown).push(entry);
    await takeIncludes(entry, how, into, { unshown: !isShown });
  }

  const takeIncludes: InstructionLoader['takeIncludes'] = async (entry, how, into, options) => {
    const { place, located, source, depth } = entry;
    const unshown = options?.unshown === true;
    const isProse = isProseFile(place.path, located.real);
    if (place.kind === 'memory' || !isProse) return;
    for (const target of includeTargets(source)) {
      if (!mayLookUp(into, place)) return;
      // Beside the file as it was found, or else beside what it is a link to.
      const [beside, behind] = [place.path, located.real].map((file) =>
        includeOf(place, resolveTarget(target, file, home)),
      ) as [Place, Place];
      let include = beside;
      let sought = await reader.locate(beside);
      if (sought === 'absent' && behind.path !== beside.path) {
        include = behind;
        sought = await reader.locate(behind);
      }
      if (sought === 'absent') {
        if (!unshown) noteMissing(place, target, into);
      } else if (!isLocated(sought)) {
        if (!unshown) into.skipped.push(sought);
      } else await takeInclude(include, { located: sought, how, depth: depth + 1, unshown }, into);
    }
  };

  async function takeInclude(include: Place, found: Found, into: LoadResult): Promise<void> {
    const { located, depth, unshown } = found;
    const isFirst = !unshown && !into.seen.has(located.real);
    if (![include.path, located.real].every(isTextName)) {
      const skipped = skip(include, 'not text', 'it is no kind of text file', { warn: false });
      if (isFirst) into.skipped.push(skipped);
      return;
    }
    const tooMuch = isFirst ? tooMuchToShow(include, depth, into) : undefined;
    if (tooMuch !== undefined) into.skipped.push(tooMuch);
    // fail-closed: what is too much to be shown still restricts.
    await takeLocated(include, { ...found, unshown: unshown || tooMuch !== undefined }, into);
  }

  return {
    prepare,
    takeIncludes,
    async look(place, realDirectory) {
      const sought = await reader.locate(place, realDirectory);
      return isLocated(sought) ? { sought, prepared: await prepare(place, sought) } : { sought };
    },
    async take(place, how, into, look) {
      const { sought, prepared } = look ?? { sought: await reader.locate(place) };
      if (sought === 'absent') return;
      if (!isLocated(sought)) into.skipped.push(sought);
      else {
        const found = { located: sought, how, depth: 0, unshown: false, prepared };
        await takeLocated(place, found, into);
      }
    },
  };
}

function preparedFrom(
  place: Place,
  located: Located,
  { read, head }: { readonly read: InstructionText; readonly head: RuleHead | undefined },
): Prepared {
  const isProse = isProseFile(place.path, located.real);
  const holdsRules = mayHoldRules(place.path, located.real);
  const body = head?.body ?? read.text;
  const shown = withoutHidden(isProse ? withoutBlockComments(body) : body);
  const cut = place.kind === 'memory' ? firstLines(shown.text, MEMORY_CAP) : { text: shown.text };
  const source = head === undefined ? body : '\n'.repeat(head.bodyLine - 1) + body;
  return {
    text: cut.text,
    source: holdsRules ? source : '',
    notes: [
      ...read.notes,
      ...(!holdsRules && IDLE_BLOCK.test(shown.text) ? [IDLE_NOTE] : []),
      ...(head?.notes ?? []),
      ...(shown.removed === 0 ? [] : [`${shown.removed} invisible characters were taken out`]),
      ...(cut.note === undefined ? [] : [cut.note]),
    ],
    globs: head?.globs,
  };
}

function includeOf({ path: parent, scope, base, includesWithin }: Place, path: string): Place {
  return { path, scope, kind: 'file', base, parent, within: includesWithin, includesWithin };
}

function entryOf(place: Place, { located, how, depth }: Found, prepared: Prepared): Entry {
  const { path, scope, kind, parent } = place;
  const { text, notes, globs, source } = prepared;
  const loadReason = parent === undefined || how.reasonForAll === true ? how.reason : 'include';
  const shown = { path, scope, memoryType: MEMORY_TYPES[scope], kind, loadReason };
  const instruction = { ...shown, text, bytes: located.bytes, notes, globs, parent };
  return {
    instruction: { ...instruction, trigger: how.trigger },
    place,
    located,
    source,
    depth,
    when: how.when,
  };
}

function tooMuchToShow(
  place: Place,
  depth: number,
  into: LoadResult,
): SkippedInstruction | undefined {
  if (depth > DEEPEST_INCLUDE) {
    return skip(place, 'too deep', `it is included through more than ${DEEPEST_INCLUDE} files`);
  }
  const more = ++into.included - MOST_INCLUDED;
  if (more <= 0) return undefined;
  // One warning is enough.
  const warn = more === 1;
  return skip(place, 'too many', `more than ${MOST_INCLUDED} files are included`, { warn });
}

/** Many words begin with an at sign; only what looks like a file is worth a line in a report. */
function noteMissing({ path: parent, scope }: Place, target: string, into: LoadResult): void {
  if (!/^\.{0,2}\/|^~\/|\.md$/.test(target)) return;
  const missing = { path: `@${target}`, scope, parent };
  into.skipped.push(skip(missing, 'missing', 'there is no such file', { warn: false }));
}

/** By the name it was found under, or the one it has behind all links: a link takes nothing away. */
function isProseFile(...paths: readonly string[]): boolean {
  return paths.some((path) => {
    const extension = extensionOf(path);
    return extension === '' ? !basename(path).startsWith('.') : PROSE_EXTENSIONS.has(extension);
  });
}

/**
 * fail-closed: whatever is written for people may restrict. Programs and data may only show how that is
 * done.
 */
function mayHoldRules(...paths: readonly string[]): boolean {
  return (
    isProseFile(...paths) ||
    paths.some((path) => extensionOf(path) === '' || DOCUMENT_EXTENSIONS.has(extensionOf(path)))
  );
}

function extensionOf(path: string): string {
  return extname(basename(path)).slice(1).toLowerCase();
}

/** Behind whatever marks a comment of a program or a text in data. */
const IDLE_BLOCK = /(?:`{3}|~{3})[ \t]*portcullis\b/i;
const IDLE_NOTE = 'a block "portcullis" in it enforces nothing: programs and data hold no rules';
