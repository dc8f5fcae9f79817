import {
  type GivenOptions,
  hasFlag,
  optionTable,
  parseOptions,
  valuesOf,
} from '../effects/options.js';
import { literalWord, type ShellWord, UNKNOWN_WORD } from '../model.js';
import { leftOutBy, type TreeProgram, type TreeTarget, type TreeUse } from './use.js';

const CP =
  optionTable(`-abdfHilLnPpRrsTuvxZcX -tS: archive attributes-only backup? copy-contents dereference force
  interactive link no-clobber no-dereference preserve? no-preserve: parents recursive reflink?
  remove-destination sparse: strip-trailing-slashes symbolic-link suffix: target-directory:
  no-target-directory update? verbose one-file-system context? debug exchange`);

const RSYNC =
  optionTable(`-vqcabuldLkKHpEAXogDtNSnWxyCzhiPrRFIOsUmj4680V -BefTM@: recursive archive delete del delete-before
  delete-during delete-delay delete-after delete-excluded copy-links copy-unsafe-links copy-dirlinks
  links exclude: exclude-from: include: include-from: filter: files-from: rsh: rsync-path: backup-dir:
  suffix: compare-dest: copy-dest: link-dest: temp-dir: log-file: out-format: log-file-format:
  password-file: bwlimit: timeout: port: chmod: chown: usermap: groupmap: info: debug: max-size:
  min-size: partial-dir: block-size: compress-level: modify-window: max-delete: dry-run list-only
  no-recursive no-links relative verbose progress stats compress times perms owner group
  remove-source-files checksum update existing ignore-existing inplace append whole-file dirs`);

const SCP = optionTable('-rpqvCBT346AO -cFiJlDoPSX:');

const cp: TreeProgram = (words) => {
  const options = parseOptions(words, CP);
  if (!hasFlag(options, 'r R a recursive archive')) return [];
  return copied(options, { access: 'read', follows: hasFlag(options, 'L dereference') });
};

/** What is moved is gone from where it was. */
const mv: TreeProgram = (words) =>
  copied(parseOptions(words, CP), { access: 'write', takesAway: true });

const rsync: TreeProgram = (words) => {
  const options = parseOptions(words, RSYNC);
  const removes = hasFlag(options, 'remove-source-files');
  const filters = valuesOf(options, 'f filter include include-from').length > 0;
  const use: Omit<TreeUse, 'start'> = {
    access: removes ? 'write' : 'read',
    follows: hasFlag(options, 'L k copy-links copy-unsafe-links copy-dirlinks'),
    skips: leftOutBy(filters ? [] : valuesOf(options, 'exclude')),
    leaveOut: (name) => `--exclude=${name}`,
  };
  const listed = hasFlag(options, 'files-from') ? [{ start: UNKNOWN_WORD, ...use }] : [];
  if (!hasFlag(options, 'r a recursive archive')) return listed;
  const target = options.operands.at(-1);
  const deletes = [...options.flags].some((flag) => flag.startsWith('del')) && isLocal(target);
  const emptied: readonly TreeUse[] =
    deletes && target !== undefined
      ? [{ start: target, access: 'write', skips: use.skips ?? {} }]
      : [];
  return [...copied(options, use), ...emptied, ...listed];
};

const scp: TreeProgram = (words) => {
  const options = parseOptions(words, SCP);
  return hasFlag(options, 'r') ? copied(options, { access: 'read', follows: true }) : [];
};

function copied(options: GivenOptions, use: Omit<TreeUse, 'start'>): readonly TreeUse[] {
  const into = valuesOf(options, 't target-directory').at(-1);
  const sources = into === undefined ? options.operands.slice(0, -1) : options.operands;
  const last = into === undefined ? options.operands.at(-1) : literalWord(into);
  const parents = hasFlag(options, 'parents R relative');
  const exact = hasFlag(options, 'T no-target-directory');
  return sources.filter(isLocal).map((start): TreeUse => {
    if (last === undefined || !last.literal || !isLocal(last)) return { start, ...use };
    // What stands behind `dir/.` is the content of the directory.
    const bare = /(^|\/)\.{1,2}\/?$/.test(start.value);
    const named: TreeTarget['named'] =
      exact || bare ? 'never' : into !== undefined ? 'always' : 'in-directory';
    const path = parents && !bare ? `${last.value}/${start.value}` : last.value;
    return { start, onto: { path, named: parents ? 'never' : named }, ...use };
  });
}

/** `host:path` is somewhere else. */
function isLocal(word: ShellWord | undefined): boolean {
  return word !== undefined && !/^[^/]+:|^rsync:\/\//.test(word.value);
}

export const COPYING_PROGRAMS: Readonly<Record<string, TreeProgram>> = {
  cp,
  gcp: cp,
  ditto: (words) => copied(parseOptions(words, optionTable('')), { access: 'read' }),
  mv,
  gmv: mv,
  rsync,
  scp,
};
