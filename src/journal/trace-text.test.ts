import { describe, expect, it } from 'vitest';
import type { TraceStep } from '../protocol/permissions.js';
import { learnSecrets } from '../util/redact.js';
import { traceText } from './trace-text.js';

const silent = (guard: string, ms?: number, decision: TraceStep['decision'] = 'none'): TraceStep =>
  ms === undefined ? { guard, decision } : { guard, decision, ms };

describe('the text of a trace', () => {
  it.each<[string, readonly TraceStep[]]>([
    ['nobody', []],
    ['one who is silent', [silent('a', 0.001)]],
    ['a guard and a resolver of one name', [silent('a', 0.002), silent('a', 0.002, 'pass')]],
    [
      'one that is silent and still holds the call',
      [silent('a', 0.001, 'ask'), silent('a', 0.001)],
    ],
    [
      'times of every kind',
      [0, -0, 0.001, 0.0014, 0.099, 0.1, 12.345, 1e9, -1, 1e-9].map((ms) => silent('a', ms)),
    ],
    [
      'times that are none',
      [silent('a'), silent('a', Number.NaN), silent('a', Number.POSITIVE_INFINITY)],
    ],
    [
      'names from outside',
      ['"', '\\', '\n', '\ud800', '__proto__', 'constructor', ''].map((name) =>
        silent(name, 0.001),
      ),
    ],
    [
      'those who say something among those who do not',
      [
        { guard: 'a', decision: 'deny', ms: 1, reason: 'r "x"', source: 's', failure: 'f' },
        silent('b', 0.003),
        { guard: 'b', decision: 'none', ms: 0.003, reason: 'why' },
        { guard: 'b', decision: 'none', ms: 0.003, source: 'where' },
        { guard: 'b', decision: 'pass', ms: 0.003, failure: 'broken' },
        { guard: 'b', decision: 'allow', ms: 0.003 },
      ],
    ],
  ])('is the JSON of it, the first time and later: %s', (_name, trace) => {
    for (let time = 0; time < 3; time++) expect(traceText(trace)).toBe(JSON.stringify(trace));
  });

  it('is the JSON of it for more guards and times than are remembered', () => {
    const guards = Array.from({ length: 250 }, (_, at) => `guard ${at}`);
    for (const ms of [0.001, 0.002, 0.101, 0.001]) {
      const trace = guards.flatMap((guard) => [silent(guard, ms), silent(guard, ms, 'pass')]);
      expect(traceText(trace)).toBe(JSON.stringify(trace));
    }
  });

  it('holds no secret that a guard goes by, not even one that is learned later', () => {
    const later = 'Xerxes-9-Umbrella';
    const names = [`hook curl -H "x-api-key: sk-ant-${'x'.repeat(40)}"`, `hook sign-in ${later}`];
    const trace = names.flatMap((name) => [
      silent(name, 0.001),
      silent(name, 0.001, 'pass'),
      silent(name, 1.5),
      silent(name, 0.001, 'deny'),
    ]);
    expect(traceText(trace)).not.toContain('sk-ant-');
    learnSecrets([later]);
    const text = traceText(trace);
    expect(text).not.toContain(later);
    expect(JSON.parse(text)[4]).toEqual(silent('hook sign-in [redacted]', 0.001));
  });

  it('holds no secret that somebody quotes', () => {
    const key = `sk-ant-${'x'.repeat(40)}`;
    for (const field of ['reason', 'source', 'failure'] as const) {
      const step: TraceStep = { guard: 'a', decision: 'none', ms: 0.001, [field]: `the ${key}` };
      const text = traceText([silent('a', 0.001), step]);
      expect(JSON.parse(text)).toEqual([
        silent('a', 0.001),
        { ...step, [field]: 'the [redacted]' },
      ]);
    }
  });
});
