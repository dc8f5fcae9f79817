import { hasFlag, type OptionTable, optionTable, parseOptions } from './effects/options.js';
import { fd, find } from './tree-find.js';
import type { TreeProgram } from './tree-use.js';

const REMOVE = optionTable(
  `-rRfidvIPWx recursive force interactive? one-file-system no-preserve-root preserve-root? dir verbose`,
);

const MODES =
  optionTable(`-RcfvhHLPndbk -mMxXtulr: recursive reference: changes silent quiet verbose dereference
  no-dereference from: modify: set: remove: set-file: modify-file: remove-file: default restore:
  preserve-root no-preserve-root user: role: type: range: logical physical`);

/** A mode may begin with a dash: `-x`. */
const OWNERS =
  optionTable(`-RcfvhHLPrwxXstugo recursive reference: changes silent quiet verbose dereference no-dereference
  from: preserve-root no-preserve-root`);

const changes =
  (spec: OptionTable, { always }: { readonly always: boolean }): TreeProgram =>
  (words) => {
    const options = parseOptions(words, spec);
    if (!always && !hasFlag(options, 'r R recursive')) return [];
    const follows = hasFlag(options, 'L logical');
    return options.operands
      .filter(({ literal }) => literal)
      .map((start) => ({ start, access: 'write', follows }));
  };

const rm = changes(REMOVE, { always: false });
const modes = changes(MODES, { always: false });
const owners = changes(OWNERS, { always: false });
const trash = changes(optionTable(''), { always: true });

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
  fd,
  fdfind: fd,
  ...Object.fromEntries(LISTED_MODES.split(' ').map((name) => [name, modes])),
  ...Object.fromEntries(OWNER_PROGRAMS.split(' ').map((name) => [name, owners])),
};
