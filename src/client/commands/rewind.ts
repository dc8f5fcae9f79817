import type { AgentSession } from '../../app.js';
import { visible } from '../../lib/text/visible.js';
import { rewindPlanText } from '../../project/changes-text.js';
import { targetOf } from '../../project/rewind-target.js';
import type { CommandChoice, CommandOutput } from '../events.js';
import { defineCommand, failed, text } from './command.js';
import { journalOff } from './work.js';

const PARTS = ['files', 'conversation', 'both'] as const;

type Journal = NonNullable<Awaited<ReturnType<AgentSession['changes']['journal']>>>;

export const rewind = defineCommand({
  name: 'rewind',
  aliases: ['undo', 'checkpoint'],
  summary: 'Go back to an earlier point: files, conversation or both',
  argumentHint: '[number | call <id> | agent <name>] [files|conversation|both] [overwrite] | redo',
  argumentFrom: 'client',
  needsIdle: true,
  async complete({ session }) {
    const points = (await session.changes.journal())?.points() ?? [];
    const rows = points.map(({ title }, index) => ({
      text: String(points.length - index),
      description: title,
    }));
    return [...rows.reverse(), { text: 'redo', description: 'Undo the last rewind' }];
  },
  async run({ session }, argument) {
    const journal = await session.changes.journal();
    if (journal === undefined) return failed(journalOff(session));
    const words = argument.split(/\s+/).filter((word) => word !== '');
    if (words.length === 0) return listPoints(journal);
    if (words[0] === 'redo') {
      const redone = await journal.redo();
      return redone.kind === 'refused'
        ? failed(visible(redone.why))
        : text(rewindPlanText(redone.plan, 'done'));
    }
    return await rewindTo(session, journal, words);
  },
});

function listPoints(journal: Journal): CommandOutput {
  const points = journal.points();
  const { gaps } = journal.state();
  const warning = gaps.length === 0 ? '' : `\nincomplete: ${visible(gaps.join('; '))}`;
  if (points.length === 0) return text(`There is no point to go back to.${warning}`);
  const choices = points.map(({ at, title, complete, gaps: missing }, index): CommandChoice => {
    const time = new Date(at).toISOString().replace('T', ' ').slice(0, 19);
    return {
      label: visible(title),
      description: complete ? time : `${time} · incomplete: ${visible(missing.join('; '))}`,
      line: `/rewind ${points.length - index}`,
    };
  });
  // The newest first: that is what most rewinds are about, and its number is 1.
  return { text: `Rewind to before which prompt?${warning}`, choices: choices.reverse() };
}

async function rewindTo(
  session: AgentSession,
  journal: Journal,
  words: readonly string[],
): Promise<CommandOutput> {
  const part = PARTS.find((one) => words.includes(one));
  const overwrite = words.includes('overwrite');
  const [first, second] = words.filter((word) => word !== part && word !== 'overwrite');
  const byName = first === 'call' || first === 'agent' ? first : undefined;
  const target = targetOf(
    byName === undefined ? first : undefined,
    {
      call: byName === 'call' ? second : undefined,
      agent: byName === 'agent' ? second : undefined,
    },
    { points: journal.points(), listedBy: '/rewind' },
  );
  const where = byName === undefined ? (first ?? '') : `${byName} ${second}`;
  if (part === undefined) return await preview(journal, target, where);
  const lines: string[] = [];
  if (part !== 'conversation') {
    const done = await journal.rewind(target, { overwriteConflicts: overwrite });
    if (done.kind === 'refused') return failed(visible(done.why));
    lines.push(rewindPlanText(done.plan, 'done').trimEnd());
    lines.push(...done.failed.map(({ path, why }) => `! ${visible(`${path}: ${why}`)}`));
    lines.push('/rewind redo takes it back.');
  }
  if (part === 'files' || target.kind !== 'message') return text(lines);
  const taken = await session.changes.takeBackConversation(target.messageId);
  if (!taken.ok) return failed([...lines, visible(taken.error)].join('\n'));
  return {
    ...text([...lines, 'The conversation is back where it was.']),
    draft: taken.value.prompt,
  };
}

async function preview(
  journal: Journal,
  target: Parameters<Journal['preview']>[0],
  where: string,
): Promise<CommandOutput> {
  const plan = await journal.preview(target);
  if ('why' in plan) return failed(visible(plan.why));
  const choice = (label: string, words: string): CommandChoice => ({
    label,
    line: `/rewind ${where} ${words}`,
  });
  const whole = target.kind === 'message' ? 'both' : 'files';
  const choices = [
    ...(whole === 'both' ? [choice('Files and conversation', 'both')] : []),
    choice('Files only', 'files'),
    ...(whole === 'both' ? [choice('Conversation only', 'conversation')] : []),
    ...(plan.conflicts.length === 0
      ? []
      : [choice('All of it, and overwrite changes made since', `${whole} overwrite`)]),
  ];
  return { text: rewindPlanText(plan, 'planned').trimEnd(), choices };
}
