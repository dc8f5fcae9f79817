import type { HookStat } from '../../hooks/dispatch/dispatcher.js';
import { seconds } from '../../hooks/dispatch/timeout.js';
import type { HookSet } from '../../hooks/registry/captured.js';
import { table } from '../../lib/table.js';
import { visible } from '../../lib/text/visible.js';
import { displayPath } from '../../platform/fs/paths.js';
import {
  type FailureEffect,
  type HookList,
  type ListedHook,
  listHooks,
  placeOf,
} from './hooks-list.js';

/** The hooks of an open session. */
export interface SessionHooks {
  /** All that is in force now, with the hooks of skills and agents. */
  readonly set: HookSet;
  readonly stats: readonly HookStat[];
}

/** What `/hooks` shows: the hooks in force, and how long they took so far. */
export async function hookListText({ set, stats }: SessionHooks, cwd: string): Promise<string> {
  return `${listText(await listHooks(set), cwd)}\nTimes of this session\n${statsText(stats)}`;
}

/** How long the hooks of a session took, those that cost most time first. */
function statsText(stats: readonly HookStat[]): string {
  if (stats.length === 0) return 'No hook has run yet.\n';
  // Persistent hooks answer within fractions of a millisecond.
  const time = (ms: number): string => `${ms < 10 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`;
  const rows = [...stats]
    .sort((a, b) => b.totalMs - a.totalMs)
    .map(({ event, label, runs, failures, totalMs, maxMs, lastMs }) => [
      String(runs),
      String(failures),
      ...[totalMs / runs, maxMs, lastMs, totalMs].map(time),
      `${event}: ${visible(label)}`,
    ]);
  const head = ['runs', 'failed', 'mean', 'longest', 'last', 'together', 'hook'];
  return `${table([head, ...rows])}\n`;
}

/** Formats a list of hooks. Files below `cwd` are shown relative to it. */
export function listText({ hooks, skipped, notes }: HookList, cwd: string): string {
  const events = [...new Set(hooks.map(({ event, role }) => `${event} (${ROLES[role]})`))];
  const lists = events.map((heading) => {
    const mine = hooks.filter(({ event }) => heading.startsWith(`${event} `));
    return section(
      heading,
      mine.map((hook) => [title(hook, cwd), ...details(hook, cwd)]),
    );
  });
  const idle = skipped.map(({ event = '', label, origin, why }) => [
    `${event}  ${visible(label)}  ${visible(displayPath(origin, cwd))}`.trimStart(),
    visible(why),
  ]);
  return [
    ...(lists.length === 0 ? ['No hook is in force.\n'] : lists),
    ...(idle.length === 0 ? [] : [section('Not asked', idle)]),
    ...(notes.length === 0
      ? []
      : [
          section(
            'Notes',
            notes.map((note) => [visible(note)]),
          ),
        ]),
  ].join('\n');
}

/** A heading, and below it each entry: its first line, and the others indented further. */
function section(heading: string, entries: readonly (readonly string[])[]): string {
  const lines = entries.flatMap(([first, ...more]) => [
    `  ${first}\n`,
    ...more.map((line) => `    ${line}\n`),
  ]);
  return `${heading}\n${lines.join('')}`;
}

const ROLES = {
  gate: 'gate: can refuse',
  block: 'can block',
  observe: 'only observes',
} as const;

function title(hook: ListedHook, cwd: string): string {
  const name = hook.name === undefined ? '' : `${visible(hook.name)}: `;
  const what =
    hook.kind === 'command' && hook.broken === undefined ? `command "${hook.runs}"` : hook.runs;
  return `${name}${what}  ${visible(displayPath(placeOf(hook), cwd))}`;
}

const EFFECTS: Readonly<Record<FailureEffect, string>> = {
  refuses: 'refuses',
  passes: 'blocks nothing, with a warning',
  'is reported': 'is only reported',
};

/** What each failure does: `exit code 1 blocks nothing, with a warning; a crash by signal or a timeout refuses`. */
function failureText({ kind, failure, exitCode1 }: ListedHook): string {
  const others = kind === 'command' ? 'a crash by signal or a timeout' : 'an error or a timeout';
  if (exitCode1 === undefined) return `${others} ${EFFECTS[failure]}`;
  if (exitCode1 === failure) return `exit code 1, ${others} ${EFFECTS[failure]}`;
  return `exit code 1 ${EFFECTS[exitCode1]}; ${others} ${EFFECTS[failure]}`;
}

function details(hook: ListedHook, cwd: string): readonly string[] {
  const { matcher, agents, broken, copyOf } = hook;
  const facts = [
    matcher === undefined ? 'for everything' : `for ${visible(matcher)}`,
    agents !== undefined && `agents ${visible(agents)}`,
    hook.if !== undefined && `if ${visible(hook.if)}`,
    `limit ${seconds(hook.timeoutMs)}`,
    failureText(hook),
    hook.once && 'once',
    hook.asyncRewake && 'runs in the background, exit code 2 wakes the model',
    hook.async && !hook.asyncRewake && 'runs in the background',
    hook.persistent && 'persistent',
    hook.restrictOnly && 'can only restrict',
  ];
  return [
    facts.filter((fact) => typeof fact === 'string').join(' · '),
    ...(broken === undefined ? [] : [`can only fail: ${visible(broken)}`]),
    ...(copyOf === undefined
      ? []
      : [`the same hook as ${visible(displayPath(copyOf, cwd))}; of both, one is asked`]),
    ...hook.notes.map((note) => `note: ${visible(note)}`),
  ];
}
