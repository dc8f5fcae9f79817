import { PortcullisError } from '../../errors.js';
import type { PolicyCall, PolicyDecision } from './policy.js';
import { formatCall } from './policy-call.js';
import type { RecordedCall } from './recorded-calls.js';

/** A recorded call that is decided differently now. */
export interface ReplayedCall {
  readonly call: string;
  readonly from: PolicyDecision['decision'];
  readonly to: PolicyDecision['decision'];
  /** The rule that decides now, or the reason. */
  readonly by: string;
  readonly count: number;
  /** When it was last called; ISO time. */
  readonly last: string;
}

export interface Replay {
  readonly calls: number;
  /** Calls that cannot be decided any more. */
  readonly skipped: number;
  readonly callsWithUnaskedHooks: number;
  /** The most frequent first. */
  readonly changed: readonly ReplayedCall[];
}

/** Decides recorded calls again and tells which of them would end differently. */
export async function replayCalls(
  calls: readonly RecordedCall[],
  evaluate: (call: PolicyCall) => Promise<PolicyDecision>,
): Promise<Replay> {
  const found = new Map<string, ReplayedCall>();
  let skipped = 0;
  let unasked = 0;
  for (const { call: one, decision: from, entry } of calls) {
    const { mode, agent } = entry.receipt;
    // A command that was not recorded whole may have done anything in the rest.
    const isCut = entry.cut === true && typeof one.input.command === 'string';
    const now = isCut
      ? undefined
      : await decideOrSkip(() => evaluate({ ...one, cwd: entry.cwd, mode, agent }));
    if (now === undefined) skipped++;
    if (now?.unaskedHooks !== undefined) unasked++;
    if (now === undefined || now.decision === from) continue;
    const changed = { call: formatCall(one), from, to: now.decision, by: now.rule ?? now.reason };
    const key = JSON.stringify(changed);
    const count = (found.get(key)?.count ?? 0) + 1;
    found.set(key, { ...changed, count, last: entry.time });
  }
  const changed = [...found.values()].sort((x, y) => y.count - x.count);
  return { calls: calls.length, skipped, callsWithUnaskedHooks: unasked, changed };
}

/** Undefined for a call that cannot be decided any more: its tool is gone, or its input was cut. */
export async function decideOrSkip(
  decide: () => Promise<PolicyDecision>,
): Promise<PolicyDecision | undefined> {
  try {
    return await decide();
  } catch (thrown) {
    if (thrown instanceof PortcullisError && thrown.code === 'usage') return undefined;
    throw thrown;
  }
}
