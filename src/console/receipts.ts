import { PortcullisError } from '../errors.js';
import type { JournalEntry, ReadJournal } from '../project/journal.js';
import type { TraceStep } from '../protocol/permissions.js';
import type { FleetSessions } from './fleet-sessions.js';
import { pastSessions } from './past-sessions.js';
import { type Environment, withProject } from './project.js';
import { shorten } from './shorten.js';

/** A journal of this machine or of the fleet. */
type Journal = Omit<ReadJournal, 'file'>;

export interface ReceiptQuery {
  readonly cwd: string;
  /** The id of a session; absent: all sessions of the folder. */
  readonly session?: string | undefined;
  /** Every word must occur in the receipt: in its agent, rule, hook, input or reason. */
  readonly text?: string | undefined;
  readonly tool?: string | undefined;
  readonly decision?: string | undefined;
}

/** A decision of the journal, as the page shows it. */
export type ReceiptRow = Pick<JournalEntry, 'n' | 'time' | 'session' | 'cwd' | 'receipt'>;

function receiptRow({ n, time, session, cwd, receipt }: JournalEntry): ReceiptRow {
  return { n, time, session, cwd, receipt: shorten(receipt) };
}

export interface ReceiptPage {
  readonly rows: readonly ReceiptRow[];
  /** How many match; `rows` has the newest of them. */
  readonly found: number;
  readonly chains: readonly { readonly session: string; readonly chain: ReadJournal['chain'] }[];
  readonly lanes: readonly HookLane[];
}

/** The runs of one hook. */
export interface HookLane {
  readonly hook: string;
  readonly source: string;
  readonly runs: readonly {
    readonly time: string;
    readonly ms: number;
    readonly decision: TraceStep['decision'];
    readonly tool: string;
    readonly failure?: string | undefined;
  }[];
}

const MOST_ROWS = 2_000;
const MOST_JOURNALS = 200;

/** Searches the journals of a folder or of one session, and verifies their chains. */
export async function findReceipts(
  env: Environment,
  query: ReceiptQuery,
  fleet: FleetSessions | undefined,
): Promise<ReceiptPage> {
  const ofFleet = await fleet?.journal(query.session ?? '');
  const journals = ofFleet === undefined ? await readJournals(env, query) : [ofFleet];
  const words = (query.text ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const all = journals
    .flatMap(({ entries }) => entries)
    .filter(({ receipt }) => {
      if (query.tool !== undefined && receipt.tool !== query.tool) return false;
      if (query.decision !== undefined && receipt.decision !== query.decision) return false;
      if (words.length === 0) return true;
      const said = JSON.stringify(receipt).toLowerCase();
      return words.every((word) => said.includes(word));
    })
    .sort((a, b) => (a.time < b.time ? 1 : -1));
  return {
    rows: all.slice(0, MOST_ROWS).map(receiptRow),
    found: all.length,
    chains: journals.map(({ session, chain }) => ({ session, chain })),
    lanes: lanesOf(all),
  };
}

/** The newest answers of people in all sessions. */
export async function answerHistory(env: Environment): Promise<readonly ReceiptRow[]> {
  const folders = new Set((await pastSessions(env)).slice(0, 100).map(({ cwd }) => cwd));
  const found: ReceiptRow[] = [];
  for (const cwd of folders) {
    for (const { entries } of await readJournals(env, { cwd })) {
      const asked = entries.filter((one) =>
        one.receipt.trace.some(({ guard }) => guard === 'asker'),
      );
      found.push(...asked.map(receiptRow));
    }
  }
  return found.sort((a, b) => (a.time < b.time ? 1 : -1)).slice(0, 500);
}

async function readJournals(
  env: Environment,
  { cwd, session }: ReceiptQuery,
): Promise<readonly Journal[]> {
  if (cwd === '') return [];
  try {
    return await withProject(env, cwd, async (project) => {
      const journal = await project.journal(session);
      return await Promise.all(journal.files.slice(0, MOST_JOURNALS).map(journal.read));
    });
  } catch (thrown) {
    // A folder without a journal has no receipts.
    if (thrown instanceof PortcullisError && thrown.code === 'io') return [];
    throw thrown;
  }
}

/** The source of a hook's step names its event and file: `PreToolUse Bash /settings.json:7`. */
const HOOK_SOURCE = /^(?:PreToolUse|PermissionRequest)\b/;

function lanesOf(entries: readonly JournalEntry[]): readonly HookLane[] {
  const lanes = new Map<
    string,
    { hook: string; source: string; runs: HookLane['runs'][number][] }
  >();
  for (const { time, receipt } of entries) {
    for (const { guard, decision, source = '', ms, reason, failure } of receipt.trace) {
      if (!HOOK_SOURCE.test(source) || guard === 'asker' || ms === undefined) continue;
      const key = `${guard}\n${source}`;
      const lane = lanes.get(key) ?? { hook: guard, source, runs: [] };
      lanes.set(key, lane);
      // A hook that exits with an error and does not block passes with a reason.
      const problem = failure ?? (decision === 'pass' ? reason : undefined);
      lane.runs.push({ time, ms, decision, tool: receipt.tool, failure: problem });
    }
  }
  return [...lanes.values()];
}
