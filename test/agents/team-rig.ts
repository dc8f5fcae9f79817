import type { Reply, ReplyFunction, RequestView } from '../../src/model/scripted/format.js';

export { agent } from './core-rig.js';

export const call = (tool: string, input: Record<string, unknown>): Reply => ({ tool, input });
export const say = (to: string, message: unknown): Reply => call('SendMessage', { to, message });

/** Replies by what was said last; each once, and otherwise a word. */
export function reacting(to: Readonly<Record<string, Reply | ReplyFunction>>): ReplyFunction[] {
  const left = new Map(Object.entries(to));
  return Array.from({ length: 60 }, () => (view: RequestView) => {
    const word = [...left.keys()].find((one) => view.lastUser.includes(one));
    const reply = word === undefined ? undefined : left.get(word);
    if (word !== undefined) left.delete(word);
    return typeof reply === 'function' ? reply(view) : (reply ?? 'ok');
  });
}

/** The newest request that somebody has been put. */
export function requestIn({ anyUser }: RequestView): string {
  return [...anyUser.matchAll(/request_id="(r[\da-f]{12})"/g)].at(-1)?.[1] ?? 'none';
}
