import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOOK_EVENTS, type HookEventName } from '../../protocol/hooks/hook-events.js';
import { HOOK_DEFINITIONS, hookOutputSchema } from '../../protocol/hooks/hook-events.schema.js';
import { outputKeys, outputProblem, readObject } from './object.js';

const EVENTS = Object.keys(HOOK_EVENTS) as HookEventName[];

/** Values that are right for some field and wrong for others. */
const value = fc.oneof(
  fc.constantFrom('allow', 'deny', 'ask', 'defer', 'block', 'approve', 'accept', 'decline', ''),
  fc.boolean(),
  fc.integer(),
  fc.constant({ behavior: 'allow', updatedPermissions: [{ type: 'setMode' }] }),
  fc.record({ behavior: fc.constantFrom('allow', 'deny', 'x'), interrupt: fc.boolean() }),
  fc.array(fc.constantFrom('a', 'b', 1), { maxLength: 2 }),
  fc.constant({}),
);
const TOP = [
  'continue',
  'stopReason',
  'suppressOutput',
  'systemMessage',
  'terminalSequence',
  'decision',
  'reason',
  'async',
  'asyncTimeout',
  'tool_input',
  'unknown',
];

const outputs = fc.constantFrom(...EVENTS).chain((event) =>
  fc.tuple(
    fc.constant(event),
    fc.dictionary(fc.constantFrom(...TOP), value, { maxKeys: 3 }),
    fc.dictionary(
      fc.constantFrom('unknown', ...Object.keys(HOOK_DEFINITIONS[event].output ?? {})),
      value,
      {
        maxKeys: 3,
      },
    ),
  ),
);

describe('checking an output', () => {
  it('agrees with the schema', () => {
    let right = 0;
    fc.assert(
      fc.property(outputs, ([event, top, own]) => {
        const output = { ...top, hookSpecificOutput: { hookEventName: event, ...own } };
        const isRight = hookOutputSchema(event, HOOK_DEFINITIONS[event]).safeParse(output).success;
        if (isRight) right++;
        expect(outputProblem(outputKeys(event), output) === undefined).toBe(isRight);
      }),
      { numRuns: 3000 },
    );
    expect(right).toBeGreaterThan(300);
  });

  it.each<[HookEventName, object, string]>([
    ['Stop', { continue: 'no' }, 'continue must be true or false; it is "no"'],
    ['Stop', { reason: ['x'] }, 'reason must be a string; it is a list'],
    ['Stop', { decision: 'deny' }, 'decision must be one of "approve", "block"; it is "deny"'],
    [
      'Stop',
      { asyncTimeout: Number.NaN },
      'asyncTimeout must be a number of at least 0; it is NaN',
    ],
    [
      'PreCompact',
      { hookSpecificOutput: { preserve: [1] } },
      'hookSpecificOutput.preserve must be a list of strings; item 1 is 1',
    ],
    ['WorktreeCreate', { hookSpecificOutput: {} }, 'hookSpecificOutput.worktreePath is missing'],
    [
      'PermissionRequest',
      { hookSpecificOutput: { decision: { behavior: 'no' } } },
      'hookSpecificOutput.decision.behavior must be one of "allow", "deny"; it is "no"',
    ],
  ])('%s: %j', (event, output, message) => {
    expect(outputProblem(outputKeys(event), { ...output })).toBe(message);
  });

  it('keeps the fields that the event knows', () => {
    const given = { additionalContext: 'c', permissionDecision: null, other: 1, toString: 2 };
    const output = { hookSpecificOutput: { hookEventName: 'PreToolUse', ...given } };
    const { answer } = readObject({ event: 'PreToolUse', role: 'gate' }, output);
    expect(answer.fields).toEqual({ additionalContext: 'c' });
  });
});
