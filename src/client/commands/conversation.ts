import { openTranscripts, projectKeyOf } from '../../app.js';
import { ellipsis } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import type { CommandChoice } from '../events.js';
import { recentSessions, type SessionSummary } from '../session-summary.js';
import { type CommandContext, defineCommand, failed, text } from './command.js';

export const clear = defineCommand({
  name: 'clear',
  aliases: ['reset', 'new'],
  summary: 'Start a new conversation',
  needsIdle: true,
  async run({ session, runner }) {
    const before = session.id;
    await runner.clear();
    return text(`New conversation. /resume ${before} returns to the one before.`);
  },
});

const MAX_SESSIONS = 20;

export const resume = defineCommand({
  name: 'resume',
  aliases: ['continue'],
  summary: 'Continue an earlier conversation of this directory',
  argumentHint: '[id]',
  argumentFrom: 'client',
  needsIdle: true,
  complete: async (context) =>
    (await sessionsOf(context)).map(({ sessionId, summary }) => ({
      text: sessionId,
      description: visible(summary),
    })),
  async run(context, argument) {
    if (argument !== '') {
      const { env, session, runner } = context;
      const found = await openTranscripts(env).find(argument, projectKeyOf(session.info().cwd));
      // The open conversation is closed for it: it has to be there.
      if (found === undefined) {
        return failed(`There is no conversation ${visible(argument)} here. /resume lists them.`);
      }
      await runner.resume(argument);
      return text('');
    }
    const sessions = await sessionsOf(context);
    if (sessions.length === 0) return text('This directory has no other conversation.');
    return { text: 'Conversations of this directory:', choices: sessions.map(sessionChoice) };
  },
});

async function sessionsOf({ session, env }: CommandContext): Promise<readonly SessionSummary[]> {
  const recent = await recentSessions(env, session.info().cwd, MAX_SESSIONS);
  return recent.filter(({ sessionId }) => sessionId !== session.id);
}

function sessionChoice({
  sessionId,
  summary,
  lastModified,
  gitBranch,
}: SessionSummary): CommandChoice {
  const time = new Date(lastModified).toISOString().replace('T', ' ').slice(0, 16);
  const branch = gitBranch === undefined ? '' : ` · ${visible(gitBranch)}`;
  return {
    label: visible(ellipsis(summary.replace(/\s+/g, ' '), 100)),
    description: `${time}${branch}`,
    line: `/resume ${sessionId}`,
  };
}

export const compact = defineCommand({
  name: 'compact',
  summary: 'Summarise the conversation so far',
  argumentHint: '[what to keep in mind]',
  needsIdle: true,
  async run({ session }, argument) {
    const isDone = await session.compact(argument === '' ? undefined : argument);
    // The session itself reports how it went.
    return isDone ? text('') : { text: '', failed: true };
  },
});

const INIT_PROMPT = `Look at this project and write a first instruction file for coding agents.
Name it AGENTS.md, unless the project already has a CLAUDE.md: then improve that one. Keep it under 60 lines:
how to build, test and lint (the exact commands, and how to run a single test), the layout of the code,
the conventions that are not obvious from a single file. Take over what README and existing agent
instructions say where it matters. Invent nothing: leave out what you could not verify in the files.`;

export const init = defineCommand({
  name: 'init',
  summary: 'Let the model write a first AGENTS.md for this project',
  async run({ runner }, argument) {
    runner.prompt(argument === '' ? INIT_PROMPT : `${INIT_PROMPT}\nAlso: ${argument}`);
    return text('');
  },
});

export const exit = defineCommand({
  name: 'exit',
  aliases: ['quit'],
  summary: 'Leave',
  run: async () => ({ text: '', exit: true }),
});
