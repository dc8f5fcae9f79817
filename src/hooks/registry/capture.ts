import { nearest } from '../../lib/nearest.js';
import { isRecord, own } from '../../lib/own.js';
import { err } from '../../lib/result.js';
import { originOf, type Sourced } from '../../lib/sourced.js';
import { displayPath } from '../../platform/fs/paths.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { HOOK_EVENTS, type HookEventName, hookEventFacts } from '../../protocol/hook-events.js';
import { type HookSwitches, hookSwitches } from '../../settings/merge/switches.js';
import {
  declaredOnFailure,
  type ParsedHandler,
  parseHandler,
} from '../../settings/schema/handler.js';
import { canonicalJson } from '../../settings/trust/digest.js';
import type { SettingValues } from '../../settings/types.js';
import { oneLine } from '../dispatch/timeout.js';
import {
  type CapturedHook,
  EVENTS,
  type HookSet,
  type HookSnapshot,
  type HookStanding,
  type HooksByEvent,
  joinHooks,
  type ScopedHooks,
  type SkippedHook,
} from './captured.js';
import { describeHandler, handlerOf, isSwitchedOff, runsBeside } from './handler.js';
import type { Hook, HookFailure, HookHandler, PluginDirectories } from './hook.js';
import type { CallbackEntry, HostCallbacks } from './host-callbacks.js';
import { matchingOf } from './matching.js';
import { failureMeans, grantedHandler, type TimedHook, timeoutMs } from './policy.js';

export interface CaptureSource {
  readonly values: SettingValues;
  readonly callbacks?: Pick<HostCallbacks, 'registered' | 'events'>;
  readonly scoped?: readonly ScopedHooks[];
  /** Of this program: a variable may give SessionEnd more time. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Files below it are shown by their way from here. */
  readonly cwd?: string;
}

/** Reads which hooks are in force now. What files say later counts with the next snapshot. */
export function captureHooks(source: CaptureSource): HookSnapshot {
  const found = new HookCollector(source);
  for (const event of EVENTS) {
    for (const group of source.values.list(`hooks.${event}`)) {
      const place = { ...group, standing: 'settings' as const };
      found.addGroup(event, group.value, place);
    }
    for (const entry of source.callbacks?.registered(event) ?? []) found.addCallbacks(event, entry);
  }
  for (const scoped of source.scoped ?? []) found.addScoped(scoped);
  const capture = (scoped: ScopedHooks): HookSet => {
    const mine = new HookCollector(source);
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

/** Where a group stands and whom it is for. */
interface Place extends Omit<Sourced<unknown>, 'value'> {
  readonly standing: HookStanding;
  /** `skill:deploy`, in place of the source. */
  readonly scope?: string;
  readonly agentId?: string | undefined;
  readonly plugin?: PluginDirectories | undefined;
  readonly restrictOnly?: boolean;
}

interface GroupFacts {
  readonly matcher?: string;
  readonly agents?: string;
  readonly index: number;
}

/** One handler as it stands in its file. */
interface Written {
  readonly raw: unknown;
  readonly place: Place;
  readonly facts: GroupFacts;
  readonly what: string;
}

/** What is made of one handler before its identity is known. */
type Draft = Pick<Hook, 'handler' | 'timeoutMs' | 'onFailure' | 'strict'> & {
  readonly what: string;
  readonly copyOf?: string;
  readonly broken?: HookFailure;
};

/** Gathers hooks of all sources under the same settings. */
class HookCollector {
  readonly #hooks = new Map<HookEventName, CapturedHook[]>();
  readonly #skipped: SkippedHook[] = [];
  readonly #notes: string[] = [];
  readonly #ids = new Set<string>();
  readonly #source: CaptureSource;
  readonly #switches: HookSwitches;

  constructor(source: CaptureSource) {
    this.#source = source;
    this.#switches = hookSwitches(source);
  }

  addScoped(scoped: ScopedHooks): void {
    const { kind, name, source, file, line, trusted, agentId, plugin } = scoped;
    const place: Place = {
      source,
      trusted,
      standing: kind === 'plugin' ? 'plugin' : 'scoped',
      scope: agentId === undefined ? `${kind}:${name}` : `${kind}:${name}@${agentId}`,
      agentId,
      plugin,
      restrictOnly: scoped.restrictOnly,
      file,
      line,
    };
    if (!isRecord(scoped.hooks)) {
      // fail-closed: there may have been a guard in what cannot be read.
      this.addGroup('PreToolUse', scoped.hooks, place);
      return;
    }
    for (const [written, groups] of Object.entries(scoped.hooks)) {
      if (own(HOOK_EVENTS, written) === undefined) {
        this.#skip(`${written} hooks of ${kind} ${name}`, 'there is no such event', place);
        continue;
      }
      const event = heardAs(written as HookEventName, scoped);
      for (const group of Array.isArray(groups) ? groups : [groups]) {
        this.addGroup(event, group, place);
      }
    }
  }

  addGroup(event: HookEventName, group: unknown, place: Place): void {
    const { matcher, agents, hooks } = isRecord(group) ? group : {};
    const isGroup = Array.isArray(hooks) && isTextOrAbsent(matcher) && isTextOrAbsent(agents);
    const handlers: readonly unknown[] = isGroup ? hooks : [group];
    handlers.forEach((raw, index) => {
      const facts: GroupFacts = {
        index,
        ...(typeof matcher === 'string' ? { matcher } : {}),
        ...(typeof agents === 'string' ? { agents } : {}),
      };
      const read = isGroup ? parseHandler(raw, event) : err('it is no group of hooks');
      const what = read.ok ? describeHandler(handlerOf(read.value)) : `broken ${event} hook`;
      const dropped =
        isSwitchedOff(group) || isSwitchedOff(raw)
          ? '"enabled": false switches it off'
          : this.#whyDropped(event, place, read.ok ? read.value.fields.if : undefined);
      if (dropped !== undefined) this.#skip(what, dropped, place);
      else if (read.ok) this.#addRead(event, { raw, place, facts, what }, read.value);
      else this.#addBroken(event, { raw, place, facts, what }, read.error);
    });
  }

  addCallbacks(event: HookEventName, entry: CallbackEntry): void {
    const { matcher, ids, timeoutMs: limit, onFailure: said } = entry;
    const { role } = hookEventFacts(event);
    // A registration always says `block` unless it was told otherwise, so only guards take it at its word.
    const { onFailure } = failureMeans(event, role === 'gate' ? said : undefined, this.#switches);
    const ms = this.#timeoutMs(event, { type: 'callback', source: 'sdk', own: limit });
    const place: Place = { source: 'sdk', trusted: true, standing: 'callback' };
    for (const id of ids) {
      const handler: HookHandler = Object.freeze({ type: 'callback', id });
      const draft = { handler, timeoutMs: ms, onFailure, what: describeHandler(handler) };
      const facts = { index: 0, matcher };
      this.#add(event, { place, facts }, draft);
    }
  }

  finish(): HookSet {
    const hooks = Object.fromEntries(this.#hooks) as HooksByEvent;
    return joinHooks([{ hooks, skipped: this.#skipped, notes: this.#notes }]);
  }

  #addRead(event: HookEventName, written: Written, parsed: ParsedHandler): void {
    const { raw, place, facts, what } = written;
    const { timeoutMs: limit, onFailure: said } = parsed;
    const handler = handlerOf(parsed);
    const beside = runsBeside(handler);
    const means = failureMeans(event, said, this.#switches);
    if (means.note !== undefined) this.#notes.push(`${this.#labelOf(written)}: ${means.note}`);
    const ofPlugin = place.standing === 'plugin';
    const { source } = place;
    const { handler: granted, note } = grantedHandler(handler, source, this.#switches);
    if (note !== undefined) this.#notes.push(`${this.#labelOf(written)}: ${note}`);
    this.#add(event, written, {
      handler: withDirectories(granted, place.plugin),
      what,
      onFailure: beside ? 'continue' : means.onFailure,
      ...(means.onFailure === 'block' && !beside && this.#isStrict(event, said)
        ? { strict: true }
        : {}),
      timeoutMs: this.#timeoutMs(event, { type: handler.type, source, own: limit, ofPlugin }),
      ...(place.standing === 'settings'
        ? { copyOf: `${facts.agents ?? ''}\n${canonicalJson(raw)}` }
        : {}),
    });
  }

  #timeoutMs(
    event: HookEventName,
    { source, ...hook }: Pick<TimedHook, 'type' | 'own' | 'ofPlugin'> & Pick<Place, 'source'>,
  ): number {
    // What a project says about all hooks is about its own.
    const timeouts = this.#switches.timeouts(source);
    return timeoutMs(event, { ...hook, timeouts, env: this.#source.env ?? {} });
  }

  /** A yes of the host's callbacks counts for nothing where an administrator keeps hooks to himself. */
  #callbacksRestrictOnly(): boolean {
    return this.#switches.managedOnly || this.#switches.disabled('managed') !== undefined;
  }

  #isStrict(event: HookEventName, said: ParsedHandler['onFailure']): boolean {
    return (
      said === 'block' ||
      (this.#switches.failure === 'strict' && hookEventFacts(event).role === 'gate')
    );
  }

  /** fail-closed: what guards and is no hook is a guard that always fails. */
  #addBroken(event: HookEventName, written: Written, why: string): void {
    const { onFailure } = failureMeans(event, declaredOnFailure(written.raw), this.#switches);
    const { place, what } = written;
    if (hookEventFacts(event).role !== 'gate' && onFailure === 'continue') {
      this.#skip(what, why, place);
      return;
    }
    const message = `it cannot be run: ${why}`;
    this.#add(event, written, {
      handler: Object.freeze({ type: 'command', command: '' }),
      timeoutMs: this.#timeoutMs(event, { type: 'command', source: place.source }),
      onFailure,
      what,
      broken: Object.freeze({ cause: 'cannot-start', message }),
    });
  }

  #add(
    event: HookEventName,
    { place, facts }: Pick<Written, 'place' | 'facts'>,
    { what, broken, copyOf, ...run }: Draft,
  ): void {
    const ofCallback = place.standing === 'callback';
    const { matcher, agents } = facts;
    const matching = matchingOf({ event, matcher, agents, agentId: place.agentId });
    const { matches, inherits, notes, lost } = matching;
    if (lost !== undefined) {
      this.#skip(what, lost, place);
      return;
    }
    const label = this.#labelOf({ what, place });
    this.#notes.push(...notes.map((note) => `${label}: ${note}`));
    const hook: Hook = Object.freeze({
      id: this.#idOf(event, { place, index: facts.index, handler: run.handler }),
      event,
      role: hookEventFacts(event).role,
      matcher,
      agents,
      ...run,
      source: place.source,
      file: place.file,
      line: place.line,
      ...(place.restrictOnly === true || (ofCallback && this.#callbacksRestrictOnly())
        ? { restrictOnly: true }
        : {}),
      label,
    });
    const list = this.#hooks.get(event) ?? [];
    this.#hooks.set(event, list);
    const { standing } = place;
    list.push(Object.freeze({ hook, standing, matches, inherits, copyOf, broken }));
  }

  #whyDropped(event: HookEventName, place: Place, rule: unknown): string | undefined {
    if (!place.trusted) return 'the folder it comes from is not trusted';
    const disabled = this.#switches.disabled(place.source);
    if (disabled !== undefined) return `${disabled} is set`;
    const isAboutCalls = hookEventFacts(event).matches === 'tool';
    return isAboutCalls || typeof rule !== 'string' || rule.trim() === ''
      ? undefined
      : `it has an "if", which is for tool calls, and ${event} is about none`;
  }

  #skip(label: string, why: string, place: Place): void {
    this.#skipped.push(Object.freeze({ label, why, origin: this.#originOf(place) }));
  }

  #labelOf({ what, place }: Pick<Written, 'what' | 'place'>): string {
    return place.standing === 'callback' ? what : `${what} (${this.#originOf(place)})`;
  }

  #originOf(place: Place): string {
    const { file } = place;
    const shown =
      file === undefined || this.#source.cwd === undefined
        ? place
        : { ...place, file: displayPath(file, this.#source.cwd) };
    const origin = originOf({ ...shown, value: undefined });
    return place.scope === undefined || file !== undefined ? origin : place.scope;
  }

  /** Where it stands, so that it is the same in the next snapshot; numbered when two stand in one place. */
  #idOf(
    event: HookEventName,
    { place, index, handler }: { place: Place; index: number; handler: HookHandler },
  ): string {
    const where = [
      place.scope ?? place.source,
      ...(place.file === undefined ? [] : [this.#originOf(place)]),
    ];
    const last = handler.type === 'callback' ? handler.id : index;
    const base = [event, ...where, last].join('/');
    let id = base;
    for (let copy = 2; this.#ids.has(id); copy++) id = `${base}~${copy}`;
    this.#ids.add(id);
    return id;
  }
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

/** What a subagent's own file calls its stop is a stop of a subagent. */
function heardAs(event: HookEventName, { kind, agentId }: ScopedHooks): HookEventName {
  return kind === 'agent' && event === 'Stop' && agentId !== MAIN_AGENT.id ? 'SubagentStop' : event;
}

function withDirectories(handler: HookHandler, plugin: PluginDirectories | undefined): HookHandler {
  if (plugin === undefined || handler.type !== 'command') return handler;
  return Object.freeze({ ...handler, plugin });
}
