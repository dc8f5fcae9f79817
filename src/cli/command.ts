import type { Command as Commander, Option as CommanderOption } from 'commander';
import { PortcullisError } from '../errors.js';
import { own } from '../lib/own.js';
import { nearest } from '../lib/text/nearest.js';
import { visible } from '../lib/text/visible.js';
import { EXIT } from './exit-code.js';
import type { Output } from './output.js';

export interface OptionSpec {
  /**
   * As commander takes it: `-s, --scope <scope>`, `--json`. `--header <header...>` may be repeated and takes
   * one value each time. `--no-browser` sets `browser` to false, which is true otherwise.
   */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly default?: string;
  readonly hidden?: boolean;
}

/** The options of a call, by camel-cased long name; a flag is `true`, a repeatable option a list. */
export type OptionValues = Readonly<
  Record<string, string | boolean | readonly string[] | undefined>
>;

export interface CommandCall {
  /** Positional words, in order; the words of a variadic last argument follow. */
  readonly args: readonly string[];
  readonly options: OptionValues;
  /** All words as they were typed, for a command to which their order matters. */
  readonly argv: readonly string[];
  readonly output: Output;
}

export interface CommandSpec {
  /** One line in the list of commands: a verb first, a full stop at the end. */
  readonly summary: string;
  /** `<name>` (required), `[path]`, `[paths...]` (any number). */
  readonly arguments?: readonly { readonly name: string; readonly description: string }[];
  readonly options?: readonly OptionSpec[];
  /** Lines after the options in `--help`. */
  readonly notes?: string;
  /** Words after the first positional are not parsed as options (`sandbox run ls -l`); `--` always ends options. */
  readonly passThrough?: boolean;
  /** Either it runs … */
  readonly run?: (call: CommandCall) => Promise<number>;
  /** … or it leads to others, or both: then a first word that names none is an argument of `run`. */
  readonly subcommands?: Readonly<Record<string, Subcommand>>;
}

export interface Subcommand {
  readonly summary: string;
  /** Heading that the help of the parent lists it under. */
  readonly group?: string;
  load(): Promise<CommandFile>;
}

/** What the file of a command exports. */
export interface CommandFile {
  readonly command: CommandSpec;
}

/** Runs the command that `words` led to, with the words after them. */
export async function runCommand(
  file: CommandFile,
  words: readonly string[],
  call: { readonly argv: readonly string[]; readonly output: Output },
): Promise<number> {
  const { argv, output } = call;
  const [first, ...rest] = argv;
  const asksHelp = first === '--help' || first === '-h';
  const spec = file.command;
  const subcommands = spec.subcommands ?? {};
  const next = first === undefined ? undefined : own(subcommands, first);
  if (next !== undefined && first !== undefined)
    return await runCommand(await next.load(), [...words, first], { argv: rest, output });
  if (first === 'help' && spec.subcommands !== undefined)
    return await runCommand(file, words, { argv: [...rest, '--help'], output });
  const takesWords = spec.run !== undefined && (spec.arguments ?? []).length > 0;
  const isName = spec.run === undefined ? !asksHelp : first?.startsWith('-') === false;
  if (spec.subcommands !== undefined && first !== undefined && isName && !takesWords) {
    const meant = nearest(first, Object.keys(subcommands));
    const name = ['portcullis', ...words].join(' ');
    throw new PortcullisError('usage', `${name} has no subcommand "${visible(first)}"`, {
      remedy: meant === undefined ? `${name} --help lists them` : `did you mean: ${name} ${meant}`,
    });
  }
  return await parseAndRun(spec, words, call);
}

async function parseAndRun(
  spec: CommandSpec,
  words: readonly string[],
  { argv, output }: { readonly argv: readonly string[]; readonly output: Output },
): Promise<number> {
  const { Command, CommanderError, Option } = await import('commander');
  const name = ['portcullis', ...words].join(' ');
  const parser = new Command(name);
  parser.description(spec.summary).helpOption('-h, --help', 'Show this text.');
  parser.exitOverride().configureOutput({
    getOutHelpWidth: () => Math.min(process.stdout.columns ?? 80, 80),
    writeOut: (text) => output.out(text),
    outputError: () => undefined,
  });
  parser.configureHelp({ minWidthToWrap: 20 });
  parser.helpCommand(false).passThroughOptions(spec.passThrough === true);
  for (const argument of spec.arguments ?? []) parser.argument(argument.name, argument.description);
  for (const one of spec.options ?? []) addOption(parser, new Option(single(one.flags)), one);
  // They are dispatched above; commander knows them only to list them.
  if (spec.run === undefined || argv.some((word) => word === '--help' || word === '-h'))
    for (const [sub, { summary, group }] of Object.entries(spec.subcommands ?? {}))
      parser
        .command(sub)
        .description(summary)
        .helpGroup(`${group ?? 'Commands'}:`);
  if (spec.notes !== undefined) parser.addHelpText('after', `\n${spec.notes}`);
  const { run } = spec;
  if (run === undefined) {
    parser.outputHelp();
    return argv.length === 0 ? EXIT.usage : EXIT.done;
  }
  try {
    parser.parse([...argv], { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return EXIT.done;
    throw usageError(name, thrown.message);
  }
  return await run({ args: parser.args, options: parser.opts(), argv, output });
}

/** A repeatable option takes one value each time: a greedy one would swallow the arguments after it. */
function single(flags: string): string {
  return flags.replace('...', '');
}

function addOption(parser: Commander, option: CommanderOption, spec: OptionSpec): void {
  const repeats = spec.flags.includes('...');
  option.description = repeats ? `${spec.description} Repeatable.` : spec.description;
  if (spec.choices !== undefined) option.choices(spec.choices);
  if (spec.default !== undefined) option.default(spec.default);
  if (spec.hidden === true) option.hideHelp();
  parser.addOption(option);
  if (option.isBoolean() || option.negate) return;
  const long = option.long ?? spec.flags;
  option.argParser((value: string, previous: unknown) => {
    // A value may begin with a dash; only an option of this command is no value.
    if (parser.options.some(({ short: s, long: l }) => value === s || value === l))
      throw usageError(parser.name(), `${long} needs a value, but ${value} follows`);
    if (spec.choices?.includes(value) === false) {
      const meant = nearest(value, spec.choices);
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
      throw usageError(
        parser.name(),
        `${long}: "${visible(value)}" is not one of ${spec.choices.join(', ')}${hint}`,
      );
    }
    return repeats ? [...(Array.isArray(previous) ? previous : []), value] : value;
  });
}

function usageError(name: string, message: string): PortcullisError {
  const text = message
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean (.*)\?\)$/, '; did you mean $1?');
  return new PortcullisError('usage', text, { remedy: `${name} --help shows how it is called` });
}
