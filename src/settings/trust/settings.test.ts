import { describe, expect, it } from 'vitest';
import { SETTINGS } from '../../../build/generated/settings-table.js';
import type { SettingNode } from '../../protocol/settings/setting-node.js';
import { settingsItems } from './settings.js';

const brief = (content: Record<string, unknown>): string[] =>
  settingsItems(content).map(({ kind, name, text }) => `${kind} | ${name} | ${text}`);

const hook = (command: string): unknown => ({ type: 'command', command });

describe('what settings run or allow', () => {
  it('is nothing for restrictions and looks', () => {
    const content = {
      $schema: 'x',
      model: 'm',
      language: 'de',
      permissions: {
        deny: ['Bash'],
        ask: ['Read'],
        defaultMode: 'plan',
        disableBypassPermissionsMode: 'disable',
      },
      disabledMcpjsonServers: ['x'],
      deniedMcpServers: [{ serverName: 'x' }],
      sandbox: {
        enabled: true,
        network: { deniedDomains: ['a'] },
        filesystem: { denyRead: ['b'] },
      },
      portcullis: {
        askReadOnly: true,
        probeHooks: true,
        agents: { reviewer: { deny: ['Bash'], ask: ['Edit'] } },
      },
      enableAllProjectMcpServers: false,
      disableAllHooks: false,
      env: {},
      hooks: {},
    };
    expect(brief(content)).toEqual([]);
  });

  it('is each rule, directory, variable, helper, hook and approval by itself', () => {
    const content = {
      permissions: {
        allow: ['Bash(a *)', 'Read'],
        deny: ['Bash(b *)'],
        additionalDirectories: ['../x'],
        defaultMode: 'bypassPermissions',
      },
      env: { A: '1', ANTHROPIC_BASE_URL: 'http://x.invalid', LD_PRELOAD: 'e.so' },
      apiKeyHelper: 'touch A',
      awsAuthRefresh: 'touch B',
      otelHeadersHelper: 'touch C',
      statusLine: { type: 'command', command: 'touch D' },
      hooks: {
        PreToolUse: [{ matcher: 'Bash', hooks: [hook('one'), hook('two')] }],
        Stop: [{ hooks: [{ type: 'http', url: 'http://x.invalid' }] }],
      },
      enableAllProjectMcpServers: true,
      enabledMcpjsonServers: ['srv'],
      enabledPlugins: { 'a@b': true, 'c@d': false },
      disableAllHooks: true,
      allowedHttpHookUrls: [],
      httpHookAllowedEnvVars: ['TOKEN'],
      sandbox: { enabled: false, network: { allowedDomains: ['x.invalid'] } },
      portcullis: {
        hookFailure: 'open',
        hookTimeouts: { Stop: 1 },
        agents: { main: { allow: ['Bash'], deny: ['Edit'] } },
      },
    };
    expect(brief(content)).toEqual([
      'mode | permissions.defaultMode | bypassPermissions',
      'allow rule | permissions.allow | Bash(a *)',
      'allow rule | permissions.allow | Read',
      'directory | permissions.additionalDirectories | ../x',
      'variable | A | A=1',
      'helper | apiKeyHelper | touch A',
      'helper | awsAuthRefresh | touch B',
      'helper | otelHeadersHelper | touch C',
      'status line | statusLine | touch D',
      'hook | PreToolUse on Bash | one',
      'hook | PreToolUse on Bash | two',
      'hook | Stop | POST http://x.invalid',
      'MCP approval | enableAllProjectMcpServers | true',
      'MCP approval | enabledMcpjsonServers | srv',
      'plugin | a@b | true',
      'setting | disableAllHooks | true',
      'setting | allowedHttpHookUrls | []',
      'setting | httpHookAllowedEnvVars | ["TOKEN"]',
      'sandbox | sandbox.enabled | false',
      'sandbox | sandbox.network.allowedDomains | ["x.invalid"]',
      'setting | portcullis.hookTimeouts | {"Stop":1}',
      'allow rule | portcullis.agents.main.allow | Bash',
    ]);
  });

  it('is also what has an unexpected shape; a key that the table does not know grants nothing', () => {
    expect(brief({ hooks: 'touch X' })).toEqual(['hook | hooks | "touch X"']);
    expect(brief({ hooks: { Stop: { hooks: [] } } })).toHaveLength(1);
    expect(brief({ hooks: { Stop: [{ command: 'x' }, 'y'] } })).toHaveLength(2);
    expect(brief({ env: 'A=1' })).toEqual(['variable | env | A=1']);
    expect(brief({ permissions: { allow: 'Bash' } })).toHaveLength(1);
    expect(brief({ futureHelper: 'touch X' })).toEqual([]);
    expect(brief({ enabledMcpjsonServers: 'srv' })).toEqual([
      'MCP approval | enabledMcpjsonServers | srv',
    ]);
  });

  it('covers every key that the loader holds back without trust', () => {
    const missed: string[] = [];
    for (const [name, node] of Object.entries(SETTINGS)) visit(node, [name], missed);
    expect(missed).toEqual([]);
  });
});

/** Sets each key that needs trust to a permissive value and expects it among the items. */
function visit(node: SettingNode, way: readonly string[], missed: string[]): void {
  if (node.facts?.scope === 'managed' || node.facts?.scope === 'user') return;
  if (node.facts?.needsTrust === true) {
    const value = way.reduceRight<unknown>((inner, key) => ({ [key]: inner }), sample(node));
    const drafts = settingsItems(value as Record<string, unknown>);
    if (drafts.length === 0) missed.push(way.join('.'));
  }
  if (node.type === 'object')
    for (const [key, inner] of Object.entries(node.keys)) visit(inner, [...way, key], missed);
  if (node.type === 'map') visit(node.of, [...way, 'some'], missed);
}

function sample(node: SettingNode): unknown {
  switch (node.type) {
    case 'boolean':
      return node.facts?.strict !== true;
    case 'list':
      return [sample(node.of)];
    case 'map':
      return { some: sample(node.of) };
    case 'object':
      return Object.fromEntries(Object.entries(node.keys).map(([key, one]) => [key, sample(one)]));
    case 'choice':
      return node.values.find((value) => value !== node.facts?.strict);
    case 'number':
    case 'integer':
      return 7;
    case 'one':
      return node.of[0] === undefined ? 'x' : sample(node.of[0]);
    default:
      return 'x';
  }
}
