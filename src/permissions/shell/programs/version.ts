import { type Effect, unknown } from '../effects/effect.js';
import type { ProgramFacts } from '../effects/facts.js';
import type { GivenOptions } from '../effects/options.js';
import { type Program, program } from '../effects/program.js';

/** Without an argument it waits for code. */
export const needsOption = ({ flags, operands }: GivenOptions): readonly Effect[] =>
  flags.size === 1 && operands.length === 0 ? [] : [unknown('operand')];

/** The row of a program of which only the option that tells its version is modelled; `short`: its letter. */
export function tellsVersion(short: string, facts?: ProgramFacts): Program {
  const options = `${short === '' ? '' : `-${short} `}version`;
  return program(options, 'none', { also: needsOption, partial: true, facts });
}

/** The row of a subcommand that lists what its operands name. */
export function lists(options: string): Program {
  return program(options, 'text');
}
