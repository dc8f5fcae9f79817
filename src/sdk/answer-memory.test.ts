import { describe, expect, it } from 'vitest';
import { createAnswerMemory } from './answer-memory.js';

const ask = (command: string, more: object = {}) => ({
  tool_name: 'Bash',
  input: { command },
  decision_reason_type: 'other',
  permission_suggestions: [
    {
      type: 'addRules',
      behavior: 'allow',
      rules: [{ toolName: 'Bash', ruleContent: `${command.split(' ')[0]} *` }],
    },
  ],
  ...more,
});

describe('an answer with a scope', () => {
  it('goes to the runtime in its own words', () => {
    const memory = createAnswerMemory(() => 1_000);
    expect(memory.translate(ask('a'), { behavior: 'allow', scope: 'once' })).toEqual({
      behavior: 'allow',
    });
    expect(memory.translate(ask('a'), { behavior: 'allow', scope: 'identical' })).toEqual({
      behavior: 'allow',
      scope: { what: 'exact', until: 'session' },
    });
    expect(
      memory.translate(ask('a'), {
        behavior: 'allow',
        scope: 'prefix',
        for: 'project',
        expiresInMs: 500,
      }),
    ).toEqual({
      behavior: 'allow',
      scope: { what: 'prefix', until: 'project', expiresAt: 1_500 },
    });
  });

  it('that cannot be read is a no', () => {
    const memory = createAnswerMemory(() => 0);
    for (const wrong of [
      { scope: 'everything' },
      { scope: 'tool', for: 'ever' },
      { scope: 'tool', expiresInMs: 'soon' },
      { scope: 'tool', uses: Number.NaN },
    ]) {
      expect(memory.translate(ask('a'), { behavior: 'allow', ...wrong })).toMatchObject({
        behavior: 'deny',
      });
    }
  });

  it('of a number of uses is good for that many further calls', () => {
    const memory = createAnswerMemory(() => 0);
    memory.translate(ask('git status'), { behavior: 'allow', scope: 'prefix', uses: 2 });
    expect(memory.recall(ask('npm test'))).toBeUndefined();
    expect(memory.recall(ask('git log'))).toEqual({ behavior: 'allow' });
    expect(memory.recall(ask('git diff'))).toEqual({ behavior: 'allow' });
    expect(memory.recall(ask('git show'))).toBeUndefined();
  });

  it('for identical calls is for those alone, and of the same agent', () => {
    const memory = createAnswerMemory(() => 0);
    memory.translate(ask('git status'), { behavior: 'allow', scope: 'identical', uses: 5 });
    expect(memory.recall(ask('git status -s'))).toBeUndefined();
    expect(memory.recall(ask('git status', { agent_id: 'a1' }))).toBeUndefined();
    expect(memory.recall(ask('git status'))).toBeDefined();
  });

  it('ends with its time, or with its turn', () => {
    let now = 0;
    const memory = createAnswerMemory(() => now);
    memory.translate(ask('a'), { behavior: 'allow', scope: 'tool', uses: 9, expiresInMs: 10 });
    now = 10;
    expect(memory.recall(ask('a'))).toBeUndefined();
    memory.translate(ask('a'), { behavior: 'allow', scope: 'tool', uses: 9, for: 'turn' });
    expect(memory.recall(ask('a'))).toBeDefined();
    memory.beginTurn();
    expect(memory.recall(ask('a'))).toBeUndefined();
  });

  it('never answers what a rule, a hook or a protected path holds back', () => {
    const memory = createAnswerMemory(() => 0);
    memory.translate(ask('a'), { behavior: 'allow', scope: 'tool', uses: 9 });
    for (const held of [
      { decision_reason_type: 'rule' },
      { decision_reason_type: 'safetyCheck' },
      { decision_reason_type: 'hook' },
      { matched_ask_rule: {} },
      { requires_user_interaction: true },
    ]) {
      expect(memory.recall(ask('a', held))).toBeUndefined();
    }
  });
});
