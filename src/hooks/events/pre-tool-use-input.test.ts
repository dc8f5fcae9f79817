import { describe, expect, it } from 'vitest';
import type { Said, Says } from '../../../test/support/fake-hooks.js';
import {
  answers,
  command,
  commandOf,
  preToolUseRigs,
  READ,
  rewrites,
  says,
} from '../../../test/support/pre-tool-use-rig.js';
import type { HookAnswer } from '../registry/hook.js';

const { project, rig } = preToolUseRigs();

describe('a new input', () => {
  it('is what runs, and what the rules judge', async () => {
    const { call } = rig({ h: rewrites(command('echo safe')) });
    const verdict = await call('Bash', command('npm test'));
    expect(verdict).toMatchObject({ kind: 'allowed', input: { command: 'echo safe' } });
    const denied = rig({ h: rewrites(command('rm x'), 'allow') }, { deny: ['Bash(rm *)'] });
    expect(await denied.bash('echo hi')).toBe('denied');
  });

  it('is shown to all hooks once more', async () => {
    const { call, fired } = rig({
      a: (occasion) => (commandOf(occasion) === 'ls' ? rewrites(command('ls -l'))() : {}),
      b: (occasion) => (commandOf(occasion) === 'ls -l' ? says('deny', 'NOT THIS')() : {}),
    });
    const verdict = await call('Bash', command('ls'));
    expect(verdict).toMatchObject({ kind: 'refused', message: 'Bash was refused: NOT THIS.' });
    expect(fired.map(commandOf)).toEqual(['ls', 'ls -l']);
    expect(verdict.receipt.trace.slice(0, 4).map(({ guard }) => guard)).toEqual([
      'a',
      'b',
      'a',
      'b',
    ]);
  });

  it('keeps the ask that came with it', async () => {
    const { bash } = rig({
      h: (occasion) =>
        commandOf(occasion) === 'echo one' ? rewrites(command('echo two'), 'ask')() : {},
    });
    expect(await bash('echo one')).toBe('asks');
  });

  it('is allowed when its author said so, not when somebody else did', async () => {
    const first = (answer: () => Said): Says => {
      let calls = 0;
      return () => (calls++ === 0 ? answer() : {});
    };
    const own = rig({ h: first(rewrites(command('npm run x'), 'allow')) });
    expect(await own.bash('npm test')).toBe('runs');
    const other = rig({ a: first(says('allow')), b: first(rewrites(command('npm run x'))) });
    expect(await other.bash('npm test')).toBe('asks');
  });

  it('refuses two that differ, and names both', async () => {
    const { call } = rig({ a: rewrites(command('echo a')), b: rewrites(command('echo b')) });
    expect(await call('Bash', command('echo'))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('a and b want different inputs'),
    });
    const same = rig({
      a: rewrites({ command: 'echo a', timeout: 1 }),
      b: rewrites({ timeout: 1, command: 'echo a' }),
    });
    expect(await same.bash('echo')).toBe('runs');
  });

  it('is read once: a getter is no input', async () => {
    const input = {
      get command() {
        return 'echo a';
      },
    };
    const { call } = rig({ a: rewrites(input) });
    expect(await call('Bash', command('echo'))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('the guard failed: a gave an input that cannot be used'),
    });
  });

  it('does not hide a no or a wish to stop', async () => {
    const { call } = rig({
      a: rewrites(command('echo a')),
      b: rewrites(command('echo b')),
      c: answers({ stop: 'ENOUGH' }),
    });
    expect(await call('Bash', command('echo'))).toMatchObject({ stop: 'ENOUGH' });
  });

  it('is no new one when a hook gives back what it was shown', async () => {
    const echo: Says = ({ fields }) => ({
      answer: { fields: { updatedInput: fields.tool_input } },
    });
    const edits = rewrites({ file_path: `${project.directory}/a.txt`, limit: 1 });
    const { call, fired } = rig({ echo, edits });
    expect(await call(...READ)).toMatchObject({ kind: 'allowed', input: { limit: 1 } });
    expect(fired).toHaveLength(2);
    const alone = rig({ echo });
    expect(await alone.call(...READ)).toMatchObject({
      input: { file_path: `${project.directory}/a.txt` },
    });
    expect(alone.fired).toHaveLength(1);
  });

  it('refuses one that changes what was changed already', async () => {
    const { call } = rig({
      h: (occasion) => rewrites(command(`echo ${commandOf(occasion)}`))(),
    });
    expect(await call('Bash', command('echo'))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('changed already'),
    });
    const answered = rig(
      { h: (occasion) => (commandOf(occasion) === 'echo x' ? rewrites(command('echo y'))() : {}) },
      {
        ask: ['Bash'],
        asker: async () => ({ behavior: 'allow', updatedInput: command('echo x') }),
      },
    );
    expect(await answered.bash('echo hi')).toBe('asks');
  });

  it('refuses one that the tool does not take', async () => {
    const { call } = rig({ h: rewrites({ command: 'echo', invalid: 1 }, 'allow') });
    expect(await call('Bash', command('echo'))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('that h gave is not valid'),
    });
  });
});

describe('a question to a person', () => {
  const question = { questions: [] };

  it('is answered by a yes with the answer in the input, not by a yes alone', async () => {
    const plain = rig({ h: says('allow') });
    expect(await plain.outcome('AskUserQuestion', question)).toBe('asks');
    const given = rig({ h: rewrites({ ...question, answers: { q: 'a' } }, 'allow') });
    expect(await given.call('AskUserQuestion', question)).toMatchObject({
      kind: 'allowed',
      input: { answers: { q: 'a' } },
    });
    const plan = rig({ h: rewrites({ plan: 'p' }, 'allow') }, { mode: 'plan' });
    expect(await plan.outcome('ExitPlanMode', { plan: 'p' })).toBe('runs');
  });

  it('is not answered by an input without a yes, nor against a rule or another hook', async () => {
    const answered = rewrites({ ...question, answers: {} }, 'allow');
    for (const [hooks, options] of [
      [{ h: rewrites({ ...question, answers: {} }) }, {}],
      [{ a: says('allow'), b: rewrites({ ...question, answers: {} }) }, {}],
      [{ h: { restrictOnly: true, says: answered } }, {}],
      [{ h: answered, other: says('ask') }, {}],
      [{ h: answered }, { ask: ['AskUserQuestion'] }],
    ] as const) {
      expect(await rig(hooks, options).outcome('AskUserQuestion', question)).toBe('asks');
    }
  });
});

describe('what else a hook says', () => {
  const note = (context: string, decision: HookAnswer['decision'] = 'none') =>
    answers({ decision, context });

  it('reaches the model with every verdict, each hook by itself', async () => {
    const contexts = [
      'PreToolUse:Read hook additional context: ONE',
      'PreToolUse:Read hook additional context: TWO',
    ];
    const allowed = rig({ a: note('ONE'), b: note('TWO', 'allow') });
    expect(await allowed.call(...READ)).toMatchObject({ kind: 'allowed', contexts });
    const denied = rig({ a: note('ONE', 'deny'), b: note('TWO') });
    expect(await denied.call(...READ)).toMatchObject({ kind: 'refused', contexts });
    const asked = rig({ a: note('ONE', 'ask'), b: note('TWO') });
    expect(await asked.call(...READ)).toMatchObject({ kind: 'refused', contexts });
    expect(await rig({ h: says('allow') }).call(...READ)).toMatchObject({ contexts: undefined });
  });

  it('is told once, however often the hook was asked', async () => {
    const updatedInput = command('echo x');
    const { call } = rig(
      { h: answers({ context: 'ONE', fields: { agentContext: 'FOR IT' } }) },
      { ask: ['Bash'], asker: async () => ({ behavior: 'allow', updatedInput }) },
    );
    expect(await call('Bash', command('echo'))).toMatchObject({
      kind: 'allowed',
      contexts: ['PreToolUse:Bash hook additional context: ONE'],
      agentContext: 'FOR IT',
    });
  });

  it('for the agent that the call starts goes with a yes', async () => {
    const hooks = {
      a: answers({ fields: { agentContext: 'ONE' } }),
      b: answers({ fields: { agentContext: 'TWO' } }),
    };
    expect(await rig(hooks).call(...READ)).toMatchObject({ agentContext: 'ONE\nTWO' });
    const refused = await rig({ ...hooks, c: says('deny') }).call(...READ);
    expect(refused).not.toHaveProperty('agentContext');
  });
});
