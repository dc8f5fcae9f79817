import { isRecord } from '../util/own.js';
import type { Sourced } from '../util/sourced.js';
import { inForce, type Merged } from './merge.js';
import { type ConfigProblem, sourcedFrom } from './types.js';

/**
 * Hooks of settings files are not run by this version. A hook that guards tool calls is then a guard
 * that cannot answer, so what it guards is refused: these are the matchers of such hooks.
 */
export function unrunGuards(merged: Merged): readonly Sourced<string>[] {
  const [failure] = inForce(merged, 'portcullis.hookFailure');
  if (failure?.value === 'continue') return [];
  return hooksInForce(merged, 'PreToolUse').flatMap(({ value, owner, way }) => {
    const { matcher = '', hooks } = isRecord(value) ? value : {};
    const guards = Array.isArray(hooks) && hooks.some(decides);
    return guards ? [sourcedFrom(owner, way, String(matcher))] : [];
  });
}

/** Said once at the start, and with every change. */
export function unrunHookProblems(merged: Merged): readonly ConfigProblem[] {
  const events = [...merged.keys()].flatMap((key) => /^hooks\.(\w+)$/.exec(key)?.[1] ?? []);
  const hooks = events.flatMap((event) => hooksInForce(merged, event));
  const [first] = hooks;
  if (first === undefined) return [];
  const { source, file, line } = first;
  const guards = unrunGuards(merged).length > 0;
  return [
    {
      severity: 'warning',
      source,
      ...(file === undefined ? {} : { file }),
      ...(line === undefined ? {} : { line }),
      message: `hooks of settings files are not run by this version (${events.join(', ')}).`,
      remedy: guards ? 'Calls that PreToolUse hooks guard are refused.' : '',
    },
  ];
}

function hooksInForce(merged: Merged, event: string) {
  const isTrue = (key: string): boolean => inForce(merged, key)[0]?.value === true;
  const managedOnly = isTrue('allowManagedHooksOnly') || isTrue('disableAllHooks');
  const off = inForce(merged, 'disableAllHooks')[0];
  if (off?.value === true && off.source === 'managed') return [];
  return inForce(merged, `hooks.${event}`).filter(
    ({ source }) => !managedOnly || source === 'managed',
  );
}

function decides(handler: unknown): boolean {
  if (!isRecord(handler)) return true;
  const beside = handler.async === true || handler.asyncRewake === true;
  return !beside && handler.onFailure !== 'continue';
}
