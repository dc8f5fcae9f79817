import { isInside } from '../env/paths.js';
import type { SourcedRule } from '../settings/types.js';
import type { EnforcedRules } from './enforced.js';

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
  /** Adds to what the files near `paths` say now what they said before in this session. */
  with(
    now: EnforcedRules & { readonly files: readonly string[] },
    paths: readonly string[],
  ): Promise<EnforcedRules>;
}

export function createEnforcedHold(exists: (path: string) => Promise<boolean>): EnforcedHold {
  const seen = new Map<string, { readonly kind: Kind; readonly rule: SourcedRule }>();
  const held = new Set<string>();
  return {
    async with(now, paths) {
      const files = new Set(now.files);
      const present = new Set(KINDS.flatMap((kind) => now[kind].map((rule) => keyOf(kind, rule))));
      const more: Record<Kind, SourcedRule[]> = { deny: [], ask: [] };
      for (const [key, { kind, rule }] of seen) {
        const { root } = rule.value;
        if (present.has(key) || !paths.some((path) => isInside(path, root))) continue;
        // A rule file that other paths bring into play still says what it said.
        const { file = '' } = rule;
        if (!held.has(key) && !files.has(file) && (await exists(file))) continue;
        held.add(key);
        more[kind].push(rule);
      }
      for (const kind of KINDS) {
        for (const rule of now[kind]) seen.set(keyOf(kind, rule), { kind, rule });
      }
      return {
        deny: [...now.deny, ...more.deny],
        ask: [...now.ask, ...more.ask],
        problems: now.problems,
      };
    },
  };
}
