import { isRecord } from '../../lib/own.js';
import type { SettingSource } from '../../lib/sourced.js';
import { redact } from '../../lib/text/redact.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import {
  agentPattern,
  inheritedPattern,
  patternProblem,
} from '../../permissions/rules/agent-rules.js';
import { gateMatcher, type NameMatcher } from '../../permissions/rules/name-matcher.js';
import { basename } from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import {
  HOOK_EVENTS,
  type HookEventName,
  hookEventFacts,
} from '../../protocol/hooks/hook-events.js';
import type { ParsedHandler } from '../../settings/schema/handler.js';
import type { Hook, HookFailure, HookHandler, Occasion, PluginDirectories } from './hook.js';

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

/** Hooks from outside of settings: of a plugin, of a skill once invoked, of an agent while it runs. */
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

/** A hook of a file that is never asked. */
export interface SkippedHook {
  readonly label: string;
  readonly why: string;
  /** `file:line`, or the source. */
  readonly origin: string;
}

/** In the order in which they are declared. */
type HooksByEvent = Readonly<Partial<Record<HookEventName, readonly CapturedHook[]>>>;

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
    const inOrder = STANDINGS.flatMap((one) => all.filter(({ standing }) => standing === one));
    if (all.length > 0) hooks[event] = Object.freeze(inOrder);
  }
  return Object.freeze({
    hooks: Object.freeze(hooks),
    skipped: Object.freeze(sets.flatMap((set) => set.skipped)),
    notes: Object.freeze(sets.flatMap((set) => set.notes)),
  });
}

/** What an occasion is compared by. */
export type OccasionKey = Pick<Occasion, 'agent' | 'matched'>;

/** For which occasions of its event a hook is meant. */
interface Matching {
  matches(occasion: OccasionKey): boolean;
  /** Whether it is asked about an agent only because it guards one above it. Absent: never. */
  inherits?(agent: AgentRef): boolean;
  /** Where it does not mean what was written, and what it is taken to mean. */
  readonly notes: readonly string[];
  /** Why it is not in force: an observer whose matcher or agents cannot be read. */
  readonly lost?: string;
}

export interface MatchingSpec {
  readonly event: HookEventName;
  readonly matcher?: string | undefined;
  /** Pattern over agents. */
  readonly agents?: string | undefined;
  /** The one agent it is for. */
  readonly agentId?: string | undefined;
}

/** Compiles once what is compared at every occasion. */
export function matchingOf({ event, matcher, agents, agentId }: MatchingSpec): Matching {
  const { role, matches: kind } = hookEventFacts(event);
  const names = nameMatcher(event, matcher);
  const wrong = agents === undefined ? undefined : patternProblem(agents);
  // fail-closed: a guard for agents that cannot be is a guard for all.
  const pattern = wrong === undefined ? agents : undefined;
  const isOfAgent = pattern === undefined ? () => true : agentPattern(pattern);
  // fail-closed: a guard is not passed by delegating.
  const isInherited = role === 'gate' && kind === 'tool' && pattern !== undefined;
  const inherits = isInherited ? inheritedPattern(pattern) : undefined;
  const notes = names.problem === undefined ? [] : [names.problem];
  if (wrong !== undefined) {
    notes.push(`the agents "${agents}" name no agent (${wrong}); it is taken to mean every agent`);
  }
  const isUnreadable = names.unreadable === true || wrong !== undefined;
  return {
    inherits,
    notes,
    // A guard with an unreadable pattern guards every agent; an observer is not run.
    lost: role === 'observe' && isUnreadable ? notes.join('; ') : undefined,
    matches: ({ agent, matched }) =>
      (agentId === undefined || agent.id === agentId) &&
      (isOfAgent(agent) || inherits?.(agent) === true) &&
      (matched.length === 0 || names.matches(matched)),
  };
}

function nameMatcher(event: HookEventName, matcher = ''): NameMatcher {
  const { matches } = hookEventFacts(event);
  if (matches === 'nothing') return { matches: () => true };
  if (event !== 'FileChanged') return gateMatcher(matcher, { ofTools: matches === 'tool' });
  // Literal names of files, whatever their directory.
  const text = matcher.trim();
  if (text === '' || text === '*') return { matches: () => true };
  const wanted = text.split('|').map((name) => name.trim().toLowerCase());
  const isWanted = (name: string) => name !== '' && wanted.includes(name);
  return { matches: (names) => names.some((name) => isWanted(basename(name).toLowerCase())) };
}

/** The handler of checked fields, frozen. */
export function handlerOf({ fields }: Pick<ParsedHandler, 'fields'>): HookHandler {
  // Every field was checked against the table of its kind.
  return deepFreeze(fields) as unknown as HookHandler;
}

/** The value itself, frozen to its depths. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

/** Whether a group or handler is switched off. Only the very word does that. */
export function isSwitchedOff(raw: unknown): boolean {
  return isRecord(raw) && raw.enabled === false;
}

/** Runs beside the session: nothing waits for it, so it decides nothing. */
export function runsBeside(handler: HookHandler): boolean {
  return handler.type === 'command' && (handler.async === true || handler.asyncRewake === true);
}

/** What a handler does, in a few words of one line. */
export function describeHandler(handler: HookHandler): string {
  switch (handler.type) {
    case 'command':
      return `command ${quoted([handler.command, ...(handler.args ?? [])].join(' '))}`;
    case 'http':
      // What follows the path may be a secret.
      return `http ${quoted(handler.url.replace(/[?#].*$/s, '').replace(/\/\/[^/@]*@/, '//'))}`;
    case 'mcp_tool':
      return `mcp_tool ${quoted(`${handler.server}/${handler.tool}`)}`;
    case 'prompt':
    case 'agent':
      return `${handler.type} ${quoted(handler.prompt)}`;
    case 'callback':
      return `callback ${short(handler.id)}`;
  }
}

const LONGEST_TEXT = 80;

function quoted(text: string): string {
  return `"${short(text)}"`;
}

function short(text: string): string {
  const line = visible(redact(text.trim()));
  return line.length <= LONGEST_TEXT ? line : `${sliceWhole(line, 0, LONGEST_TEXT - 1)}…`;
}
