import { describe, expect, it } from 'vitest';
import { hook } from '../../../test/support/hook-answers.js';
import type { HookEventName } from '../../protocol/hooks/hook-events.js';
import type { HookHandler } from '../registry/hook.js';
import { readRaw } from './read.js';

describe('what a model decided', () => {
  const PROMPT: HookHandler = { type: 'prompt', prompt: 'ok?' };
  const LENIENT: HookHandler = { ...PROMPT, continueOnBlock: true };
  const AGENT: HookHandler = { type: 'agent', prompt: 'ok?' };
  const no = (event: HookEventName, handler: HookHandler, more: object = {}) =>
    readRaw(hook(event, handler), { kind: 'verdict', ok: false, reason: 'R', ...more }).answer;

  it('is never a yes', () => {
    const raw = { kind: 'verdict', ok: true, reason: 'fine' } as const;
    expect(readRaw(hook('PreToolUse', PROMPT), raw)).toEqual({
      answer: { decision: 'none', fields: {} },
    });
  });

  it('is a no with a reason', () => {
    expect(no('PreToolUse', AGENT)).toEqual({ decision: 'deny', reason: 'R', fields: {} });
    expect(no('PreToolUse', AGENT, { reason: '' }).reason).toMatch(/\w/);
  });

  it.each<[HookEventName, readonly [boolean, boolean, boolean]]>([
    ['PreToolUse', [true, false, false]],
    ['PostToolUse', [true, false, false]],
    ['PostToolBatch', [true, true, true]],
    ['UserPromptSubmit', [true, true, true]],
    ['UserPromptExpansion', [true, true, true]],
    ['TeammateIdle', [true, false, false]],
    ['Stop', [false, false, false]],
    ['SubagentStop', [false, false, false]],
    ['PostToolUseFailure', [false, false, false]],
    ['TaskCreated', [false, false, false]],
    ['PermissionRequest', [false, false, false]],
  ])('%s: ends the turn by default, with continueOnBlock, of an agent: %j', (event, expected) => {
    const ends = [PROMPT, LENIENT, AGENT].map((handler) => no(event, handler).endsTurn === true);
    expect(ends).toEqual(expected);
  });

  it('may be that a goal is out of reach: prompts at a stop only', () => {
    const impossible = { impossible: true };
    expect(no('Stop', PROMPT, impossible).impossible).toBe(true);
    expect(no('SubagentStop', LENIENT, impossible).impossible).toBe(true);
    expect(no('Stop', AGENT, impossible).impossible).toBeUndefined();
    expect(no('PreToolUse', PROMPT, impossible).impossible).toBeUndefined();
  });
});
