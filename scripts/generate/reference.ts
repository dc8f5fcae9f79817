import { GIT_READ_ONLY } from '../../src/permissions/shell/git.js';
import type { OptionSpec } from '../../src/permissions/shell/options.js';
import { READ_ONLY_PROGRAMS } from '../../src/permissions/shell/read-only-table.js';
import { cliReference } from './cli-reference.js';
import { code, type Files, page, table } from './lib.js';
import { toolReference } from './tool-reference.js';

/** Reference pages made by running parts of the program, which needs its generated code. */
export async function generate(): Promise<Files> {
  return {
    'docs/reference/tools.md': await toolReference(),
    'docs/reference/cli.md': await cliReference(),
    'docs/reference/read-only-commands.md': readOnlyCommands(),
  };
}

/** The commands that run without asking, with the options that keep them so. */
function readOnlyCommands(): string {
  const rows = (specs: Readonly<Record<string, OptionSpec>>): string[][] =>
    Object.entries(specs)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, spec]) => [code(name), optionsOf(spec)]);
  return page('Commands that only look', 'src/permissions/shell', [
    'These run without asking, in every mode, as long as no rule says otherwise and every file they name lies in the working directories (or a rule opens it for reading). `"portcullis": {"askReadOnly": true}` asks about them too. An option that is not listed, abbreviated ones included, means that the command is asked about. The receipt of each such call says `read-only`.',
    'Also: `echo`, `printf` (with a plain format), `find` with tests and `-print`, `-print0`, `-ls`, `-prune`, `-printf`, `-quit`, `date` with a format, `sed` that only prints, `jq` without modules and environment, `xxd` of one file with options one by one, `test` and `[` without `-v` and `-R`, `command -v`, `hostname` and `wait` without arguments, `exit`, `cd` into the working directories, and `--version` of node, npm, python, cargo, rustc, ruby.',
    table(['program', 'options'], rows(READ_ONLY_PROGRAMS)),
    '## git',
    "In the working directory alone, without options in front of the subcommand, and only while neither the repository's own settings nor its hooks bring a program that git would start for it.",
    table(['subcommand', 'options'], rows(GIT_READ_ONLY)),
  ]);
}

function optionsOf({
  flags = '',
  valued = '',
  optional = '',
  long = '',
  numeric,
}: OptionSpec): string {
  const names = long.split(/\s+/).filter((name) => name !== '');
  const all = [
    ...[...flags, ...valued, ...optional].map((letter) => `-${letter}`),
    ...(numeric === true ? ['-NUMBER'] : []),
    ...names.map((name) => `--${name.replace(/\[?=\]?$/, '')}`),
  ];
  return all.length === 0 ? 'none' : code(all.join(' '));
}
