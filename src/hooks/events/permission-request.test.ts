import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  type FakeHook,
  fakeHooks,
  type Said,
  type Says,
} from '../../../test/support/fake-hooks.js';
import { gateRig, type RigOptions } from '../../../test/support/gate-rig.js';
import type { AskAnswer, Asker, GateCall } from '../../permissions/gate/types.js';
import { PERMISSION_MODES } from '../../protocol/permissions.js';
import { makeTempProject } from '../../testing/temp-project.js';
import type { HookAnswer } from '../registry/hook.js';
import { createHookAsker, PERMISSION_REQUEST_HOOKS } from './permission-request.js';
import { createHookPrecheck } from './pre-tool-use.js';

const project = makeTempProject();
afterAll(() => project.remove());

const ifRule = () => async () => true;

/** A gate whose questions go to these hooks as well, by label. */
function rig(hooks: Readonly<Record<string, FakeHook | Says>>, options: Partial<RigOptions> = {}) {
  const { dispatch, fired } = fakeHooks('PermissionRequest', hooks);
  const around = createHookAsker(dispatch, { ifRule });
  const gate = gateRig({ cwd: project.directory, home: project.home, around, ...options });
  return { ...gate, fired, around };
}

/** One call that nothing allows. */
const ask = (hooks: Readonly<Record<string, FakeHook | Says>>, options: Partial<RigOptions> = {}) =>
  rig(hooks, options).call('Bash', { command: 'npm test' });

const answers = (answer: Partial<HookAnswer>) => (): Said => ({ answer });
const decides = (decision: unknown) => answers({ fields: { decision } });
const yes = decides({ behavior: 'allow' });
const no = decides({ behavior: 'deny', message: 'NO' });
const mute = (): Said => ({});

const never: Asker = ({ call }) =>
  new Promise((_resolve, reject) => {
    call.signal.addEventListener('abort', () => reject(new Error('withdrawn')));
  });
const person = (answer: AskAnswer) => async (): Promise<AskAnswer> => answer;

describe('PermissionRequest hooks', () => {
  it('decide beside a person; the first decision counts and the other question is withdrawn', async () => {
    let withdrawn = false;
    const asker: Asker = (request) => {
      request.call.signal.addEventListener('abort', () => {
        withdrawn = true;
      });
      return never(request);
    };
    const verdict = await ask({ h: yes }, { asker });
    expect(verdict).toMatchObject({
      kind: 'allowed',
      receipt: { decidedBy: PERMISSION_REQUEST_HOOKS },
    });
    expect(verdict.receipt.trace.slice(-2)).toMatchObject([
      { guard: 'h', decision: 'allow', ms: 0 },
      { guard: 'asker', decision: 'allow', source: PERMISSION_REQUEST_HOOKS },
    ]);
    expect(withdrawn).toBe(true);
  });

  it('are one asker for the same agent and person, and forget agents that are gone', () => {
    const { dispatch } = fakeHooks('PermissionRequest', { h: yes });
    const around = createHookAsker(dispatch, { ifRule });
    const call = (name: string) =>
      ({ agent: { path: `main/${name}` }, tool: { name: 'Bash' } }) as unknown as GateCall;
    const first = around(call('a'), never);
    expect(around(call('a'), never)).toBe(first);
    expect(around(call('a'), undefined)).not.toBe(first);
    for (let at = 0; at < 1000; at++) around(call(`b${at}`), never);
    expect(around(call('a'), never)).not.toBe(first);
  });

  it('lose against a person who is quicker, and are let finish', async () => {
    let withdrawn = false;
    let finish: (said: Said) => void = () => undefined;
    const slow: Says = ({ signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          withdrawn = true;
        });
        finish = resolve;
      });
    const asker = person({ behavior: 'deny', message: 'PERSON' });
    expect(await ask({ slow }, { asker })).toMatchObject({
      kind: 'refused',
      message: 'PERSON',
      receipt: { decidedBy: 'asker' },
    });
    finish(await yes());
    expect(withdrawn).toBe(false);
  });

  it('leave it to the person when they have no opinion, and stay in the receipt', async () => {
    const slowly: Asker = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { behavior: 'allow' };
    };
    const verdict = await ask({ h: mute }, { asker: slowly });
    expect(verdict).toMatchObject({ kind: 'allowed', receipt: { decidedBy: 'asker' } });
    expect(verdict.receipt.trace.at(-2)).toMatchObject({ guard: 'h', decision: 'pass' });
  });

  it('without an opinion and without a person refuse, with what would help', async () => {
    expect(await ask({ h: mute })).toMatchObject({
      kind: 'refused',
      unanswered: true,
      message: expect.stringMatching(
        /^The PermissionRequest hooks gave no decision\. Bash requires approval, and no person is here.*the rule Bash\(npm test/s,
      ),
      receipt: { decidedBy: 'nobody to ask' },
    });
  });

  it('hear what was suggested, and no id of the call', async () => {
    const { call, fired } = rig({ h: no });
    await call('Bash', { command: 'npm test' });
    expect(fired).toMatchObject([
      {
        toolUseId: 'toolu_1',
        mode: 'default',
        fields: {
          tool_name: 'Bash',
          tool_input: { command: 'npm test' },
          permission_suggestions: [
            { type: 'addRules', behavior: 'allow', destination: 'localSettings' },
          ],
        },
      },
    ]);
    expect(fired[0]?.fields).not.toHaveProperty('tool_use_id');
    expect(await fired[0]?.fits?.('Bash')).toBe(true);
  });

  it('are left alone where none is for the tool', async () => {
    const { around } = rig({ h: { matcher: 'Write', says: yes } });
    const call = { tool: { name: 'Bash' } } as GateCall;
    expect(around(call, undefined)).toBeUndefined();
    expect(around(call, never)).toBe(never);
  });

  it('are one question when the same call is asked about twice at once', async () => {
    const { call, fired } = rig({ h: yes });
    const both = await Promise.all([
      call('Bash', { command: 'npm test' }),
      call('Bash', { command: 'npm test' }),
    ]);
    expect(both.map(({ kind }) => kind)).toEqual(['allowed', 'allowed']);
    expect(fired).toHaveLength(1);
  });

  it('are asked for each agent: another one may have other hooks', () => {
    const { around } = rig({ h: yes });
    const tool = { name: 'Bash' };
    const by = (path: string) => around({ tool, agent: { path } } as GateCall, never);
    expect(by('main')).toBe(by('main'));
    expect(by('main')).not.toBe(by('main/reviewer#1'));
  });
});

describe('when they are asked', () => {
  it('about ask rules, not about deny rules', async () => {
    const { bash, fired } = rig({ h: yes }, { ask: ['Bash(mkdir *)'], deny: ['Bash(touch *)'] });
    expect(await bash('touch x')).toBe('denied');
    expect(fired).toEqual([]);
    expect(await bash('mkdir d')).toBe('runs');
    expect(fired).toHaveLength(1);
  });

  it('in vain for a yes to a critical removal', async () => {
    const { bash } = rig({ h: yes });
    for (const command of ['rm -rf ~', 'rm -rf /', 'rm -rf "$HOME"'])
      expect(await bash(command), command).toBe('asks');
  });

  it.each<[string, Partial<RigOptions>, string]>([
    ['plan mode', { mode: 'plan' }, 'a.txt'],
    ['a protected path', {}, '.git/config'],
    ['a protected path that an ask rule is about, too', { ask: ['Write'] }, '.git/config'],
  ])(
    'in vain for a yes to what %s holds; their no counts, and a person’s yes',
    async (_, options, file) => {
      const write = { file_path: file, content: '' };
      const alone = rig({ h: yes }, options);
      expect(await alone.call('Write', write)).toMatchObject({ kind: 'refused', unanswered: true });
      const refusing = { ...options, asker: person({ behavior: 'deny', message: 'PERSON' }) };
      expect(await rig({ h: yes }, refusing).call('Write', write)).toMatchObject({
        kind: 'refused',
        message: 'PERSON',
      });
      expect(await rig({ h: no }, { ...options, asker: never }).call('Write', write)).toMatchObject(
        {
          kind: 'refused',
          message: 'NO',
        },
      );
      const agreeing: Asker = async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return { behavior: 'allow' };
      };
      const attended = rig({ h: yes }, { ...options, asker: agreeing });
      expect((await attended.call('Write', write)).kind).toBe('allowed');
    },
  );

  it('never in mode dontAsk', async () => {
    const { call, fired } = rig({ h: yes }, { mode: 'dontAsk' });
    expect(await call('Bash', { command: 'npm test' })).toMatchObject({
      kind: 'refused',
      unanswered: true,
      receipt: { decidedBy: 'mode dontAsk' },
    });
    expect(fired).toEqual([]);
  });

  it('in vain for a yes to what a PreToolUse hook wants a person to decide', async () => {
    const { dispatch } = fakeHooks('PreToolUse', {
      pre: answers({ decision: 'ask', reason: 'LOOK' }),
    });
    const precheck = createHookPrecheck(dispatch, { ifRule });
    const alone = rig({ h: yes }, { precheck, allow: ['Bash'] });
    expect(await alone.call('Bash', { command: 'ls' })).toMatchObject({
      kind: 'refused',
      unanswered: true,
      message: expect.stringMatching(/person to decide.*LOOK/),
    });
    expect(alone.fired).toEqual([]);
    const attended = rig(
      { h: yes },
      { precheck, asker: person({ behavior: 'deny', message: 'n' }) },
    );
    expect(await attended.bash('ls')).not.toBe('runs');
    const held = rig({ h: no }, { precheck, asker: () => new Promise(() => undefined) });
    expect(await held.bash('ls')).not.toBe('runs');
  });
});

describe('a no', () => {
  it('among several counts, in the words of all who gave it', async () => {
    const other = decides({ behavior: 'deny', message: 'NEVER', interrupt: true });
    expect(await ask({ yes, no, other })).toMatchObject({
      kind: 'refused',
      message: 'NO\nNEVER',
      interrupt: true,
      receipt: { decidedBy: PERMISSION_REQUEST_HOOKS },
    });
  });

  it.each<[string, Says, object]>([
    ['exit code 2', answers({ decision: 'deny', reason: 'BLOCKED' }), { message: 'BLOCKED' }],
    ['a block beside an allow', answers({ decision: 'deny', ...yes().answer }), {}],
    ['a no without words', answers({ decision: 'deny' }), { message: 'h said no' }],
    ['a deny without words', decides({ behavior: 'deny' }), { message: 'h said no' }],
    ['a wish to stop', answers({ stop: 'ENOUGH' }), { stop: 'ENOUGH', message: 'ENOUGH' }],
    ['a wish to stop beside an allow', answers({ stop: '', ...yes().answer }), {}],
    ['a no of one that complains', () => ({ complaint: 'oops', ...no() }), { message: 'NO' }],
  ])('is also %s', async (_name, h, expected) => {
    expect(await ask({ h, yes })).toMatchObject({ kind: 'refused', ...expected });
  });

  it.each<[string, Says]>([
    ['a throw', () => Promise.reject(new Error('BOOM'))],
    ['a failure', () => ({ failure: { cause: 'exit-code', message: 'ended with 3' } })],
    ['an unknown behaviour', decides({ behavior: 'maybe' })],
    ['a word', decides('allow')],
    ['an input that is none', decides({ behavior: 'allow', updatedInput: 'x' })],
    ['a change that is none', decides({ behavior: 'allow', updatedPermissions: [{ type: 'x' }] })],
  ])('is what a failed guard means: %s', async (_name, broken) => {
    expect(await ask({ yes, broken })).toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/The guard failed: broken gave no verdict/),
    });
  });

  it('is not what a failure means where the hook was made so', async () => {
    const lenient: FakeHook = {
      onFailure: 'continue',
      says: () => Promise.reject(new Error('BOOM')),
    };
    expect((await ask({ lenient, yes })).kind).toBe('allowed');
    expect(await ask({ lenient })).toMatchObject({ kind: 'refused', unanswered: true });
  });

  it('is what follows when asking itself breaks', async () => {
    const around = createHookAsker(
      { has: () => true, fire: () => Promise.reject(new Error('BROKEN')) },
      { ifRule },
    );
    const gate = gateRig({ cwd: project.directory, home: project.home, around });
    expect(await gate.call('Bash', { command: 'npm test' })).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('BROKEN'),
    });
  });
});

describe('a yes', () => {
  it.each<[string, FakeHook]>([
    ['that may only restrict', { restrictOnly: true, says: yes }],
    ['that ended with an error', { says: () => ({ complaint: 'oops', ...yes() }) }],
    ['that goes on by itself', { says: answers({ asyncMs: 1000, ...yes().answer }) }],
    ['that answers another question', { says: answers({ decision: 'allow' }) }],
  ])('counts for nothing from a hook %s', async (_name, h) => {
    expect(await ask({ h })).toMatchObject({ kind: 'refused', unanswered: true });
  });

  it('may bring an input, which is judged again', async () => {
    const to = (command: string) => decides({ behavior: 'allow', updatedInput: { command } });
    expect(await ask({ h: to('touch y') })).toMatchObject({
      kind: 'allowed',
      input: { command: 'touch y' },
    });
    expect((await ask({ h: to('rm x') }, { deny: ['Bash(rm *)'] })).kind).toBe('refused');
    expect(await ask({ a: to('touch y'), b: to('touch z') })).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('a and b want different inputs'),
    });
    expect((await ask({ a: to('touch y'), b: to('touch y'), c: yes })).kind).toBe('allowed');
  });

  it('may bring rules; those of all hooks count', async () => {
    const rule = (behavior: string, ruleContent: string) =>
      decides({
        behavior: 'allow',
        updatedPermissions: [
          {
            type: 'addRules',
            rules: [{ toolName: 'Bash', ruleContent }],
            behavior,
            destination: 'session',
          },
        ],
      });
    const answering = { answers: { configDir: project.home } };
    const once = (says: Says): Says => {
      let asked = 0;
      return (occasion) => (asked++ === 0 ? says(occasion) : {});
    };
    const { bash } = rig(
      { a: once(rule('allow', 'mkdir:*')), b: once(rule('deny', 'touch:*')) },
      answering,
    );
    expect(await bash('npm test')).toBe('runs');
    expect(await bash('mkdir d')).toBe('runs');
    expect(await bash('touch x')).toBe('denied');
  });
});

it('a yes cannot bring what takes a restriction away, which is told in the receipt', async () => {
  const rules = [{ toolName: 'Bash', ruleContent: 'touch *' }];
  const updatedPermissions = [
    { type: 'removeRules', rules, behavior: 'deny', destination: 'session' },
    { type: 'addRules', rules: [{ toolName: 'Edit' }], behavior: 'allow', destination: 'session' },
  ];
  const verdict = await ask(
    { h: decides({ behavior: 'allow', updatedPermissions }) },
    { deny: ['Bash(touch *)'], answers: { configDir: project.home } },
  );
  expect(verdict.kind).toBe('allowed');
  const told = verdict.receipt.trace.map(({ reason }) => reason).join('\n');
  expect(told).toContain('removeRules (session) was left out: a hook takes no deny rule away');
  expect(told).toContain('added allow Edit');
  expect(told).not.toContain('removed');
});

describe('no mix of reports', () => {
  const decision = fc.constantFrom<unknown>(
    undefined,
    { behavior: 'allow' },
    { behavior: 'allow', updatedInput: { command: 'rm a' } },
    { behavior: 'allow', updatedInput: { command: 'ls' } },
    { behavior: 'deny', message: 'NO' },
    { behavior: 'what' },
  );
  const report = fc.record({
    decision,
    word: fc.constantFrom<HookAnswer['decision']>('none', 'none', 'allow', 'ask', 'deny'),
    fails: fc.boolean(),
    restrictOnly: fc.boolean(),
    onFailure: fc.constantFrom('block' as const, 'continue' as const),
  });

  it('lets a call through that a hook denied, whose guard failed, or that nobody allowed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(report, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(...PERMISSION_MODES.filter((mode) => mode !== 'bypassPermissions')),
        fc.constantFrom('npm test', 'rm a'),
        async (reports, mode, command) => {
          const hooks = reports.map((one, index): [string, FakeHook] => [
            `h${index}`,
            {
              restrictOnly: one.restrictOnly,
              onFailure: one.onFailure,
              says: () => {
                if (one.fails) throw new Error('BOOM');
                return { answer: { decision: one.word, fields: { decision: one.decision } } };
              },
            },
          ]);
          const { call } = rig(Object.fromEntries(hooks), { mode, deny: ['Bash(rm *)'] });
          const verdict = await call('Bash', { command });
          const behaviour = ({ decision: given }: (typeof reports)[number]) =>
            (given as { behavior?: string } | undefined)?.behavior;
          const held = reports.some((one) =>
            one.fails
              ? one.onFailure === 'block'
              : one.word === 'deny' || ['deny', 'what'].includes(behaviour(one) ?? ''),
          );
          const granted = reports.some(
            (one) => !one.fails && !one.restrictOnly && behaviour(one) === 'allow',
          );
          if (held || !granted) expect(verdict.kind).toBe('refused');
          if (verdict.kind === 'allowed') {
            expect(JSON.stringify(verdict.input)).not.toContain('rm');
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
