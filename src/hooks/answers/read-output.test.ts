import { describe, expect, it } from 'vitest';
import {
  ALLOW,
  DENY,
  ended,
  hook,
  json,
  read,
  specific,
  value,
} from '../../../test/support/hook-answers.js';
import { readRaw } from './read.js';

describe('standard output that starts with a brace is one valid object', () => {
  it.each<[string, string, string]>([
    ['half an object', DENY.slice(0, -4), 'broken-output'],
    ['text behind it', `${DENY}\ndone`, 'broken-output'],
    ['two objects', `${ALLOW}\n${DENY}`, 'broken-output'],
    ['single quotes', "{'decision': 'block'}", 'broken-output'],
    ['a key that reaches prototypes', '{"__proto__": {"decision": "block"}}', 'broken-output'],
    ['nested beyond reason', `{"a":${'['.repeat(600)}${']'.repeat(600)}}`, 'broken-output'],
    ['no event', json({ hookSpecificOutput: { permissionDecision: 'deny' } }), 'wrong-event'],
    ['another event', json(specific({ permissionDecision: 'deny' }, 'Stop')), 'wrong-event'],
    ['an event in other letters', json(specific({}, 'pretooluse')), 'wrong-event'],
    ['an unknown word', json(specific({ permissionDecision: 'yes' })), 'invalid-output'],
    ['an unknown old word', json({ decision: 'allow' }), 'invalid-output'],
    ['a wrong type beside a no', json({ ...JSON.parse(DENY), continue: 'no' }), 'invalid-output'],
    [
      'a reason that is a number',
      json(specific({ permissionDecisionReason: 3 })),
      'invalid-output',
    ],
    ['an input that is a list', json(specific({ updatedInput: [] })), 'invalid-output'],
    ['an input at the top that is text', json({ tool_input: 'ls' }), 'invalid-output'],
    ['a specific part that is text', json({ hookSpecificOutput: 'deny' }), 'invalid-output'],
    ['a no in the wrong place', json({ permissionDecision: 'deny' }), 'invalid-output'],
    ['an old no in the wrong place', json(specific({ decision: 'block' })), 'invalid-output'],
    ['a stop in the wrong place', json(specific({ continue: false })), 'invalid-output'],
    ['a no beside async', json({ async: true, decision: 'block' }), 'invalid-output'],
    ['a limit that is negative', json({ async: true, asyncTimeout: -1 }), 'invalid-output'],
  ])('%s is a failure', (_name, stdout, cause) => {
    for (const code of [0, 1]) {
      expect(read(code, stdout)).toMatchObject({
        answer: { decision: 'none', fields: {} },
        failure: { cause, message: expect.any(String) },
      });
    }
  });

  it('names the place and what belongs there', () => {
    const { failure } = read(0, json(specific({ permissionDecision: 'yes' })));
    expect(failure?.message).toContain('hookSpecificOutput.permissionDecision');
    expect(failure?.message).toContain('"deny"');
    expect(failure?.message).toContain('"yes"');
  });

  it('takes null for absent, except where something must be', () => {
    const nothing = json({ decision: null, hookSpecificOutput: null, systemMessage: null });
    expect(read(0, nothing)).toEqual({ answer: { decision: 'none', fields: {} } });
    const fields = json(specific({ permissionDecision: null, updatedInput: null }));
    expect(read(0, fields)).toEqual({ answer: { decision: 'none', fields: {} } });
    expect(
      value('PermissionRequest', specific({ decision: { behavior: null } }, 'PermissionRequest')),
    ).toMatchObject({ failure: { cause: 'invalid-output' } });
  });

  it('is broken when it was cut, where text is not unless a guard printed it', () => {
    const broken = { failure: { cause: 'broken-output' } };
    for (const code of [0, 1]) {
      expect(read(code, DENY, { cut: true })).toMatchObject(broken);
      expect(read(code, 'hello', { cut: true })).toMatchObject(broken);
    }
    expect(read(2, 'hello', { cut: true }).answer.decision).toBe('deny');
    const other = { ...hook('SessionStart'), role: 'block' } as const;
    expect(readRaw(other, ended(0, 'hello', { cut: true })).answer.text).toBe('hello');
  });

  it.each([
    '{"decision":"block","decision":"approve"}',
    '{"decision":"block","decision":null}',
    '{"continue":false,"continue":true}',
    '{"decision":"block","\\u0064ecision" : null}',
    '{"a":[{"b":1,"c":"\\"","b":2}]}',
    '{"async":true,"async":false}\n{}',
    '{"async":false,"async":true}\n{}',
    'log {"decision":"block","decision":null}',
  ])('with a key that occurs twice it is broken: %s', (stdout) => {
    expect(read(0, stdout)).toMatchObject({ failure: { cause: 'broken-output' } });
  });

  it('may have a key twice in different objects, and in texts', () => {
    const fine = '{"a":{"b":1},"b":{"a":[{"b":1},{"b":"{\\"b\\":1,\\"b\\":2}"}]}}';
    expect(read(0, fine)).toEqual({ answer: { decision: 'none', fields: {} } });
  });

  it.each<[string, object]>([
    ['output', { output: JSON.parse(DENY) }],
    ['result', { id: 1, result: { decision: 'block' } }],
    ['a list', { verdicts: [{ continue: false }] }],
    ['itself', { hookSpecificOutput: { hookEventName: 'PreToolUse', ...JSON.parse(DENY) } }],
    ['other letters', { Decision: 'block' }],
    ['another spelling', specific({ permission_decision: 'deny' })],
    ['a bare behavior', { behavior: 'deny' }],
    ['a list of words', { permissionDecision: ['deny'] }],
    ['blanks', { permissionDecision: ' deny' }],
    [
      'a weaker verdict',
      { ...specific({ permissionDecision: 'ask' }), more: { decision: 'deny' } },
    ],
  ])('a no of a guard inside %s is not passed over', (_name, output) => {
    expect(read(0, json(output))).toMatchObject({ failure: { cause: 'invalid-output' } });
  });

  it('but words that are passed on, or that a verdict covers, are none', () => {
    const passed = { decision: 'deny', continue: false };
    const fine = { tool_input: passed, ...specific({ updatedInput: { a: passed } }) };
    expect(read(0, json(fine)).failure).toBeUndefined();
    expect(read(0, json({ ...JSON.parse(DENY), more: passed })).answer.decision).toBe('deny');
    const rules = [{ type: 'addRules', behavior: 'deny', destination: 'session', rules: [] }];
    const decision = { behavior: 'allow', updatedPermissions: rules };
    const request = value('PermissionRequest', specific({ decision }, 'PermissionRequest'));
    expect(request.failure).toBeUndefined();
    const other = { ...hook('PostToolUse'), role: 'block' } as const;
    const told = readRaw(other, { kind: 'value', value: { checks: [passed] } });
    expect(told.failure).toBeUndefined();
  });

  it('an answer without an end is searched no longer than it must be', () => {
    const loop: Record<string, unknown> = {};
    loop.loop = [loop, loop];
    expect(value('PreToolUse', loop)).toMatchObject({ failure: { cause: 'invalid-output' } });
  });
});

describe('a verdict inside other text', () => {
  it.each<[string, string]>([
    ['behind a log line', `starting\n${DENY}`],
    ['before another', `log ${DENY} log`],
    ['in a list', `[${DENY}]`],
    ['in a list of lists', `[[${DENY}]]`],
    ['behind an open brace', `x { ${DENY}`],
    ['behind an open quote', `x "{" ${DENY}`],
    ['behind a brace and a quote', `x {" ${DENY}`],
    ['wrapped', `result: {"output": ${DENY}}`],
    ['an old word', 'ok {"decision":"block"}'],
    ['a stop', 'ok {"continue": false}'],
    ['an escaped key', 'ok {"\\u0064ecision":"block"}'],
    ['the inner half', `x ${DENY.slice(0, -1)}`],
    ['behind a colour', `\u001b[31m${DENY}`],
    ['behind a NUL', `\u0000${DENY}`],
    ['a yes', `log\n${ALLOW}`],
  ])('%s is broken output', (_name, stdout) => {
    for (const code of [0, 1]) {
      expect(read(code, stdout)).toMatchObject({ failure: { cause: 'broken-output' } });
    }
    expect(readRaw(hook(), { kind: 'text', text: stdout })).toMatchObject({
      failure: { cause: 'broken-output' },
    });
  });

  it.each([
    'the decision is "block"',
    'see {"continue": true}',
    'data: {"items": [{"decision": "cached"}]}',
    'code: if (x) { return "decision"; }',
    '[1, 2, 3]',
    'path {"path": "C:\\x", "decision"',
  ])('%s is text', (stdout) => {
    expect(read(0, stdout)).toMatchObject({ answer: { decision: 'none', text: stdout } });
    expect(read(0, stdout).failure).toBeUndefined();
  });

  it.each<[string, string]>([
    ['a comma too many', 'log\n{"decision":"block","reason":"x",}'],
    ['a fence around it', '```json\n{"decision":"block",}\n```'],
    ['no end', 'log\n{"decision":"block","reason":"cut off'],
    ['a line break', 'log\n{"decision":"block","reason":"a\nb"}'],
    ['a tab', 'log\n{"decision":"block","reason":"a\tb"}'],
    ['a path', 'log\n{"decision":"block","reason":"C:\\Users"}'],
    ['a comment', 'log\n{"decision":"block" /*x*/}'],
    ['NaN', 'log\n{"decision":"block","score":NaN}'],
    ['single quotes', "log\n{'decision': 'block'}"],
    ['typographic quotes', 'log {“decision”:“block”}'],
    ['bare keys', 'log\n{reason: 1, decision:"block"}'],
    ['an escaped key', 'log {"\\u0064ecision":"block",}'],
    ['text in text', '"{\\"decision\\":\\"block\\"}"'],
    ['an object inside', 'log {"a":{"b":1},"permissionDecision":"deny",}'],
    ['an end to a stop', 'log {"continue":false'],
    ['colours', '\u001b[1;39m{\u001b[0m\u001b[34;1m"decision"\u001b[0m:"block"\u001b(B}'],
    ['UTF-16', `\ufffd\ufffd${[...DENY].join('\0')}`],
    ['NUL alone', 'no\0'],
    ['bytes that are no UTF-8', 'caf\ufffd'],
    ['async before', '{"async":true}\nlog\n{"decision":"block",}'],
  ])('that is no JSON (%s) is broken output of a guard', (_name, stdout) => {
    for (const code of [0, 1]) {
      expect(read(code, stdout)).toMatchObject({ failure: { cause: 'broken-output' } });
    }
  });

  it.each([
    'decision: block',
    'function f() { go(); }\nThe decision: tabs.',
    'for (;;) { continue; }',
    'log {"level":"info","msg":"decision: x"} {',
    '\u001b[31mred\u001b[0m decision',
  ])('%s is prose', (stdout) => {
    expect(read(0, stdout).failure).toBeUndefined();
  });

  it('is looked for in bounded time, and what takes longer counts as one', () => {
    const mention = '"decision"';
    const long = 256 * 1024;
    const endless = ['{"a":'.repeat(long / 5), `${'{"a":'.repeat(1000)}"${'b'.repeat(long)}`];
    for (const braces of endless) {
      const stdout = `x ${mention} ${braces}`;
      expect(read(0, stdout)).toMatchObject({ failure: { cause: 'broken-output' } });
    }
    for (const harmless of ['{', '{"', '}{', '["', '\\u{']) {
      const text = `x ${mention} ${harmless.repeat(long / harmless.length)}`;
      expect(read(0, text).failure).toBeUndefined();
    }
  });
});

describe('a hook that goes on by itself', () => {
  it('says so with its object, and has decided nothing', () => {
    expect(read(0, '{"async":true}')).toEqual({
      answer: { decision: 'none', fields: {}, asyncMs: 15_000 },
    });
    expect(value('PostToolUse', { async: true, asyncTimeout: 5 }).answer.asyncMs).toBe(5);
    expect(value('PreToolUse', { async: false, decision: 'approve' }).answer).toMatchObject({
      decision: 'allow',
    });
  });

  it('may say more once it has announced that', () => {
    const more = json(specific({ additionalContext: 'C' }, 'PostToolUse'));
    const { answer, failure } = readRaw(hook('PostToolUse'), ended(0, `{"async":true}\n${more}`));
    expect(failure).toBeUndefined();
    expect(answer).toEqual({ decision: 'none', fields: {}, context: 'C' });
    expect(read(0, '{"async":true}\nlater').answer.text).toBe('later');
  });

  it('cannot say no after that, and is not passed over when it does', () => {
    for (const rest of [DENY, `log ${DENY}`, DENY.slice(0, -3), '{"continue":false}']) {
      expect(read(0, `{"async":true}\n${rest}`)).toMatchObject({
        failure: { cause: 'broken-output' },
      });
    }
  });
});
