import { canonical } from './head-restrictions.js';
import type { SkillHead } from './skill.js';

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
