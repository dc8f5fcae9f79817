import { isRecord, own } from '../../lib/own.js';
import { HOOK_EVENTS, oddHookEvent } from '../../protocol/hook-events.js';
import type { SettingNode } from '../../protocol/setting-node.js';
import type { ConfigProblem, SettingsFile } from '../types.js';
import { checkHandler, checkMetadata, isDescriptive, unknownHookKey } from './handler.js';
import { checkMatcher } from './matcher.js';
import {
  asWarning,
  type CheckOptions,
  checkValue,
  type EventCheck,
  formatPath,
  isComment,
  problem,
  type ValueContext,
} from './type-check.js';

export interface HookCheck extends CheckOptions {
  readonly node: SettingNode;
}

/**
 * Faults of a `hooks` object. A hook that may hold something back and cannot work stops the start;
 * one that only watches is lost with a warning. What an untrusted folder has is not in force, so
 * nothing is lost by its faults.
 */
export function checkHooks(
  file: SettingsFile,
  value: unknown,
  check: HookCheck,
): readonly ConfigProblem[] {
  const base: ValueContext = { file, path: ['hooks'], restricts: file.trusted };
  if (!isRecord(value)) {
    return [
      problem(
        base,
        '`hooks` must be an object of events.',
        'Write "hooks": {"PreToolUse": [ … ]}.',
      ),
    ];
  }
  return Object.entries(value).flatMap(([event, groups]) => {
    const at = { ...base, path: ['hooks', event] };
    if (isComment(event)) return [];
    const facts = own(HOOK_EVENTS, event);
    // A text or number under such a name describes the file; a list may be a misplaced guard.
    if (facts === undefined && isDescriptive(event) && typeof groups !== 'object') {
      return event === 'enabled' && groups === false ? [switchesNothing(at)] : [];
    }
    if (facts === undefined) return [unknownEvent(event, at, 'never runs')];
    const restricts = file.trusted && facts.role !== 'observe';
    return checkEvent(groups, { ...at, restricts }, { ...check, event, facts });
  });
}

function switchesNothing(context: ValueContext): ConfigProblem {
  return problem(
    asWarning(context),
    `\`${formatPath(context.path)}\` switches nothing off.`,
    'Write "enabled": false on the groups or hooks that are to be off.',
  );
}

/** A name that is no event. What other programs call theirs is told, and everything else refused. */
export function unknownEvent(event: string, context: ValueContext, effect: string): ConfigProblem {
  const odd = oddHookEvent(event);
  if (odd?.kind === 'foreign') {
    return problem(
      asWarning(context),
      `\`${formatPath(context.path)}\` ${effect}: ${event} is an event of another program.`,
      'docs/reference/settings.md lists the events.',
    );
  }
  return problem(
    context,
    `\`${formatPath(context.path)}\` ${effect}: there is no event ${event}.`,
    odd?.near === undefined
      ? 'docs/reference/settings.md lists the events.'
      : `Did you mean ${odd.near}?`,
  );
}

function checkEvent(
  groups: unknown,
  context: ValueContext,
  check: EventCheck & HookCheck,
): readonly ConfigProblem[] {
  const loose = Array.isArray(groups) ? groups.findIndex(isLooseHandler) : -1;
  if (loose !== -1) {
    return [
      problem(
        { ...context, path: [...context.path, loose] },
        `\`${formatPath([...context.path, loose])}\` is a hook without its group.`,
        'Write {"matcher": "…", "hooks": [ … ]} around it.',
      ),
    ];
  }
  const node = check.node.type === 'map' ? check.node.of : undefined;
  if (!Array.isArray(groups)) return node === undefined ? [] : checkValue(node, groups, context);
  return [
    ...groups.flatMap((group: unknown, index) => {
      const path = [...context.path, index];
      // What is switched off holds nothing back, so its faults lose nothing.
      const isOff = isRecord(group) && group.enabled === false;
      const at = { ...context, path, restricts: context.restricts && !isOff };
      return [
        ...(node?.type === 'list'
          ? checkValue(node.of, group, { ...at, unknownKey: unknownHookKey })
          : []),
        ...(isRecord(group) ? checkGroup(group, at, check) : []),
      ];
    }),
  ];
}

function isLooseHandler(group: unknown): boolean {
  return isRecord(group) && !Object.hasOwn(group, 'hooks') && Object.hasOwn(group, 'type');
}

function checkGroup(
  group: Readonly<Record<string, unknown>>,
  context: ValueContext,
  check: EventCheck,
): readonly ConfigProblem[] {
  const { matcher, agents, hooks } = group;
  const { role } = check.facts;
  const inside = (name: string): ValueContext => ({ ...context, path: [...context.path, name] });
  const handlers = Array.isArray(hooks) ? hooks : [];
  return [
    ...(context.file.trusted ? checkMetadata(group, context, role) : []),
    ...(typeof matcher === 'string' ? checkMatcher(matcher, inside('matcher'), check) : []),
    ...(typeof agents === 'string' ? checkPattern(agents, inside('agents'), check) : []),
    ...handlers.flatMap((handler: unknown, index) => {
      const at = { ...context, path: [...context.path, 'hooks', index] };
      if (!isRecord(handler)) return [];
      return [
        ...(context.file.trusted ? checkMetadata(handler, at, role) : []),
        ...checkHandler(handler, at, check),
      ];
    }),
  ];
}

function checkPattern(
  pattern: string,
  context: ValueContext,
  { checkAgents }: EventCheck,
): readonly ConfigProblem[] {
  const why = checkAgents?.(pattern);
  if (why === undefined) return [];
  return [
    problem(
      context,
      `\`${formatPath(context.path)}\` names no agent: ${why}.`,
      'Name a type (reviewer) or a path (main, main/*, **/reviewer#*).',
    ),
  ];
}

/** Too short for any program to answer: probably meant as seconds. */
const TOO_SHORT_MS = 100;

/** What the shape of `portcullis.hookTimeouts` does not show: names of events, and the unit. */
export function checkHookTimeouts(file: SettingsFile): readonly ConfigProblem[] {
  const { portcullis } = file.content;
  const timeouts = isRecord(portcullis) ? portcullis.hookTimeouts : undefined;
  if (!isRecord(timeouts)) return [];
  return Object.entries(timeouts).flatMap(([event, value]) => {
    if (isComment(event)) return [];
    const path = ['portcullis', 'hookTimeouts', event];
    const at: ValueContext = { file, path, restricts: file.trusted };
    if (!Object.hasOwn(HOOK_EVENTS, event)) return [unknownEvent(event, at, 'has no effect')];
    if (typeof value !== 'number' || value <= 0 || value >= TOO_SHORT_MS) return [];
    const message = `\`${formatPath(path)}\` is ${value} milliseconds, in which hardly a hook answers.`;
    return [problem(asWarning(at), message, 'For seconds write thousands: 5000 is five seconds.')];
  });
}
