import { hasFlag, looseOptions } from './loose-options.js';
import { literalWord } from './model.js';
import type { OptionSpec } from './options.js';
import { globMatcher } from './tree-globs.js';
import type { TreeProgram, TreeUse } from './tree-use.js';

const HERE = literalWord('.');

const REMOVE: OptionSpec = {
  flags: 'rRfidvIPWx',
  long: 'recursive force interactive[=] one-file-system no-preserve-root preserve-root[=] dir verbose',
};

const MODES: OptionSpec = {
  flags: 'RcfvhHLPndbk',
  valued: 'mMxXtulr',
  long: `recursive reference= changes silent quiet verbose dereference no-dereference from= modify=
    set= remove= set-file= modify-file= remove-file= default restore= preserve-root no-preserve-root
    user= role= type= range= logical physical`,
};

/** A mode may begin with a dash: `-x`. */
const OWNERS: OptionSpec = {
  flags: 'RcfvhHLPrwxXstugo',
  long: `recursive reference= changes silent quiet verbose dereference no-dereference from=
    preserve-root no-preserve-root`,
};

const changes =
  (spec: OptionSpec, { always }: { readonly always: boolean }): TreeProgram =>
  (words) => {
    const options = looseOptions(words, spec);
    if (!always && !hasFlag(options, 'r R recursive')) return [];
    const follows = hasFlag(options, 'L logical');
    return options.operands
      .filter(({ literal }) => literal)
      .map((start) => ({ start, access: 'write', follows }));
  };

const rm = changes(REMOVE, { always: false });
const modes = changes(MODES, { always: false });
const owners = changes(OWNERS, { always: false });
const trash = changes({}, { always: true });

/** Actions after which there is nothing to be found; others are commands of their own. */
const find: TreeProgram = (words) => {
  const values = words.map(({ value }) => value);
  if (!values.includes('-delete')) return [];
  const first = words.findIndex(({ value }) => /^-[^HLPOD]|^[!(]/.test(value));
  const starts = words
    .slice(0, first === -1 ? words.length : first)
    .filter(({ literal, value }) => literal && !value.startsWith('-'));
  const use = { access: 'write', follows: values.includes('-L'), ...narrowed(values) } as const;
  return (starts.length === 0 ? [HERE] : starts).map((start): TreeUse => ({ start, ...use }));
};

/** Primaries that take one value or none, and options. */
const PLAIN =
  /^-(name|type|maxdepth|mindepth|mtime|mmin|ctime|atime|size|empty|newer|delete|print0?|depth|xdev|mount|[HLP])$/;

/** Tests that all have to hold narrow it down; anything else is not followed. */
function narrowed(given: readonly string[]): Pick<TreeUse, 'skips' | 'unsure'> {
  const isPlain = given.every((value) => !/^([-!(),]|\\[!(),])/.test(value) || PLAIN.test(value));
  // What stands behind the removal does not hold it back.
  const values = given.slice(0, given.indexOf('-delete'));
  if (!isPlain) return { unsure: 'which files it takes is not followed' };
  const names = values.flatMap((value, at) => (value === '-name' ? [values[at + 1] ?? ''] : []));
  const simple = names
    .filter((name) => /^[^/{}[\]\\!,]+$/.test(name))
    .map((one) => globMatcher([one]));
  const misses = (name: string): boolean => simple.some((fits) => !fits(name));
  const kind = values[values.indexOf('-type') + 1];
  // A directory is gone through whatever it is called, and removed only by its name.
  return { skips: { file: (name) => misses(name) || (values.includes('-type') && kind === 'd') } };
}

const LISTED_MODES = 'setfacl chattr chcon';
const OWNER_PROGRAMS = 'chmod chown chgrp gchmod gchown gchgrp';

export const CHANGING_PROGRAMS: Readonly<Record<string, TreeProgram>> = {
  rm,
  grm: rm,
  srm: rm,
  trash,
  'trash-put': trash,
  rimraf: trash,
  find,
  ...Object.fromEntries(LISTED_MODES.split(' ').map((name) => [name, modes])),
  ...Object.fromEntries(OWNER_PROGRAMS.split(' ').map((name) => [name, owners])),
};
