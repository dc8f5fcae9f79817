import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hookEventFacts } from '../../protocol/hooks/hook-events.js';
import { type Hook, type HookEventName, type HookRaw, NO_ANSWER } from '../registry/hook.js';
import { readRaw } from './read.js';

function hook(event: HookEventName): Hook {
  return {
    id: 'h',
    event,
    role: hookEventFacts(event).role,
    handler: { type: 'command', command: 'guard' },
    source: 'user',
    timeoutMs: 1000,
    onFailure: 'block',
    label: 'guard',
  };
}

const raws = (value: unknown): readonly HookRaw[] => [
  { kind: 'process', exitCode: 0, signal: null, stdout: JSON.stringify(value), stderr: '' },
  { kind: 'value', value },
  { kind: 'text', text: JSON.stringify(value) },
];

const own = (fields: object, event = 'PreToolUse') => ({
  hookSpecificOutput: { hookEventName: event, ...fields },
});

describe('a misspelt verdict in the answer of a guard', () => {
  it.each<[HookEventName, object]>([
    ['PreToolUse', { decison: 'block' }],
    ['PreToolUse', { decison: 'approve' }],
    ['PreToolUse', { Decision: 'block' }],
    ['PreToolUse', { desicion: 'block', reason: 'no' }],
    ['PreToolUse', { descision: 'deny' }],
    ['PreToolUse', { permission_decision: 'allow' }],
    ['PreToolUse', { contineu: false }],
    ['PreToolUse', own({ permissionDecison: 'deny' })],
    ['PreToolUse', own({ permissionDescision: 'ask' })],
    ['PreToolUse', own({ permission_decision: 'deny' })],
    ['PreToolUse', own({ permisionDecision: 'denied by policy' })],
    ['PreToolUse', own({ 'permission-decision': 'allow' })],
    ['PreToolUse', own({ updateInput: { command: 'true' } })],
    ['PreToolUse', { hookSpecificOuput: { updatedInput: { command: 'true' } } }],
    ['PreToolUse', { output: { result: { decison: 'block' } } }],
    ['UserPromptSubmit', { decicion: 'block' }],
    ['UserPromptSubmit', own({ updatePrompt: 'x' }, 'UserPromptSubmit')],
    ['PermissionRequest', own({ decison: { behavior: 'deny' } }, 'PermissionRequest')],
    ['Elicitation', own({ acton: 'decline' }, 'Elicitation')],
    ['ConfigChange', { decison: 'block' }],
    ['PreToolUse', { ok: false, reason: 'no' }],
    ['UserPromptSubmit', { ok: false }],
    ['PreToolUse', { ok: 'no' }],
  ])('%s %j is an invalid answer', (event, value) => {
    for (const raw of raws(value)) {
      const { answer, failure } = readRaw(hook(event), raw);
      expect(answer).toEqual(NO_ANSWER);
      expect(failure?.cause).toBe('invalid-output');
    }
  });

  it('is named with the right spelling', () => {
    const [raw] = raws(own({ permissionDecison: 'deny' }));
    expect(raw && readRaw(hook('PreToolUse'), raw).failure?.message).toBe(
      '`hookSpecificOutput.permissionDecison` is not a field; did you mean permissionDecision?',
    );
  });

  it.each([
    'checking…\n{"decison": "block"}',
    'log\npermissionDecision: deny\n',
    '- permission_decision: "ask"',
    'permissionDecison = deny',
  ])('stands inside other text: %j', (text) => {
    const raw: HookRaw = { kind: 'process', exitCode: 0, signal: null, stdout: text, stderr: '' };
    expect(readRaw(hook('PreToolUse'), raw).failure?.cause).toBe('broken-output');
  });

  it('is no failure of the call at an event that holds nothing up', () => {
    for (const raw of raws({ ok: false, status: 'x' })) {
      expect(readRaw(hook('SessionStart'), raw).failure).toBeUndefined();
    }
  });
});

describe("a refusal in a guard's own words", () => {
  it.each([
    { verdict: 'deny' },
    { action: 'block' },
    { status: 'Blocked ' },
    { result: 'rejected', note: 'x' },
    { permission: 'deny' },
    { blocked: true },
    { deny: true },
    { allow: false },
    { is_ok: true, approved: false },
    own({ allowed: false }),
  ])('is not passed over: %j', (value) => {
    for (const raw of raws(value)) {
      expect(readRaw(hook('PreToolUse'), raw).failure?.message).toContain(
        'says no, but is not a field',
      );
    }
  });

  it.each<[HookEventName, object]>([
    ['PreToolUse', { allowed: true, blocked: false, status: 'ok', action: 'none' }],
    ['PreToolUse', { tags: ['deny'], text: 'access denied', rule: { name: 'deny' } }],
    ['PreToolUse', { decision: 'approve', reason: 'deny' }],
    ['PostToolUse', { status: 'blocked' }],
  ])('is not seen where there is none: %s %j', (event, value) => {
    for (const raw of raws(value)) expect(readRaw(hook(event), raw).failure).toBeUndefined();
  });
});

describe('unknown fields that are no verdict', () => {
  it.each<[HookEventName, object]>([
    ['PreToolUse', { revision: 3, division: 'sales', precision: 0.5, version: '1' }],
    ['PreToolUse', { decisions: ['a', 'b'], decisionReason: 'why', decisionId: 7 }],
    ['PreToolUse', { permissions: 'rw', permissionReason: 'because of the policy' }],
    ['PreToolUse', { permission_decision_reason: 'why', updated: true, inputs: {} }],
    ['PreToolUse', { continued: true, ok: true, okay: false, action: 'none' }],
    ['PreToolUse', { decision: null, permissionDecison: null }],
    ['PreToolUse', own({ permissionDecision: 'allow', permission_decision_reason: 'x' })],
    ['UserPromptSubmit', own({ updatedPromptHash: 'x', additional: 'y' }, 'UserPromptSubmit')],
  ])('%s %j are passed over', (event, value) => {
    for (const raw of raws(value)) expect(readRaw(hook(event), raw).failure).toBeUndefined();
  });

  it('never turn a refusal into anything else', () => {
    const refusals = [
      { decision: 'block' },
      own({ permissionDecision: 'deny' }),
      { continue: false },
      { decison: 'block' },
      { ok: false },
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...refusals),
        fc.dictionary(
          fc.constantFrom('id', 'name', 'version', 'author', 'note', 'tags', 'priority', 'enabled'),
          fc.jsonValue(),
        ),
        (refusal, extra) => {
          for (const raw of raws({ ...extra, ...refusal })) {
            const { answer, failure } = readRaw(hook('PreToolUse'), raw);
            const refuses =
              failure !== undefined || answer.decision === 'deny' || answer.stop !== undefined;
            expect(refuses).toBe(true);
          }
        },
      ),
    );
  });
});
