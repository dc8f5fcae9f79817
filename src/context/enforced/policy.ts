import { isInside } from '../../platform/fs/paths.js';
import type { SourcedRule } from '../../settings/types.js';
import type { BelowRules } from '../instructions/below.js';
import type { InstructionLoader } from '../instructions/loader.js';
import { type InstructionReader, isLocated } from '../instructions/reader.js';
import type { Entry, Fitting } from '../instructions/types.js';
import type { EnforcedRules } from './enforced.js';
import type { NearRules } from './entries.js';

type Rules = Pick<EnforcedRules, 'deny' | 'ask'>;
type Kind = keyof Rules;

const KINDS = ['deny', 'ask'] as const;

/** One restriction, wherever in its file it stands. */
function keyOf(kind: Kind, { value, file }: SourcedRule): string {
  return JSON.stringify([kind, file, value.root, value.text]);
}

/**
 * fail-closed: the files that restrict a session can be written by those whom they restrict, so what
 * held once holds until the end of the session. Only what is new counts at once.
 */
export function joinEnforced(
  before: Rules,
  now: Rules,
): { readonly rules: Rules; readonly gone: readonly SourcedRule[] } {
  const gone: SourcedRule[] = [];
  const joined = (kind: Kind): readonly SourcedRule[] => {
    const keys = new Set(now[kind].map((rule) => keyOf(kind, rule)));
    const missing = before[kind].filter((rule) => !keys.has(keyOf(kind, rule)));
    gone.push(...missing);
    return [...missing, ...now[kind]];
  };
  return { rules: { deny: joined('deny'), ask: joined('ask') }, gone };
}

/** Restrictions of files near to what calls name, also those that were taken out of their file. */
export interface EnforcedHold {
  /** Adds to what the files near some paths say now what they said before in this session. */
  with(now: NearRules): EnforcedRules;
  /** The same for the folders in some directories. */
  withBelow(now: BelowRules): EnforcedRules;
}

/** A restriction that was met in this session, and the patterns that brought it into play. */
interface Held {
  readonly kind: Kind;
  readonly rule: SourcedRule;
  /** By their patterns. Empty: it holds in all of its directory. */
  readonly when: Map<string, Fitting>;
}

/**
 * fail-closed: whatever became of the file, it held once. For a path that its patterns never fitted
 * it did not.
 */
export function createEnforcedHold(): EnforcedHold {
  const seen = new Map<string, Held>();
  const note = (kind: Kind, rule: SourcedRule, fitting: Fitting | undefined): void => {
    const before = seen.get(keyOf(kind, rule));
    const when = new Map(before?.when);
    if (fitting === undefined || before?.when.size === 0) when.clear();
    else when.set(JSON.stringify(fitting.globs), fitting);
    seen.set(keyOf(kind, rule), { kind, rule, when });
  };
  const counts = ({ rule, when }: Held, path: string): boolean =>
    isInside(path, rule.value.root) &&
    (when.size === 0 || [...when.values()].some((fitting) => fitting.fits(path)));
  const joined = (
    now: EnforcedRules,
    stillCounts: (held: Held) => boolean,
    when?: NearRules['when'],
  ): EnforcedRules => {
    const present = new Set(KINDS.flatMap((kind) => now[kind].map((rule) => keyOf(kind, rule))));
    const more: Record<Kind, SourcedRule[]> = { deny: [], ask: [] };
    for (const [key, held] of seen) {
      if (!present.has(key) && stillCounts(held)) more[held.kind].push(held.rule);
    }
    for (const kind of KINDS) for (const rule of now[kind]) note(kind, rule, when?.get(rule));
    const { problems } = now;
    return { deny: [...now.deny, ...more.deny], ask: [...now.ask, ...more.ask], problems };
  };
  /** Mostly no file restricts anything, and none has before. */
  const isFree = ({ deny, ask }: Rules): boolean => seen.size + deny.length + ask.length === 0;
  return {
    with: (now) =>
      isFree(now)
        ? now
        : joined(now, (held) => now.paths.some((path) => counts(held, path)), now.when),
    withBelow: (now) =>
      isFree(now)
        ? now
        : joined(
            now,
            ({ rule, when }) =>
              // What holds for some files only is not looked for below.
              when.size === 0 && now.directories.some((one) => isInside(rule.value.root, one)),
          ),
  };
}

interface LookParts {
  readonly reader: Pick<InstructionReader, 'locate'>;
  readonly loader: Pick<InstructionLoader, 'prepare'>;
}

/** Sees whether files that enforce something have changed, whatever is shown of them. */
interface EnforcedWatch {
  /** Takes the files as they were read. */
  begin(entries: readonly Entry[]): void;
  /** The files as they are on disk now; undefined when all are as they were at the last look. */
  look(entries: readonly Entry[], parts: LookParts): Promise<readonly Entry[] | undefined>;
}

interface Seen {
  readonly stamp: string;
  readonly source: string;
}

const GONE: Seen = { stamp: '', source: '' };

export function createEnforcedWatch(): EnforcedWatch {
  let seen = new Map<string, Seen>();
  const keyOf = ({ place }: Entry): string =>
    JSON.stringify([place.path, place.parent, place.base]);
  return {
    begin(entries) {
      seen = new Map(entries.map((entry) => [keyOf(entry), asRead(entry)]));
    },
    async look(entries, parts) {
      const now = new Map<string, Seen>();
      for (const entry of entries) {
        const key = keyOf(entry);
        const before = seen.get(key);
        const isSetting = entry.place.kind === 'setting';
        now.set(key, isSetting ? asRead(entry) : await sourceNow(entry, before, parts));
      }
      const isSame =
        now.size === seen.size &&
        [...now].every(([key, { stamp }]) => seen.get(key)?.stamp === stamp);
      seen = now;
      if (isSame) return undefined;
      return entries.map((entry) => ({
        ...entry,
        source: now.get(keyOf(entry))?.source ?? entry.source,
      }));
    },
  };
}

function asRead({ located, source }: Entry): Seen {
  return { stamp: located.stamp, source };
}

async function sourceNow(
  { place }: Entry,
  before: Seen | undefined,
  { reader, loader }: LookParts,
): Promise<Seen> {
  const sought = await reader.locate(place);
  if (!isLocated(sought)) return GONE;
  if (before?.stamp === sought.stamp) return before;
  const prepared = await loader.prepare(place, sought);
  return prepared.ok ? { stamp: sought.stamp, source: prepared.value.source } : GONE;
}
