import { isRecord, own } from '../../lib/own.js';
import { classifyHookEventName, HOOK_EVENTS } from '../../protocol/hooks/hook-events.js';
import type { ConfigProblem, SettingsFile } from '../types.js';
import {
  HOOK_NODES,
  handlerFaults,
  isDescriptive,
  metadataFaults,
  unknownHookKey,
} from './handler.js';
import { checkMatcher } from './matcher.js';
import {
  type CheckOptions,
  checkValue,
  type EventCheck,
  type Fault,
  faultProblem,
  isComment,
  type ValueContext,
} from './type-check.js';

/**
 * Checks a `hooks` object: a broken guard prevents the start, a broken observer only warns. In an untrusted
 * folder hooks are not in force, so faults lose nothing.
 */
export function checkHooks(file: SettingsFile, options: CheckOptions): readonly ConfigProblem[] {
  const value = file.content.hooks;
  const base: ValueContext = { file, path: ['hooks'], restricts: file.trusted };
  const told = faultProblem(base);
  if (!isRecord(value)) {
    const remedy = 'Write "hooks": {"PreToolUse": [ … ]}.';
    return [told({ at: [], says: 'must be an object of events', remedy })];
  }
  return Object.entries(value).flatMap(([event, groups]) => {
    if (isComment(event)) return [];
    const facts = own(HOOK_EVENTS, event);
    // A scalar under such a name is descriptive; a list may be a misplaced guard.
    if (facts === undefined && isDescriptive(event) && typeof groups !== 'object') {
      const remedy = 'Write "enabled": false on the groups or hooks that are to be off.';
      const says = 'switches nothing off';
      const isSwitch = event === 'enabled' && groups === false;
      return isSwitch ? [told({ at: [event], says, remedy, severity: 'warning' })] : [];
    }
    if (facts === undefined) return [told(unknownEvent(event, 'never runs'))];
    const restricts = file.trusted && facts.role !== 'observe';
    const at = { ...base, path: ['hooks', event], restricts };
    return checkEvent(groups, at, { ...options, event, facts });
  });
}

/** Another program's event name warns; any other unknown name is an error. */
function unknownEvent(event: string, effect: string): Fault {
  const odd = classifyHookEventName(event);
  const list = 'docs/reference/settings.md lists the events.';
  if (odd?.kind === 'foreign') {
    const says = `${effect}: ${event} is an event of another program`;
    return { at: [event], says, remedy: list, severity: 'warning' };
  }
  const remedy = odd?.near === undefined ? list : `Did you mean ${odd.near}?`;
  return { at: [event], says: `${effect}: there is no event ${event}`, remedy };
}

function checkEvent(
  groups: unknown,
  context: ValueContext,
  check: EventCheck,
): readonly ConfigProblem[] {
  if (!Array.isArray(groups)) return checkValue(HOOK_NODES.groups, groups, context);
  const loose = groups.findIndex(
    (one) => isRecord(one) && !Object.hasOwn(one, 'hooks') && Object.hasOwn(one, 'type'),
  );
  if (loose !== -1) {
    const remedy = 'Write {"matcher": "…", "hooks": [ … ]} around it.';
    return [faultProblem(context)({ at: [loose], says: 'is a hook without its group', remedy })];
  }
  return groups.flatMap((group: unknown, index) => {
    // Faults in a disabled group lose no guard.
    const isOff = isRecord(group) && group.enabled === false;
    const path = [...context.path, index];
    const at = { ...context, path, restricts: context.restricts && !isOff };
    return [
      ...checkValue(HOOK_NODES.group, group, { ...at, unknownKey: unknownHookKey }),
      ...(isRecord(group) ? checkGroup(group, at, check) : []),
    ];
  });
}

function checkGroup(
  group: Readonly<Record<string, unknown>>,
  context: ValueContext,
  check: EventCheck,
): readonly ConfigProblem[] {
  const { matcher, agents, hooks } = group;
  const metadata = (fields: Readonly<Record<string, unknown>>): readonly Fault[] =>
    context.file.trusted ? metadataFaults(fields, check.facts.role) : [];
  const inside = { ...context, path: [...context.path, 'matcher'] };
  const noAgent = typeof agents === 'string' ? check.checkAgents?.(agents) : undefined;
  const remedy = 'Name a type (reviewer) or a path (main, main/*, **/reviewer#*).';
  return [
    ...metadata(group).map(faultProblem(context)),
    ...(typeof matcher === 'string' ? checkMatcher(matcher, inside, check) : []),
    ...(noAgent === undefined
      ? []
      : [faultProblem(context)({ at: ['agents'], says: `names no agent: ${noAgent}`, remedy })]),
    ...(Array.isArray(hooks) ? hooks : []).flatMap((handler: unknown, index) => {
      if (!isRecord(handler)) return [];
      const at = { ...context, path: [...context.path, 'hooks', index] };
      return [...metadata(handler), ...handlerFaults(handler, check)].map(faultProblem(at));
    }),
  ];
}

/** Too short for any program, so seconds were probably meant. */
const TOO_SHORT_MS = 100;

/** Checks the event names and units of `portcullis.hookTimeouts`. */
export function checkHookTimeouts(file: SettingsFile): readonly ConfigProblem[] {
  const { portcullis } = file.content;
  const timeouts = isRecord(portcullis) ? portcullis.hookTimeouts : undefined;
  const path = ['portcullis', 'hookTimeouts'];
  const told = faultProblem({ file, path, restricts: file.trusted });
  return Object.entries(isRecord(timeouts) ? timeouts : {}).flatMap(([event, value]) => {
    if (isComment(event)) return [];
    if (!Object.hasOwn(HOOK_EVENTS, event)) return [told(unknownEvent(event, 'has no effect'))];
    if (typeof value !== 'number' || value <= 0 || value >= TOO_SHORT_MS) return [];
    const says = `is ${value} milliseconds, in which hardly a hook answers`;
    const remedy = 'For seconds write thousands: 5000 is five seconds.';
    return [told({ at: [event], says, remedy, severity: 'warning' })];
  });
}
