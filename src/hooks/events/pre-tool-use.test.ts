import { describe, expect, it } from 'vitest';
import type { FakeHook, Said, Says } from '../../../test/support/fake-hooks.js';
import { gateRig } from '../../../test/support/gate-rig.js';
import {
  answers,
  command,
  preToolUseRigs,
  READ,
  rewrites,
  says,
} from '../../../test/support/pre-tool-use-rig.js';
import { createHookPrecheck, PRE_TOOL_USE_HOOKS } from './pre-tool-use.js';

const { project, rig } = preToolUseRigs();

const fails =
  (more: Partial<Said> = {}) =>
  (): Said => ({
    failure: { cause: 'timeout', message: 'no answer in time' },
    ms: 5012,
    ...more,
  });

describe('who is asked', () => {
  it('nobody where no hook is for the tool', async () => {
    const { call, fired } = rig({ h: { matcher: 'Write', says: says('deny') } });
    expect((await call('Bash', command('echo hi'))).kind).toBe('allowed');
    expect(fired).toEqual([]);
  });

  it('all at once, with the call, the mode and the way to their `if`', async () => {
    let waiting = 0;
    let release: () => void = () => undefined;
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    const together: Says = async () => {
      if (++waiting === 2) release();
      await both;
      return {};
    };
    const { call, fired } = rig({ a: together, b: together }, { mode: 'acceptEdits' });
    const verdict = await call('Bash', command('echo hi'));
    expect(fired).toMatchObject([
      {
        agent: { path: 'main' },
        cwd: project.directory,
        mode: 'acceptEdits',
        matched: ['Bash'],
        toolUseId: 'toolu_1',
        fields: {
          tool_name: 'Bash',
          tool_input: { command: 'echo hi' },
          tool_use_id: 'toolu_1',
        },
      },
    ]);
    expect(await fired[0]?.fits?.('Bash(echo *)')).toBe(true);
    expect(verdict.receipt.trace.slice(0, 2)).toEqual([
      { guard: 'a', decision: 'pass', source: 'PreToolUse * /settings.json:7', ms: 0 },
      { guard: 'b', decision: 'pass', source: 'PreToolUse * /settings.json:7', ms: 0 },
    ]);
  });

  it('is refused when asking itself breaks', async () => {
    const { call } = gateRig({
      cwd: project.directory,
      home: project.home,
      precheck: createHookPrecheck(
        { has: () => true, fire: () => Promise.reject(new Error('BROKEN')) },
        { ifRule: () => async () => true },
      ),
    });
    expect(await call(...READ)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('BROKEN'),
    });
  });
});

describe('the strictest answer wins', () => {
  it.each([
    [['deny', 'allow'], 'deny'],
    [['allow', 'deny'], 'deny'],
    [['ask', 'deny'], 'deny'],
    [['defer', 'deny'], 'deny'],
    [['ask', 'defer'], 'defer'],
    [['allow', 'ask'], 'ask'],
    [['allow', 'allow'], 'allow'],
    [['none', 'allow'], 'allow'],
  ] as const)('%j: %s', async (decisions, expected) => {
    const hooks = Object.fromEntries(decisions.map((one, index) => [`h${index}`, says(one)]));
    const verdict = await rig(hooks).call('Bash', command('npm test'));
    const asked = verdict.kind === 'refused' && verdict.unanswered === true;
    expect(asked ? 'ask' : verdict.receipt.decision).toBe(expected);
    expect(verdict.kind === 'refused' && verdict.deferred === true).toBe(expected === 'defer');
  });

  it('in the words of all who gave it, as they are declared', async () => {
    const { call } = rig({
      slow: async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return { answer: { decision: 'deny', reason: 'FIRST' } };
      },
      other: says('ask', 'UNHEARD'),
      quick: says('deny', 'SECOND'),
      mute: says('deny'),
    });
    const verdict = await call(...READ);
    expect(verdict).toMatchObject({
      kind: 'refused',
      message: 'Read was refused: FIRST\nSECOND\nmute said no.',
      receipt: { decidedBy: PRE_TOOL_USE_HOOKS },
    });
    expect(verdict.receipt.trace.slice(0, 4).map(({ decision }) => decision)).toEqual([
      'deny',
      'ask',
      'deny',
      'deny',
    ]);
  });
});

describe('a yes', () => {
  it('opens what nothing holds', async () => {
    const verdict = await rig({ a: says('allow', 'WHY'), b: says('allow') }).call(
      'Bash',
      command('npm test'),
    );
    expect(verdict).toMatchObject({
      kind: 'allowed',
      receipt: { decidedBy: PRE_TOOL_USE_HOOKS, reason: 'a, b: WHY' },
    });
  });

  it.each([
    [{ deny: ['Bash(npm *)'] }, 'denied'],
    [{ ask: ['Bash(npm *)'] }, 'asks'],
    [{ ask: ['Bash(npm *)'], mode: 'dontAsk' }, 'asks'],
  ] as const)('does not beat the rules %j', async (rules, expected) => {
    expect(await rig({ h: says('allow') }, rules).bash('npm test')).toBe(expected);
  });

  it('does not open protected paths', async () => {
    const { outcome } = rig({ h: says('allow') });
    expect(await outcome('Write', { file_path: '.git/config', content: '' })).toBe('asks');
  });

  it('is not enough in plan mode, where a rule is', async () => {
    const plan = { mode: 'plan' } as const;
    expect(await rig({ h: says('allow') }, plan).bash('npm test')).toBe('asks');
    const write = { file_path: 'new.txt', content: '' };
    expect(await rig({ h: says('allow') }, plan).outcome('Write', write)).toBe('asks');
    const ruled = rig({ h: says('allow') }, { ...plan, allow: ['Bash(npm *)'] });
    expect(await ruled.bash('npm test')).toBe('runs');
  });

  it.each<[string, FakeHook]>([
    ['a hook that may only restrict', { restrictOnly: true, says: says('allow') }],
    ['a hook that ended with an error', { says: () => ({ complaint: 'oops', ...yes() }) }],
    ['a hook that goes on by itself', { says: answers({ decision: 'allow', asyncMs: 1000 }) }],
    [
      'a restricting hook, with its own input',
      { restrictOnly: true, says: rewrites(command('npm run x'), 'allow') },
    ],
  ])('counts for nothing from %s', async (_name, hook) => {
    expect(await rig({ h: hook }).bash('npm test')).toBe('asks');
  });

  const yes = says('allow');
});

describe('a no', () => {
  it.each([
    ['deny', { mode: 'bypassPermissions' }],
    ['deny', { allow: ['Bash'] }],
    ['ask', { mode: 'bypassPermissions' }],
    ['ask', { allow: ['Bash'] }],
    ['defer', { allow: ['Bash'] }],
  ] as const)('%s beats %j', async (decision, options) => {
    expect(await rig({ h: says(decision) }, options).bash('echo hi')).toBe('asks');
  });

  it('of a rule beats a hook that puts the call off', async () => {
    const verdict = await rig({ h: says('defer') }, { deny: ['Bash(npm *)'] }).call(
      'Bash',
      command('npm test'),
    );
    expect(verdict).toMatchObject({ receipt: { decision: 'deny' } });
    expect(verdict).toMatchObject({ deferred: undefined });
  });

  it('counts from a hook that may only restrict, that complains, that goes on', async () => {
    for (const hook of [
      { restrictOnly: true, says: says('deny') },
      { says: (): Said => ({ complaint: 'oops', answer: { decision: 'deny' } }) },
      { says: answers({ decision: 'deny', asyncMs: 1000 }) },
    ]) {
      expect((await rig({ h: hook }).call(...READ)).kind).toBe('refused');
    }
  });

  it('ends the turn when it wants to, and the call does not run', async () => {
    const { call } = rig({ h: answers({ stop: 'ENOUGH' }) });
    expect(await call(...READ)).toMatchObject({ kind: 'refused', stop: 'ENOUGH' });
    const beside = rig({ a: says('deny', 'NO'), b: answers({ stop: 'DONE' }) });
    expect(await beside.call(...READ)).toMatchObject({
      stop: 'DONE',
      message: expect.stringContaining('NO'),
    });
    const allowed = rig({ h: answers({ decision: 'allow', stop: 'ENOUGH' }) });
    expect((await allowed.call(...READ)).kind).toBe('refused');
  });

  it('of a model ends the turn with its reason', async () => {
    const { call } = rig({ h: answers({ decision: 'deny', reason: 'UNSAFE', endsTurn: true }) });
    expect(await call(...READ)).toMatchObject({ kind: 'refused', stop: 'UNSAFE' });
    const goesOn = rig({ h: says('deny', 'UNSAFE') });
    expect(await goesOn.call(...READ)).toMatchObject({ stop: undefined });
  });
});

describe('a failure', () => {
  it('refuses, and says which guard, why, its limit and its time', async () => {
    const verdict = await rig({ 'guard.sh': fails() }, { mode: 'bypassPermissions' }).call(...READ);
    expect(verdict).toMatchObject({ kind: 'refused', receipt: { decision: 'deny' } });
    expect(verdict.kind === 'refused' && verdict.message).toBe(
      'Read was refused because the guard failed: guard.sh gave no verdict (timeout: no answer in time; limit 5 s, used 5.012 s). A guard that cannot answer refuses; tell the user.',
    );
    expect(verdict.receipt.trace[0]).toMatchObject({
      guard: 'guard.sh',
      decision: 'deny',
      failure: 'timeout: no answer in time',
      ms: 5012,
    });
  });

  it('beside a no is told, and the no is what the model hears of', async () => {
    const verdict = await rig({ a: fails(), b: says('deny', 'POLICY') }).call(...READ);
    expect(verdict).toMatchObject({
      message: expect.stringMatching(/^Read was refused: the guard failed: a .*\nPOLICY\.$/s),
    });
  });

  it('passes where the hook was made so, and is in the receipt', async () => {
    const verdict = await rig({ h: { onFailure: 'continue', says: fails() } }).call(...READ);
    expect(verdict.kind).toBe('allowed');
    expect(verdict.receipt.trace[0]).toMatchObject({
      decision: 'pass',
      failure: expect.stringContaining('timeout'),
    });
  });

  it('is also a throw, and an input that is none', async () => {
    const throws: Says = () => Promise.reject(new Error('BOOM'));
    for (const hook of [throws, rewrites('rm', 'allow'), rewrites([], 'allow')]) {
      expect(await rig({ h: hook }).call(...READ)).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('the guard failed'),
      });
    }
  });

  it('an interrupted turn is no verdict', async () => {
    const turn = new AbortController();
    const { call } = rig(
      {
        h: ({ signal }) => {
          turn.abort(new Error('interrupted'));
          signal.throwIfAborted();
          return {};
        },
      },
      { signal: turn.signal },
    );
    expect((await call(...READ)).kind).toBe('refused');
  });
});
