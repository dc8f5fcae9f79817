import type { SettingSource } from '../../lib/sourced.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { HOOK_EVENTS, type HookEventName } from '../../protocol/hook-events.js';
import type { Hook, HookFailure, PluginDirectories } from './hook.js';
import type { OccasionKey } from './matching.js';

interface ScopedCommon {
  readonly name: string;
  /** As written: groups by event. */
  readonly hooks: unknown;
  readonly source: SettingSource;
  readonly file?: string;
  readonly line?: number;
  /** Whether the place it came from may execute. */
  readonly trusted: boolean;
  /** Of a plugin. */
  readonly plugin?: PluginDirectories;
  /** What they allow does not count. */
  readonly restrictOnly?: true;
}

/** Hooks that do not stand in settings: of a plugin, of a skill once invoked, of an agent while it runs. */
export type ScopedHooks = ScopedCommon &
  (
    | { readonly kind: 'plugin' | 'skill'; readonly agentId?: string }
    | { readonly kind: 'agent'; readonly agentId: string }
  );

/** In this order they are asked and reported. */
const STANDINGS = ['settings', 'plugin', 'scoped', 'callback'] as const;
export type HookStanding = (typeof STANDINGS)[number];

/** A hook in force, ready to be compared with occasions. */
export interface CapturedHook {
  readonly hook: Hook;
  readonly standing: HookStanding;
  matches(occasion: OccasionKey): boolean;
  /** Whether it is asked about an agent only because it guards one above it: it then can only hold back. */
  inherits?(agent: AgentRef): boolean;
  /** The same for copies in several settings files, of which one is asked. Absent: it is never a copy. */
  readonly copyOf?: string;
  /** It has not the shape of a hook and can only fail. */
  readonly broken?: HookFailure;
}

/** A hook that stands in a file and is never asked. */
export interface SkippedHook {
  readonly label: string;
  readonly why: string;
  /** `file:line`, or the source. */
  readonly origin: string;
}

/** In the order in which they are declared. */
export type HooksByEvent = Readonly<Partial<Record<HookEventName, readonly CapturedHook[]>>>;

/** Some hooks and what is to be said about them. */
export interface HookSet {
  readonly hooks: HooksByEvent;
  readonly skipped: readonly SkippedHook[];
  /** What a person should know: where hooks do not mean what was written, or may fail open. */
  readonly notes: readonly string[];
}

/** The hooks in force at one moment. Frozen. */
export interface HookSnapshot extends HookSet {
  /** The hooks of a skill or agent under the same settings. */
  capture(scoped: ScopedHooks): HookSet;
}

export const EVENTS = Object.keys(HOOK_EVENTS) as readonly HookEventName[];

/** Several sets as one, in the order in which hooks of their standing are asked. */
export function joinHooks(sets: readonly HookSet[]): HookSet {
  const hooks: Partial<Record<HookEventName, readonly CapturedHook[]>> = Object.create(null);
  for (const event of EVENTS) {
    const all = sets.flatMap((set) => set.hooks[event] ?? []);
    if (all.length > 0) hooks[event] = Object.freeze(inOrder(all));
  }
  return Object.freeze({
    hooks: Object.freeze(hooks),
    skipped: Object.freeze(sets.flatMap((set) => set.skipped)),
    notes: Object.freeze(sets.flatMap((set) => set.notes)),
  });
}

function inOrder(hooks: readonly CapturedHook[]): readonly CapturedHook[] {
  return STANDINGS.flatMap((standing) => hooks.filter((one) => one.standing === standing));
}
