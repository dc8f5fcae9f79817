import { conversationOf, openTranscripts, projectKeyOf } from '../../app.js';
import { recentSessions, type SessionSummary } from '../../client/session-summary.js';
import { PortcullisError } from '../../errors.js';
import { isRecord } from '../../lib/own.js';
import { table } from '../../lib/table.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { askLine, hasTerminal } from '../ask.js';
import type { CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';

const MAX_TITLE = 60;
const MAX_CHOICES = 20;

export const command: CommandSpec = {
  summary: 'List the sessions of this project, newest first.',
  options: [
    { flags: '--all', description: 'List the sessions of every project.' },
    { flags: '-n, --limit <count>', description: 'Show at most this many.', default: '20' },
    { flags: '--json', description: 'Write JSON.' },
  ],
  notes: 'portcullis --resume <id> continues one.',
  async run({ options, output }) {
    const limit = Number(options.limit);
    if (!Number.isSafeInteger(limit) || limit < 1) {
      throw new PortcullisError('usage', `--limit: "${options.limit}" is not a number above 0`, {
        remedy: 'portcullis sessions --limit 50',
      });
    }
    const cwd = options.all === true ? undefined : process.cwd();
    const sessions = await recentSessions(process.env, cwd, limit);
    const rows = await Promise.all(
      sessions.map(async (session) => ({
        id: session.sessionId,
        modified: new Date(session.lastModified).toISOString(),
        title: session.customTitle ?? session.summary,
        firstPrompt: session.firstPrompt ?? null,
        messages: (await messagesOf(session)).length,
        directory: session.cwd ?? null,
        gitBranch: session.gitBranch ?? null,
      })),
    );
    if (options.json === true) output.out(`${JSON.stringify(rows, null, 2)}\n`);
    else if (rows.length === 0)
      output.out('There are no sessions here. --all lists every project.\n');
    else {
      const head = ['SESSION', 'CHANGED', 'MESSAGES', ...(cwd ? [] : ['DIRECTORY']), 'TITLE'];
      const lines = rows.map(({ id, modified, messages, directory, title }) => [
        id,
        timeText(modified),
        String(messages),
        ...(cwd ? [] : [visible(directory ?? '-')]),
        titleText(title),
      ]);
      output.out(`${table([head, ...lines])}\n`);
    }
    return EXIT.done;
  },
};

/** `--resume` without an id: the person at the terminal chooses one. */
export async function chooseSession(
  cwd: string,
  { mayAsk, output }: { readonly mayAsk: boolean; readonly output: Output },
): Promise<string> {
  if (!mayAsk || !hasTerminal()) {
    throw new PortcullisError('usage', '--resume needs the id of a session', {
      remedy: 'portcullis sessions lists them; --continue takes the newest',
    });
  }
  const sessions = await recentSessions(process.env, cwd, MAX_CHOICES);
  if (sessions.length === 0) {
    throw new PortcullisError('usage', 'this directory has no session to resume', {
      remedy: 'portcullis starts one; portcullis sessions --all lists those of other directories',
    });
  }
  const rows = sessions.map(({ lastModified, summary }, at) => [
    `${at + 1}`.padStart(3),
    timeText(new Date(lastModified).toISOString()),
    titleText(summary),
  ]);
  output.out(`Sessions of this directory\n${table(rows)}\n`);
  const answer = (await askLine(`Resume which one? [1-${sessions.length}] `))?.trim() ?? '';
  const chosen = /^\d+$/.test(answer) ? sessions[Number(answer) - 1] : undefined;
  if (chosen === undefined) {
    throw new PortcullisError('usage', 'no session was chosen', {
      remedy: 'portcullis starts a new one',
    });
  }
  return chosen.sessionId;
}

interface Message {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** What was said, without what the runtime added. */
async function messagesOf({ sessionId, cwd }: SessionSummary): Promise<readonly Message[]> {
  const archive = openTranscripts(process.env);
  const place = await archive.find(sessionId, cwd === undefined ? undefined : projectKeyOf(cwd));
  const lines = place === undefined ? undefined : await archive.lines(place);
  return conversationOf(sessionId, lines ?? []).flatMap((entry): Message[] => {
    if (entry.type !== 'user' && entry.type !== 'assistant') return [];
    if (entry.type === 'user' && entry.isMeta === true) return [];
    const { content } = entry.message;
    const blocks: readonly unknown[] = typeof content === 'string' ? [content] : content;
    const texts = blocks.map((block) =>
      typeof block === 'string'
        ? block
        : isRecord(block) && block.type === 'text' && typeof block.text === 'string'
          ? block.text
          : '',
    );
    return [{ role: entry.type, text: texts.join('').trim() }];
  });
}

function timeText(iso: string): string {
  return iso.replace('T', ' ').slice(0, 16);
}

function titleText(title: string): string {
  const line = title.replace(/\s+/g, ' ');
  return visible(line.length <= MAX_TITLE ? line : `${sliceWhole(line, 0, MAX_TITLE)}…`);
}
