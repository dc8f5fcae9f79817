import type { CommandRow } from '../../app.js';
import { ellipsis } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { defineCommand, type SlashCommand, text } from './command.js';
import { clear, compact, exit, init, resume } from './conversation.js';
import { agents, context, cost, memory, skills, status } from './reports.js';
import { rewind } from './rewind.js';
import { addDir, mode, model, permissions } from './settings.js';
import { changes, hooks, inbox, mcp, tasks, team, why } from './work.js';

const help = defineCommand({
  name: 'help',
  summary: 'List the commands, skills and MCP prompts',
  async run({ session }) {
    const others = typedCommands(await session.requests.commands());
    return text([
      'Type a prompt and press Enter; \\ at the end of a line continues it. Ctrl+C interrupts, Ctrl+D leaves.',
      ...COMMANDS.map(helpLine),
      ...(others.length === 0 ? [] : ['Skills and MCP prompts:']),
      ...others.map(({ name, description, argumentHint }) =>
        helpLine({ name, summary: description, argumentHint }),
      ),
    ]);
  },
});

const HELP_COLUMN = 26;

function helpLine({
  name,
  argumentHint = '',
  summary,
}: Pick<SlashCommand, 'name' | 'argumentHint' | 'summary'>): string {
  const head = visible(`/${name} ${argumentHint}`).trim();
  const about = visible(ellipsis(summary.replace(/\s+/g, ' '), 100));
  return head.length < HELP_COLUMN
    ? `  ${head.padEnd(HELP_COLUMN)}${about}`
    : `  ${head}\n  ${' '.repeat(HELP_COLUMN)}${about}`;
}

/** Every slash command of the program itself. */
export const COMMANDS: readonly SlashCommand[] = [
  clear,
  resume,
  rewind,
  compact,
  init,
  model,
  mode,
  permissions,
  addDir,
  mcp,
  agents,
  skills,
  hooks,
  memory,
  context,
  cost,
  status,
  changes,
  why,
  tasks,
  inbox,
  team,
  help,
  exit,
];

const BY_NAME: ReadonlyMap<string, SlashCommand> = new Map(
  COMMANDS.flatMap((command) =>
    [command.name, ...(command.aliases ?? [])].map((name) => [name, command] as const),
  ),
);

/** The same as rows for hosts. */
export const BUILTIN_COMMANDS: readonly CommandRow[] = COMMANDS.map(
  ({ name, summary, argumentHint = '' }) => ({
    name,
    description: summary,
    argumentHint,
    builtin: true,
  }),
);

/** Skills and MCP prompts that a person can type; built-in commands win over those of the same name. */
export function typedCommands(rows: readonly CommandRow[]): readonly CommandRow[] {
  return rows.filter(({ name, builtin }) => builtin !== true && !BY_NAME.has(name));
}

/** The built-in command that a line names, and its argument. Undefined: it may still name a skill or an MCP prompt. */
export function findCommand(
  line: string,
): { readonly command: SlashCommand; readonly argument: string } | undefined {
  const [, name = '', argument = ''] = /^\/(\S+)(?:\s+(.*))?$/s.exec(line.trim()) ?? [];
  const command = BY_NAME.get(name);
  return command === undefined ? undefined : { command, argument: argument.trim() };
}
