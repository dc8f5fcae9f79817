import { HOOK_EVENTS } from '../protocol/hook-events.js';
import { editDistance } from '../util/nearest.js';
import { isRecord } from '../util/own.js';

const EVENTS: readonly string[] = Object.keys(HOOK_EVENTS);

/** The names among these that are no events. Newer clients may have events that we do not know. */
export function unknownEvents(names: readonly string[]): readonly string[] {
  return names.filter((name) => !EVENTS.includes(name));
}

/**
 * A registration that can only have been meant for an event that there is.
 * fail-closed: its callbacks would guard nothing, and whoever wrote it believes that they do.
 */
export function misspeltEvent(hooks: unknown): string | undefined {
  if (!isRecord(hooks)) return undefined;
  for (const name of unknownEvents(Object.keys(hooks))) {
    const meant = EVENTS.find((event) => editDistance(plain(name), plain(event)) <= 1);
    if (meant !== undefined) {
      return `there is no hook event ${JSON.stringify(name.slice(0, 100))}; did you mean ${meant}?`;
    }
  }
  return undefined;
}

/** Case, blanks and dashes are what people get wrong first. Longer names are no slips of the pen. */
function plain(name: string): string {
  return name
    .slice(0, 100)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}
