import { describe, expect, it } from 'vitest';
import type { EffectiveSettings } from '../types.js';
import { withoutFileGrants } from './open.js';

const rule = (text: string, source: string) => ({
  value: { text, root: '/' },
  source,
  trusted: true,
});

describe('settings without what files grant', () => {
  const settings = {
    permissions: {
      allow: [rule('Bash', 'user'), rule('Read', 'cli'), rule('Edit', 'managed')],
      ask: [rule('WebFetch', 'project')],
      deny: [rule('Write', 'local')],
      agents: [{ pattern: 'x', allow: [rule('Bash', 'user')], ask: [], deny: [rule('A', 'user')] }],
      additionalDirectories: [
        { value: '/more', source: 'user', trusted: true },
        { value: '/given', source: 'cli', trusted: true },
      ],
      defaultMode: { value: 'acceptEdits', source: 'user', trusted: true },
    },
  } as unknown as EffectiveSettings;

  it('keep what is denied and asked, and what the program itself allows', () => {
    const { permissions } = withoutFileGrants(settings);
    const texts = (rules: readonly { value: { text: string } }[]) =>
      rules.map(({ value }) => value.text);
    expect(texts(permissions.allow)).toEqual(['Read']);
    expect(texts(permissions.ask)).toEqual(['WebFetch']);
    expect(texts(permissions.deny)).toEqual(['Write']);
    expect(texts(permissions.agents?.[0]?.allow ?? [])).toEqual([]);
    expect(texts(permissions.agents?.[0]?.deny ?? [])).toEqual(['A']);
    expect(permissions.additionalDirectories.map(({ value }) => value)).toEqual(['/given']);
    expect(permissions.defaultMode).toBeUndefined();
  });

  it('keep a mode that asks no less', () => {
    const planned = {
      permissions: { ...settings.permissions, defaultMode: { value: 'plan', source: 'user' } },
    } as unknown as EffectiveSettings;
    expect(withoutFileGrants(planned).permissions.defaultMode?.value).toBe('plan');
  });
});
