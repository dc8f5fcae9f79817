import { type Program, rows, unmodelled } from '../effects/program.js';
import { tellsVersion } from './version.js';

/** rustup starts the compiler that a project names, perhaps one of its own. */
export const RUSTUP = { files: ['rust-toolchain', 'rust-toolchain.toml'] };

/** Compilers, build tools and the programs that they are made of. */
export const COMPILERS: Readonly<Record<string, Program>> = {
  gcc: tellsVersion(''),
  make: tellsVersion('', { subcommands: {} }),
  tsc: tellsVersion('v'),
  rustc: tellsVersion('V', { chosenBy: RUSTUP }),
  ...rows('dotnet flutter gradle just mvn nx rake swift turbo', unmodelled({ subcommands: {} })),
  mix: unmodelled({ subcommands: { runs: /^run$/ } }),
  rails: unmodelled({ subcommands: { runs: /^runner$/ } }),
};
