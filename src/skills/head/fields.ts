import { isRecord } from '../../lib/own.js';
import { RULE_TOOLS } from '../../permissions/rule-tools.js';
import { oddHookEvent } from '../../protocol/hook-events.js';
import { matcherFaults } from '../../settings/schema/matcher.js';
import { oneLine } from '../discovery/names.js';
import type { SkillHead } from '../skill.js';
import { canonical } from './restrictions.js';

/** The fields of a skill's head, as they are documented. */
export const HEAD_FIELDS: readonly string[] = [
  'name',
  'description',
  'when_to_use',
  'argument-hint',
  'arguments',
  'disable-model-invocation',
  'user-invocable',
  'allowed-tools',
  'disallowed-tools',
  'model',
  'effort',
  'context',
  'agent',
  'background',
  'hooks',
  'paths',
  'shell',
  'metadata',
  'license',
  'compatibility',
  'portcullis',
];

const AS_DOCUMENTED: ReadonlySet<string> = new Set(HEAD_FIELDS);

/** The documented name of a field, in whichever way it is written. */
export function knownField(written: string): string | undefined {
  return AS_DOCUMENTED.has(written) ? written : byCanonicalName.get(canonical(written));
}

const byCanonicalName = new Map(HEAD_FIELDS.map((field) => [canonical(field), field]));

/** What each field is called in a `SkillHead`; those that are missing are read by themselves, or not at all. */
export const SAID_AS: Readonly<Record<string, keyof SkillHead>> = {
  name: 'displayName',
  when_to_use: 'whenToUse',
  'argument-hint': 'argumentHint',
  arguments: 'arguments',
  'disable-model-invocation': 'disableModelInvocation',
  'user-invocable': 'userInvocable',
  'allowed-tools': 'allowedTools',
  'disallowed-tools': 'disallowedTools',
  model: 'model',
  effort: 'effort',
  context: 'context',
  agent: 'agent',
  background: 'background',
  hooks: 'hooks',
  paths: 'paths',
  shell: 'shell',
};

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
