import { isRecord, own } from '../../lib/own.js';
import type { GateCall, GateVerdict } from '../../permissions/gate/types.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { HookDispatch } from '../registry/hook.js';
import { type AboutCall, type FitsRule, namesOf, toolOccasion } from './tool-occasion.js';

const EVENT = 'PermissionDenied';

export interface PermissionDeniedDeps {
  /** Whether an `if` rule fits the call. */
  readonly ifRule: (about: AboutCall<GateCall>) => FitsRule;
}

/** Told of a refused call; `hint` is for the model. */
export type DenialHooks = (
  call: GateCall,
  verdict: GateVerdict,
) => Promise<{ readonly hint?: string }>;

/**
 * Whether the mode itself decides about such a call: plan mode lets no command run that might change
 * something, and where nobody is there to be asked, no hook is asked in their place.
 */
export function modeDecides(call: Pick<GateCall, 'tool'>, mode: PermissionMode): boolean {
  return mode === 'plan' && call.tool.kind === 'execute';
}

/**
 * Tells PermissionDenied hooks of calls that the mode refused without anybody having said no. They
 * only watch: the refusal stands.
 */
export function createDenialHooks(dispatch: HookDispatch, deps: PermissionDeniedDeps): DenialHooks {
  return async (call, verdict) => {
    if (verdict.kind !== 'refused' || verdict.unanswered !== true) return {};
    const { agent } = call;
    if (!dispatch.has(EVENT, { agent, matched: namesOf(call) })) return {};
    const { mode, reason, input } = verdict.receipt;
    if (!modeDecides(call, mode)) return {};
    // The input that was judged: a hook may have given the call another one.
    const judged = isRecord(input) ? { ...call, input } : call;
    const about = { call: judged, mode };
    const fits = deps.ifRule(about);
    const { reports } = await dispatch.fire(
      EVENT,
      toolOccasion(EVENT, about, { fits, fields: { reason } }),
    );
    const again = reports.filter(({ answer }) => own(answer.fields, 'retry') === true);
    if (again.length === 0) return {};
    const by = again.map(({ hook }) => hook.label).join(', ');
    return {
      hint: `${by} says that this call may be tried again; it will be judged as any other.`,
    };
  };
}
