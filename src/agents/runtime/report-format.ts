import { boundText } from '../../tools/output.js';
import { escapeReport } from './escape-tags.js';
import { describeOutcome } from './outcome.js';
import type { AgentReport } from './report.js';

/** Characters of a report that the model is shown. */
export const REPORT_CAP = 32_000;
const MOST_CAP = 160_000;

/** The cap that the environment asks for; what is no positive number is passed over. */
export function reportCap(env: Readonly<Record<string, string | undefined>>): number {
  const wanted = Number(env.TASK_MAX_OUTPUT_LENGTH);
  return Number.isSafeInteger(wanted) && wanted > 0 ? Math.min(wanted, MOST_CAP) : REPORT_CAP;
}

export interface ReportWords {
  readonly cap: number;
  /** Keeps a text that is too long, and says where. */
  spill(name: string, text: string): Promise<string>;
  /** Whether there is a tool that goes on with ended agents. */
  canResume(): boolean;
}

/** What the model that started an agent reads about it. */
export async function reportText(report: AgentReport, words: ReportWords): Promise<string> {
  const { agent, text } = report;
  const shown = await boundText(escapeReport(text), {
    cap: words.cap,
    spill: (long) => words.spill(`${agent.id}.report`, long),
  });
  return [shown, ...reportNotes(report, words)].filter((part) => part.trim() !== '').join('\n\n');
}

export function reportNotes(
  report: AgentReport,
  words: Pick<ReportWords, 'canResume'>,
): readonly string[] {
  const { agent, worktree, strays = [], resume, account } = report;
  const how = describeOutcome(report);
  const goOn =
    resume !== undefined && words.canResume() ? ` To go on with it: SendMessage to ${resume}.` : '';
  return [
    ...(how === undefined ? [] : [`[${how}]`]),
    ...(worktree === undefined ? [] : [worktreeNote(worktree)]),
    ...(strays.length === 0 ? [] : [`[It wrote outside of its workspace: ${strays.join(', ')}]`]),
    `[agentId: ${agent.id} (${agent.type}, ${account.turns} turns, ${account.toolUses} calls).${goOn}]`,
  ];
}

function worktreeNote(tree: NonNullable<AgentReport['worktree']>): string {
  if (!tree.kept) return '[Its worktree had no changes and was removed.]';
  const files =
    tree.changed.length === 0 ? '' : ` Changed: ${tree.changed.slice(0, 50).join(', ')}.`;
  return `[Its changes are in the worktree ${tree.path}, branch ${tree.branch}.${files}]`;
}
