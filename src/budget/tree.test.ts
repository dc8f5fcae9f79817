import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BudgetAccount } from './account.js';
import { BudgetTree } from './tree.js';
import { type Amounts, type BudgetLimits, NOTHING, nanosOf, shortageWords } from './units.js';

const clock = { monotonic: () => 0 };
const signal = new AbortController().signal;
const amounts = (tokens: number, usd = 0): Amounts => ({ turns: 1, tokens, nanoUsd: nanosOf(usd) });
const ask = (tokens: number, keep = 0) => ({
  call: amounts(tokens),
  keep: { ...NOTHING, tokens: keep },
});
const ref = (path: string) => ({ id: path, path });

function opened(tree: BudgetTree, path: string, limits: BudgetLimits = {}) {
  const result = tree.open(ref(path), limits);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

async function reserved(account: BudgetAccount, tokens: number, keep = 0) {
  const result = await account.reserve([ask(tokens, keep)], signal);
  if (!result.ok)
    throw new Error(result.error === undefined ? 'aborted' : shortageWords(result.error));
  return result.value;
}

describe('budget tree', () => {
  it('says what the tightest budget of an agent still allows', async () => {
    const tree = new BudgetTree({ limits: { tokens: 1000, usd: 1 }, clock });
    const child = opened(tree, 'main/a#1', { tokens: 5000, turns: 4 });
    const call = await reserved(child, 600);
    call.book(amounts(600, 0.25));
    expect(tree.left('main/a#1')).toEqual({ tokens: 400, usd: 0.75, turns: 3 });
    expect(tree.left('main/b#1')).toEqual({ tokens: 400, usd: 0.75 });
    call.book(amounts(1), 'unknown-model');
    expect(tree.left('main/b#1').usd).toBe(0);
  });

  it('holds a child to what is left of everybody above it', async () => {
    const tree = new BudgetTree({ limits: { tokens: 1000 }, clock });
    const child = opened(tree, 'main/a#1', { tokens: 5000 });
    const below = opened(tree, 'main/a#1/b#1', { tokens: 300 });
    (await reserved(child, 600)).book(amounts(600));
    await expect(reserved(below, 301)).rejects.toThrow('main/a#1/b#1');
    await expect(reserved(child, 900)).rejects.toThrow('of the session');
  });

  it('gives back what a call did not use', async () => {
    const tree = new BudgetTree({ limits: { tokens: 1000 }, clock });
    const call = await reserved(tree.main, 900);
    call.book(amounts(100));
    call.end(NOTHING);
    const next = await reserved(tree.main, 900);
    next.end(NOTHING);
  });

  it('lets a call wait for those under way instead of refusing it', async () => {
    const tree = new BudgetTree({ limits: { tokens: 1000 }, clock });
    const [one, two] = [opened(tree, 'main/a#1'), opened(tree, 'main/a#2')];
    const first = await reserved(one, 800);
    let isGranted = false;
    const second = reserved(two, 800).then((reservation) => {
      isGranted = true;
      return reservation;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isGranted).toBe(false);
    first.book(amounts(10));
    first.end(NOTHING);
    (await second).end(NOTHING);
  });

  it('ends a wait that is aborted', async () => {
    const tree = new BudgetTree({ limits: { tokens: 1000 }, clock });
    await reserved(tree.main, 800);
    const controller = new AbortController();
    const waiting = tree.main.reserve([ask(800)], controller.signal);
    controller.abort();
    expect(await waiting).toEqual({ ok: false, error: undefined });
  });

  it('keeps what an agent needs for its last turn from everybody else', async () => {
    const tree = new BudgetTree({ limits: { tokens: 1000 }, clock });
    const child = opened(tree, 'main/a#1');
    const call = await reserved(tree.main, 200, 300);
    call.book(amounts(200));
    call.end({ ...NOTHING, tokens: 300 });
    await expect(reserved(child, 501)).rejects.toThrow('500 tokens left');
    (await reserved(child, 500)).book(amounts(500));
    await reserved(tree.main, 300);
  });

  it('frees what an ended agent had kept', async () => {
    const tree = new BudgetTree({ limits: { tokens: 1000 }, clock });
    const child = opened(tree, 'main/a#1');
    (await reserved(child, 100, 900)).end({ ...NOTHING, tokens: 900 });
    child.close();
    await reserved(tree.main, 1000);
  });

  it('counts agents in every budget above them', () => {
    const tree = new BudgetTree({ limits: { fanOut: 3 }, clock });
    opened(tree, 'main/a#1', { fanOut: 1 });
    opened(tree, 'main/a#1/b#1');
    expect(tree.open(ref('main/a#1/b#2'), {})).toMatchObject({
      error: 'the budget of 1 agent of main/a#1 is used up',
    });
    opened(tree, 'main/c#1');
    expect(tree.open(ref('main/c#2'), {})).toMatchObject({
      error: 'the budget of 3 agents of the session is used up',
    });
  });

  it('holds those below to a budget that the main agent is not held to', async () => {
    const tree = new BudgetTree({ limits: {}, below: { usd: 0.5 }, clock });
    const call = { call: amounts(1, 0.6), keep: NOTHING };
    const main = await tree.main.reserve([call], signal);
    expect(main.ok).toBe(true);
    expect((await opened(tree, 'main/a#1').reserve([call], signal)).ok).toBe(false);
  });

  it('refuses dollars that cannot be counted, before and after', async () => {
    const tree = new BudgetTree({ limits: { usd: 1 }, clock });
    const strange = { call: amounts(1), keep: NOTHING, unpriced: 'strange' };
    const refused = await tree.main.reserve([strange], signal);
    expect(refused).toMatchObject({ error: { unpriced: 'strange' } });
    const call = await reserved(tree.main, 1);
    call.book(amounts(1), 'other');
    call.end(NOTHING);
    await expect(reserved(tree.main, 1)).rejects.toThrow('the price of other is not known');
  });

  it('does not begin anew with an agent that is gone on with', async () => {
    const tree = new BudgetTree({ limits: {}, clock });
    const child = opened(tree, 'main/a#1', { tokens: 100 });
    const call = await reserved(child, 60);
    call.book(amounts(60));
    call.end(NOTHING);
    child.close();
    await expect(reserved(opened(tree, 'main/a#1', { tokens: 100 }), 41)).rejects.toThrow(
      '40 tokens',
    );
    const other = tree.open({ id: 'another', path: 'main/a#1' }, { tokens: 100 });
    expect(other.ok).toBe(true);
  });

  it('finds the budget above an agent whose parent is forgotten', async () => {
    const tree = new BudgetTree({ limits: {}, clock });
    opened(tree, 'main/a#1', { tokens: 100 });
    opened(tree, 'main/a#1/b#1').close();
    await expect(reserved(opened(tree, 'main/a#1/b#1/c#1'), 101)).rejects.toThrow('main/a#1');
  });

  it('counts time only while somebody works', () => {
    let now = 0;
    const tree = new BudgetTree({ limits: { seconds: 10 }, clock: { monotonic: () => now } });
    now = 60_000;
    expect(tree.main.time()?.left).toBe(10);
    tree.main.enter();
    const child = opened(tree, 'main/a#1', { seconds: 3 });
    now += 2_000;
    expect(child.time()).toEqual({ limit: 3, left: 1, path: 'main/a#1' });
    tree.main.leave();
    now += 2_000;
    child.close();
    now += 60_000;
    expect(tree.main.time()?.left).toBe(6);
  });
});

const unitLimits = fc.record(
  {
    turns: fc.integer({ min: 1, max: 30 }),
    tokens: fc.integer({ min: 1, max: 5000 }),
    usd: fc.float({ min: Math.fround(0.001), max: 5, noNaN: true }),
  },
  { requiredKeys: [] },
);

/** An agent with its parent's index, and what its calls reserve and use. */
const agentPlan = fc.record({
  above: fc.nat(7),
  limits: unitLimits,
  calls: fc.array(
    fc.record({
      tokens: fc.integer({ min: 1, max: 1500 }),
      usd: fc.float({ min: 0, max: 1, noNaN: true }),
      keep: fc.integer({ min: 0, max: 500 }),
      share: fc.float({ min: 0, max: 1, noNaN: true }),
      steps: fc.nat(3),
    }),
    { maxLength: 8 },
  ),
});

describe('budgets of agents that run side by side', () => {
  it('are never overspent, by any of them or all together', async () => {
    await fc.assert(
      fc.asyncProperty(
        unitLimits,
        fc.array(agentPlan, { minLength: 1, maxLength: 8 }),
        async (session, plans) => {
          const tree = new BudgetTree({ limits: session, clock });
          const paths = ['main'];
          const limits: BudgetLimits[] = [session];
          const spent = new Map<string, Amounts>();
          await Promise.all(
            plans.map(async (plan, number) => {
              const path = `${paths[Math.min(plan.above, paths.length - 1)]}/x#${number}`;
              const account = tree.open(ref(path), plan.limits);
              paths.push(path);
              limits.push(plan.limits);
              if (!account.ok) return;
              for (const call of plan.calls) {
                const wish = {
                  call: amounts(call.tokens, call.usd),
                  keep: { turns: 1, tokens: call.keep, nanoUsd: 0 },
                };
                const granted = await account.value.reserve([wish], signal);
                for (let step = 0; step < call.steps; step++) await Promise.resolve();
                if (!granted.ok) continue;
                const used: Amounts = {
                  turns: 1,
                  tokens: Math.floor(call.tokens * call.share),
                  nanoUsd: Math.floor(wish.call.nanoUsd * call.share),
                };
                granted.value.book(used);
                granted.value.end(call.share > 0.5 ? wish.keep : NOTHING);
                const before = spent.get(path) ?? NOTHING;
                spent.set(path, {
                  turns: before.turns + 1,
                  tokens: before.tokens + used.tokens,
                  nanoUsd: before.nanoUsd + used.nanoUsd,
                });
              }
              account.value.close();
            }),
          );
          for (const [index, path] of paths.entries()) {
            const below = [...spent].filter(([one]) => one === path || one.startsWith(`${path}/`));
            const sum = (unit: keyof Amounts) => below.reduce((all, [, one]) => all + one[unit], 0);
            const { turns = Infinity, tokens = Infinity, usd = Infinity } = limits[index] ?? {};
            expect(sum('turns')).toBeLessThanOrEqual(turns);
            expect(sum('tokens')).toBeLessThanOrEqual(tokens);
            expect(sum('nanoUsd')).toBeLessThanOrEqual(usd * 1e9 + 1e-3);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
