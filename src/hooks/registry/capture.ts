import { isRecord, own } from '../../lib/own.js';
import { err } from '../../lib/result.js';
import { originOf, type Sourced } from '../../lib/sourced.js';
import { nearest } from '../../lib/text/nearest.js';
import { isSecretName } from '../../platform/environment.js';
import { displayPath } from '../../platform/fs/paths.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { HOOK_TIMEOUTS, LONGEST_SESSION_END_MS } from '../../protocol/hooks/hook-event-facts.js';
import {
  HOOK_EVENTS,
  type HookEventName,
  hookEventFacts,
} from '../../protocol/hooks/hook-events.js';
import { type HookSwitches, hookSwitches } from '../../settings/merge/switches.js';
import {
  declaredOnFailure,
  type ParsedHandler,
  parseHandler,
} from '../../settings/schema/handler.js';
import { canonicalJson } from '../../settings/trust/digest.js';
import { isOfOwner, type SettingValues } from '../../settings/types.js';
import { LONGEST_TIMER_MS, oneLine } from '../dispatch/timeout.js';
import {
  type CapturedHook,
  describeHandler,
  EVENTS,
  type HookSet,
  type HookSnapshot,
  type HookStanding,
  handlerOf,
  isSwitchedOff,
  joinHooks,
  matchingOf,
  runsBeside,
  type ScopedHooks,
  type SkippedHook,
} from './captured.js';
import type { Hook, HookHandler, PluginDirectories } from './hook.js';
import type { CallbackEntry, HostCallbacks } from './host-callbacks.js';

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
      found.addGroup(event, group.value, { ...group, standing: 'settings' });
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

/** The place of a group of hooks, and the agent it is for. */
interface Place extends Omit<Sourced<unknown>, 'value'> {
  readonly standing: HookStanding;
  /** `skill:deploy`, in place of the source. */
  readonly scope?: string;
  readonly agentId?: string | undefined;
  readonly plugin?: PluginDirectories | undefined;
  readonly restrictOnly?: boolean;
}

/** One handler of a file. */
interface Declared {
  readonly event: HookEventName;
  readonly place: Place;
  readonly matcher?: string | undefined;
  readonly agents?: string | undefined;
  readonly index: number;
  /** What it does, in a few words. */
  readonly what: string;
}

type Draft = Pick<Hook, 'handler' | 'timeoutMs' | 'onFailure' | 'strict'> &
  Pick<CapturedHook, 'copyOf' | 'broken'>;

/** Gathers hooks of all sources under the same settings. */
class HookCollector {
  readonly #hooks: Partial<Record<HookEventName, CapturedHook[]>> = {};
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
    const { kind, name, hooks, agentId, ...place } = scoped;
    const standing = kind === 'plugin' ? 'plugin' : 'scoped';
    const scope = `${kind}:${name}${agentId === undefined ? '' : `@${agentId}`}`;
    const at: Place = { ...place, standing, scope, agentId };
    // fail-closed: unreadable hooks may have contained a guard.
    if (!isRecord(hooks)) this.addGroup('PreToolUse', hooks, at);
    for (const [written, groups] of Object.entries(isRecord(hooks) ? hooks : {})) {
      if (own(HOOK_EVENTS, written) === undefined) {
        this.#skip(`${written} hooks of ${kind} ${name}`, 'there is no such event', at);
        continue;
      }
      const event = heardAs(written as HookEventName, scoped);
      for (const group of Array.isArray(groups) ? groups : [groups]) {
        this.addGroup(event, group, at);
      }
    }
  }

  addGroup(event: HookEventName, group: unknown, place: Place): void {
    const { matcher, agents, hooks } = isRecord(group) ? group : {};
    const isGroup = Array.isArray(hooks) && isTextOrAbsent(matcher) && isTextOrAbsent(agents);
    const handlers: readonly unknown[] = isGroup ? hooks : [group];
    handlers.forEach((raw, index) => {
      const read = isGroup ? parseHandler(raw, event) : err('it is no group of hooks');
      const what = read.ok ? describeHandler(handlerOf(read.value)) : `broken ${event} hook`;
      const dropped =
        isSwitchedOff(group) || isSwitchedOff(raw)
          ? '"enabled": false switches it off'
          : this.#whyDropped(event, place, read.ok ? read.value.fields.if : undefined);
      const pattern = { matcher: textOf(matcher), agents: textOf(agents) };
      const declared: Declared = { event, place, ...pattern, index, what };
      if (dropped !== undefined) this.#skip(what, dropped, place);
      else if (read.ok) this.#addRead(declared, raw, read.value);
      else this.#addBroken(declared, raw, read.error);
    });
  }

  addCallbacks(event: HookEventName, entry: CallbackEntry): void {
    const { matcher, ids, timeoutMs: limit, onFailure: said } = entry;
    const { role } = hookEventFacts(event);
    // A registration always says `block` unless it was told otherwise, so only guards take it at its word.
    const { onFailure } = failureMeans(event, role === 'gate' ? said : undefined, this.#switches);
    // A yes of the host's callbacks counts for nothing where an administrator allows only managed hooks.
    const restrictOnly =
      this.#switches.managedOnly || this.#switches.disabled('managed') !== undefined;
    const place: Place = { source: 'sdk', trusted: true, standing: 'callback', restrictOnly };
    for (const id of ids) {
      const handler: HookHandler = Object.freeze({ type: 'callback', id });
      const declared = { event, place, matcher, index: 0, what: describeHandler(handler) };
      const timeoutMs = this.#timeoutMs(declared, 'callback', limit);
      this.#add(declared, { handler, timeoutMs, onFailure });
    }
  }

  finish(): HookSet {
    return joinHooks([{ hooks: this.#hooks, skipped: this.#skipped, notes: this.#notes }]);
  }

  #addRead(declared: Declared, raw: unknown, parsed: ParsedHandler): void {
    const { event, place, agents } = declared;
    const { timeoutMs: limit, onFailure: said } = parsed;
    const means = failureMeans(event, said, this.#switches);
    const granted = grantedHandler(handlerOf(parsed), place, this.#switches);
    const notes = [means.note, granted.note].filter((note) => note !== undefined);
    this.#notes.push(...notes.map((note) => `${this.#labelOf(declared)}: ${note}`));
    const { handler } = granted;
    const onFailure = runsBeside(handler) ? 'continue' : means.onFailure;
    const isStrict =
      said === 'block' ||
      (this.#switches.failure === 'strict' && hookEventFacts(event).role === 'gate');
    this.#add(declared, {
      handler,
      onFailure,
      ...(onFailure === 'block' && isStrict ? { strict: true } : {}),
      timeoutMs: this.#timeoutMs(declared, handler.type, limit),
      copyOf: place.standing === 'settings' ? `${agents ?? ''}\n${canonicalJson(raw)}` : undefined,
    });
  }

  /** fail-closed: what guards and is no hook is a guard that always fails. */
  #addBroken(declared: Declared, raw: unknown, why: string): void {
    const { event, place, what } = declared;
    const { onFailure } = failureMeans(event, declaredOnFailure(raw), this.#switches);
    const isLost = hookEventFacts(event).role !== 'gate' && onFailure === 'continue';
    if (isLost) this.#skip(what, why, place);
    else
      this.#add(declared, {
        handler: Object.freeze({ type: 'command', command: '' }),
        timeoutMs: this.#timeoutMs(declared, 'command'),
        onFailure,
        broken: Object.freeze({ cause: 'cannot-start', message: `it cannot be run: ${why}` }),
      });
  }

  #add(declared: Declared, { broken, copyOf, ...run }: Draft): void {
    const { event, place, matcher, agents, what } = declared;
    const { source, file, line, standing, agentId } = place;
    const { matches, inherits, notes, lost } = matchingOf({ event, matcher, agents, agentId });
    if (lost !== undefined) {
      this.#skip(what, lost, place);
      return;
    }
    const label = this.#labelOf(declared);
    this.#notes.push(...notes.map((note) => `${label}: ${note}`));
    const hook: Hook = Object.freeze({
      id: this.#idOf(declared, run.handler),
      event,
      role: hookEventFacts(event).role,
      matcher,
      agents,
      ...run,
      source,
      file,
      line,
      ...(place.restrictOnly === true ? { restrictOnly: true } : {}),
      label,
    });
    this.#hooks[event] ??= [];
    this.#hooks[event].push(Object.freeze({ hook, standing, matches, inherits, copyOf, broken }));
  }

  /** Milliseconds that a hook may take; `said`: what it says itself. */
  #timeoutMs({ event, place }: Declared, type: HookHandler['type'], said?: number): number {
    // What a project says about all hooks is about its own.
    const usual = own(this.#switches.timeouts(place.source), event);
    if (event === 'SessionEnd') {
      const limit = sessionEndMs(usual, this.#source.env ?? {});
      // A plugin does not make the end of a session longer.
      const wanted = place.standing === 'plugin' ? Math.min(said ?? limit, limit) : said;
      return Math.min(wanted ?? limit, LONGEST_SESSION_END_MS);
    }
    return Math.min(said ?? usual ?? standardMs(event, type), LONGEST_TIMER_MS);
  }

  #whyDropped(event: HookEventName, place: Place, rule: unknown): string | undefined {
    if (!place.trusted) return 'the folder it comes from is not trusted';
    const disabled = this.#switches.disabled(place.source);
    if (disabled !== undefined) return `${disabled} is set`;
    const hasRule = typeof rule === 'string' && rule.trim() !== '';
    if (!hasRule || hookEventFacts(event).matches === 'tool') return undefined;
    return `it has an "if", which is for tool calls, and ${event} is about none`;
  }

  #skip(label: string, why: string, place: Place): void {
    this.#skipped.push(Object.freeze({ label, why, origin: this.#originOf(place) }));
  }

  #labelOf({ what, place }: Declared): string {
    return place.standing === 'callback' ? what : `${what} (${this.#originOf(place)})`;
  }

  #originOf(place: Place): string {
    const { file, scope } = place;
    if (scope !== undefined && file === undefined) return scope;
    const { cwd } = this.#source;
    const shown = file === undefined || cwd === undefined ? file : displayPath(file, cwd);
    return originOf({ ...place, file: shown, value: undefined });
  }

  /** Made of the place, so that it is the same in the next snapshot; numbered when two hooks share one. */
  #idOf({ event, place, index }: Declared, handler: HookHandler): string {
    const base = [
      event,
      place.scope ?? place.source,
      ...(place.file === undefined ? [] : [this.#originOf(place)]),
      handler.type === 'callback' ? handler.id : index,
    ].join('/');
    let id = base;
    for (let copy = 2; this.#ids.has(id); copy++) id = `${base}~${copy}`;
    this.#ids.add(id);
    return id;
  }
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** What a subagent's own file calls its stop is a stop of a subagent. */
function heardAs(event: HookEventName, { kind, agentId }: ScopedHooks): HookEventName {
  return kind === 'agent' && event === 'Stop' && agentId !== MAIN_AGENT.id ? 'SubagentStop' : event;
}

/** What the failure of a hook means. */
function failureMeans(
  event: HookEventName,
  said: 'block' | 'continue' | undefined,
  { failure }: Pick<HookSwitches, 'failure'>,
): { readonly onFailure: 'block' | 'continue'; readonly note?: string } {
  const { role, failureNeverBlocks } = hookEventFacts(event);
  if (role === 'observe' || failureNeverBlocks === true) {
    if (said !== 'block') return { onFailure: 'continue' };
    const why = role === 'observe' ? 'its hooks only watch' : 'what it holds up is an end';
    return {
      onFailure: 'continue',
      note: `onFailure "block" has no effect at ${event}: ${why}`,
    };
  }
  // fail-closed: a guard that cannot answer refuses, unless it or a trusted setting says otherwise.
  const blocks = role === 'gate' && failure !== 'open';
  return { onFailure: said ?? (blocks ? 'block' : 'continue') };
}

/** The handler as its source may have it: without secrets that a project names, with a plugin's directories. */
function grantedHandler(
  handler: HookHandler,
  { source, plugin }: Place,
  { httpEnvVars: named = [] }: Pick<HookSwitches, 'httpEnvVars'>,
): { readonly handler: HookHandler; readonly note?: string } {
  // What HTTP hooks may send is judged when they send it; here it is what a process inherits.
  if (handler.type !== 'command') return { handler };
  const own = plugin === undefined ? handler : Object.freeze({ ...handler, plugin });
  const wanted = handler.allowedEnvVars ?? [];
  // fail-closed: a file of a project cannot allow itself what looks like a secret.
  const withheld = isOfOwner(source)
    ? []
    : wanted.filter((name) => isSecretName(name) && !named.includes(name));
  if (withheld.length === 0) return { handler: own };
  const allowedEnvVars = Object.freeze(wanted.filter((name) => !withheld.includes(name)));
  const note = `it is not given ${withheld.join(', ')}, which only a person can hand over: name it in \`httpHookAllowedEnvVars\` of your own settings`;
  return { handler: Object.freeze({ ...own, allowedEnvVars }), note };
}

/** Milliseconds for a callback whose host names no limit. */
const CALLBACK_TIMEOUT_MS = 60_000;
const SESSION_END_VARIABLE = 'CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS';

function sessionEndMs(usual: number | undefined, env: NonNullable<CaptureSource['env']>): number {
  const variable = Number(env[SESSION_END_VARIABLE]);
  if (Number.isFinite(variable) && variable > 0) return variable;
  return usual ?? hookEventFacts('SessionEnd').timeoutMs ?? LONGEST_SESSION_END_MS;
}

function standardMs(event: HookEventName, type: HookHandler['type']): number {
  if (type === 'callback') return CALLBACK_TIMEOUT_MS;
  const asksModel = type === 'prompt' || type === 'agent';
  return (asksModel ? undefined : hookEventFacts(event).timeoutMs) ?? HOOK_TIMEOUTS[type];
}
