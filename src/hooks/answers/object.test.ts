import { describe, expect, it } from 'vitest';
import {
  ALLOW,
  DENY,
  ended,
  hook,
  read,
  specific,
  value,
} from '../../../test/support/hook-answers.js';
import type { HookEventName } from '../../protocol/hooks/hook-events.js';
import { readRaw } from './read.js';

describe('an answer as a value', () => {
  it('is no opinion when there is none', () => {
    for (const none of [undefined, null, {}]) {
      expect(value('PreToolUse', none)).toEqual({ answer: { decision: 'none', fields: {} } });
    }
  });

  it.each([[[]], ['allow'], [true], [0], [() => ({})], [[JSON.parse(DENY)]]])(
    'must be an object: %j',
    (given) => {
      expect(value('PreToolUse', given)).toMatchObject({ failure: { cause: 'invalid-output' } });
    },
  );

  it('may be an object that cannot be looked at', () => {
    const trap = {
      get decision(): string {
        throw new Error('BOOM');
      },
    };
    expect(value('PreToolUse', trap)).toMatchObject({ failure: { cause: 'invalid-output' } });
  });
});

describe('decisions', () => {
  it.each<[object, string, string | undefined]>([
    [{ decision: 'block', reason: 'R' }, 'deny', 'R'],
    [{ decision: 'approve' }, 'allow', undefined],
    [{ decision: 'block', reason: 'R', ...JSON.parse(ALLOW) }, 'deny', 'R'],
    [{ decision: 'approve', reason: 'R', ...JSON.parse(DENY) }, 'deny', 'WHY'],
    [{ decision: 'approve', ...specific({ permissionDecision: 'ask' }) }, 'ask', undefined],
    [{ reason: 'R', ...specific({ permissionDecision: 'deny' }) }, 'deny', 'R'],
  ])('%j', (output, decision, reason) => {
    const { answer } = value('PreToolUse', output);
    expect([answer.decision, answer.reason]).toEqual([decision, reason]);
  });

  it('a block is a no for every event, an old yes only for PreToolUse', () => {
    for (const event of ['Stop', 'UserPromptSubmit', 'ConfigChange', 'PreCompact'] as const) {
      expect(value(event, { decision: 'block' }).answer.decision).toBe('deny');
      expect(value(event, { decision: 'approve' }).answer.decision).toBe('none');
    }
  });

  it('PreModelSwitch knows allow, deny and ask', () => {
    const says = (permissionDecision: string) =>
      value('PreModelSwitch', specific({ permissionDecision }, 'PreModelSwitch'));
    for (const word of ['allow', 'deny', 'ask']) expect(says(word).answer.decision).toBe(word);
    expect(says('defer')).toMatchObject({ failure: { cause: 'invalid-output' } });
  });

  it('an end of the turn has a reason', () => {
    expect(value('Stop', { continue: false, stopReason: 'R' }).answer.stop).toBe('R');
    expect(value('Stop', { continue: false, stopReason: ' ' }).answer.stop).toMatch(/\w/);
    expect(value('Stop', { continue: true, stopReason: 'R' }).answer.stop).toBeUndefined();
  });
});

describe('PermissionRequest', () => {
  const says = (decision: unknown, more: object = {}) =>
    value('PermissionRequest', { ...more, ...specific({ decision }, 'PermissionRequest') });

  it('keeps the decision and says which it is', () => {
    const allow = { behavior: 'allow', updatedInput: { command: 'ls' } };
    expect(says(allow).answer).toMatchObject({ decision: 'allow', fields: { decision: allow } });
    const deny = { behavior: 'deny', message: 'M', interrupt: true };
    expect(says(deny).answer).toMatchObject({
      decision: 'deny',
      reason: 'M',
      fields: { decision: deny },
    });
  });

  it.each([
    'deny',
    {},
    { behavior: 'maybe' },
    { behavior: 'allow', updatedInput: 'ls' },
    { behavior: 'allow', updatedPermissions: [{ type: 'addRule' }] },
    { behavior: 'allow', updatedPermissions: {} },
    { behavior: 'allow', scope: { what: 'all' } },
  ])('%j is no decision', (decision) => {
    expect(says(decision)).toMatchObject({ failure: { cause: 'invalid-output' } });
  });

  it('a block beats a yes', () => {
    const { answer } = says({ behavior: 'allow' }, { decision: 'block', reason: 'R' });
    expect(answer).toEqual({ decision: 'deny', reason: 'R', fields: {} });
  });
});

describe('what an event understands', () => {
  it('is kept, checked; the rest is not', () => {
    const output = specific({ watchPaths: ['/a'], sessionTitle: 'T', other: 1 }, 'SessionStart');
    expect(value('SessionStart', output).answer.fields).toEqual({
      watchPaths: ['/a'],
      sessionTitle: 'T',
    });
    const wrong = specific({ watchPaths: ['/a', 1] }, 'CwdChanged');
    expect(value('CwdChanged', wrong).failure?.message).toContain(
      'watchPaths must be a list of strings; item 2',
    );
  });

  it('a new input may stand at the top', () => {
    const tool_input = { command: 'ls' };
    expect(value('PreToolUse', { tool_input }).answer.fields).toEqual({ updatedInput: tool_input });
    const both = { tool_input, ...specific({ updatedInput: { command: 'pwd' } }) };
    expect(value('PreToolUse', both).answer.fields).toEqual({ updatedInput: { command: 'pwd' } });
    expect(value('PostToolUse', { tool_input }).answer.fields).toEqual({});
  });

  it.each<[HookEventName, object]>([
    ['PostToolUse', { updatedToolOutput: 'text' }],
    ['PostToolUse', { updatedToolOutput: { stdout: '' }, updatedMCPToolOutput: [1] }],
    ['PreCompact', { preserve: 'a', additionalContext: 'b' }],
    ['PreCompact', { preserve: ['a', 'b'] }],
    ['PreToolUse', { agentContext: 'a' }],
    ['UserPromptSubmit', { updatedPrompt: 'a', suppressOriginalPrompt: true }],
    ['PermissionDenied', { retry: true }],
    ['MessageDisplay', { displayContent: '' }],
    ['Elicitation', { action: 'cancel' }],
    ['ElicitationResult', { action: 'accept', content: {} }],
    ['WorktreeCreate', { worktreePath: '/tree' }],
  ])('%s: %j', (event, fields) => {
    expect(value(event, specific(fields, event)).answer).toMatchObject({
      decision: 'none',
      fields,
    });
  });

  it('a tree is the last line that a command prints', () => {
    const printed = readRaw(hook('WorktreeCreate'), ended(0, 'making it\n/a b/tree \n\n'));
    expect(printed.answer.fields).toEqual({ worktreePath: '/a b/tree' });
    expect(value('WorktreeCreate', specific({}, 'WorktreeCreate'))).toMatchObject({
      failure: { cause: 'invalid-output' },
    });
    const cut = readRaw(hook('WorktreeCreate'), ended(0, '/tree', { cut: true }));
    expect(cut).toMatchObject({ failure: { cause: 'broken-output' } });
  });
});

describe('texts', () => {
  it('lose what could steer a terminal, and nothing else', () => {
    const text = 'a\u0000b\u001b[31mc\u001b[0m\u001b]0;title\u0007\td\r\ne\ud800f\u009b😀\u202e';
    const clean = 'abc\td\ne\ufffdf😀';
    const output = {
      systemMessage: text,
      ...specific({ permissionDecisionReason: text, additionalContext: text }),
    };
    const { answer } = value('PreToolUse', output);
    expect(answer).toMatchObject({ systemMessage: clean, reason: clean, context: clean });
    expect(read(2, '', { stderr: text }).answer.reason).toBe(clean);
    const printed = readRaw({ ...hook('PostToolUse'), role: 'block' }, ended(0, text));
    expect(printed.answer.text).toBe(clean);
  });

  it('are cut where they are too long, and say so', () => {
    const text = '😀'.repeat(20_000);
    const { answer } = value('PreToolUse', {
      systemMessage: text,
      ...specific({ additionalContext: text }),
    });
    expect(answer.systemMessage?.length).toBeLessThanOrEqual(10_000);
    expect(answer.systemMessage).toMatch(/^(😀)+\n… \[\d+ more characters\]$/u);
    // What is for the model is whole: it goes to a file where it is too long to show.
    expect(answer.context).toBe(text);
    const whole = 'x'.repeat(100_000);
    expect(read(0, whole).answer.text).toBe(whole);
  });

  it('that are blank count as absent', () => {
    const { answer } = value('PreToolUse', {
      systemMessage: '',
      reason: ' \n',
      ...specific({ additionalContext: '\u0000' }),
    });
    expect(answer).toEqual({ decision: 'none', fields: { additionalContext: '\u0000' } });
  });
});
