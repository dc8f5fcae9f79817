import { own } from '../../lib/own.js';
import { agree, type Wish } from '../answers/round.js';
import { ask, type HookFields, type Scene } from '../dispatch/scene.js';
import type { HookDispatch } from '../registry/hook.js';

/** A piece of an answer on its way to the screen. */
export type ShownText = HookFields<'MessageDisplay'>;

/**
 * MessageDisplay: what the screen shows; model and transcript keep the original. Whatever goes wrong,
 * the original is shown. `notice` is for the person.
 */
export async function displayText(
  dispatch: HookDispatch,
  shown: ShownText,
  scene: Omit<Scene, 'mode'>,
): Promise<{ readonly text: string; readonly notice?: string }> {
  const { delta } = shown;
  const round = await ask(dispatch, 'MessageDisplay', { scene, fields: shown });
  const wishes = round.reports.flatMap(({ hook, answer }): Wish<string>[] => {
    const value = own(answer.fields, 'displayContent');
    return typeof value === 'string' && value !== delta ? [{ by: hook.label, value }] : [];
  });
  const wanted = agree(wishes);
  if (wanted.ok) return { text: wanted.value?.value ?? delta };
  const who = wanted.error.join(' and ');
  const notice = `two MessageDisplay hooks want different texts, so the original is shown: ${who}`;
  return { text: delta, notice };
}
