import { GIT_LOOKS } from '../../src/permissions/git/subcommands.js';
import type { Program } from '../../src/permissions/shell/effects/program.js';
import { MODELLED } from '../../src/permissions/shell/programs/index.js';
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

/** The programs whose effects are known, with the options that are. */
function readOnlyCommands(): string {
  const rowsOf = ([name, row]: [string, Program]): string[][] => [
    ...(row.custom !== undefined || row.restrictsOnly === true
      ? []
      : [[code(name), optionsOf(row)]]),
    ...Object.entries(row.subcommands ?? {}).flatMap(([inner, its]) =>
      rowsOf([`${name} ${inner}`, its]),
    ),
  ];
  const rows = (programs: Readonly<Record<string, Program>>): string[][] =>
    Object.entries(programs)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(rowsOf);
  return page('Commands whose effects are known', 'src/permissions/shell/programs', [
    'A command that only looks runs without asking, in every mode, as long as no rule says otherwise and every file it names lies in the working directories (or a rule opens it for reading). `"portcullis": {"askReadOnly": true}` asks about them too. In the mode `acceptEdits` the same holds for commands that write and delete files there. An option that is not listed, abbreviated ones included, makes the effects unknown, and the command is asked about. Behind an option stands what its value is, unless that is text. The receipt of each such call says `read-only` or `acceptEdits`.',
    'Also, by rules of their own: `echo`, `printf` (with a plain format), `find` with tests and `-print`, `-print0`, `-ls`, `-prune`, `-printf`, `-quit`, `date` with a format, `sed` and `awk` by what their script does, `jq` without modules and environment, `xxd` of one file with options one by one, `test` and `[` without `-v` and `-R`, `command -v`, `docker ps`, `docker images`, `docker version`, and `cd` into the working directories.',
    table(['program', 'options'], rows(MODELLED)),
    '## git',
    "In the working directory alone, without options in front of the subcommand, and only while neither the repository's own settings nor its hooks bring a program that git would start for it.",
    table(['subcommand', 'options'], rows(GIT_LOOKS)),
  ]);
}

function optionsOf({ options: { short, long, counts } }: Program): string {
  type Spec = NonNullable<ReturnType<typeof long.get>>;
  const shown = (name: string, { value, kind, tag }: Spec): string => {
    const means = value !== 'none' && kind !== 'text' ? kind : tag === 'unsure' ? 'asks' : '';
    return means === '' ? name : `${name}=${means}`;
  };
  const all = [
    ...[...short].map(([letter, spec]) => shown(`-${letter}`, spec)),
    ...(counts ? ['-NUMBER'] : []),
    ...[...long].map(([name, spec]) => shown(`--${name}`, spec)),
  ];
  return all.length === 0 ? 'none' : code(all.join(' '));
}
