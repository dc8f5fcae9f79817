import {
  type CapturedHook,
  describeHandler,
  EVENTS,
  type HookSet,
  handlerOf,
  runsBeside,
} from '../../hooks/registry/captured.js';
import type { Hook } from '../../hooks/registry/hook.js';
import { isRecord } from '../../lib/own.js';
import { originOf } from '../../lib/sourced.js';
import { redact } from '../../lib/text/redact.js';
import { visible } from '../../lib/text/visible.js';
import { displayPath, expandHome, resolve } from '../../platform/fs/paths.js';
import type { HookEventName } from '../../protocol/hooks/hook-events.js';
import { type Contribution, contributionsOf, type Merged } from '../../settings/merge/merge.js';
import { parseHandler } from '../../settings/schema/handler.js';
import type { TrustCheck } from '../../settings/trust/types.js';
import type { ProjectPlaces } from '../places.js';
import type { Project } from '../project.js';
import { type ConfigProblem, fatalOf } from '../settings.js';

export type FailureEffect = 'refuses' | 'passes' | 'is reported';

/** A hook in force, as `portcullis hooks list --json` prints it. */
export interface ListedHook
  extends Pick<Hook, 'event' | 'role' | 'source' | 'timeoutMs'>,
    Partial<Record<'matcher' | 'agents' | 'if' | 'name' | 'file', string | undefined>>,
    Partial<
      Record<'restrictOnly' | 'once' | 'async' | 'asyncRewake' | 'persistent', boolean | undefined>
    > {
  readonly kind: Hook['handler']['type'];
  /** What it runs, without secrets of a known shape. */
  readonly runs: string;
  readonly line?: number | undefined;
  /** What a signal, a timeout or another failure does. */
  readonly failure: FailureEffect;
  /** What exit code 1 does. Absent: there is no exit code, as of a server or a persistent process. */
  readonly exitCode1?: FailureEffect | undefined;
  /** Why it can only fail. */
  readonly broken?: string | undefined;
  /** Where the same hook is declared as well; of both, one is asked. */
  readonly copyOf?: string | undefined;
  readonly notes: readonly string[];
}

export interface SkippedHook {
  readonly event?: HookEventName;
  readonly label: string;
  readonly origin: string;
  readonly why: string;
}

export interface HookList {
  readonly hooks: readonly ListedHook[];
  /** Hooks that are declared and never asked. */
  readonly skipped: readonly SkippedHook[];
  readonly notes: readonly string[];
}

/** What a session here would do about hooks. */
export interface ProjectHookList extends HookList {
  readonly trusted: boolean;
  /** Whether a session would start with these settings. */
  readonly starts: boolean;
  /** What is wrong with hooks, and whatever else keeps a session from starting. */
  readonly problems: readonly ConfigProblem[];
}

/** Lists the hooks that a session here would ask, and those that it would not. Runs nothing. */
export async function listProjectHooks(project: Project): Promise<ProjectHookList> {
  const { merged, problems, trusted } = await project.settings();
  const trust = await (await project.trust()).trust.check();
  const list = await listHooks(await project.hooks(), (hook) => scriptNotes(hook, project.places));
  return {
    trusted,
    starts: fatalOf(problems).length === 0,
    ...list,
    skipped: [...heldBack(merged, trust), ...list.skipped],
    problems: problems.filter(
      ({ severity, topic }) =>
        severity === 'fatal' || (severity === 'warning' && topic === 'hooks'),
    ),
  };
}

/** Lists hooks event by event, in the order in which they are asked. */
export async function listHooks(
  set: HookSet,
  notesOn: (hook: Hook) => Promise<readonly string[]> = async () => [],
): Promise<HookList> {
  const hooks: ListedHook[] = [];
  for (const captured of EVENTS.flatMap((event) => set.hooks[event] ?? [])) {
    const { copyOf } = captured;
    const twin = set.hooks[captured.hook.event]?.find((one) => one.copyOf === copyOf);
    const original = copyOf === undefined || twin === captured ? undefined : twin?.hook;
    hooks.push(listed(captured, original, await notesOn(captured.hook)));
  }
  return { hooks, skipped: set.skipped, notes: set.notes };
}

function listed(
  { hook, broken }: CapturedHook,
  original: Hook | undefined,
  notes: readonly string[],
): ListedHook {
  const { event, role, matcher, agents, handler, source, file, line, timeoutMs } = hook;
  const command = handler.type === 'command' ? handler : undefined;
  // The author looks for the whole command; prompts and addresses are described in a few words.
  const runs =
    command === undefined
      ? describeHandler(handler)
      : visible(redact([command.command, ...(command.args ?? [])].join(' ').trim()));
  return {
    event,
    role,
    matcher,
    agents,
    if: handler.if,
    kind: handler.type,
    runs: broken === undefined ? runs : hook.label,
    name: handler.name,
    source,
    file,
    line,
    timeoutMs,
    failure: failureOf(hook),
    exitCode1: exitCode1Of(hook),
    restrictOnly: hook.restrictOnly,
    once: handler.once,
    async: command?.async,
    asyncRewake: command?.asyncRewake,
    persistent: command?.persistent,
    broken: broken?.message,
    copyOf: original === undefined ? undefined : placeOf(original),
    notes,
  };
}

function failureOf(hook: Hook): FailureEffect {
  if (hook.role === 'observe' || runsBeside(hook.handler)) return 'is reported';
  return hook.onFailure === 'block' ? 'refuses' : 'passes';
}

function exitCode1Of(hook: Hook): FailureEffect | undefined {
  const { handler, strict } = hook;
  if (handler.type !== 'command' || handler.persistent === true) return undefined;
  const failure = failureOf(hook);
  const isFailure = strict === true || hook.event === 'WorktreeCreate';
  return failure === 'refuses' && !isFailure ? 'passes' : failure;
}

/** `file:line`, or the source. */
export function placeOf({
  file,
  line,
  source,
}: Pick<ListedHook, 'file' | 'line' | 'source'>): string {
  if (file === undefined) return source === 'cli' ? 'command line' : source;
  return line === undefined ? file : `${file}:${line}`;
}

/** Hooks of settings files that are not in force at all. */
function heldBack(merged: Merged, trust: TrustCheck): readonly SkippedHook[] {
  return EVENTS.flatMap((event) =>
    contributionsOf(merged, `hooks.${event}`).flatMap((one) => {
      const why = whyHeldBack(event, one, trust);
      if (why === undefined) return [];
      const { value } = one;
      const handlers = isRecord(value) && Array.isArray(value.hooks) ? value.hooks : [value];
      return handlers.map((raw: unknown) => {
        const read = parseHandler(raw, event);
        const label = read.ok ? describeHandler(handlerOf(read.value)) : `broken ${event} hook`;
        return { event, label, origin: originOf(one), why };
      });
    }),
  );
}

function whyHeldBack(
  event: HookEventName,
  one: Contribution,
  trust: TrustCheck,
): string | undefined {
  switch (one.standing) {
    case 'in force':
    case 'shadowed':
      return undefined;
    case 'untrusted':
      return trust.verdict === 'changed'
        ? `${changeOf(event, one, trust)} (portcullis trust shows and accepts it)`
        : 'the folder is not trusted (portcullis trust, or --trust for one run)';
    case 'managed only':
      return 'an administrator lets only managed hooks run';
    case 'not here':
      return 'this file may not declare hooks';
    case 'dropped':
      return one.why ?? 'this file may not declare it';
  }
}

/** What has changed about a hook since the folder was trusted. */
function changeOf(
  event: HookEventName,
  { file, value }: Contribution,
  { pending }: TrustCheck,
): string {
  const matcher = isRecord(value) && typeof value.matcher === 'string' ? value.matcher : '';
  const name = matcher === '' || matcher === '*' ? event : `${event} on ${matcher}`;
  const change = pending.find(
    ({ declaration: { kind, name: declared, file: where } }) =>
      kind === 'hook' && declared === name && where === file,
  );
  if (change?.was === 'changed')
    return 'it or a script that it runs has changed since it was trusted';
  if (change?.was === 'new') return 'it is new since the folder was trusted';
  return 'the folder has changed since it was trusted';
}

const TRANSCRIPT_NOTE =
  "it mentions transcript_path, which is the session's also inside subagents; a script that compares it to find subagents must use agent.path";
const MAX_SCRIPT_BYTES = 1024 * 1024;

/** What authors of scripts for other programs should know, as far as the script can be found. */
async function scriptNotes({ handler }: Hook, places: ProjectPlaces): Promise<readonly string[]> {
  if (handler.type !== 'command') return [];
  const { fs, cwd, home } = places;
  const code = [handler.command, ...(handler.args ?? [])].join(' ');
  if (code.includes('transcript_path')) return [TRANSCRIPT_NOTE];
  // Every word that may name a file.
  const words = code
    .replace(/["']?\$\{?CLAUDE_PROJECT_DIR\}?["']?/g, cwd)
    .replace(/\$\{?HOME\}?/g, home)
    .split(/[\s'"`;|&()<>]+/)
    .filter((word) => /[./]/.test(word) && !word.startsWith('-'));
  for (const file of new Set(words.map((word) => resolve(cwd, expandHome(word, home))))) {
    // A word that names no readable text file has nothing to note.
    const text = await fs.readText(file, { maxBytes: MAX_SCRIPT_BYTES }).catch(() => '');
    if (text.includes('transcript_path')) return [`${displayPath(file, cwd)}: ${TRANSCRIPT_NOTE}`];
  }
  return [];
}
