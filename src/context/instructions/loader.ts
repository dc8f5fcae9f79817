import { ok, type Result } from '../../lib/result.js';
import { basename, extname } from '../../platform/fs/paths.js';
import { includeTargets, resolveTarget } from './includes.js';
import { admit, type Gathering, mayLookUp } from './load-result.js';
import { type InstructionReader, type InstructionText, isLocated, skip } from './reader.js';
import { type RuleHead, readRuleHead } from './rules.js';
import { firstLines, withoutBlockComments, withoutHidden } from './text.js';
import { DOCUMENT_EXTENSIONS, isTextName, PROSE_EXTENSIONS } from './text-extensions.js';
import {
  type Entry,
  type LoadedInstruction,
  type Located,
  memoryTypeOf,
  type Place,
  type SkippedInstruction,
  type Sought,
  type Taking,
} from './types.js';

export interface LoaderParts {
  readonly reader: InstructionReader;
  readonly home: string;
}

export interface InstructionLoader {
  /** Takes a file and what it includes, right behind it. */
  take(place: Place, how: Taking, into: Gathering, sought?: Sought): Promise<void>;
  /** One file as it is now, without what it includes. */
  prepare(place: Place, located: Located): Promise<Result<Prepared, SkippedInstruction>>;
  /** What a file includes now and did not before; `unshown`: only for what that enforces. */
  takeIncludes(
    entry: Entry,
    how: Taking,
    into: Gathering,
    options?: { readonly unshown: boolean },
  ): Promise<void>;
}

export interface Prepared {
  readonly text: string;
  readonly source: string;
  readonly notes: readonly string[];
  readonly globs?: readonly string[] | undefined;
}

/** Files that can be shown below each other, counted from one that nobody includes. */
export const DEEPEST_INCLUDE = 4;
/** Included files of one gathering that are shown; more is a mistake or an attack. */
const MOST_INCLUDED = 500;
export const MEMORY_CAP = { lines: 200, bytes: 25 * 1024 } as const;

/** Whoever reads heads decides whether it is one. */
const MAY_HAVE_HEAD = /^\s*---/;

export function createInstructionLoader(parts: LoaderParts): InstructionLoader {
  const { reader, home } = parts;

  const prepare: InstructionLoader['prepare'] = async (place, located) => {
    const read = await reader.read(located);
    if (!read.ok) return read;
    const rule = mayHaveHead(place, read.value) ? await readRuleHead(read.value.text) : undefined;
    return ok(preparedFrom(place, located, { read: read.value, rule }));
  };

  async function takeLocated(place: Place, found: Found, into: Gathering): Promise<void> {
    const { located, how, unshown = false } = found;
    const isNew = !into.seen.has(located.real);
    const toShow = isNew && !unshown;
    // fail-closed: whoever names a file first decides how it is shown, not for whom its rules speak.
    const toEnforce = mayHoldRules(place.path, located.real) && admit(into, place, located);
    if (!toShow && !toEnforce) return;
    if (toShow) into.seen.add(located.real);
    const prepared = await prepare(place, located);
    if (!prepared.ok) {
      if (isNew) into.skipped.push(prepared.error);
      return;
    }
    const { text, notes } = prepared.value;
    if (text.trim() === '' && notes.length === 0) return;
    if (toShow && located.hidden !== undefined) into.skipped.push(located.hidden);
    const isRepeated =
      place.onceByContent === true && into.entries.some((one) => isSame(one, text));
    const isShown = toShow && located.hidden === undefined && !isRepeated;
    const entry = entryOf(place, found, prepared.value);
    if (isShown) into.entries.push(entry);
    else if (toEnforce) into.unshown.push(entry);
    if (isShown || toEnforce) await follow(entry, how, into, { unshown: !isShown });
  }

  const follow: InstructionLoader['takeIncludes'] = async (entry, how, into, options) => {
    const { place, located, source, depth } = entry;
    const { unshown } = options ?? { unshown: false };
    if (!mayInclude(entry)) return;
    for (const target of includeTargets(source)) {
      if (!mayLookUp(into, entry)) return;
      // Beside the file as it was found, or else beside what it is a link to.
      const found = await firstFound(
        [place.path, located.real].map((file) =>
          includeOf(place, resolveTarget(target, file, home)),
        ),
      );
      if (found === undefined) {
        if (!unshown) noteMissing(entry, target, into);
      } else if (!isLocated(found.sought)) {
        if (!unshown) into.skipped.push(found.sought);
      } else {
        const next = { located: found.sought, how, depth: depth + 1 };
        await takeInclude(found.include, { ...next, unshown }, into);
      }
    }
  };

  async function takeInclude(include: Place, found: Found, into: Gathering): Promise<void> {
    const { located, depth, unshown = false } = found;
    const isFirst = !unshown && !into.seen.has(located.real);
    if (!isTextInclude(located)) {
      if (isFirst) into.skipped.push(notText(located));
      return;
    }
    const tooMuch = isFirst ? tooMuchToShow(located, depth, into) : undefined;
    if (tooMuch !== undefined) into.skipped.push(tooMuch);
    // fail-closed: what is too much to be shown still restricts.
    await takeLocated(include, { ...found, unshown: unshown || tooMuch !== undefined }, into);
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

function mayHaveHead(place: Place, { text }: InstructionText): boolean {
  return place.kind === 'rule' && MAY_HAVE_HEAD.test(text);
}

function preparedFrom(
  place: Place,
  located: Located,
  { read, rule }: { readonly read: InstructionText; readonly rule: RuleHead | undefined },
): Prepared {
  const isProse = isProseFile(place.path, located.real);
  const holdsRules = isProse || mayHoldRules(place.path, located.real);
  const body = rule?.body ?? read.text;
  const shown = withoutHidden(isProse ? withoutBlockComments(body) : body);
  const cut = place.kind === 'memory' ? firstLines(shown.text, MEMORY_CAP) : { text: shown.text };
  const source = rule === undefined ? body : '\n'.repeat(rule.bodyLine - 1) + body;
  return {
    text: cut.text,
    source: holdsRules ? source : '',
    notes: [
      ...read.notes,
      ...(!holdsRules && IDLE_BLOCK.test(shown.text) ? [IDLE_NOTE] : []),
      ...(rule?.notes ?? []),
      ...(shown.removed === 0 ? [] : [`${shown.removed} invisible characters were taken out`]),
      ...(cut.note === undefined ? [] : [cut.note]),
    ],
    globs: rule?.globs,
  };
}

function mayInclude({ place, located, source }: Entry): boolean {
  if (place.kind === 'memory' || !source.includes('@')) return false;
  return isProseFile(place.path, located.real);
}

function includeOf(from: Place, path: string): Place {
  const { includesWithin } = from;
  return {
    path,
    scope: from.scope,
    kind: 'file',
    base: from.base,
    parent: from.path,
    within: includesWithin,
    includesWithin,
  };
}

interface Found {
  readonly located: Located;
  readonly how: Taking;
  readonly depth: number;
  /** It is taken for what it enforces, not to be shown. */
  readonly unshown?: boolean;
}

function entryOf(place: Place, { located, how, depth }: Found, prepared: Prepared): Entry {
  const { text, notes, globs, source } = prepared;
  const instruction: LoadedInstruction = {
    path: place.path,
    scope: place.scope,
    memoryType: memoryTypeOf(place.scope),
    kind: place.kind,
    loadReason: place.parent === undefined || how.reasonForAll === true ? how.reason : 'include',
    text,
    bytes: located.bytes,
    notes,
    globs,
    parent: place.parent,
    trigger: how.trigger,
  };
  return { instruction, place, located, source, depth, when: how.when };
}

function isTextInclude({ wanted, real }: Located): boolean {
  return [wanted.path, real].every(isTextName);
}

function notText({ wanted }: Located): SkippedInstruction {
  return skip(wanted, 'not text', 'it is no kind of text file', { warn: false });
}

function tooMuchToShow(
  { wanted }: Located,
  depth: number,
  into: Gathering,
): SkippedInstruction | undefined {
  if (depth > DEEPEST_INCLUDE) {
    return skip(wanted, 'too deep', `it is included through more than ${DEEPEST_INCLUDE} files`);
  }
  const more = ++into.included - MOST_INCLUDED;
  // Of many one is told.
  return more > 0
    ? skip(wanted, 'too many', `more than ${MOST_INCLUDED} files are included`, {
        warn: more === 1,
      })
    : undefined;
}

/** Many words begin with an at sign; only what looks like a file is worth a line in a report. */
function noteMissing({ place }: Entry, target: string, into: Gathering): void {
  if (!/^\.{0,2}\/|^~\/|\.md$/.test(target)) return;
  const wanted = { path: `@${target}`, scope: place.scope, parent: place.path };
  into.skipped.push(skip(wanted, 'missing', 'there is no such file', { warn: false }));
}

/** By the name it was found under, or the one it has behind all links: a link takes nothing away. */
function isProseFile(...paths: readonly string[]): boolean {
  return paths.some((path) => {
    if (MARKDOWN_NAME.test(path)) return true;
    const extension = extname(basename(path)).slice(1).toLowerCase();
    return extension === '' ? !basename(path).startsWith('.') : PROSE_EXTENSIONS.has(extension);
  });
}

/**
 * fail-closed: whatever is written for people may restrict. Programs and data may only show how that is
 * done.
 */
function mayHoldRules(...paths: readonly string[]): boolean {
  if (isProseFile(...paths)) return true;
  return paths.some((path) => {
    const extension = extname(basename(path)).slice(1).toLowerCase();
    return extension === '' || DOCUMENT_EXTENSIONS.has(extension);
  });
}

/** Behind whatever marks a comment of a program or a text in data. */
const IDLE_BLOCK = /(?:`{3}|~{3})[ \t]*portcullis\b/i;
const IDLE_NOTE = 'a block "portcullis" in it enforces nothing: programs and data hold no rules';

/** Nearly all of them have one. */
const MARKDOWN_NAME = /[^/\\]\.md$/;

function isSame(entry: Entry, text: string): boolean {
  return entry.instruction.text.trim() === text.trim();
}
