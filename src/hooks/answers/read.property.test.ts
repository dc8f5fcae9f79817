import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOOK_EVENTS, type HookEventName } from '../../protocol/hooks/hook-events.js';
import { HOOK_FAILURES, type Hook, type HookHandler, type HookRaw } from '../registry/hook.js';
import { readRaw } from './read.js';

const EVENTS = Object.keys(HOOK_EVENTS) as HookEventName[];
const HANDLERS: readonly HookHandler[] = [
  { type: 'command', command: 'guard' },
  { type: 'command', command: 'guard', args: ['-x'] },
  { type: 'http', url: 'http://localhost' },
  { type: 'mcp_tool', server: 's', tool: 't' },
  { type: 'prompt', prompt: 'p' },
  { type: 'agent', prompt: 'p' },
  { type: 'callback', id: 'c' },
];

const hooks: fc.Arbitrary<Hook> = fc.record({
  id: fc.constant('h'),
  event: fc.constantFrom(...EVENTS),
  role: fc.constant('gate'),
  handler: fc.constantFrom(...HANDLERS),
  source: fc.constant('project'),
  timeoutMs: fc.constant(1000),
  onFailure: fc.constant('block'),
  label: fc.string(),
});

const WORDS = ['deny', 'block', 'ask', 'defer', 'allow', 'approve', 'accept', 'DENY', '', 1, null];
const word = fc.constantFrom(...WORDS);
/** Something that looks like an answer, right or wrong in any part. */
const answerLike = fc.record(
  {
    continue: fc.oneof(fc.boolean(), word),
    decision: word,
    reason: fc.oneof(fc.string(), word),
    async: fc.oneof(fc.boolean(), word),
    asyncTimeout: fc.oneof(fc.double(), word),
    tool_input: fc.anything(),
    hookSpecificOutput: fc.oneof(
      fc.record(
        {
          hookEventName: fc.oneof(fc.constantFrom(...EVENTS), word),
          permissionDecision: word,
          updatedInput: fc.anything(),
          additionalContext: fc.oneof(fc.string(), word),
          decision: fc.oneof(word, fc.record({ behavior: word, message: fc.anything() })),
          action: word,
          watchPaths: fc.anything(),
        },
        { requiredKeys: [] },
      ),
      fc.anything(),
    ),
  },
  { requiredKeys: [] },
);
const anything = fc.oneof(
  answerLike,
  fc.anything({ withBigInt: true, withNullPrototype: true, withDate: true, withSparseArray: true }),
);
/** Also such text as JSON is made of. */
const noise = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'{}[]":,\\u0 \n\ta') }),
  fc.json(),
  answerLike.map((value) => asJson(value)),
);

function asJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? String(inner) : inner,
  );
}

const exits = fc.oneof(fc.constantFrom(0, 1, 2, 3, 126, 127, 137), fc.integer(), fc.constant(null));
const raws: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({
    kind: fc.constant('process'),
    exitCode: exits,
    signal: fc.constantFrom(null, 'SIGKILL'),
    stdout: noise,
    stderr: noise,
    cut: fc.option(fc.boolean(), { nil: undefined }),
  }),
  fc.record({ kind: fc.constant('value'), value: anything }),
  fc.record({ kind: fc.constant('text'), text: noise }),
  fc.record({
    kind: fc.constant('verdict'),
    ok: fc.boolean(),
    reason: fc.option(noise, { nil: undefined }),
    impossible: fc.option(fc.boolean(), { nil: undefined }),
  }),
  anything,
);

describe('reading what a hook said', () => {
  it('never throws, and always ends in an answer or a known failure', () => {
    fc.assert(
      fc.property(hooks, raws, (hook, raw) => {
        const { answer, failure } = readRaw(hook, raw as HookRaw);
        expect(['none', 'allow', 'ask', 'defer', 'deny']).toContain(answer.decision);
        expect(typeof answer.fields).toBe('object');
        if (failure === undefined) return;
        expect(answer).toEqual({ decision: 'none', fields: {} });
        expect(HOOK_FAILURES).toContain(failure.cause);
        expect(failure.message).not.toBe('');
        expect(failure.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
      { numRuns: 3000 },
    );
  });

  it('loses no no, whatever is printed around it', () => {
    const noes = fc.constantFrom<readonly [HookEventName, object]>(
      ['PreToolUse', { decision: 'block' }],
      ['PreToolUse', { continue: false }],
      ['PreToolUse', ours('PreToolUse', { permissionDecision: 'deny' })],
      ['PreToolUse', ours('PreToolUse', { permissionDecision: 'ask' })],
      ['PermissionRequest', ours('PermissionRequest', { decision: { behavior: 'deny' } })],
      ['UserPromptSubmit', { decision: 'block', reason: 'a "quoted" {reason}' }],
    );
    const codes = fc.constantFrom(0, 1, 2, 3, 127);
    fc.assert(
      fc.property(hooks, noes, noise, noise, codes, (any, [event, no], before, after, exitCode) => {
        const hook = { ...any, event };
        const stdout = `${before}${JSON.stringify(no, null, exitCode)}${after}`;
        const raw = { kind: 'process', exitCode, signal: null, stdout, stderr: '' } as const;
        const { answer, failure } = readRaw(hook, raw);
        const held = answer.stop !== undefined || !['none', 'allow'].includes(answer.decision);
        expect(held || failure !== undefined).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('grants nothing to a hook that did not end well', () => {
    fc.assert(
      fc.property(hooks, noise, exits, (hook, stdout, exitCode) => {
        fc.pre(exitCode !== 0);
        const raw = { kind: 'process', exitCode, signal: null, stdout, stderr: '' } as const;
        const { answer } = readRaw(hook, raw);
        expect(answer.decision).not.toBe('allow');
        expect(answer.fields.action).not.toBe('accept');
        expect(answer.fields.permissionDecision).not.toBe('allow');
        expect(answer.fields.decision ?? {}).not.toMatchObject({ behavior: 'allow' });
      }),
      { numRuns: 2000 },
    );
  });
});

function ours(hookEventName: HookEventName, fields: object): object {
  return { hookSpecificOutput: { hookEventName, ...fields } };
}
