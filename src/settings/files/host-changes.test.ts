import { describe, expect, it } from 'vitest';
import { SETTINGS } from '../../../build/generated/settings-table.js';
import type { SettingNode } from '../../protocol/settings/setting-node.js';
import type { EffectiveSettings } from '../types.js';
import { applySettings } from './host-changes.js';

async function apply(changes: Record<string, unknown>, before: unknown = {}) {
  const given: unknown[] = [];
  const files = [{ source: 'cli', content: before }];
  const live = {
    current: () => ({ files }) as unknown as EffectiveSettings,
    give: async (wanted: unknown) => {
      given.push(wanted);
      return undefined;
    },
  };
  const choices = { resolve: () => ({}) as never };
  const applied = await applySettings(live, choices, changes);
  expect(given.length).toBe(applied.ok ? 1 : 0);
  return applied.ok ? 'applied' : applied.error;
}

const within = (path: string, value: unknown): Record<string, unknown> =>
  path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Record<
    string,
    unknown
  >;

/** All keys that restrict, as dotted paths. */
function restrictions(node: SettingNode, path: string, around: boolean): readonly string[] {
  const holdsBack = node.facts?.restricts ?? around;
  if (node.type !== 'object') return holdsBack ? [path] : [];
  return Object.entries(node.keys).flatMap(([name, inner]) =>
    restrictions(inner, path === '' ? name : `${path}.${name}`, holdsBack),
  );
}

describe('settings that a host gives to an open session', () => {
  it.each([
    ['permissions.defaultMode', 'plan'],
    ['permissions.defaultMode', 'dontAsk'],
    ['portcullis.budget.turns', 1],
    ['portcullis.sandbox.hooks', true],
    ['deniedMcpServers', [{ serverName: 'x' }]],
    ['env', { A: 'b' }],
    ['sandbox.enabled', true],
    ['portcullis.checkpoints.keepDays', 1],
  ])('are refused by name where they would not be heard: %s', async (path, value) => {
    const deny = { permissions: { deny: ['Write'], ...(within(path, value).permissions ?? {}) } };
    expect(await apply({ ...within(path, value), ...deny })).toBe(
      `${path} cannot be changed while the session is open`,
    );
  });

  it('are named all at once', async () => {
    const changes = { permissions: { defaultMode: 'plan' }, portcullis: { budget: { usd: 1 } } };
    expect(await apply(changes)).toBe(
      'permissions.defaultMode, portcullis.budget.usd cannot be changed while the session is open',
    );
  });

  it('may say again what was said when the session opened, and take away what is not there', async () => {
    const before = { permissions: { defaultMode: 'plan' }, env: { A: 'b' } };
    expect(
      await apply({ ...before, permissions: { defaultMode: 'plan', deny: ['Write'] } }, before),
    ).toBe('applied');
    expect(await apply({ permissions: null, portcullis: null, deniedMcpServers: null })).toBe(
      'applied',
    );
    expect(await apply({ deniedMcpServers: null }, { deniedMcpServers: [] })).not.toBe('applied');
  });

  it('take away nothing that the session would go on with', async () => {
    const before = { portcullis: { budget: { usd: 1 }, askReadOnly: true } };
    for (const portcullis of [null, {}, { askReadOnly: true }]) {
      expect(await apply({ portcullis }, before)).toContain('portcullis.budget.usd cannot');
    }
  });

  it('hold back at once, or are refused: no key is in between', async () => {
    const all = restrictions({ type: 'object', keys: SETTINGS }, '', false);
    const heard: string[] = [];
    for (const path of all) {
      if ((await apply(within(path, 'something new'))) === 'applied') heard.push(path);
    }
    // Add a key here only after checking that an open session applies it.
    expect(heard.sort()).toEqual([
      'allowedHttpHookUrls',
      'disableAllHooks',
      'disableAutoMode',
      'disableSkillShellExecution',
      'hooks',
      'httpHookAllowedEnvVars',
      'permissions.ask',
      'permissions.deny',
      'permissions.denyInsteadOfPrompting',
      'permissions.disableAutoMode',
      'permissions.disableBypassPermissionsMode',
      'portcullis.agents',
      'portcullis.askReadOnly',
      'portcullis.effects.onViolation',
      'portcullis.hookFailure',
      'portcullis.hookTimeouts',
      'portcullis.inbox.expiryMinutes',
      'portcullis.limits.agentConcurrency',
      'portcullis.limits.agentDepth',
      'portcullis.strict',
    ]);
    expect(all.length).toBeGreaterThan(heard.length + 30);
  });
});
