import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import schema from '../../../schema/settings.json' with { type: 'json' };
import { hookSwitches } from '../merge/switches.js';
import { loadSettings } from './load.js';

const KEYS = [
  'permissions allow ask deny defaultMode additionalDirectories denyInsteadOfPrompting',
  'hooks PreToolUse matcher type command env model sandbox enabled network allowedDomains',
  'portcullis agents main strict hookFailure apiKeyHelper statusLine enableAllProjectMcpServers',
  'hookTimeouts probeHooks allowedHttpHookUrls httpHookAllowedEnvVars',
  'disableAllHooks allowManagedPermissionRulesOnly deniedMcpServers serverName constructor toString',
]
  .join(' ')
  .split(' ');

const words = fc.constantFrom(
  'Bash',
  'Bash(rm *)',
  'continue',
  'open',
  'disable',
  'bypassPermissions',
  'x',
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    words,
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('tree'), { maxKeys: 5 }),
  ),
}));
const settings = fc.dictionary(fc.constantFrom(...KEYS), tree, { maxKeys: 6 });

/** A disk with a single file. */
function load(file: string, text: string, trustProject: boolean) {
  const missing = Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
  const stat = async (path: string) =>
    path === file ? ({ kind: 'file', size: 1, mtimeMs: 1, mode: 0o600 } as const) : undefined;
  return loadSettings({
    fs: {
      stat,
      lstat: stat,
      readText: async () => text,
      list: () => Promise.reject(missing),
    },
    cwd: '/p',
    configDir: '/h/.claude',
    managedDir: '/m',
    sources: ['user', 'project', 'local'],
    trustProject,
    env: { HOME: '/h' },
  });
}

describe('whatever an untrusted project’s file holds', () => {
  it('grants nothing, runs nothing, loosens nothing, and never breaks the reader', async () => {
    await fc.assert(
      fc.asyncProperty(settings, async (content) => {
        const text = JSON.stringify(content);
        const { settings: effective } = await load('/p/.claude/settings.json', text, false);
        const { permissions, env, values, strictness } = effective;
        expect(permissions.allow).toEqual([]);
        expect(permissions.agents?.flatMap(({ allow }) => allow) ?? []).toEqual([]);
        expect(permissions.additionalDirectories).toEqual([]);
        expect(permissions.managedRulesOnly).toBeUndefined();
        expect(['default', 'plan', 'dontAsk', undefined]).toContain(permissions.defaultMode?.value);
        expect([env, strictness]).toEqual([{}, {}]);
        for (const key of ['apiKeyHelper', 'statusLine.command']) {
          expect(values.get(key)).toBeUndefined();
        }
        expect(['strict', 'closed', undefined]).toContain(
          values.get('portcullis.hookFailure')?.value,
        );
        expect(values.get('disableAllHooks')?.value).not.toBe(true);
        expect(values.list('hooks.PreToolUse')).toEqual([]);
        const { probe: _probe, failure, disabled, timeouts, ...switches } = hookSwitches(effective);
        expect(failure).not.toBe('open');
        expect(switches).toEqual({
          managedOnly: false,
          httpUrls: undefined,
          httpEnvVars: undefined,
        });
        for (const source of ['managed', 'cli', 'user', 'plugin', 'sdk'] as const) {
          expect(disabled(source)).toBeUndefined();
          expect(timeouts(source)).toEqual({});
        }
        expect(values.get('sandbox.enabled')?.value).not.toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});

describe('every deny rule that is written where it belongs', () => {
  it('is in force, or the file is refused', async () => {
    await fc.assert(
      fc.asyncProperty(settings, fc.array(words, { maxLength: 3 }), async (content, deny) => {
        const inside = content.permissions;
        const kept = typeof inside === 'object' && inside !== null && !Array.isArray(inside);
        const text = JSON.stringify({
          ...content,
          permissions: { ...(kept ? inside : {}), deny },
        });
        const loaded = await load('/p/.claude/settings.json', text, false);
        const rules = loaded.settings.permissions.deny.map(({ value }) => value.text);
        expect(rules).toEqual(deny);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the published schema', () => {
  const validate = new Ajv2020({ strict: false }).compile(schema);
  it.each([
    [{}, true],
    [{ $schema: 'x', permissions: { deny: ['Bash'] }, anything: 1 }, true],
    [
      { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'x', onFailure: 'block' }] }] } },
      true,
    ],
    [{ portcullis: { strict: false, agents: { main: { deny: ['Write'] } } } }, true],
    [{ portcullis: { hookFailure: 'open', hookTimeouts: { PreToolUse: 5000 } } }, true],
    [{ portcullis: { hookFailure: 'continue', probeHooks: true } }, true],
    [{ portcullis: { hookTimeouts: { PreToolUze: 5000 } } }, false],
    [{ hooks: { Stop: [{ agents: 'main', hooks: [] }] } }, true],
    [{ permissions: { denny: [] } }, false],
    [{ permissions: { deny: 'Bash' } }, false],
    [{ hooks: { Stopp: [] } }, false],
    [{ hooks: { Stop: [{ hooks: [{ type: 'http' }] }] } }, false],
    [{ cleanupPeriodDays: 0 }, false],
    [{ portcullis: { strikt: true } }, false],
  ])('%j is %s', (content, valid) => {
    expect(validate(content)).toBe(valid);
  });
});
