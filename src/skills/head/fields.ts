import { BANS, canonicalName, isNearName } from '../../lib/frontmatter/fields.js';
import { isRecord } from '../../lib/own.js';
import { RULE_TOOLS } from '../../permissions/rules/tools.js';
import { classifyHookEventName } from '../../protocol/hooks/hook-events.js';
import { matcherFaults } from '../../settings/schema/matcher.js';
import { oneLine } from '../discovery/names.js';
import type { SkillHead } from '../skill.js';

/** How a field's value is parsed, and its name in `SkillHead`; without `as` it has a parser of its own. */
interface FieldSpec {
  readonly as?: keyof SkillHead;
  readonly kind?: 'text' | 'hint' | 'list' | 'grant' | 'restriction' | 'flag' | 'hooks' | 'paths';
  /** The value that replaces an invalid flag. */
  readonly inDoubt?: boolean;
  readonly choices?: readonly string[];
  /** Neither grants nor starts anything: texts, and who is offered the skill when. */
  readonly isHarmless?: true;
}

export const FENCE = 'fence-tools';
/** The field that counts only when it is spelt exactly. */
export const GRANT = 'allowed-tools';
/** Fields that may restrict, which are never ignored. */
export const RESTRICTIONS: readonly string[] = ['disallowed-tools', 'hooks', 'portcullis'];
export const WHO_MAY_CALL: readonly string[] = ['disable-model-invocation', 'user-invocable'];

const isHarmless = true;
const EFFORTS: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** The documented fields of the front matter. */
export const FIELDS: Readonly<Record<string, FieldSpec>> = {
  name: { as: 'displayName', kind: 'text', isHarmless },
  description: { isHarmless },
  when_to_use: { as: 'whenToUse', kind: 'text', isHarmless },
  'argument-hint': { as: 'argumentHint', kind: 'hint', isHarmless },
  arguments: { as: 'arguments', kind: 'list', isHarmless },
  'disable-model-invocation': {
    as: 'disableModelInvocation',
    kind: 'flag',
    inDoubt: true,
    isHarmless,
  },
  'user-invocable': { as: 'userInvocable', kind: 'flag', inDoubt: false, isHarmless },
  'allowed-tools': { as: 'allowedTools', kind: 'grant' },
  'disallowed-tools': { as: 'disallowedTools', kind: 'restriction' },
  model: { as: 'model', kind: 'text', isHarmless },
  effort: { as: 'effort', kind: 'text', choices: EFFORTS, isHarmless },
  context: { as: 'context', kind: 'text', choices: ['fork'] },
  agent: { as: 'agent', kind: 'text' },
  background: { as: 'background', kind: 'flag' },
  hooks: { as: 'hooks', kind: 'hooks' },
  paths: { as: 'paths', kind: 'paths', isHarmless },
  shell: { as: 'shell', kind: 'text', choices: ['bash', 'powershell'] },
  metadata: { isHarmless },
  license: { isHarmless },
  compatibility: { isHarmless },
  portcullis: {},
};

export const HEAD_FIELDS: readonly string[] = Object.keys(FIELDS);

const byCanonicalName = new Map(HEAD_FIELDS.map((field) => [canonicalName(field), field]));

/** The documented name of a field, in any spelling of case and separators. */
export function knownField(written: string): string | undefined {
  return byCanonicalName.get(canonicalName(written));
}

export function isFence(written: string): boolean {
  return canonicalName(written) === canonicalName(FENCE);
}

/** Shorter names like `hooks` resemble too many other words. */
const LONG = 8;

function isNear(written: string, field: string): boolean {
  return isNearName(canonicalName(written), canonicalName(field), LONG);
}

/** The restricting field that a name misspells or paraphrases. */
export function nearRestriction(written: string): string | undefined {
  const near = [...RESTRICTIONS, FENCE, ...WHO_MAY_CALL].find((field) => isNear(written, field));
  return near ?? (BANS.test(canonicalName(written)) ? RESTRICTIONS[0] : undefined);
}

/** The same, including the grant, which is often mistaken for a restriction. */
export function nearField(written: string): string | undefined {
  return nearRestriction(written) ?? (isNear(written, GRANT) ? GRANT : undefined);
}

/** A restricting field inside a compound name (`portcullis.fence-tools`) or a YAML merge. */
export function hiddenRestriction(written: string, value: unknown): string | undefined {
  const parts = written.split(/[.:/]/);
  const names = written === '<<' ? namesIn(value) : parts.length > 1 ? parts : [];
  return names.map(nearRestriction).find((field) => field !== undefined);
}

function namesIn(value: unknown): readonly string[] {
  const maps: readonly unknown[] = Array.isArray(value) ? value : [value];
  return maps.flatMap((map) => (isRecord(map) ? Object.keys(map) : []));
}

/** A problem with hooks in the front matter. */
interface HookFault {
  /** A guard among them would never run, so the skill must not be used. */
  readonly stops: boolean;
  readonly message: string;
  /** The text to locate in the front matter. */
  readonly at?: string;
}

/** fail-closed: a guard for an unknown event or tool would never run. */
export function hookFaults(hooks: unknown): readonly HookFault[] {
  const odd = namesIn(hooks)
    .filter((name) => classifyHookEventName(name)?.kind === 'unknown')
    .map((name) => ({ stops: true, message: `there is no event "${oneLine(name)}"`, at: name }));
  const matchers = matcherFaults(hooks, Object.keys(RULE_TOOLS)).map(
    ({ stops, message, matcher }) => ({ stops, message: oneLine(message), at: matcher }),
  );
  return [...odd, ...matchers];
}
