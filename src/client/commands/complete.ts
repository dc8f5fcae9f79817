import { visible } from '../../lib/text/visible.js';
import { fileIndexOf } from '../file-index.js';
import { fuzzyScore } from '../fuzzy.js';
import type { Completion, CompletionQuery } from '../session-client.js';
import type { ArgumentOption, CommandContext } from './command.js';
import { directoryEntries } from './directory-entries.js';
import { COMMANDS, findCommand, typedCommands } from './registry.js';

const MAX_COMPLETIONS = 50;

/** What the word before the cursor could become: commands, their arguments, `@` files and agents. */
export async function completeInput(
  context: CommandContext,
  { text, cursor, signal }: CompletionQuery,
): Promise<readonly Completion[]> {
  const before = text.slice(0, cursor);
  const found = before.startsWith('/')
    ? await completeCommand(context, before, signal)
    : await completeMention(context, before, signal);
  return found.slice(0, MAX_COMPLETIONS);
}

async function completeCommand(
  context: CommandContext,
  before: string,
  signal: AbortSignal,
): Promise<readonly Completion[]> {
  const argument = /^\/\S+\s+/.exec(before);
  if (argument === null) {
    const others = typedCommands(await context.session.requests.commands());
    const rows = [
      ...COMMANDS.map(({ name, summary }) => ({ text: `/${name} `, description: summary })),
      ...others.map(({ name, description }) => ({ text: `/${name} `, description })),
    ];
    return matching(rows, before, 0);
  }
  const from = argument[0].length;
  const typed = before.slice(from);
  const options = (await findCommand(before)?.command.complete?.(context, typed)) ?? [];
  const found = matching(options, typed, from);
  return found.length > 0 ? found : await completeMention(context, before, signal);
}

/** `@` and what follows it, at the beginning of a word. */
const MENTION = /(?:^|\s)@(\S*)$/;

async function completeMention(
  context: CommandContext,
  before: string,
  signal: AbortSignal,
): Promise<readonly Completion[]> {
  const typed = MENTION.exec(before)?.[1];
  if (typed === undefined) return [];
  const from = before.length - typed.length;
  const { session } = context;
  const { cwd } = session.info();
  const agents = (await session.requests.agents())
    .map(({ name, description }) => ({ text: `agent-${name} `, description }))
    .filter(({ text }) => fuzzyScore(text.toLowerCase(), typed.toLowerCase()) >= 0);
  if (ELSEWHERE.test(typed)) return matching(await directoryEntries(context, typed), typed, from);
  const files = await fileIndexOf(session).search({ typed, cwd, limit: MAX_COMPLETIONS }, signal);
  const rows = files
    .filter((path) => !/\s/.test(path))
    .map((path) => ({ text: path.endsWith('/') ? path : `${path} ` }));
  // An agent that begins with what is typed is meant rather than a file that only contains it.
  const isMeant = typed !== '' && agents.some(({ text }) => text.startsWith(typed));
  return offered(isMeant ? [...agents, ...rows] : [...rows, ...agents], from);
}

/** Not below the working directory: the directory that is typed is listed. */
const ELSEWHERE = /^(?:\/|~|\.\.?(?:\/|$))/;

function matching(
  options: readonly ArgumentOption[],
  typed: string,
  from: number,
): readonly Completion[] {
  const wanted = typed.toLowerCase();
  return offered(
    options.filter(({ text }) => text.toLowerCase().startsWith(wanted)),
    from,
  );
}

function offered(options: readonly ArgumentOption[], from: number): readonly Completion[] {
  return (
    options
      // What could not be shown as it is cannot be offered either.
      .filter(({ text }) => visible(text) === text)
      .map(({ text, description }) => ({
        text,
        from,
        description: description === undefined ? undefined : visible(description),
      }))
  );
}

/** The slash commands of the program, as the turn runner takes them. */
export const slashCommands = { find: findCommand, complete: completeInput };
