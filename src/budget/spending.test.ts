import { describe, expect, it } from 'vitest';
import type { LoopOutcome } from '../loop/types.js';
import { costOf } from '../model/catalog/models.js';
import type { ModelClient, ModelEvent, ModelRequest } from '../model/client.js';
import type { Usage } from '../protocol/content.js';
import { createSpending, type SpendingParts } from './spending.js';
import { BudgetTree } from './tree.js';
import type { BudgetLimits } from './units.js';

const signal = new AbortController().signal;
const model = 'claude-opus-5';

/** A client that reports the given usage and records its requests. */
function fakeClient(usage: Partial<Usage> = { input_tokens: 1000, output_tokens: 100 }) {
  const asked: ModelRequest[] = [];
  const client: ModelClient = {
    provider: 'anthropic',
    async *stream(request): AsyncGenerator<ModelEvent> {
      asked.push(request);
      yield { type: 'message_start', message: { id: 'm', model: request.model, usage } };
      yield { type: 'message_stop' };
    },
  };
  return { asked, client };
}

const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model,
  system: [],
  tools: [],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'go' }] }],
  maxTokens: 32_000,
  ...more,
});

interface RigOptions {
  readonly now?: () => number;
  /** Estimated tokens of a request. */
  readonly input?: number;
  readonly isChild?: boolean;
}

function rig(limits: BudgetLimits, options: RigOptions = {}) {
  const { now = () => 0, input = 800, isChild = true } = options;
  const parts: SpendingParts = {
    clock: { monotonic: now },
    tokens: { fixed: () => input, messages: () => 0 },
    price: (name, usage) => costOf({ model: name, provider: 'anthropic', usage }),
    note: (text) => ({ uuid: 'u', content: [{ type: 'text', text }], meta: true }),
    spentUsd: () => 0,
  };
  const tree = new BudgetTree({ limits: {}, clock: parts.clock });
  const account = tree.open({ id: 'a', path: 'main/a#1' }, limits);
  if (!account.ok) throw new Error(account.error);
  const fake = fakeClient();
  const spending = createSpending(account.value, parts, { isChild });
  return { ...fake, spending, turns: spending.client(fake.client), parts };
}

async function failure(client: ModelClient, wanted = request()): Promise<string | undefined> {
  let found: string | undefined;
  for await (const event of client.stream(wanted, signal)) {
    if (event.type === 'failure') found = event.failure.message;
  }
  return found;
}

const outcome = (reason: LoopOutcome['reason']) => async (): Promise<LoopOutcome> => ({
  reason,
  turns: 1,
  text: 'partial',
  lastAnswer: undefined,
});
const completed = { kind: 'completed', stopReason: 'end_turn' } as const;

describe('the spending of an agent', () => {
  it('costs nothing where nothing is limited', () => {
    const { turns, client, spending } = rig({});
    expect(turns).toBe(client);
    expect(spending.lastTurnNotice()).toBeUndefined();
    expect(spending.shouldStop(100)).toBeUndefined();
  });

  it('tells of the last turn with the results, and stops after it', async () => {
    const { turns, asked, spending } = rig({ turns: 3 });
    for (let turn = 0; turn < 2; turn++) {
      expect(spending.lastTurnNotice()).toBeUndefined();
      expect(await failure(turns)).toBeUndefined();
    }
    const note = spending.lastTurnNotice();
    expect(JSON.stringify(note)).toContain('The budget of 3 turns is nearly used up');
    expect(spending.shouldStop(2)).toBeUndefined();
    expect(await failure(turns)).toBeUndefined();
    expect(asked).toHaveLength(3);
    expect(JSON.stringify(asked[2])).not.toContain('last turn');
    expect(spending.shouldStop(3)).toEqual({ kind: 'max_turns', limit: 3 });
    expect(await spending.runAgent(outcome(completed))).toMatchObject({
      reason: { kind: 'max_turns' },
      text: 'partial',
    });
  });

  it('tells with the call where the results were larger than could be foreseen', async () => {
    const { turns, asked, spending } = rig({ tokens: 7000 }, { input: 3000 });
    expect(await failure(turns)).toBeUndefined();
    expect(JSON.stringify(asked[0])).toContain('This is your last turn: finish now');
    expect(asked[0]?.messages).toHaveLength(1);
    expect(asked[0]?.maxTokens).toBeLessThanOrEqual(2048);
    expect(spending.shouldStop(1)).toMatchObject({
      kind: 'budget',
      words: expect.stringContaining('the budget of 7,000 tokens of main/a#1'),
    });
  });

  it('asks for shorter answers where long ones might not fit', async () => {
    const { turns, asked } = rig({ tokens: 20_000 });
    await failure(turns);
    expect(asked[0]?.maxTokens).toBe(4000);
    expect(JSON.stringify(asked[0])).not.toContain('last turn');
  });

  it('leaves room for the thinking that was asked for', async () => {
    const { turns, asked } = rig({ tokens: 30_000 });
    await failure(turns, request({ thinking: { type: 'enabled', budget_tokens: 6000 } }));
    expect(asked[0]?.maxTokens).toBeGreaterThan(6000);
  });

  it('refuses a call that cannot even be the last', async () => {
    const { turns, asked, spending } = rig({ tokens: 500 });
    expect(await failure(turns)).toContain('the budget of 500 tokens');
    expect(asked).toEqual([]);
    const refused = { kind: 'bad_response', message: 'x', retryable: false } as const;
    const run = await spending.runAgent(outcome({ kind: 'model_failure', failure: refused }));
    expect(run.reason).toMatchObject({ kind: 'budget' });
  });

  it('refuses a model without a price where dollars are limited', async () => {
    const { turns, asked } = rig({ usd: 100 });
    expect(await failure(turns, request({ model: 'strange' }))).toContain(
      'the price of strange is not known',
    );
    expect(asked).toEqual([]);
  });

  it('counts what is read from a cache, and prices it as such', async () => {
    const usage = { input_tokens: 10, output_tokens: 10, cache_read_input_tokens: 50_000 };
    const { spending } = rig({ tokens: 150_000 });
    const { client, asked } = fakeClient(usage);
    const turns = spending.client(client);
    await failure(turns);
    expect(spending.lastTurnNotice()).toBeDefined();
    await failure(turns);
    expect(asked).toHaveLength(2);
  });

  it('takes a call for as large as it might have been where a server counts nothing', async () => {
    const { spending } = rig({ tokens: 10_000 });
    const { client } = fakeClient({});
    const turns = spending.client(client);
    for (let turn = 0; turn < 3; turn++) expect(await failure(turns)).toBeUndefined();
    expect(spending.shouldStop(3)).toMatchObject({ kind: 'budget' });
  });

  it('refuses side jobs that would use what is kept for the last turn', async () => {
    const { turns, client, spending } = rig({ tokens: 10_000 });
    await failure(turns);
    const side = spending.side(client);
    expect(await failure(side, request({ maxTokens: 32_000 }))).toContain('10,000 tokens');
    expect(await failure(side, request({ maxTokens: 500 }))).toBeUndefined();
    expect(spending.shouldStop(1)).toBeUndefined();
  });

  it('lets the main agent complete in its last turn', async () => {
    const { turns, spending } = rig({ turns: 1 }, { isChild: false });
    await failure(turns);
    expect((await spending.runAgent(outcome(completed))).reason).toEqual(completed);
    expect(spending.shouldStop(0)).toEqual({ kind: 'max_turns', limit: 1 });
  });

  it('ends an agent whose time is up, wherever it is', async () => {
    const { spending } = rig({ seconds: 0.05 }, { now: () => performance.now() });
    const aborted = new Promise((resolve) => spending.signal?.addEventListener('abort', resolve));
    await aborted;
    const run = await spending.runAgent(outcome({ kind: 'aborted', during: 'tools' }));
    expect(run).toMatchObject({ reason: { kind: 'budget', by: 'time' }, text: 'partial' });
    spending.close();
  });

  it('has no deadline where no time is set', () => {
    expect(rig({ turns: 3 }).spending.signal).toBeUndefined();
  });

  it('is told to finish before its time is up', () => {
    let now = 0;
    const { spending } = rig({ seconds: 100 }, { now: () => now });
    expect(spending.lastTurnNotice()).toBeUndefined();
    now = 91_000;
    expect(JSON.stringify(spending.lastTurnNotice())).toContain('left: 9 seconds');
    now = 100_000;
    expect(spending.shouldStop(1)).toMatchObject({ kind: 'budget', by: 'time' });
    spending.close();
  });

  it('does not call an interruption by a person a matter of the budget', async () => {
    const { turns, spending } = rig({ turns: 1 });
    await failure(turns);
    const reason = { kind: 'aborted', during: 'streaming' } as const;
    expect((await spending.runAgent(outcome(reason))).reason).toEqual(reason);
  });
});
