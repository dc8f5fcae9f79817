import { own } from '../lib/own.js';
import type { CommandSpec, Subcommand } from './command.js';
import { FLAGS } from './flags.js';

/** What completes the value of an option: a list of words, names to look up, or files. */
export type CompletedValue = readonly string[] | 'sessions' | 'models' | 'files';

export interface CompletedOption {
  /** `-r`, `--resume`. */
  readonly names: readonly string[];
  readonly description: string;
  /** Absent: it takes none. */
  readonly value?: CompletedValue | undefined;
}

/** What can follow the words of one command. */
export interface CompletionNode {
  /** The words, each after a blank: ` mcp add`. Empty for the program itself. */
  readonly at: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
}

const HELP: CompletedOption = { names: ['-h', '--help'], description: 'Show how it is called.' };

/** Every command and option of the program, from the tables that parse them. */
export async function completionTree(
  commands: Readonly<Record<string, Subcommand>>,
): Promise<readonly CompletionNode[]> {
  const nodes: CompletionNode[] = [];
  const visit = async (at: string, spec: CommandSpec): Promise<void> => {
    const { subcommands = {}, options = [] } = spec;
    nodes.push({
      at,
      commands: commandsOf(subcommands),
      options: [...options.filter(({ hidden }) => hidden !== true).map(readOption), HELP],
    });
    for (const [name, { load }] of Object.entries(subcommands))
      await visit(`${at} ${name}`, (await load()).command);
  };
  const flags = FLAGS.filter(({ notYet }) => notYet === undefined).map(
    ({ name, short, aliases = [], kind, choices, help }): CompletedOption => ({
      names: [
        ...(short === undefined ? [] : [`-${short}`]),
        ...[name, ...aliases].map((one) => `--${one}`),
      ],
      description: help,
      value: kind === 'switch' ? undefined : completedValue(name, choices),
    }),
  );
  nodes.push({ at: '', commands: commandsOf(commands), options: flags });
  for (const [name, { load }] of Object.entries(commands))
    await visit(` ${name}`, (await load()).command);
  return nodes;
}

function commandsOf(commands: Readonly<Record<string, Subcommand>>): CompletionNode['commands'] {
  return Object.entries(commands).map(([name, { summary }]) => ({ name, description: summary }));
}

function readOption({
  flags,
  description,
  choices,
}: NonNullable<CommandSpec['options']>[number]): CompletedOption {
  const [spelling = '', takes] = flags.split(/ (?=[<[])/);
  const names = spelling.split(', ');
  const long = (names.at(-1) ?? '').replace('--', '');
  return {
    names,
    description,
    value: takes === undefined ? undefined : completedValue(long, choices),
  };
}

const LOOKED_UP: Readonly<Record<string, CompletedValue>> = {
  resume: 'sessions',
  session: 'sessions',
  model: 'models',
  'fallback-model': 'models',
};

function completedValue(name: string, choices: readonly string[] | undefined): CompletedValue {
  return choices ?? own(LOOKED_UP, name) ?? 'files';
}
