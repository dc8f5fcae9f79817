import { isInside } from '../../platform/fs/paths.js';
import type { SourcedRule } from '../../settings/types.js';
import type { BelowRules } from '../instructions/nested-folders.js';
import type { FilePatterns } from '../instructions/types.js';
import type { EnforcedRules, NearRules } from './enforced.js';

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
export function mergeEnforced(
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
  readonly when: Map<string, FilePatterns>;
}

/**
 * fail-closed: whatever became of the file, it held once. For a path that its patterns never fitted
 * it did not.
 */
export function createEnforcedHold(): EnforcedHold {
  const seen = new Map<string, Held>();
  const note = (kind: Kind, rule: SourcedRule, fitting: FilePatterns | undefined): void => {
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
  return {
    with: (now) => joined(now, (held) => now.paths.some((path) => counts(held, path)), now.when),
    // What holds for some files only is not looked for below.
    withBelow: (now) =>
      joined(
        now,
        ({ rule, when }) =>
          when.size === 0 && now.directories.some((one) => isInside(rule.value.root, one)),
      ),
  };
}
