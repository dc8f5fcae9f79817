import type { WireEvent as Event } from './frames.js';

/**
 * Notices of a session that is still starting. Clients expect `init` to come first, and only with it is
 * the session's id known.
 */
export class StartNotices {
  #waiting: Event[] | undefined = [];

  /** True: the event is sent after `init`. */
  hold(event: Event): boolean {
    if (this.#waiting === undefined || !isNotice(event)) return false;
    this.#waiting.push(event);
    return true;
  }

  /** `init` was written, or never will be: returns the held events, and holds no more. */
  release(): readonly Event[] {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    return waiting;
  }
}

function isNotice(event: Event): boolean {
  if (event.type === 'notice') return event.tag !== 'prompt_blocked';
  return event.type === 'config_changed';
}
