import { canonicalName } from '../../lib/field-names.js';
import { isRecord } from '../../lib/own.js';
import { RULE_TOOLS } from '../../permissions/rules/tools.js';
import { oddHookEvent } from '../../protocol/hook-events.js';
import { matcherFaults } from '../../settings/schema/matcher.js';
import { oneLine } from '../discovery/names.js';
import type { SkillHead } from '../skill.js';

/** How the value of a field is read, and what it is called in a `SkillHead`; without `as` it is read by itself. */
export interface FieldSpec {
  readonly as?: keyof SkillHead;
  readonly kind?: 'hint' | 'list' | 'grant' | 'restriction' | 'flag' | 'hooks' | 'paths';
  /** What a flag that is neither true nor false counts for. */
  readonly inDoubt?: boolean;
  readonly choices?: readonly string[];
  /** Neither grants nor starts anything: words, and who is offered the skill when. */
  readonly isHarmless?: true;
}

const EFFORTS: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** The fields of a skill's head, as they are documented. */
export const FIELDS: Readonly<Record<string, FieldSpec>> = {
  name: { as: 'displayName', isHarmless: true },
  description: { isHarmless: true },
  when_to_use: { as: 'whenToUse', isHarmless: true },
  'argument-hint': { as: 'argumentHint', kind: 'hint', isHarmless: true },
  arguments: { as: 'arguments', kind: 'list', isHarmless: true },
  'disable-model-invocation': {
    as: 'disableModelInvocation',
    kind: 'flag',
    inDoubt: true,
    isHarmless: true,
  },
  'user-invocable': { as: 'userInvocable', kind: 'flag', inDoubt: false, isHarmless: true },
  'allowed-tools': { as: 'allowedTools', kind: 'grant' },
  'disallowed-tools': { as: 'disallowedTools', kind: 'restriction' },
  model: { as: 'model', isHarmless: true },
  effort: { as: 'effort', choices: EFFORTS, isHarmless: true },
  context: { as: 'context', choices: ['fork'] },
  agent: { as: 'agent' },
  background: { as: 'background', kind: 'flag' },
  hooks: { as: 'hooks', kind: 'hooks' },
  paths: { as: 'paths', kind: 'paths', isHarmless: true },
  shell: { as: 'shell', choices: ['bash', 'powershell'] },
  metadata: { isHarmless: true },
  license: { isHarmless: true },
  compatibility: { isHarmless: true },
  portcullis: {},
};

export const HEAD_FIELDS: readonly string[] = Object.keys(FIELDS);

/** The documented name of a field, in whichever way it is written. */
export function knownField(written: string): string | undefined {
  return byCanonicalName.get(canonicalName(written));
}

const byCanonicalName = new Map(HEAD_FIELDS.map((field) => [canonicalName(field), field]));

/** Something about the hooks in a skill's head. */
export interface HookFault {
  /** A guard among them would guard nothing: the skill must not be used. */
  readonly stops: boolean;
  readonly message: string;
  /** What to look for in the head. */
  readonly at?: string;
}

/** fail-closed: a guard at an event that there is not, or for a tool that there is not, guards nothing. */
export function hookFaults(hooks: unknown): readonly HookFault[] {
  const odd = eventsIn(hooks)
    .filter((name) => oddHookEvent(name)?.kind === 'unknown')
    .map((name) => ({ stops: true, message: `there is no event "${oneLine(name)}"`, at: name }));
  const matchers = matcherFaults(hooks, Object.keys(RULE_TOOLS)).map(
    ({ stops, message, matcher }) => ({ stops, message: oneLine(message), at: matcher }),
  );
  return [...odd, ...matchers];
}

function eventsIn(hooks: unknown): readonly string[] {
  const maps: readonly unknown[] = Array.isArray(hooks) ? hooks : [hooks];
  return maps.flatMap((map) => (isRecord(map) ? Object.keys(map) : []));
}
