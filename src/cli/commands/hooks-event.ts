import { PortcullisError } from '../../errors.js';
import { HOOK_EVENTS, type HookEventName } from '../../protocol/hook-events.js';
import { nearest } from '../../util/nearest.js';
import { visible } from '../../util/visible.js';

/** The event of this name. Throws for a name that is none, with the nearest that is one. */
export function eventNamed(name: string): HookEventName {
  if (isEvent(name)) return name;
  const meant = nearest(name, Object.keys(HOOK_EVENTS));
  throw new PortcullisError('usage', `there is no event ${visible(name)}`, {
    remedy:
      meant === undefined ? 'docs/reference/hooks.md lists the events' : `did you mean ${meant}?`,
  });
}

function isEvent(name: string): name is HookEventName {
  return Object.hasOwn(HOOK_EVENTS, name);
}
