import { type Program, program, rows, unmodelled } from '../effects/program.js';
import { RUSTUP } from './compilers.js';
import { lists, needsOption } from './version.js';

const partial = true as const;

const PIP = program('-V version', 'none', {
  also: needsOption,
  partial,
  subcommands: {
    list: program('-e local user editable format: not-required', 'none'),
    show: lists('-f files'),
    freeze: program('all local user', 'none'),
  },
  facts: { subcommands: {} },
});

/** Programs that install packages and run what the packages bring. */
export const PACKAGES: Readonly<Record<string, Program>> = {
  npm: program('-v version', 'none', {
    also: needsOption,
    partial,
    subcommands: {
      ls: lists('-al all long depth: json parseable prod dev'),
      list: lists('-al all long depth: json parseable prod dev'),
      prefix: lists(''),
      root: lists(''),
    },
    facts: { subcommands: { groups: /^run$/, runs: /^config$/ } },
  }),
  ...rows('pnpm yarn', unmodelled({ subcommands: { groups: /^run$/ } })),
  bun: unmodelled({ runsAnything: true, subcommands: {} }),
  ...rows('pnpx pipx', unmodelled({ runsAnything: true })),
  cargo: program('-V version', 'none', {
    also: needsOption,
    partial,
    subcommands: {},
    facts: { subcommands: {}, chosenBy: RUSTUP },
  }),
  pip: PIP,
  pip3: PIP,
  uv: unmodelled({ subcommands: { groups: /^pip$/ } }),
  ...rows(
    'apt apt-get brew bundle composer conda gem poetry rustup',
    unmodelled({ subcommands: {} }),
  ),
};
