import { describe, expect, it } from 'vitest';
import { readAnswerScope, readPermissionUpdates, ruleTextOf } from './permission-updates.js';

describe('readPermissionUpdates', () => {
  it('reads every kind of update', () => {
    const updates = [
      {
        type: 'addRules',
        rules: [{ toolName: 'Bash', ruleContent: 'git push *' }, { toolName: 'Read' }],
        behavior: 'allow',
        destination: 'localSettings',
      },
      { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
      { type: 'removeDirectories', directories: ['/x'], destination: 'cliArg' },
    ];
    expect(readPermissionUpdates(updates)).toEqual({ ok: true, value: updates });
    expect(readPermissionUpdates(null)).toEqual({ ok: true, value: [] });
  });

  it('takes null for no rule content and session for no destination', () => {
    const read = readPermissionUpdates([
      { type: 'addRules', rules: [{ toolName: 'Bash', ruleContent: null }], behavior: 'deny' },
    ]);
    expect(read).toEqual({
      ok: true,
      value: [
        {
          type: 'addRules',
          rules: [{ toolName: 'Bash' }],
          behavior: 'deny',
          destination: 'session',
        },
      ],
    });
  });

  it.each([
    ['all', 'updatedPermissions is not a list'],
    [[7], 'updatedPermissions[0]: it is not an object'],
    [[{ type: 'addRule', destination: 'session' }], 'unknown type "addRule"'],
    [[{ type: 'setMode', mode: 'yolo' }], 'unknown mode "yolo"'],
    [[{ type: 'addRules', rules: [{ toolName: 'Bash' }], behavior: 'Deny' }], '"Deny"'],
    [[{ type: 'addRules', rules: [{}], behavior: 'deny' }], 'no toolName'],
    [
      [{ type: 'addRules', rules: [{ toolName: 'A', ruleContent: 1 }], behavior: 'ask' }],
      'not a text',
    ],
    [[{ type: 'addDirectories', directories: '/x' }], 'not a list of paths'],
    [[{ type: 'setMode', mode: 'plan', destination: 'disk' }], 'unknown destination "disk"'],
  ])('refuses %j as a whole', (value, reason) => {
    expect(readPermissionUpdates(value)).toMatchObject({
      ok: false,
      error: expect.stringContaining(reason),
    });
  });
});

describe('ruleTextOf', () => {
  it('writes a rule as settings files do', () => {
    expect(ruleTextOf({ toolName: 'Bash' })).toBe('Bash');
    expect(ruleTextOf({ toolName: 'Bash', ruleContent: 'ls *' })).toBe('Bash(ls *)');
  });
});

describe('readAnswerScope', () => {
  it('reads a scope, with its end in either form', () => {
    expect(readAnswerScope(undefined)).toEqual({ ok: true, value: undefined });
    const scope = { what: 'exact', until: 'session', expiresAt: 1000 };
    expect(readAnswerScope(scope)).toEqual({ ok: true, value: scope });
    const iso = { ...scope, expiresAt: '1970-01-01T00:00:01Z' };
    expect(readAnswerScope(iso)).toEqual({ ok: true, value: scope });
  });

  it.each([
    [true],
    [{ what: 'all', until: 'session' }],
    [{ what: 'exact', until: 'forever' }],
    [{ what: 'exact', until: 'session', expiresAt: 'soon' }],
    [{ what: 'exact', until: 'session', expiresAt: Number.NaN }],
  ])('refuses %j', (scope) => {
    expect(readAnswerScope(scope).ok).toBe(false);
  });
});
