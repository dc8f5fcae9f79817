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
  (spec: OptionTable, how: { readonly always?: true; readonly takesAway?: true }): TreeProgram =>
  (words) => {
    const options = parseOptions(words, spec);
    const { always, ...more } = how;
    if (always !== true && !hasFlag(options, 'r R recursive')) return [];
    const follows = hasFlag(options, 'L logical');
    return options.operands
      .filter(({ literal }) => literal)
      .map((start) => ({ start, access: 'write', follows, ...more }));
  };

const rm = changes(REMOVE, { takesAway: true });
const modes = changes(MODES, {});
const owners = changes(OWNERS, {});
const trash = changes(optionTable(''), { always: true, takesAway: true });

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
