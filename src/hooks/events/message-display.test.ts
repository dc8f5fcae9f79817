import { describe, expect, it } from 'vitest';
import { type ScriptedHook, scriptedHooks } from '../../../test/support/scripted-hooks.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { displayText } from './message-display.js';

const scene = { agent: MAIN_AGENT, cwd: '/there', signal: new AbortController().signal };

const shown = {
  turn_id: 't1',
  message_id: 'm1',
  index: 0,
  final: true,
  delta: 'Hello',
};

function display(...hooks: ScriptedHook[]) {
  const { dispatch } = scriptedHooks({ MessageDisplay: hooks });
  return displayText(dispatch, shown, scene);
}

const shows = (displayContent: unknown, label?: string): ScriptedHook => ({
  fields: { displayContent },
  label,
});

describe('what the screen shows of an answer', () => {
  it('is the answer when no hook is asked, says anything, or works', async () => {
    const { dispatch, fired } = scriptedHooks({});
    expect(await displayText(dispatch, shown, scene)).toEqual({ text: 'Hello' });
    expect(fired).toEqual([]);
    expect(await display({}, { decision: 'deny', stop: 's' })).toEqual({ text: 'Hello' });
    const failure = { cause: 'timeout', message: 'no answer' } as const;
    expect(await display({ failure })).toEqual({ text: 'Hello' });
    expect(await display(shows(5), shows(null))).toEqual({ text: 'Hello' });
  });

  it('is what a hook gives, an empty text included', async () => {
    expect(await display({}, shows('HELLO'), shows('Hello'))).toEqual({ text: 'HELLO' });
    expect(await display(shows('HELLO'), shows('HELLO'))).toEqual({ text: 'HELLO' });
    expect(await display(shows(''))).toEqual({ text: '' });
  });

  it('is the answer, with a notice, when two hooks give different texts', async () => {
    const { text, notice } = await display(shows('x', 'a'), shows('y', 'b'));
    expect(text).toBe('Hello');
    expect(notice).toContain('a and b');
  });

  it('is asked for piece by piece', async () => {
    const { dispatch, lastFields } = scriptedHooks({ MessageDisplay: [{}] });
    await displayText(dispatch, { ...shown, index: 2, final: false }, scene);
    expect(lastFields()).toEqual({
      turn_id: 't1',
      message_id: 'm1',
      index: 2,
      final: false,
      delta: 'Hello',
    });
  });
});
