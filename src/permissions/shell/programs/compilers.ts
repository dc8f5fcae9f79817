import { type Program, rows, unmodelled } from '../effects/program.js';
import { tellsVersion } from './version.js';

/** Compilers, build tools and the programs that they are made of. */
export const COMPILERS: Readonly<Record<string, Program>> = {
  gcc: tellsVersion(''),
  make: tellsVersion('', { subcommands: {} }),
  tsc: tellsVersion('v'),
  rustc: tellsVersion('V'),
  ...rows('dotnet flutter gradle just mvn nx rake swift turbo', unmodelled({ subcommands: {} })),
  mix: unmodelled({ subcommands: { runs: /^run$/ } }),
  rails: unmodelled({ subcommands: { runs: /^runner$/ } }),
};
