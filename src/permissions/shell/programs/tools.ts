import { type Effect, unknown } from '../effects/effect.js';
import type { GivenOptions } from '../effects/options.js';
import { custom, effectsOfProgram, type Program, program } from '../effects/program.js';
import { effectsOfContainerCopy } from './transfers.js';

const partial = true as const;

/** Without an argument it waits for code. */
const needsOption = ({ flags, operands }: GivenOptions): readonly Effect[] =>
  flags.size === 1 && operands.length === 0 ? [] : [unknown('operand')];

const version = (short: string): Program =>
  program(`${short === '' ? '' : `-${short} `}version`, 'none', { also: needsOption, partial });

const lists = (options: string): Program => program(options, 'text');

const PIP = program('-V version', 'none', {
  also: needsOption,
  partial,
  subcommands: {
    list: program('-e local user editable format: not-required', 'none'),
    show: lists('-f files'),
    freeze: program('all local user', 'none'),
  },
});

const DOCKER = program('-v version', 'none', {
  also: needsOption,
  partial,
  subcommands: {
    ps: program('-aqnls -f: all quiet filter: format: last: latest no-trunc size', 'none'),
    images: program('-aq -f: all quiet filter: format: digests no-trunc tree', 'text', {
      most: 1,
    }),
    version: program('', 'none'),
  },
});

/** Programs of developers, by what only tells about the project or the machine. */
export const TOOLS: Readonly<Record<string, Program>> = {
  node: version('v'),
  gcc: version(''),
  make: version(''),
  tsc: version('v'),
  python: version('V'),
  python3: version('V'),
  rustc: version('V'),
  ruby: version('v'),
  npm: program('-v version', 'none', {
    also: needsOption,
    partial,
    subcommands: {
      ls: lists('-al all long depth: json parseable prod dev'),
      list: lists('-al all long depth: json parseable prod dev'),
      prefix: lists(''),
      root: lists(''),
    },
  }),
  cargo: program('-V version', 'none', { also: needsOption, partial, subcommands: {} }),
  pip: PIP,
  pip3: PIP,
  go: program('', 'none', { partial, subcommands: { version: program('', 'none') } }),
  docker: custom((words) => [...effectsOfProgram(DOCKER, words), ...effectsOfContainerCopy(words)]),
};
