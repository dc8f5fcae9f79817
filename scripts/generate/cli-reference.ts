import type { CommandSpec } from '../../src/cli/command.js';
import { COMMANDS } from '../../src/cli/commands/index.js';
import { EXIT } from '../../src/cli/exit-code.js';
import { FLAGS, type FlagSpec } from '../../src/cli/flags.js';
import { code, page, table } from './lib.js';

/** docs/reference/cli.md: every command, flag and exit code of the program. */
export async function cliReference(): Promise<string> {
  const active = FLAGS.filter((flag) => flag.notYet === undefined);
  const later = FLAGS.filter((flag) => flag.notYet !== undefined);
  return page('Command line', '`src/cli`', [
    'How a run behaves is described in [headless.md](../headless.md). `--flag value` and `--flag=value` are the same.',
    '## Commands',
    'A command is a reserved first word; what is no command, or follows `--`, is a prompt. `--help` describes the arguments and options of each.',
    table(['command', 'what it does', 'options'], await commandRows()),
    '## Flags',
    'An unknown flag is a usage error. For a program that drives the session (--input-format stream-json) it is skipped with its value and a warning, unless it is a near miss of a flag marked "restricts".',
    table(['flag', 'value', 'what it does', 'restricts'], active.map(flagRow)),
    '## Not yet in effect',
    'Clients of the ecosystem know these flags. What happens when one is given stands in the last column.',
    table(
      ['flag', 'value', 'what it is for', 'restricts', 'given today'],
      later.map((flag) => [...flagRow(flag), NOT_YET[flag.notYet ?? 'quiet']]),
    ),
    '## Exit codes',
    table(
      ['code', 'name', 'meaning'],
      Object.entries(EXIT).map(([name, value]) => [
        String(value),
        name,
        MEANINGS[name as keyof typeof EXIT],
      ]),
    ),
  ]);
}

/** Every command that runs, in the order of the help text. */
async function commandRows(): Promise<readonly (readonly string[])[]> {
  const rows: (readonly string[])[] = [];
  const visit = async (spec: CommandSpec, words: readonly string[]): Promise<void> => {
    const names = (spec.arguments ?? []).map(({ name }) => name);
    const options = (spec.options ?? []).filter(({ hidden }) => hidden !== true);
    if (spec.run !== undefined)
      rows.push([
        code([...words, ...names].join(' ')),
        spec.summary,
        options.map(({ flags }) => code(flags)).join(', '),
      ]);
    for (const [name, { load }] of Object.entries(spec.subcommands ?? {}))
      await visit((await load()).command, [...words, name]);
  };
  for (const [name, { load }] of Object.entries(COMMANDS))
    await visit((await load()).command, [name]);
  return rows;
}

const MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: 'The run ended by itself and nothing it needed stayed refused',
  error:
    'A failure: of the model, the session, the network, the disk, or the owed structured answer',
  usage: 'The command line cannot be understood',
  config: 'The configuration was refused; nothing was started',
  denied: 'A call was refused and not made up for',
  maxTurns: '`--max-turns` was reached',
  budget: '`--max-budget-usd` was reached',
  stuck:
    'The model kept sending the same broken call, or the context filled up right after it was summarised',
  interrupted: 'SIGINT (Ctrl+C)',
  terminated: 'SIGTERM or SIGHUP',
};

const NOT_YET: Readonly<Record<NonNullable<FlagSpec['notYet']>, string>> = {
  quiet: 'accepted, no effect',
  loud: 'no effect, said on standard error',
  refused: 'usage error',
};

const VALUE_KINDS: Readonly<Record<FlagSpec['kind'], (name: string) => string>> = {
  switch: () => '',
  value: (name) => name,
  'optional-value': (name) => `${name} (optional)`,
  list: (name) => `${name} (one or more)`,
  repeat: (name) => `${name} (repeatable)`,
};

function flagRow(flag: FlagSpec): readonly string[] {
  const names = [
    ...(flag.short === undefined ? [] : [`-${flag.short}`]),
    `--${flag.name}`,
    ...(flag.aliases ?? []).map((alias) => `--${alias}`),
  ];
  const choices = flag.choices === undefined ? '' : `: ${flag.choices.map(code).join(', ')}`;
  return [
    names.map(code).join(', '),
    VALUE_KINDS[flag.kind](flag.value ?? 'value'),
    flag.help + choices,
    flag.restricts === true ? 'yes' : '',
  ];
}
