import { describeHandler, readHandler, runsBeside } from '../hooks/capture-handler.js';
import { type CapturedHook, EVENTS, type HookSet } from '../hooks/captured.js';
import type { Hook, HookHandler } from '../hooks/hook.js';
import { type HookEventName, hookEventFacts } from '../protocol/hook-events.js';
import { type Contribution, contributionsOf, type Merged } from '../settings/merge.js';
import type { TrustCheck } from '../settings/trust-types.js';
import { isRecord } from '../util/own.js';
import { redact } from '../util/redact.js';
import { originOf } from '../util/sourced.js';
import { visible } from '../util/visible.js';

/** A hook in force, for people and programs. */
export interface ListedHook {
  readonly event: HookEventName;
  readonly role: Hook['role'];
  /** Absent: everything. */
  readonly matcher?: string;
  /** Absent: every agent. */
  readonly agents?: string;
  readonly if?: string;
  readonly kind: HookHandler['type'];
  /** What it runs, without secrets of a known shape. */
  readonly runs: string;
  readonly name?: string;
  readonly source: string;
  readonly file?: string;
  readonly line?: number;
  readonly timeoutMs: number;
  /** What a signal, a time-out or another failure does. */
  readonly failure: FailureEffect;
  /** What exit code 1 does. Absent: there is no exit code, as of a server or a persistent process. */
  readonly exitCode1?: FailureEffect;
  /** Its yes counts for nothing. */
  readonly restrictOnly?: true;
  readonly once?: true;
  /** It runs beside the session and decides nothing. */
  readonly async?: true;
  readonly asyncRewake?: true;
  readonly persistent?: true;
  /** Why it can only fail. */
  readonly broken?: string;
  /** Where the same hook stands as well; of both, one is asked. */
  readonly copyOf?: string;
  /** What has to be there before its event fires. */
  readonly waitsFor?: string;
  readonly notes: readonly string[];
}

export type FailureEffect = 'refuses' | 'passes' | 'is told';

export interface ListedSkip {
  readonly event?: HookEventName;
  readonly label: string;
  readonly origin: string;
  readonly why: string;
}

export interface HookList {
  readonly hooks: readonly ListedHook[];
  /** Hooks that stand in files and are never asked. */
  readonly skipped: readonly ListedSkip[];
  readonly notes: readonly string[];
}

/** What is to be said about a hook beyond what it says itself. */
export type HookNotes = (hook: Hook) => Promise<readonly string[]>;

/** All that is in force, event by event, in the order in which hooks are asked. */
export async function listOf(set: HookSet, notesOn: HookNotes = async () => []): Promise<HookList> {
  const hooks: ListedHook[] = [];
  for (const event of EVENTS) {
    const known = new Map<string, Hook>();
    for (const captured of set.hooks[event] ?? []) {
      const copyOf = captured.copyOf === undefined ? undefined : known.get(captured.copyOf);
      if (captured.copyOf !== undefined && copyOf === undefined) {
        known.set(captured.copyOf, captured.hook);
      }
      hooks.push(listed(captured, copyOf, await notesOn(captured.hook)));
    }
  }
  return { hooks, skipped: set.skipped, notes: set.notes };
}

function listed(
  { hook, broken }: CapturedHook,
  copyOf: Hook | undefined,
  notes: readonly string[],
): ListedHook {
  const { event, role, matcher, agents, handler, source, file, line, timeoutMs } = hook;
  const { waitsFor } = hookEventFacts(event);
  return {
    event,
    role,
    ...present({ matcher, agents, if: handler.if }),
    kind: handler.type,
    runs: broken === undefined ? whatItRuns(handler) : hook.label,
    ...present({ name: handler.name }),
    source,
    ...present({ file, line }),
    timeoutMs,
    failure: failureOf(hook),
    ...present({ exitCode1: exitCode1Of(hook) }),
    ...marks(hook),
    ...present({
      broken: broken?.message,
      copyOf: copyOf === undefined ? undefined : placeOf(copyOf),
      waitsFor,
    }),
    notes,
  };
}

function failureOf(hook: Hook): FailureEffect {
  if (hook.role === 'observe' || runsBeside(hook.handler)) return 'is told';
  return hook.onFailure === 'block' ? 'refuses' : 'passes';
}

function exitCode1Of(hook: Hook): FailureEffect | undefined {
  const { handler, strict } = hook;
  if (handler.type !== 'command' || handler.persistent === true) return undefined;
  const failure = failureOf(hook);
  const isFailure = strict === true || hook.event === 'WorktreeCreate';
  return failure === 'refuses' && !isFailure ? 'passes' : failure;
}

function marks({ handler, restrictOnly }: Hook): Partial<ListedHook> {
  const command = handler.type === 'command' ? handler : undefined;
  return {
    ...(restrictOnly === true ? { restrictOnly } : {}),
    ...(handler.once === true ? { once: true } : {}),
    ...(command?.async === true ? { async: true } : {}),
    ...(command?.asyncRewake === true ? { asyncRewake: true } : {}),
    ...(command?.persistent === true ? { persistent: true } : {}),
  };
}

/** Commands whole, as their author looks for them; prompts and addresses in a few words. */
function whatItRuns(handler: HookHandler): string {
  if (handler.type !== 'command') return describeHandler(handler);
  return visible(redact([handler.command, ...(handler.args ?? [])].join(' ').trim()));
}

/** `file:line`, or what else it comes from. */
export function placeOf({
  file,
  line,
  source,
}: Pick<ListedHook, 'file' | 'line' | 'source'>): string {
  if (file === undefined) return source === 'cli' ? 'command line' : source;
  return line === undefined ? file : `${file}:${line}`;
}

/** Hooks that stand in settings files and are not even looked at, by what became of them. */
export function heldBack(merged: Merged, trust?: TrustCheck): readonly ListedSkip[] {
  return EVENTS.flatMap((event) => {
    return contributionsOf(merged, `hooks.${event}`).flatMap((one) => {
      const why = whyHeldBack(one, changeOf(event, one, trust));
      if (why === undefined) return [];
      return handlersOf(event, one.value).map((label) => ({
        event,
        label,
        origin: originOf(one),
        why,
      }));
    });
  });
}

/** What became of a hook since the folder was trusted; undefined where it never was. */
function changeOf(
  event: HookEventName,
  { file, value }: Contribution,
  trust: TrustCheck | undefined,
): string | undefined {
  if (trust?.verdict !== 'changed') return undefined;
  const matcher = isRecord(value) && typeof value.matcher === 'string' ? value.matcher : '';
  const name = matcher === '' || matcher === '*' ? event : `${event} on ${matcher}`;
  const mine = trust.pending.find(
    ({ declaration }) =>
      declaration.kind === 'hook' && declaration.name === name && declaration.file === file,
  );
  if (mine?.was === 'changed')
    return 'it or a script that it runs has changed since it was trusted';
  if (mine?.was === 'new') return 'it is new since the folder was trusted';
  return 'the folder has changed since it was trusted';
}

function whyHeldBack(
  { standing, why }: Contribution,
  changed: string | undefined,
): string | undefined {
  switch (standing) {
    case 'in force':
    case 'shadowed':
      return undefined;
    case 'untrusted':
      return changed === undefined
        ? 'the folder is not trusted (portcullis trust, or --trust for one run)'
        : `${changed} (portcullis trust shows and accepts it)`;
    case 'managed only':
      return 'an administrator lets only managed hooks run';
    case 'not here':
      return 'it may not stand in this file';
    case 'dropped':
      return why ?? 'it may not stand here';
  }
}

function handlersOf(event: HookEventName, group: unknown): readonly string[] {
  const handlers = isRecord(group) && Array.isArray(group.hooks) ? group.hooks : [group];
  return handlers.map((raw: unknown) => {
    const read = readHandler(event, raw);
    return read.ok ? describeHandler(read.value.handler) : `broken ${event} hook`;
  });
}

function present<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [K in keyof T]?: NonNullable<T[K]> };
}
