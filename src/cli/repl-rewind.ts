import type { AgentSession } from '../harness.js';
import { changesText, planText, pointsText } from '../project/changes-text.js';
import { targetOf } from '../project/rewind-target.js';
import { printable } from '../util/printable.js';
import type { AskLine } from './terminal-input.js';

export interface RewindTerminal {
  out(text: string): void;
  readonly ask: AskLine;
}

const USAGE = '/rewind [number | call <id> | agent <name>] [files | conversation | both]';

/** `/rewind` of a conversation. Returns the prompt that was taken back, for the person to change. */
export async function rewindCommand(
  session: Pick<AgentSession, 'changes'>,
  words: readonly string[],
  terminal: RewindTerminal,
): Promise<string | undefined> {
  const { changes } = session;
  const journal = await changes.journal();
  if (journal === undefined) {
    terminal.out(
      `! there is nothing to go back to: ${printable(changes.off ?? 'not journalled')}\n`,
    );
    return undefined;
  }
  if (words[0] === 'redo') {
    const result = await journal.redo();
    terminal.out(
      result.kind === 'refused' ? `! ${printable(result.why)}\n` : planText(result.plan, 'done'),
    );
    return undefined;
  }
  const { state, points } = { state: journal.state(), points: journal.points() };
  if (state.gaps.length > 0) terminal.out(`${state.kind}: ${printable(state.gaps.join('; '))}\n`);
  const asked = words.length === 0 ? await whichPoint(pointsText(points), terminal) : words;
  if (asked === undefined) return undefined;
  const what = asked.find((word) => HOW.has(word)) ?? 'both';
  const [first, second] = asked.filter((word) => !HOW.has(word));
  const target = targetOf(
    first === 'call' || first === 'agent' ? undefined : first,
    { call: first === 'call' ? second : undefined, agent: first === 'agent' ? second : undefined },
    { points, listedBy: '/rewind' },
  );
  if (what !== 'conversation') {
    const plan = await journal.preview(target);
    if ('why' in plan) terminal.out(`! ${printable(plan.why)}\n`);
    if ('why' in plan) return undefined;
    const question = 'Restore these files? [y/n; o = also overwrite changes made since] ';
    const line = await terminal.ask(`${planText(plan, 'planned')}${question}`);
    const answer = (line ?? 'n').trim().toLowerCase();
    // fail-closed: anything but a clear yes leaves the files as they are.
    if (answer !== 'y' && answer !== 'o') return undefined;
    const result = await journal.rewind(target, { overwriteConflicts: answer === 'o' });
    if (result.kind === 'refused') {
      terminal.out(`! ${printable(result.why)}\n`);
      return undefined;
    }
    for (const { path, why } of result.failed) terminal.out(`! ${printable(`${path}: ${why}`)}\n`);
    terminal.out('restored; /rewind redo takes it back\n');
  }
  if (what === 'files' || target.kind !== 'message') return undefined;
  const back = await changes.takeBackConversation(target.messageId);
  if (!back.ok) terminal.out(`! ${printable(back.error)}\n`);
  return back.ok ? back.value.prompt : undefined;
}

const HOW: ReadonlySet<string> = new Set(['files', 'conversation', 'both']);

async function whichPoint(
  list: string,
  terminal: RewindTerminal,
): Promise<readonly string[] | undefined> {
  const question =
    'Rewind to which point? [number, then files, conversation or both; Enter to cancel] ';
  const line = ((await terminal.ask(`${list}${question}`)) ?? '').trim();
  return line === '' ? undefined : line.split(/\s+/);
}

/** `/changes [agent]`: what this session has changed. */
export async function changesCommand(
  session: Pick<AgentSession, 'changes'>,
  agent: string,
): Promise<string> {
  const journal = await session.changes.journal();
  if (journal === undefined) return `! not journalled: ${session.changes.off ?? ''}`;
  return changesText(await journal.changes(agent === '' ? {} : { agent })).trimEnd();
}

export const REWIND_USAGE = USAGE;
