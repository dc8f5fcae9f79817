import { nearest } from '../../lib/nearest.js';
import { own } from '../../lib/own.js';
import { HOOK_EVENTS } from '../../protocol/hook-events.js';
import type { SettingValues } from '../../settings/types.js';
import { oneLine } from '../dispatch/timeout.js';
import {
  type CallbackSource,
  EVENTS,
  type HookSet,
  type HookSnapshot,
  type ScopedHooks,
} from './captured.js';
import { HookCollector } from './collect.js';
import { policyOf } from './policy.js';

export type {
  CallbackGroup,
  CallbackSource,
  HookSet,
  HookSnapshot,
  ScopedHooks,
  SkippedHook,
} from './captured.js';

export interface CaptureSource {
  readonly values: SettingValues;
  readonly callbacks?: CallbackSource;
  readonly scoped?: readonly ScopedHooks[];
  /** Of this program: a variable may give SessionEnd more time. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Files below it are shown by their way from here. */
  readonly cwd?: string;
}

/** Reads which hooks are in force now. What files say later counts with the next snapshot. */
export function captureHooks(source: CaptureSource): HookSnapshot {
  const policy = policyOf(source.values, source.env ?? {});
  const shownFrom = source.cwd;
  const found = new HookCollector(policy, shownFrom);
  for (const event of EVENTS) {
    for (const group of source.values.list(`hooks.${event}`)) {
      const place = { ...group, standing: 'settings' as const };
      found.addGroup(event, group.value, place);
    }
    for (const entry of source.callbacks?.registered(event) ?? []) found.addCallbacks(event, entry);
  }
  for (const scoped of source.scoped ?? []) found.addScoped(scoped);
  const capture = (scoped: ScopedHooks): HookSet => {
    const mine = new HookCollector(policy, shownFrom);
    mine.addScoped(scoped);
    return mine.finish();
  };
  const set = found.finish();
  const notes = Object.freeze([...set.notes, ...neverAsked(source.callbacks?.events?.() ?? [])]);
  return Object.freeze({ ...set, notes, capture });
}

/** A registration for an event that does not exist guards nothing, and its host does not know. */
function neverAsked(events: readonly string[]): readonly string[] {
  return events
    .filter((event) => own(HOOK_EVENTS, event) === undefined)
    .map((event) => {
      const near = nearest(event, EVENTS);
      const meant = near === undefined ? '' : `; did you mean ${near}?`;
      return oneLine(
        `the host registered callbacks for "${event}", and there is no such event, so they are never asked${meant}`,
      );
    });
}
