import { describe, expect, it } from 'vitest';
import { roundOf, type ScriptedHook } from '../../../test/support/scripted-hooks.js';
import { err, ok } from '../../lib/result.js';
import { agree, blockedBy, blockingNotes, contextsOf, deniedBy, endOf, stopOf } from './round.js';

const round = (...hooks: ScriptedHook[]) => roundOf('PreToolUse', hooks);
const timeout = { cause: 'timeout', message: 'no answer within 5 s' } as const;

describe('objections', () => {
  const mixed = round(
    { label: 'a', decision: 'deny', reason: 'too big' },
    { label: 'b', failure: timeout, refuses: true },
    { label: 'c', failure: timeout },
    { label: 'd', decision: 'deny' },
    { label: 'e', decision: 'ask', reason: 'sure?' },
  );

  it('stand in declared order, failed guards among them', () => {
    expect(blockedBy(mixed)).toEqual([
      { by: 'a', reason: 'too big', failed: false },
      {
        by: 'b',
        reason:
          'guard failed: b gave no verdict (timeout: no answer within 5 s; limit 1 s, used 0.005 s)',
        failed: true,
      },
      { by: 'd', reason: 'no reason given', failed: false },
    ]);
    expect(blockedBy(mixed)[1]?.reason).toBe(
      'guard failed: b gave no verdict (timeout: no answer within 5 s; limit 1 s, used 0.005 s)',
    );
    expect(deniedBy(mixed).map(({ by }) => by)).toEqual(['a', 'd']);
  });

  it('are told with event, tool and hook', () => {
    expect(blockingNotes(deniedBy(mixed), 'PostToolUse:Bash')[0]).toBe(
      'PostToolUse:Bash hook blocking error from a: too big',
    );
  });
});

describe('what ends a turn', () => {
  it('is the first wish to stop', () => {
    expect(stopOf(round({}, { stop: 'enough' }, { stop: 'later' }))).toBe('enough');
    expect(stopOf(round({ decision: 'deny', endsTurn: true }))).toBeUndefined();
  });

  it('is also the no of a model, where asked for', () => {
    expect(endOf(round({ decision: 'deny', endsTurn: true, reason: 'no' }))).toBe('no');
    expect(endOf(round({ decision: 'deny', endsTurn: true }, { stop: 'enough' }))).toBe('enough');
    expect(endOf(round({ decision: 'deny', reason: 'no' }))).toBeUndefined();
  });
});

describe('contextsOf', () => {
  it('names the event, keeps the order and leaves out hooks that add nothing', () => {
    const said = round({ context: 'one' }, {}, { context: 'two' });
    expect(contextsOf(said, 'UserPromptSubmit')).toEqual([
      'UserPromptSubmit hook additional context: one',
      'UserPromptSubmit hook additional context: two',
    ]);
  });
});

describe('agree', () => {
  it('takes one wish, several like it, and names two that differ', () => {
    expect(agree([])).toEqual(ok(undefined));
    const one = { by: 'a', value: 'x' };
    expect(agree([one, { by: 'b', value: 'x' }])).toEqual(ok(one));
    expect(agree([one, { by: 'b', value: 'x' }, { by: 'c', value: 'y' }])).toEqual(err(['a', 'c']));
  });
});
