import { type Program, program, rows, unmodelled } from '../effects/program.js';
import { tellsVersion } from './version.js';

const INTERPRETER = { runsAnything: true } as const;

/** Languages and databases that run the code that they are given. */
export const RUNTIMES: Readonly<Record<string, Program>> = {
  node: tellsVersion('v', INTERPRETER),
  python: tellsVersion('V', INTERPRETER),
  python3: tellsVersion('V', INTERPRETER),
  ruby: tellsVersion('v', INTERPRETER),
  deno: unmodelled({ ...INTERPRETER, subcommands: {} }),
  go: program('', 'none', {
    partial: true,
    subcommands: { version: program('', 'none') },
    facts: {
      subcommands: { runs: /^(generate|run)$/ },
      // From 1.21 on it downloads and starts the version that a module asks for (GOTOOLCHAIN).
      chosenBy: {
        files: ['go.mod', 'go.work'],
        says: /^\s*(toolchain\s|go\s+(1\.(2[1-9]|[3-9]\d|\d{3,})|[2-9]|\d{2,}))/m,
      },
    },
  }),
  ...rows(
    `pypy nodejs jruby irb perl php lua luajit rscript r julia java jshell groovy scala kotlin osascript
    guile racket sbcl ghc ghci runghc elixir iex erl swipl octave tclsh tsx ts-node`,
    unmodelled(INTERPRETER),
  ),
  ...rows('psql mysql mongo redis-cli', unmodelled(INTERPRETER)),
  // It changes the file that it is given.
  sqlite3: program('', 'write', { restrictsOnly: true, facts: INTERPRETER }),
  sqlite: unmodelled(INTERPRETER),
};
