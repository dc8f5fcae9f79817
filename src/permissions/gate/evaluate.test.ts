import { describe, expect, it } from 'vitest';
import { Budget } from './budget.js';
import { runPipeline } from './evaluate.js';
import { type Finding, type Guard, NOTHING, type Resolver } from './guard.js';
import type { CallView } from './view.js';

const view = { judge: { budget: new Budget() } } as CallView;
let time = 0;
const clock = { monotonic: () => time++ };
const guard = (
  name: string,
  decide: () => Promise<Finding>,
  onFailure: Guard['onFailure'] = 'deny',
): Guard => ({ name, onFailure, decide });
const opens: Resolver = {
  name: 'opens',
  decide: async () => ({ decision: 'allow', reason: 'fine' }),
};
const pipeline = (guards: readonly Guard[], resolvers: readonly Resolver[] = [opens]) => ({
  guards,
  resolvers,
  clock,
});

describe('judging a call', () => {
  it('asks all guards one after the other, in their order', async () => {
    let running = 0;
    const slow = async () => {
      running += 1;
      expect(running).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return NOTHING;
    };
    const { outcome, trace } = await runPipeline(
      view,
      pipeline([guard('slow', slow), guard('quick', async () => NOTHING), guard('last', slow)]),
    );
    expect(outcome).toMatchObject({ kind: 'allowed', by: 'opens' });
    expect(trace.map((step) => step.guard)).toEqual(['slow', 'quick', 'last', 'opens']);
    expect(trace.every(({ ms }) => ms === 1)).toBe(true);
  });

  it.each<[string, readonly Finding[], number]>([
    ['the strictest', [{ decision: 'ask' }, { decision: 'deny' }, { decision: 'defer' }], 1],
    ['the first among equals', [{ decision: 'ask' }, { decision: 'ask' }], 0],
    [
      'the one that people must read',
      [{ decision: 'ask' }, { decision: 'ask', foremost: true }, { decision: 'ask' }],
      1,
    ],
    ['a stricter one over that', [{ decision: 'ask', foremost: true }, { decision: 'deny' }], 1],
    ['one behind many that say nothing', [NOTHING, NOTHING, { decision: 'ask' }, NOTHING], 2],
  ])('is held by %s', async (_name, findings, held) => {
    const guards = findings.map((finding, index) => guard(`${index}`, async () => finding));
    const { outcome } = await runPipeline(view, pipeline(guards));
    expect(outcome).toMatchObject({ kind: 'held', by: `${held}` });
  });

  it.each(['at once', 'later'])('takes a guard that fails %s at its word', async (when) => {
    const fails = (): never => {
      throw new Error('broken');
    };
    const decide = when === 'later' ? async (): Promise<Finding> => fails() : fails;
    for (const onFailure of ['deny', 'ask'] as const) {
      const { outcome, trace } = await runPipeline(view, pipeline([guard('g', decide, onFailure)]));
      expect(outcome).toMatchObject({
        kind: 'held',
        finding: { decision: onFailure, refusal: 'guard-failed' },
      });
      expect(trace[0]).toMatchObject({ failure: 'broken' });
    }
    const deaf: Resolver = { name: 'deaf', decide: decide as () => never };
    const { outcome, trace } = await runPipeline(view, pipeline([], [deaf]));
    expect(outcome).toEqual({ kind: 'open' });
    expect(trace[0]).toMatchObject({ decision: 'pass', failure: 'broken' });
  });

  it('goes on behind one that fails at once, and says how long each took', async () => {
    const broken = (): never => {
      throw new Error('broken');
    };
    const said = await runPipeline(
      view,
      pipeline(
        [guard('fails', broken, 'ask'), guard('silent', async () => NOTHING)],
        [{ name: 'unasked', decide: broken }],
      ),
    );
    expect(said).toMatchObject({
      outcome: { kind: 'held', by: 'fails' },
      trace: [
        { guard: 'fails', decision: 'ask', ms: 1, failure: 'broken' },
        { guard: 'silent', decision: 'none', ms: 1 },
      ],
    });
    const deaf = { name: 'deaf', decide: broken };
    const unsure: Resolver = {
      name: 'unsure',
      decide: async () => ({ decision: 'pass', reason: 'why' }),
    };
    const heard = await runPipeline(
      view,
      pipeline([], [deaf, unsure, { name: 'd', decide: async () => undefined }]),
    );
    expect(heard).toEqual({
      outcome: { kind: 'open', reason: 'why' },
      trace: [
        { guard: 'deaf', decision: 'pass', ms: 1, failure: 'broken' },
        { guard: 'unsure', decision: 'pass', ms: 1, reason: 'why' },
        { guard: 'd', decision: 'pass', ms: 1 },
      ],
    });
  });

  it('lets nothing through for an answer that is none', async () => {
    const odd = { decide: (later: (value: Finding) => void) => later(NOTHING) };
    const strange = guard('strange', async () => odd as unknown as Finding);
    expect((await runPipeline(view, pipeline([strange]))).outcome.kind).toBe('held');
  });
});
