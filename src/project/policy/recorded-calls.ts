import { PortcullisError } from '../../errors.js';
import type { JournalEntry } from '../../journal/entry.js';
import { isRecord } from '../../lib/own.js';
import type { Receipt } from '../../protocol/permissions.js';
import type { Project } from '../project.js';
import type { ToolCall } from './policy-call.js';

/** A call of an earlier session, and what the policy decided about it then. */
export interface RecordedCall {
  readonly call: ToolCall;
  readonly entry: JournalEntry;
  readonly decision: 'allow' | 'ask' | 'deny';
}

/** The calls in the journals of a project, oldest first; `since` is an ISO time. */
export async function recordedCalls(
  project: Project,
  { session, since = '' }: { readonly session?: string | undefined; readonly since?: string } = {},
): Promise<readonly RecordedCall[]> {
  const journal = await project.journal(session).catch((thrown: unknown) => {
    // A project without a journal has no recorded calls.
    if (thrown instanceof PortcullisError && thrown.code === 'io') return undefined;
    throw thrown;
  });
  const journals = await Promise.all(journal?.files.map(journal.read) ?? []);
  return journals
    .flatMap(({ entries }) => entries)
    .filter(({ time }) => time >= since)
    .sort((a, b) => (a.time < b.time ? -1 : 1))
    .map((entry) => {
      const { tool, input } = entry.receipt;
      const call = { tool, input: isRecord(input) ? input : {} };
      return { call, entry, decision: policyDecision(entry.receipt) };
    });
}

/** What the policy decided, whatever a person then answered. */
function policyDecision({ decision, decidedBy, trace }: Receipt): RecordedCall['decision'] {
  const wasAsked = trace.some(({ guard }) => guard === 'asker');
  if (decision === 'allow' && !wasAsked) return 'allow';
  const denied = trace.some((step) => step.decision === 'deny' && step.guard !== 'asker');
  return denied || decidedBy === 'mode dontAsk' ? 'deny' : 'ask';
}
