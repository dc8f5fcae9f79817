import { describe, expect, it } from 'vitest';
import { type ScriptedHook, scriptedHooks } from '../../../test/support/scripted-hooks.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { promptExpanded, promptSubmitted } from './prompt.js';

const scene = {
  agent: MAIN_AGENT,
  cwd: '/there',
  mode: 'plan',
  signal: new AbortController().signal,
} as const;

function submit(...hooks: ScriptedHook[]) {
  const { dispatch } = scriptedHooks({ UserPromptSubmit: hooks });
  return promptSubmitted(dispatch, { ...scene, prompt: 'do it', source: 'user' });
}

const says = (updatedPrompt: unknown, label = 'a'): ScriptedHook => ({
  label,
  fields: { updatedPrompt },
});

describe('hooks on a prompt', () => {
  it('are not asked when there are none', async () => {
    const { dispatch, fired } = scriptedHooks({});
    expect(await promptSubmitted(dispatch, { ...scene, prompt: 'x' })).toEqual({
      kind: 'pass',
      contexts: [],
    });
    expect(fired).toEqual([]);
  });

  it('are told the prompt, where it comes from, and the title if there is one', async () => {
    const { dispatch, fired, lastFields } = scriptedHooks({ UserPromptSubmit: [{}] });
    await promptSubmitted(dispatch, { ...scene, prompt: 'x', source: 'sdk', sessionTitle: 'T' });
    expect(lastFields()).toEqual({ prompt: 'x', source: 'sdk', session_title: 'T' });
    expect(fired[0]?.occasion).toMatchObject({ matched: [], mode: 'plan', cwd: '/there' });
    await promptSubmitted(dispatch, { ...scene, prompt: 'x' });
    expect(lastFields()).toEqual({ prompt: 'x' });
  });

  it('add words, and may name the session', async () => {
    const passed = await submit(
      { context: 'branch main' },
      { fields: { sessionTitle: ' First ' } },
      { context: 'ticket 7', fields: { sessionTitle: 'Second', suppressOriginalPrompt: true } },
    );
    expect(passed).toEqual({
      kind: 'pass',
      contexts: [
        'UserPromptSubmit hook additional context: branch main',
        'UserPromptSubmit hook additional context: ticket 7',
      ],
      sessionTitle: 'First',
      suppressOriginal: true,
    });
  });

  it('hold it back, all of them named', async () => {
    expect(
      await submit(
        { label: 'a', decision: 'deny', reason: 'a secret is in it' },
        { context: 'not shown' },
        {
          label: 'b',
          decision: 'deny',
          reason: 'too late',
          fields: { suppressOriginalPrompt: true },
        },
      ),
    ).toEqual({
      kind: 'blocked',
      reason: 'a secret is in it\ntoo late',
      by: 'a, b',
      suppressOriginal: true,
    });
  });

  it('are gates: a failure holds it back and says that it is one', async () => {
    const failure = { cause: 'timeout', message: 'no answer within 30 s' } as const;
    expect(await submit({ label: 'a', failure, refuses: true }, { context: 'c' })).toEqual({
      kind: 'blocked',
      reason: expect.stringMatching(/^guard failed: .* \(timeout: no answer within 30 s; /),
      by: 'a',
    });
    expect(await submit({ failure })).toEqual({ kind: 'pass', contexts: [] });
  });

  it('hold it back when they want somebody else to decide: nobody is there', async () => {
    expect(await submit({ label: 'a', decision: 'ask' })).toMatchObject({
      kind: 'blocked',
      by: 'a',
    });
    expect(await submit({ decision: 'defer', reason: 'later' })).toMatchObject({ reason: 'later' });
    expect(await submit({ decision: 'allow' })).toMatchObject({ kind: 'pass' });
  });

  it('stop before the model, which is less than a no', async () => {
    expect(await submit({ stop: 'enough' }, { context: 'c' })).toEqual({
      kind: 'stopped',
      reason: 'enough',
    });
    const both = await submit({ stop: 'enough' }, { decision: 'deny', reason: 'no' });
    expect(both).toMatchObject({ kind: 'blocked', reason: 'no' });
  });

  it('count the no of a model as a no, whether it ends the turn or not', async () => {
    const judged = await submit({ decision: 'deny', reason: 'off topic', endsTurn: true });
    expect(judged).toMatchObject({ kind: 'blocked', reason: 'off topic' });
  });
});

describe('a prompt in place of the one that was typed', () => {
  it('is used when one hook gives it, or all the same', async () => {
    expect(await submit(says('do that'))).toMatchObject({ updatedPrompt: 'do that' });
    expect(await submit(says('do that'), says('do that', 'b'), {})).toMatchObject({
      kind: 'pass',
      updatedPrompt: 'do that',
    });
  });

  it('is no change when it is the same', async () => {
    expect(await submit(says('do it'))).toEqual({ kind: 'pass', contexts: [] });
    expect(await submit(says('do it'), says('do that', 'b'))).toMatchObject({
      updatedPrompt: 'do that',
    });
  });

  it('holds the prompt back when two hooks want different ones', async () => {
    expect(await submit(says('x', 'first'), says('y', 'second'))).toEqual({
      kind: 'blocked',
      reason: 'two hooks want different prompts: first and second',
      by: 'first, second',
    });
  });

  it.each([[''], ['  \n'], [null], [5], [{ text: 'x' }]])(
    'holds the prompt back when it is %j',
    async (value) => {
      expect(await submit(says(value))).toMatchObject({ kind: 'blocked', by: 'a' });
    },
  );
});

describe('hooks on a command that stands for a longer prompt', () => {
  const expanded = {
    ...scene,
    type: 'slash_command',
    command: 'deploy',
    args: 'now',
    prompt: '/deploy now',
  } as const;

  it('are matched by its name and can do the same', async () => {
    const { dispatch, fired, lastFields } = scriptedHooks({
      UserPromptExpansion: [{ label: 'a', decision: 'deny', reason: 'frozen' }],
    });
    expect(await promptExpanded(dispatch, { ...expanded, source: 'project' })).toEqual({
      kind: 'blocked',
      reason: 'frozen',
      by: 'a',
    });
    expect(fired[0]?.occasion.matched).toEqual(['deploy']);
    expect(lastFields()).toEqual({
      expansion_type: 'slash_command',
      command_name: 'deploy',
      command_args: 'now',
      command_source: 'project',
      prompt: '/deploy now',
    });
    const none = scriptedHooks({}).dispatch;
    expect(await promptExpanded(none, expanded)).toEqual({ kind: 'pass', contexts: [] });
  });
});
