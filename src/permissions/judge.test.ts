import { describe, expect, it } from 'vitest';
import type { Finding, Guard, Resolver } from './guard.js';
import { NOTHING } from './guard.js';
import { judge } from './judge.js';
import type { CallView } from './view.js';

const view = {} as CallView;
let time = 0;
const clock = { monotonic: () => time++ };
const guard = (
  name: string,
  decide: () => Finding | Promise<Finding>,
  onFailure: Guard['onFailure'] = 'deny',
): Guard => ({ name, onFailure, decide });
const opens: Resolver = { name: 'opens', decide: () => ({ decision: 'allow', reason: 'fine' }) };
const panel = (guards: readonly Guard[], resolvers: readonly Resolver[] = [opens]) => ({
  guards,
  resolvers,
  clock,
});

describe('judging a call', () => {
  it('asks all guards, those that answer at once and those that do not, in their order', async () => {
    const { outcome, trace } = await judge(
      view,
      panel([
        guard('at once', () => NOTHING),
        guard('later', async () => NOTHING),
        guard('again at once', () => NOTHING),
      ]),
    );
    expect(outcome).toMatchObject({ kind: 'allowed', by: 'opens' });
    expect(trace.map((step) => step.guard)).toEqual(['at once', 'later', 'again at once', 'opens']);
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
    const sync = findings.map((finding, index) => guard(`${index}`, () => finding));
    const later = findings.map((finding, index) => guard(`${index}`, async () => finding));
    for (const guards of [sync, later]) {
      const { outcome } = await judge(view, panel(guards));
      expect(outcome).toMatchObject({ kind: 'held', by: `${held}` });
    }
  });

  it.each(['at once', 'later'])('takes a guard that fails %s at its word', async (when) => {
    const fails = (): never => {
      throw new Error('broken');
    };
    const decide = when === 'later' ? async (): Promise<Finding> => fails() : fails;
    for (const onFailure of ['deny', 'ask'] as const) {
      const { outcome, trace } = await judge(view, panel([guard('g', decide, onFailure)]));
      expect(outcome).toMatchObject({
        kind: 'held',
        finding: { decision: onFailure, refusal: 'guard-failed' },
      });
      expect(trace[0]).toMatchObject({ failure: 'broken' });
    }
    const deaf: Resolver = { name: 'deaf', decide: decide as () => never };
    const { outcome, trace } = await judge(view, panel([], [deaf]));
    expect(outcome).toEqual({ kind: 'open' });
    expect(trace[0]).toMatchObject({ decision: 'pass', failure: 'broken' });
  });

  it('hears those who have nothing to say alike, however they say it', async () => {
    const none: Finding = { decision: 'none' };
    const silences: readonly Guard['decide'][] = [
      () => NOTHING,
      () => none,
      async () => NOTHING,
      async () => none,
    ];
    const shrugs: readonly Resolver['decide'][] = [() => undefined, async () => undefined];
    for (const decide of silences) {
      for (const pass of shrugs) {
        const guards = ['a', 'b'].map((name) => guard(name, decide as () => Finding));
        const resolvers = ['c', 'd'].map((name) => ({ name, decide: pass }));
        expect(await judge(view, panel(guards, resolvers))).toEqual({
          outcome: { kind: 'open' },
          trace: [
            { guard: 'a', decision: 'none', ms: 1 },
            { guard: 'b', decision: 'none', ms: 1 },
            { guard: 'c', decision: 'pass', ms: 1 },
            { guard: 'd', decision: 'pass', ms: 1 },
          ],
        });
      }
    }
  });

  it('goes on behind one that fails at once, and says how long each took', async () => {
    const broken = (): never => {
      throw new Error('broken');
    };
    const said = judge(
      view,
      panel(
        [guard('fails', broken, 'ask'), guard('silent', () => NOTHING)],
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
      decide: () => ({ decision: 'pass', reason: 'why' }),
    };
    const heard = judge(view, panel([], [deaf, unsure, { name: 'd', decide: () => undefined }]));
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
    const strange = guard('strange', () => odd as unknown as Finding);
    expect((await judge(view, panel([strange]))).outcome.kind).toBe('held');
  });
});
