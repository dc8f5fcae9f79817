import { expect, it } from 'vitest';
import type { SettingValues } from '../../settings/types.js';
import { DEFAULT_INSTRUCTION_SETTINGS, instructionSettings } from './settings.js';
import { TEXT_EXTENSIONS } from './text-extensions.js';

const place = { source: 'user', file: '/s.json', line: 2, trusted: true } as const;

function values(all: Readonly<Record<string, unknown>>): SettingValues {
  const listOf = (key: string): readonly unknown[] => (Array.isArray(all[key]) ? all[key] : []);
  return {
    get: (key) => (key in all ? { ...place, value: all[key] } : undefined),
    list: (key) => listOf(key).map((value) => ({ ...place, value })),
    said: () => [],
    has: (key) => key in all,
  };
}

it('nothing said is the default', () => {
  expect(instructionSettings(values({}))).toEqual({
    settings: DEFAULT_INSTRUCTION_SETTINGS,
    problems: [],
  });
});

it('everything that is said counts', () => {
  const all = values({
    claudeMd: 'text',
    claudeMdExcludes: ['**/x.md', 5],
    autoMemoryEnabled: false,
    autoMemoryDirectory: '~/notes',
    'portcullis.teamMemory': true,
    pluginConfigs: { 'agents-md@builtin': { options: { instructionFiles: 'claude-md' } } },
  });
  expect(instructionSettings(all).settings).toEqual({
    claudeMd: { ...place, value: 'text' },
    excludes: [{ ...place, value: '**/x.md' }],
    autoMemory: false,
    autoMemoryDirectory: '~/notes',
    teamMemory: true,
    agentsMode: 'claude-md',
  });
});

it('a mode that is none is named, and the default holds', () => {
  const all = values({
    pluginConfigs: { 'agents-md@builtin': { options: { instructionFiles: 'agents' } } },
  });
  const { settings, problems } = instructionSettings(all);
  expect(settings.agentsMode).toBe('claude-md-or-agents-md');
  expect(problems).toEqual([expect.objectContaining({ severity: 'warning', line: 2 })]);
});

it('at least a hundred kinds of text can be included, and no pictures or programs', () => {
  expect(TEXT_EXTENSIONS.size).toBeGreaterThanOrEqual(100);
  expect([...TEXT_EXTENSIONS].filter((name) => !/^[a-z0-9]+$/.test(name))).toEqual([]);
  for (const name of ['png', 'pdf', 'exe', 'svg', 'zip', 'pem', 'key', 'so']) {
    expect(TEXT_EXTENSIONS.has(name)).toBe(false);
  }
});
