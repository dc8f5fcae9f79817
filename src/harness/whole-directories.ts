import { programOf, type ShellWord } from '../permissions/shell/model.js';
import { own } from '../util/own.js';

/** A word of a command that names a directory which the command takes in with all that is in it. */
export interface TakenWhole {
  readonly access: 'read' | 'write';
  readonly text: string;
}

interface Taker {
  readonly access: 'read' | 'write';
  /** The last operand is where the others go. */
  readonly toLast?: true;
  /** With no more operands than this it takes the directory that it runs in. */
  readonly here?: number;
  /** Operands stand before all options. */
  readonly leading?: true;
  /** Only with a word like this. */
  readonly only?: RegExp;
}

const RECURSIVE = /^-[a-zA-Z]*[rR]|^--(?:dereference-)?recursive/;

/** Programs that go through directories by themselves. Others are not seen to. */
const TAKERS: Readonly<Record<string, Taker>> = {
  rm: { access: 'write', only: RECURSIVE },
  chmod: { access: 'write', only: RECURSIVE },
  chown: { access: 'write', only: RECURSIVE },
  chgrp: { access: 'write', only: RECURSIVE },
  mv: { access: 'write', toLast: true },
  cp: { access: 'read', toLast: true },
  rsync: { access: 'read', toLast: true },
  scp: { access: 'read', toLast: true },
  tar: { access: 'read' },
  zip: { access: 'read' },
  cpio: { access: 'read' },
  pax: { access: 'read' },
  '7z': { access: 'read' },
  diff: { access: 'read', only: RECURSIVE },
  grep: { access: 'read', here: 1, only: RECURSIVE },
  egrep: { access: 'read', here: 1, only: RECURSIVE },
  fgrep: { access: 'read', here: 1, only: RECURSIVE },
  rg: { access: 'read', here: 1 },
  ag: { access: 'read', here: 1 },
  ack: { access: 'read', here: 1 },
  find: {
    access: 'write',
    here: 0,
    leading: true,
    only: /^-(?:delete|exec|execdir|ok|okdir)$/,
  },
  git: { access: 'write', only: /^(?:rm|mv|clean|checkout|restore)$/ },
};

/** What is no directory among them is sorted out by whoever looks at the disk. */
export function takenWhole(words: readonly ShellWord[]): readonly TakenWhole[] {
  const taker = own(TAKERS, programOf(words) ?? '');
  const rest = words.slice(1);
  const { access, only } = taker ?? {};
  if (taker === undefined || access === undefined) return [];
  if (only !== undefined && !rest.some(({ value }) => only.test(value))) return [];
  const isOption = ({ value }: ShellWord): boolean => value.startsWith('-');
  const end = taker.leading === true ? rest.findIndex(isOption) : -1;
  const operands = (end === -1 ? rest : rest.slice(0, end))
    .filter((word) => word.literal && word.value !== '' && !isOption(word))
    .map(({ value }) => value);
  const taken = taker.toLast === true ? operands.slice(0, -1) : operands;
  const isHere = taker.here !== undefined && operands.length <= taker.here;
  return [...taken, ...(isHere ? ['.'] : [])].map((text) => ({ access, text }));
}
