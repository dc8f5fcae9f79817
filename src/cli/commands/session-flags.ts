import { PortcullisError } from '../../errors.js';
import type { CommandCall, OptionSpec } from '../command.js';
import { FLAGS } from '../flags.js';
import { type CliOptions, readOptions } from '../options.js';

/** Flags of a session as options of a subcommand. */
export function flagOptions(names: readonly string[]): readonly OptionSpec[] {
  return FLAGS.filter(({ name }) => names.includes(name)).map(
    ({ name, short, kind, value = 'value', choices, help }) => {
      const dots = kind === 'list' || kind === 'repeat' ? '...' : '';
      const takes = kind === 'switch' ? '' : ` <${value}${dots}>`;
      const flags = `${short === undefined ? '' : `-${short}, `}--${name}${takes}`;
      const description = help.endsWith('.') ? help : `${help}.`;
      return { flags, description, choices };
    },
  );
}

/** Reads them as the program itself does. */
export function readFlags({ options }: CommandCall, names: readonly string[]): CliOptions {
  const switches = new Set<string>();
  const values = new Map<string, readonly string[]>();
  for (const name of names) {
    const value = options[name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    if (value === true) switches.add(name);
    else if (typeof value === 'string') values.set(name, [value]);
    else if (Array.isArray(value)) values.set(name, value);
  }
  const read = readOptions({ switches, values, positionals: [], rest: undefined, warnings: [] });
  if (!read.ok) {
    throw new PortcullisError('usage', read.error, { remedy: 'correct the named option' });
  }
  return read.value;
}
