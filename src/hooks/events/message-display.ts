import { own } from '../../lib/own.js';
import { agree, type Wish } from '../answers/round.js';
import { ask, type Scene } from '../dispatch/scene.js';
import type { HookDispatch } from '../registry/hook.js';

/** A piece of an answer on its way to the screen. */
export interface ShownText extends Omit<Scene, 'mode'> {
  readonly turnId: string;
  readonly messageId: string;
  /** The how-maniest piece of its message. */
  readonly index: number;
  /** No more pieces of this message come. */
  readonly final: boolean;
  readonly delta: string;
}

export interface Display {
  /** What the screen shows; model and transcript keep the original. */
  readonly text: string;
  /** For the person. */
  readonly notice?: string;
}

/** MessageDisplay. Whatever goes wrong with it, the original is shown. */
export async function displayText(dispatch: HookDispatch, shown: ShownText): Promise<Display> {
  const { turnId, messageId, index, final, delta } = shown;
  const fields = { turn_id: turnId, message_id: messageId, index, final, delta };
  const round = await ask(dispatch, 'MessageDisplay', { scene: shown, fields });
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
