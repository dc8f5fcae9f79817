import { displayPath } from '../env/paths.js';
import { seconds } from '../hooks/hook-limit.js';
import { visible } from '../util/visible.js';
import { type FailureEffect, type HookList, type ListedHook, placeOf } from './hooks-list-data.js';

/** The list for people. Files below `cwd` are shown by their way from there. */
export function listText({ hooks, skipped, notes }: HookList, cwd: string): string {
  const firing = hooks.filter(({ waitsFor }) => waitsFor === undefined);
  const waiting = hooks.filter(({ waitsFor }) => waitsFor !== undefined);
  const shownPlace = (place: string): string => visible(displayPath(place, cwd));
  const off = [
    ...skipped.map(({ event, label, origin, why }) =>
      entry(`${event === undefined ? '' : `${event}  `}${visible(label)}  ${shownPlace(origin)}`, [
        visible(why),
      ]),
    ),
    ...waiting.map((hook) =>
      entry(`${hook.event}  ${title(hook, cwd)}`, [
        `does not fire yet: ${hook.event} needs ${hook.waitsFor}`,
      ]),
    ),
  ];
  return [
    firing.length === 0 ? 'No hook is in force.\n' : byEvent(firing, cwd),
    off.length === 0 ? '' : `\nNot asked\n${off.join('')}`,
    notes.length === 0 ? '' : `\nNotes\n${notes.map((note) => entry(visible(note), [])).join('')}`,
  ].join('');
}

function byEvent(hooks: readonly ListedHook[], cwd: string): string {
  const events = [...new Set(hooks.map(({ event }) => event))];
  return events
    .map((event) => {
      const mine = hooks.filter((hook) => hook.event === event);
      const role = ROLES[mine[0]?.role ?? 'observe'];
      return `${event} (${role})\n${mine.map((hook) => entry(title(hook, cwd), details(hook, cwd))).join('')}`;
    })
    .join('\n');
}

const ROLES = {
  gate: 'gate: a no refuses',
  block: 'a no holds things up',
  observe: 'only watches',
} as const;

function entry(first: string, more: readonly string[]): string {
  return `  ${first}\n${more.map((line) => `    ${line}\n`).join('')}`;
}

function title(hook: ListedHook, cwd: string): string {
  const name = hook.name === undefined ? '' : `${visible(hook.name)}: `;
  const what = hook.kind === 'command' ? `command "${hook.runs}"` : hook.runs;
  return `${name}${what}  ${visible(displayPath(placeOf(hook), cwd))}`;
}

const EFFECTS: Readonly<Record<FailureEffect, string>> = {
  refuses: 'refuses',
  passes: 'blocks nothing, with a warning',
  'is told': 'is only told',
};

/** What each way to fail does: `exit code 1 blocks nothing, with a warning; a signal or time-out refuses`. */
function failureTexts({ kind, failure, exitCode1 }: ListedHook): string {
  const others = kind === 'command' ? 'a crash by signal or a time-out' : 'an error or a time-out';
  if (exitCode1 === undefined) return `${others} ${EFFECTS[failure]}`;
  if (exitCode1 === failure) return `exit code 1, ${others} ${EFFECTS[failure]}`;
  return `exit code 1 ${EFFECTS[exitCode1]}; ${others} ${EFFECTS[failure]}`;
}

function details(hook: ListedHook, cwd: string): readonly string[] {
  const whom = [
    hook.matcher === undefined ? 'for everything' : `for ${visible(hook.matcher)}`,
    ...(hook.agents === undefined ? [] : [`agents ${visible(hook.agents)}`]),
    ...(hook.if === undefined ? [] : [`if ${visible(hook.if)}`]),
  ];
  const how = [
    `limit ${seconds(hook.timeoutMs)}`,
    failureTexts(hook),
    ...(hook.once === true ? ['once'] : []),
    ...(hook.async === true || hook.asyncRewake === true
      ? [
          `runs beside the session${hook.asyncRewake === true ? ', exit code 2 wakes the model' : ''}`,
        ]
      : []),
    ...(hook.persistent === true ? ['persistent'] : []),
    ...(hook.restrictOnly === true ? ['can only restrict'] : []),
  ];
  return [
    [...whom, ...how].join(' · '),
    ...(hook.broken === undefined ? [] : [`can only fail: ${visible(hook.broken)}`]),
    ...(hook.copyOf === undefined
      ? []
      : [`the same hook as ${visible(displayPath(hook.copyOf, cwd))}; of both, one is asked`]),
    ...hook.notes.map((note) => `note: ${visible(note)}`),
  ];
}
