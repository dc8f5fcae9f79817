import { type CallbackEntry, type HostCallbacks, matcherFaults, RULE_TOOLS } from '../app.js';
import { isRecord } from '../lib/own.js';
import { editDistance } from '../lib/text/nearest.js';
import { HOOK_EVENTS } from '../protocol/hooks/hook-events.js';
import type { HostChannel } from './host-channel.js';

/** The hooks that a host registers when it initialises, and the way to them. */
export interface RegisteredCallbacks extends HostCallbacks {
  /** Replaces all that was registered before. Nothing at all: what was registered stays. */
  register(hooks: unknown): void;
  /** Events that something is registered for, and that do not exist here. */
  unknown(): readonly string[];
}

/** Timers cannot be longer than this. */
const LONGEST_TIMEOUT_MS = 2_147_483_647;
/** Stands for a registration that cannot be read; calling it fails. */
const UNREADABLE = 'unreadable registration';

export function createHostCallbacks(channel: HostChannel): RegisteredCallbacks {
  let entries: ReadonlyMap<string, readonly CallbackEntry[]> = new Map();
  const listeners: (() => void)[] = [];
  const events = (): readonly string[] =>
    [...entries].flatMap(([event, list]) => (list.length === 0 ? [] : [event]));
  return {
    register(hooks) {
      // fail-closed: guards are not taken away by saying nothing about them.
      if (hooks === undefined || hooks === null) return;
      entries = readHooks(hooks);
      for (const listener of listeners) listener();
    },
    onRegistered: (listener) => void listeners.push(listener),
    isOpen: channel.isOpen,
    registered: (event) => entries.get(event) ?? [],
    events,
    unknown: () => unknownEvents(events()),
    call({ id, input, toolUseId, signal }) {
      if (id === UNREADABLE) {
        return Promise.reject(new Error(`the hooks for ${input.hook_event_name} cannot be read`));
      }
      const body = {
        subtype: 'hook_callback',
        callback_id: id,
        input,
        tool_use_id: toolUseId,
      };
      return channel.request(body, signal);
    },
  };
}

function readHooks(hooks: unknown): ReadonlyMap<string, readonly CallbackEntry[]> {
  // fail-closed: a guard that was registered in a way we cannot read holds everything back.
  if (!isRecord(hooks)) return new Map([['PreToolUse', [unreadable()]]]);
  return new Map(
    Object.entries(hooks).map(([event, list]) => [
      event,
      Array.isArray(list) ? list.map(readEntry) : list === null ? [] : [unreadable()],
    ]),
  );
}

function readEntry(entry: unknown): CallbackEntry {
  if (!isRecord(entry)) return unreadable();
  const { matcher, hookCallbackIds: ids, timeout, onFailure } = entry;
  const hasIds =
    Array.isArray(ids) && ids.every((id): id is string => typeof id === 'string' && id !== '');
  const hasMatcher = matcher === undefined || matcher === null || typeof matcher === 'string';
  if (!hasIds || !hasMatcher) return unreadable();
  const hasTimeout = typeof timeout === 'number' && timeout > 0;
  return {
    matcher: matcher ?? undefined,
    ids,
    timeoutMs: hasTimeout ? Math.min(timeout * 1000, LONGEST_TIMEOUT_MS) : undefined,
    onFailure: onFailure === 'continue' ? 'continue' : 'block',
  };
}

function unreadable(): CallbackEntry {
  return { ids: [UNREADABLE], onFailure: 'block' };
}

const EVENTS: readonly string[] = Object.keys(HOOK_EVENTS);

/** The names among these that are no events. Newer clients may have events that we do not know. */
function unknownEvents(names: readonly string[]): readonly string[] {
  return names.filter((name) => !EVENTS.includes(name));
}

/**
 * Why callbacks of a registration would never be asked: its event, or the tool that its matcher names, is misspelt.
 * fail-closed: they would guard nothing, although their author believes that they do.
 */
export function registrationProblem(hooks: unknown): string | undefined {
  if (!isRecord(hooks)) return undefined;
  for (const name of unknownEvents(Object.keys(hooks))) {
    const meant = EVENTS.find((event) => editDistance(plain(name), plain(event)) <= 1);
    if (meant !== undefined) {
      return `there is no hook event ${JSON.stringify(name.slice(0, 100))}; did you mean ${meant}?`;
    }
  }
  return matcherFaults(hooks, Object.keys(RULE_TOOLS)).find(({ stops }) => stops)?.message;
}

/** Case, blanks and dashes are what people get wrong first. Longer names are no slips of the pen. */
function plain(name: string): string {
  return name
    .slice(0, 100)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}
