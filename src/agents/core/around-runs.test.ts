import { describe, expect, it } from 'vitest';
import { createConversation } from '../../loop/conversation.js';
import type { GateVerdict } from '../../permissions/gate/types.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { AnyTool } from '../../tools/tool.js';
import { BackgroundInput } from '../delivery/background.js';
import { CallLedger } from './call-ledger.js';
import { structuredNudge } from './create-session.js';
import { createModelChoices } from './model-choice.js';

describe('the ledger of calls', () => {
  const call = (name: string): Parameters<CallLedger['refused']>[0] => ({
    call: { type: 'tool_use', id: `id-${name}`, name, input: { a: 1 } },
    tool: { name } as AnyTool,
    agent: MAIN_AGENT,
  });
  const refusal = {
    kind: 'refused',
    suggestion: 'Bash(touch *)',
    receipt: { reason: 'nobody there' },
  } as Extract<GateVerdict, { kind: 'refused' }>;

  it('lists refusals with their reason and a rule, and counts those that nothing made up for', () => {
    const ledger = new CallLedger();
    ledger.beginRun();
    ledger.refused(call('Bash'), refusal);
    ledger.refused(call('Write'), refusal);
    expect(ledger.unrecovered()).toBe(2);
    ledger.ran({ name: 'Bash' } as AnyTool);
    expect(ledger.unrecovered()).toBe(1);
    expect(ledger.denials()[0]).toEqual({
      tool_name: 'Bash',
      tool_use_id: 'id-Bash',
      tool_input: { a: 1 },
      reason: 'nobody there',
      suggestion: 'Bash(touch *)',
    });
    ledger.beginRun();
    expect(ledger.denials()).toEqual([]);
  });
});

describe('background input', () => {
  const message = (text: string) => ({
    uuid: text,
    content: [{ type: 'text' as const, text }],
    meta: true,
  });

  it('is taken once, wakes whoever waits, and does not wait for nothing', async () => {
    let running = 0;
    const background = new BackgroundInput(() => running);
    expect(await background.wait()).toBe(false);
    running = 1;
    const waiting = background.wait();
    background.add(message('a'));
    expect(await waiting).toBe(true);
    background.add(message('b'));
    expect(background.next()?.content).toEqual([...message('a').content, ...message('b').content]);
    expect(background.take()).toEqual([]);
    expect(background.next()).toBeUndefined();
  });
});

describe('the conversation', () => {
  it('makes one message of two user messages in a row', () => {
    const conversation = createConversation();
    const said = (text: string) => ({
      role: 'user' as const,
      content: [{ type: 'text' as const, text }],
    });
    conversation.append(said('a'));
    conversation.append(said('b'));
    expect(conversation.messages).toEqual([
      { role: 'user', content: [...said('a').content, ...said('b').content] },
    ]);
  });
});

describe('the choice of the model', () => {
  const choices = (more: object = {}) =>
    createModelChoices({ name: 'claude-sonnet-4-5', env: {}, provider: 'anthropic', ...more });

  it('changes and goes back', () => {
    const model = choices();
    expect(model.current().model).toBe('claude-sonnet-4-5');
    expect(model.set('some-model')).toBe('some-model');
    expect(model.set(undefined)).toBe('claude-sonnet-4-5');
  });

  it('refuses a budget that no price can keep, also later', () => {
    expect(() => choices({ name: 'x', maxBudgetUsd: 1 })).toThrow('no price is known for x');
    const model = choices({ maxBudgetUsd: 1 });
    expect(() => model.set('x')).toThrow('no price is known');
    expect(model.current().model).toBe('claude-sonnet-4-5');
  });

  it('gives another agent what holds now, unless it wants something else', () => {
    const model = choices({ effort: 'low' });
    const holds = (): void => {
      const { model: name, effort } = model.current();
      expect(model.other({})).toEqual(model.other({ model: name, effort }));
    };
    holds();
    model.forTurn({ effort: 'high', model: 'some-model' });
    holds();
    expect(model.other({}).choice).toMatchObject({ model: 'some-model', effort: 'high' });
    expect(model.other({ effort: 'low' }).choice).toMatchObject({ effort: 'low' });
    model.think({ tokens: 1024 });
    holds();
    model.endTurn();
    holds();
    expect(model.other({}).choice).toMatchObject({ effort: 'low', thinking: { type: 'enabled' } });
  });

  it('reads thinking from flag and environment', () => {
    expect(choices({ maxThinkingTokens: 0 }).current().thinking).toEqual({ type: 'disabled' });
    expect(choices({ env: { MAX_THINKING_TOKENS: '2048' } }).current().thinking).toEqual({
      type: 'enabled',
      budget_tokens: 2048,
    });
    expect(choices({ thinking: 'adaptive' }).current().thinking).toEqual({ type: 'adaptive' });
    expect(choices().current().thinking).toBeUndefined();
  });
});

describe('the reminder of an owed answer', () => {
  it('comes a bounded number of times', () => {
    const nudge = structuredNudge(() => 'u');
    const given = Array.from({ length: 8 }, nudge).filter((note) => note !== undefined);
    expect(given).toHaveLength(4);
  });
});
