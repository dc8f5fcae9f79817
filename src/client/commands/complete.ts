import { nodeFileSystem, resolvePath } from '../../harness.js';
import { visible } from '../../util/visible.js';
import type { Completion } from '../session-client.js';
import type { ArgumentOption, CommandContext } from './command.js';
import { COMMANDS, findCommand, typedCommands } from './registry.js';

const MAX_COMPLETIONS = 50;

/** What the word before the cursor could become: commands, their arguments, `@` files and agents. */
export async function completeInput(
  context: CommandContext,
  text: string,
  cursor: number,
): Promise<readonly Completion[]> {
  const before = text.slice(0, cursor);
  const found = before.startsWith('/')
    ? await completeCommand(context, before)
    : await completeMention(context, before);
  return found.slice(0, MAX_COMPLETIONS);
}

async function completeCommand(
  context: CommandContext,
  before: string,
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
  const options = (await findCommand(before)?.command.complete?.(context)) ?? [];
  const from = argument[0].length;
  const found = matching(options, before.slice(from), from);
  return found.length > 0 ? found : await completeMention(context, before);
}

/** `@` and what follows it, at the beginning of a word. */
const MENTION = /(?:^|\s)@(\S*)$/;

async function completeMention(
  context: CommandContext,
  before: string,
): Promise<readonly Completion[]> {
  const typed = MENTION.exec(before)?.[1];
  if (typed === undefined) return [];
  const from = before.length - typed.length;
  const rows = await context.session.requests.agents();
  const agents = rows.map(({ name, description }) => ({ text: `agent-${name} `, description }));
  const files = await filesAt(context.session.info().cwd, typed);
  return [...matching(files, typed, from), ...matching(agents, typed, from)];
}

/** The entries of the directory that is being typed. */
async function filesAt(cwd: string, typed: string): Promise<readonly ArgumentOption[]> {
  const parent = typed.slice(0, typed.lastIndexOf('/') + 1);
  try {
    const entries = await nodeFileSystem.list(resolvePath(cwd, parent));
    return entries
      .filter(({ name }) => !/\s/.test(name) && name !== '.git')
      .map(({ name, kind }) => ({ text: `${parent}${name}${kind === 'directory' ? '/' : ' '}` }))
      .sort((a, b) => a.text.localeCompare(b.text));
  } catch {
    // A directory that cannot be listed has no completions.
    return [];
  }
}

function matching(
  options: readonly ArgumentOption[],
  typed: string,
  from: number,
): readonly Completion[] {
  const wanted = typed.toLowerCase();
  return (
    options
      // What could not be shown as it is cannot be offered either.
      .filter(({ text }) => text.toLowerCase().startsWith(wanted) && visible(text) === text)
      .map(({ text, description }) => ({
        text,
        from,
        ...(description === undefined ? {} : { description: visible(description) }),
      }))
  );
}

/** The slash commands of the program, as the turn runner takes them. */
export const slashCommands = { find: findCommand, complete: completeInput };
