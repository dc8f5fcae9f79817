import { PortcullisError } from '../../errors.js';
import { nearest } from '../../util/nearest.js';
import { visible } from '../../util/visible.js';
import { type CommandFile, runCommand } from '../command.js';
import type { Output } from '../output.js';

/** One of several words that follow a command. Its file is loaded only when it is called. */
export interface Subcommand {
  readonly name: string;
  /** What follows the name, two blanks, and what it does. */
  readonly help: string;
  load(): Promise<CommandFile>;
}

type Run = (argv: readonly string[], output: Output) => Promise<number>;

/** A command that only leads to its subcommands. */
export function runSubcommands(command: string, subcommands: readonly Subcommand[]): Run {
  const rows = subcommands.map(({ name, help }) => {
    const [, words = '', text = help] = /^(\S.*?)? {2,}(\S.*)$/.exec(help) ?? [];
    return { left: `portcullis ${command} ${name} ${words}`.trimEnd(), text };
  });
  const width = Math.max(...rows.map(({ left }) => left.length));
  const lines = rows.map(({ left, text }) => `  ${left.padEnd(width)}  ${text}`);
  const usage = `usage:\n${lines.join('\n')}\n`;
  return async (argv, output) => {
    const [name, ...rest] = argv;
    if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
      output.out(usage);
      return name === undefined ? 2 : 0;
    }
    const found = subcommands.find((one) => one.name === name);
    if (found !== undefined)
      return await runCommand(await found.load(), [command, name], { argv: rest, output });
    const meant = nearest(
      name,
      subcommands.map((one) => one.name),
    );
    throw new PortcullisError('usage', `${command} has no subcommand "${visible(name)}"`, {
      remedy: meant === undefined ? usage : `did you mean: portcullis ${command} ${meant}`,
    });
  };
}
