import { describe, expect, it } from 'vitest';
import { type AgentUsage, priorUsageOf } from '../../budget/earlier.js';
import { UsageLedger } from '../../model/usage.js';
import type { TranscriptEntry } from '../../protocol/transcript.js';
import { SYNTHETIC_MODEL } from '../../session/recorder.js';
import { INTERRUPTED_RESULT } from '../../session/transcript/messages.js';
import { restoreSpending, usageIn } from './earlier-agents.js';

const at = (seconds: number) => new Date(1_000_000 + seconds * 1000).toISOString();
let count = 0;
const base = (seconds: number) => ({
  uuid: `u${++count}`,
  parentUuid: null,
  sessionId: 's',
  timestamp: at(seconds),
});
const usage = (input_tokens: number) => ({
  input_tokens,
  output_tokens: 1,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 9,
});
const prompt = (seconds: number): TranscriptEntry => ({
  ...base(seconds),
  type: 'user',
  message: { role: 'user', content: 'go' },
});
const result = (seconds: number, content = 'x'): TranscriptEntry => ({
  ...base(seconds),
  type: 'user',
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content }] },
});
const answer = (seconds: number, id: string, model = 'm'): TranscriptEntry => ({
  ...base(seconds),
  type: 'assistant',
  message: {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: 'a' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: usage(10),
  },
});
const use = (path: string, entries: readonly TranscriptEntry[]) => usageIn(entries, path);
const price = (_model: string, { input_tokens }: { readonly input_tokens: number }) => input_tokens;

describe('what a transcript says that was used up', () => {
  it('counts every answer once, with all its tokens, and summaries', () => {
    const boundary: TranscriptEntry = {
      ...base(9),
      type: 'system',
      subtype: 'compact_boundary',
      compactMetadata: { trigger: 'auto', preTokens: 500 },
    };
    const main = use('main', [prompt(0), answer(1, 'a'), answer(1, 'a'), answer(3, 'b'), boundary]);
    expect(priorUsageOf([main], 'main', price)).toMatchObject({
      spent: { turns: 3, tokens: 20 + 20 + 500, nanoUsd: 520e9 },
      unpriced: undefined,
    });
  });

  it('leaves out copies, and what the program said', () => {
    const copy = { ...answer(1, 'c'), forkedFrom: { sessionId: 'o', messageUuid: 'x' } };
    const main = use('main', [prompt(0), copy, answer(2, 'd', SYNTHETIC_MODEL)]);
    expect(main.calls).toEqual([]);
  });

  it('counts calls whose time cannot be read, and no time for them', () => {
    const timeless = { ...answer(0, 'b'), timestamp: 'yesterday' };
    const main = use('main', [prompt(0), answer(2, 'a'), timeless, answer(3, 'c')]);
    expect(priorUsageOf([main], 'main', price)).toMatchObject({ spent: { turns: 3 }, seconds: 3 });
  });

  it('counts time in which somebody worked, once, and none between prompts', () => {
    const main = use('main', [
      prompt(0),
      answer(2, 'a'),
      result(10),
      answer(11, 'b'),
      prompt(5_000),
      answer(5_001, 'c'),
      // Written when the session was resumed after its process had died.
      result(9_000, INTERRUPTED_RESULT),
      prompt(9_000),
    ]);
    const child = use('main/a#1', [prompt(3), answer(9, 'd')]);
    expect(priorUsageOf([main, child], 'main', price).seconds).toBe(12);
    expect(priorUsageOf([main, child], 'main/a#1', price).seconds).toBe(6);
  });

  it('is that of an agent and of all below it, and of nobody else', () => {
    const uses = ['main', 'main/a#1', 'main/a#1/b#1', 'main/a#12'].map((path) =>
      use(path, [prompt(0), answer(1, path)]),
    );
    const turns = (path: string) => {
      const { spent, started } = priorUsageOf(uses, path, price);
      return [spent.turns, started];
    };
    expect(turns('main')).toEqual([4, 3]);
    expect(turns('main/a#1')).toEqual([2, 1]);
    expect(priorUsageOf(uses, 'main', () => undefined).unpriced).toBe('m');
  });
});

describe('what counts as earlier', () => {
  it('is what was there when the session was opened, whatever the clock said', async () => {
    const before = [prompt(0), answer(1, 'a'), answer(Date.now() / 1000 + 1e6, 'of a clock ahead')];
    const files = new Map<string | undefined, readonly TranscriptEntry[]>([
      [undefined, [...before, prompt(2), answer(3, 'new')]],
      ['old', [prompt(0), answer(Date.now() / 1000 + 1e6, 'b')]],
      ['young', [prompt(0), answer(1, 'c')]],
    ]);
    let uses: readonly AgentUsage[] = [];
    const store = {
      read: async (_: string, agentId?: string) => ({ entries: files.get(agentId) ?? [] }),
    };
    const history = { sessionId: 's', usedUuids: before.map(({ uuid }) => uuid) };
    const log = { store, history } as unknown as Parameters<typeof restoreSpending>[1];
    const recall = (given: readonly AgentUsage[]): void => {
      uses = given;
    };
    const ledger = new UsageLedger();
    const counters = { budget: { recall }, ledger, client: { provider: 'anthropic' } };
    await restoreSpending(counters, { ...log, earlierAgents: Promise.resolve(['old']) });
    expect(uses.map(({ path, calls }) => [path, calls.length])).toEqual([
      ['main', 2],
      ['main/old', 1],
    ]);
    expect([...ledger.byAgent()].map(([path, { requests }]) => [path, requests])).toEqual([
      ['main', 2],
      ['main/old', 1],
    ]);
  });
});
