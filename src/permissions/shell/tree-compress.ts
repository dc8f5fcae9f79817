import { hasFlag, optionTable, parseOptions } from './effects/options.js';
import type { TreeProgram } from './tree-use.js';

const OPTIONS =
  optionTable(`-acdefhiklLmnNqrRtTvVzH0123456789 -SopDMBb: recursive keep stdout to-stdout decompress uncompress
  compress force test list quiet verbose rm suffix: fast best output-dir-flat: output-dir-mirror:
  filelist: exclude-compressed no-name name processes: blocksize:`);

/** Programs that put a packed file in the place of each file: the source is gone, unless it is kept. */
const replacing: TreeProgram = (words, context) => {
  const options = parseOptions(words, OPTIONS);
  if (!hasFlag(options, 'r recursive') && !context.names('GZIP')) return [];
  const keeps = hasFlag(options, 'c k t l stdout to-stdout keep test list');
  const access = keeps ? 'read' : 'write';
  return options.operands.map((start) => ({ start, access, follows: hasFlag(options, 'f force') }));
};

/** Programs that put it beside the file, which stays unless they are told otherwise. */
const keeping: TreeProgram = (words) => {
  const options = parseOptions(words, OPTIONS);
  if (!hasFlag(options, 'r recursive')) return [];
  const access = options.flags.has('rm') ? 'write' : 'read';
  return options.operands.map((start) => ({ start, access }));
};

export const COMPRESSING_PROGRAMS: Readonly<Record<string, TreeProgram>> = {
  ...Object.fromEntries(
    'gzip gunzip pigz unpigz compress uncompress'.split(' ').map((name) => [name, replacing]),
  ),
  ...Object.fromEntries(
    'zstd zstdmt unzstd pzstd lz4 unlz4'.split(' ').map((name) => [name, keeping]),
  ),
};
