import { sha256 } from '../../env/hash.js';
import { nodeJournalFiles } from '../../env/journal-files.js';
import { PortcullisError } from '../../errors.js';
import type { JournalEntry } from '../../journal/entry.js';
import { readJournal } from '../../journal/read.js';
import type { DescribedCall } from '../../project/call-text.js';
import type { Receipt } from '../../protocol/permissions.js';
import { isRecord } from '../../util/own.js';
import { projectJournals } from './why.js';

/** A call of an earlier session, with what was decided about it. */
export interface RecordedCall {
  readonly call: DescribedCall;
  readonly entry: JournalEntry;
  readonly decision: 'allow' | 'ask' | 'deny';
}

/** The calls in the journals of a project, oldest first; none when nothing was recorded. */
export async function recordedCalls(where: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly session?: string | undefined;
  /** ISO time. */
  readonly since?: string;
}): Promise<readonly RecordedCall[]> {
  const entries: JournalEntry[] = [];
  for (const file of journals(where)) {
    const journal = await readJournal(file, nodeJournalFiles, sha256);
    entries.push(
      ...journal.entries.filter(({ time }) => where.since === undefined || time >= where.since),
    );
  }
  return entries
    .sort((a, b) => (a.time < b.time ? -1 : 1))
    .map((entry) => {
      const { tool, input } = entry.receipt;
      const call = { tool, input: isRecord(input) ? input : {} };
      return { call, entry, decision: askedOr(entry.receipt) };
    });
}

function journals(where: Parameters<typeof recordedCalls>[0]): readonly string[] {
  try {
    return projectJournals(where.cwd, where.env, where.session);
  } catch (thrown) {
    if (thrown instanceof PortcullisError && thrown.code === 'io') return [];
    throw thrown;
  }
}

/** What the policy said; what a person made of an ask is not its business. */
function askedOr({ decision, decidedBy, trace }: Receipt): RecordedCall['decision'] {
  if (decision === 'allow' && decidedBy !== 'asker') return 'allow';
  const denied = trace.some((step) => step.decision === 'deny' && step.guard !== 'asker');
  return denied || decidedBy === 'mode dontAsk' ? 'deny' : 'ask';
}
