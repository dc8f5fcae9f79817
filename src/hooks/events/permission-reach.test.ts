import { describe, expect, it } from 'vitest';
import type { SettingSource } from '../../lib/sourced.js';
import type { PermissionMode, PermissionUpdate } from '../../protocol/permissions.js';
import { withinReach } from './permission-request.js';

const rules = [{ toolName: 'Bash', ruleContent: 'touch *' }];
const add = { type: 'addRules', rules, behavior: 'allow' } as const;
const remove = { type: 'removeRules', rules } as const;
const replace = { type: 'replaceRules', rules } as const;
const mode = (name: PermissionMode) => ({ type: 'setMode', mode: name }) as const;
const [session, user, local] = [
  { destination: 'session' },
  { destination: 'userSettings' },
  { destination: 'localSettings' },
] as const;

const hook = (source: SettingSource, judgedIn: PermissionMode = 'default') =>
  ({ source, mode: judgedIn, handler: { type: 'command', command: 'x' } }) as const;
function kept(source: SettingSource, update: PermissionUpdate, judgedIn?: PermissionMode): boolean {
  const before = {
    behavior: 'allow',
    updatedPermissions: [update, { ...add, ...session }],
  } as const;
  const { answer, refused } = withinReach(hook(source, judgedIn), before);
  const left = answer?.behavior === 'allow' ? answer.updatedPermissions : undefined;
  expect(left?.at(-1)).toEqual({ ...add, ...session });
  expect(refused.length + (left?.length ?? 0)).toBe(2);
  return left?.length === 2;
}

describe('what the yes of a hook may change besides', () => {
  it.each<[PermissionUpdate, readonly SettingSource[]]>([
    [{ ...remove, behavior: 'deny', ...session }, []],
    [{ ...remove, behavior: 'ask', ...user }, []],
    [{ ...replace, behavior: 'deny', ...session }, []],
    [{ ...replace, behavior: 'ask', ...local }, []],
    [{ ...replace, behavior: 'allow', ...local }, []],
    [
      { ...replace, behavior: 'allow', ...session },
      ['user', 'cli', 'managed', 'project', 'plugin'],
    ],
    [{ ...remove, behavior: 'allow', ...session }, ['user', 'cli', 'managed', 'project', 'plugin']],
    [{ ...remove, behavior: 'allow', ...local }, ['user', 'cli', 'managed']],
    [{ ...add, ...user }, ['user', 'cli', 'managed']],
    [{ ...add, ...local }, ['user', 'cli', 'managed', 'project', 'plugin']],
    [{ ...mode('bypassPermissions'), ...session }, ['user', 'cli', 'managed']],
    [{ ...mode('plan'), ...session }, ['user', 'cli', 'managed', 'project', 'plugin']],
    [{ ...mode('plan'), ...local }, ['user', 'cli', 'managed']],
    [{ type: 'addDirectories', directories: ['/x'], ...local }, ['user', 'cli', 'managed']],
  ])('%j: of %j', (update, expected) => {
    const all = ['user', 'cli', 'managed', 'project', 'plugin'] as const;
    expect(all.filter((source) => kept(source, update))).toEqual(expected);
  });

  it.each<[PermissionMode, PermissionMode, readonly SettingSource[]]>([
    ['plan', 'default', []],
    ['plan', 'dontAsk', []],
    ['plan', 'acceptEdits', []],
    ['plan', 'plan', ['user', 'project']],
    ['dontAsk', 'default', ['user']],
    ['default', 'dontAsk', ['user', 'project']],
    ['default', 'acceptEdits', ['user']],
    ['acceptEdits', 'acceptEdits', ['user']],
    ['acceptEdits', 'default', ['user', 'project']],
  ])('is, in mode %s, mode %s for hooks of %j', (before, after, expected) => {
    const update = { ...mode(after), ...session };
    const all = ['user', 'project'] as const;
    expect(all.filter((source) => kept(source, update, before))).toEqual(expected);
  });

  it('is for one call where it would be kept in the settings of somebody else', () => {
    const scope = { what: 'tool', until: 'user' } as const;
    const answer = { behavior: 'allow', scope } as const;
    expect(withinReach(hook('project'), answer)).toEqual({
      answer: { behavior: 'allow' },
      refused: [expect.stringContaining('for this call alone')],
    });
    expect(withinReach(hook('user'), answer)).toEqual({ answer, refused: [] });
  });

  it('is what the user may where it is a callback of the host, and nothing of a no', () => {
    const host = { source: 'sdk', mode: 'plan', handler: { type: 'callback', id: 'a' } } as const;
    const updatedPermissions = [{ ...remove, behavior: 'deny', ...user }] as const;
    const answer = { behavior: 'allow', updatedPermissions } as const;
    expect(withinReach(host, answer)).toEqual({ answer, refused: [] });
    const no = { behavior: 'deny', message: 'NO' } as const;
    expect(withinReach(hook('project'), no)).toEqual({ answer: no, refused: [] });
    expect(withinReach(hook('project'), undefined)).toEqual({ answer: undefined, refused: [] });
  });
});
