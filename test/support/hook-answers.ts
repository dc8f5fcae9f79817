import { readRaw } from '../../src/hooks/answers/read.js';
import type { Hook, HookHandler, HookRaw, ReadAnswer } from '../../src/hooks/registry/hook.js';
import type { HookEventName } from '../../src/protocol/hooks/hook-events.js';

const COMMAND: HookHandler = { type: 'command', command: 'guard --strict' };

/** A guard of a project, for a reader of answers to be asked about. */
export function hook(event: HookEventName = 'PreToolUse', handler: HookHandler = COMMAND): Hook {
  return {
    id: 'h',
    event,
    role: 'gate',
    handler,
    source: 'project',
    timeoutMs: 1000,
    onFailure: 'block',
    label: 'guard',
  };
}

export type Ended = Extract<HookRaw, { kind: 'process' }>;

export function ended(exitCode: number, stdout = '', more: Partial<Ended> = {}): HookRaw {
  return { kind: 'process', exitCode, signal: null, stdout, stderr: '', ...more };
}

export function specific(fields: object, event = 'PreToolUse'): object {
  return { hookSpecificOutput: { hookEventName: event, ...fields } };
}

export const json = (value: object): string => JSON.stringify(value);

export const DENY = json(specific({ permissionDecision: 'deny', permissionDecisionReason: 'WHY' }));
export const ALLOW = json(
  specific({ permissionDecision: 'allow', permissionDecisionReason: 'fine' }),
);

/** Reads one finished process of a PreToolUse hook. */
export function read(exitCode: number, stdout = '', more: Partial<Ended> = {}): ReadAnswer {
  return readRaw(hook(), ended(exitCode, stdout, more));
}

export function value(event: HookEventName, given: unknown): ReadAnswer {
  return readRaw(hook(event), { kind: 'value', value: given });
}
