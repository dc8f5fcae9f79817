import { describe, expect, it } from 'vitest';
import type { SettingSource, Sourced } from '../../lib/sourced.js';
import { overrideFrom } from './overrides.js';

/** Settings values, strongest first. */
function values(...said: readonly (readonly [SettingSource, unknown])[]) {
  const all = said.map(([source, value]): Sourced<unknown> => ({ source, value, trusted: true }));
  const of = (key: string) => (key === 'skillOverrides.deploy' ? all : []);
  return { get: (key: string) => of(key)[0], said: of };
}

describe('skillOverrides', () => {
  it.each([
    [[['user', 'off']], 'off'],
    [[['project', 'name-only']], 'name-only'],
    [
      [
        ['project', 'on'],
        ['user', 'off'],
      ],
      'off',
    ],
    [
      [
        ['local', 'on'],
        ['project', 'off'],
        ['user', 'name-only'],
      ],
      'name-only',
    ],
    [
      [
        ['project', 'off'],
        ['user', 'on'],
      ],
      'off',
    ],
    [
      [
        ['managed', 'on'],
        ['user', 'off'],
      ],
      'on',
    ],
    [[['user', 'sometimes']], undefined],
    [[], undefined],
  ] as const)('%j: %s', (said, expected) => {
    expect(overrideFrom(values(...said), 'deploy')).toBe(expected);
    expect(overrideFrom(values(...said), 'other')).toBeUndefined();
  });
});
