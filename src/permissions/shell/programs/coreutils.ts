import { reads, writes } from '../effects/effect.js';
import { custom, type Program, program, rows } from '../effects/program.js';
import { BINUTILS } from './compilers.js';

const plain = { plain: true } as const;
const facts = { destroys: true } as const;
const TEXT = { takesText: true } as const;
const edits = { edits: true } as const;
const CHECKSUM = program('-btz binary text tag zero', 'read', plain);

/** Programs that print files, or what is known about them. */
const PRINTING: Readonly<Record<string, Program>> = {
  ls: program(
    `-aAbBcCdfFgGhHiklmnNopqQrRsStuUvxXZ1 -L=follow dereference=follow -IwT: all almost-all author classify? color? directory full-time
    group-directories-first human-readable hyperlink? ignore: inode literal no-group numeric-uid-gid recursive
    reverse si size sort: time: time-style: format: indicator-style: width: zero`,
    'read',
    {
      ...plain,
      here: true,
      facts: { opens: false },
      walks: ({ flags, tags }) =>
        flags.has('R') || flags.has('recursive') || tags.has('follow')
          ? { follows: tags.has('follow'), namesOnly: true }
          : undefined,
    },
  ),
  cat: program(
    '-AbeEnstTuv number number-nonblank show-all show-ends show-tabs squeeze-blank show-nonprinting',
    'read',
    plain,
  ),
  tac: program('-br -s: before regex separator:', 'read', plain),
  nl: program('-p -bdfhilnsvw:', 'read', plain),
  head: program('-qvz -nc: -# lines: bytes: quiet silent verbose zero-terminated', 'read', plain),
  tail: program('-qvz -nc: -# lines: bytes: quiet silent verbose zero-terminated', 'read', plain),
  wc: program('-clmwL bytes chars lines words max-line-length total:', 'read', plain),
  cut: program(
    `-nsz -bcdf: bytes: characters: delimiter: fields: complement only-delimited output-delimiter:
    zero-terminated`,
    'read',
    plain,
  ),
  sort: program(
    `-bdfgiMhnRrVcCmsuz -kt: -o:write check? debug dictionary-order field-separator: general-numeric-sort
    human-numeric-sort ignore-case ignore-leading-blanks key: merge month-sort numeric-sort output:write reverse
    sort: stable unique version-sort zero-terminated files0-from:names`,
    'read',
  ),
  uniq: program(
    `-cdDuiz -fsw: count repeated all-repeated? unique ignore-case skip-fields: skip-chars: check-chars: group?
    zero-terminated`,
    'read-write',
    { most: 2 },
  ),
  comm: program('-123z check-order nocheck-order output-delimiter: total', 'read', plain),
  cmp: program('-bls -in: print-bytes bytes: verbose silent quiet', 'read', { most: 4 }),
  stat: program('-Lft -c: dereference file-system format: printf: terse', 'read', plain),
  file: program(
    '-bhiLk brief mime mime-type mime-encoding dereference no-dereference keep-going extension',
    'read',
  ),
  df: program(
    '-ahHiklPT -tB: all human-readable inodes local portability print-type si total type:',
    'read',
    { ...plain, here: true, facts: { opens: false } },
  ),
  realpath: program(
    `-emLPqsz canonicalize-existing canonicalize-missing logical physical quiet strip zero relative-to:read
    relative-base:read no-symlinks`,
    'read',
    { ...plain, facts: { opens: false } },
  ),
  readlink: program(
    '-femnqsvz canonicalize canonicalize-existing canonicalize-missing no-newline',
    'read',
    { ...plain, facts: { opens: false } },
  ),
  od: program(
    '-abcdfhiloOsvx -AjNSt: -w? address-radix: skip-bytes: read-bytes: format: output-duplicates width?',
    'read',
    plain,
  ),
  hexdump: program('-bcCdovx -ns:', 'read', plain),
  base64: program('-di -w: decode ignore-garbage wrap:', 'read', { ...plain, most: 1 }),
  base32: program('-di -w: decode ignore-garbage wrap:', 'read', { ...plain, most: 1 }),
  strings: program('-afow -nte: all bytes: radix: encoding:', 'read', {
    ...plain,
    facts: BINUTILS,
    // A file of further arguments.
    only: /^[^@]/,
  }),
  cksum: program('', 'read', plain),
  sum: program('-rs', 'read', plain),
  md5sum: CHECKSUM,
  sha1sum: CHECKSUM,
  sha224sum: CHECKSUM,
  sha256sum: CHECKSUM,
  sha384sum: CHECKSUM,
  sha512sum: CHECKSUM,
  b2sum: CHECKSUM,
  column: program('-txeJ -socN: table separator: output-separator:', 'read', plain),
  paste: program('-sz -d: serial delimiters: zero-terminated', 'read', plain),
  join: program('-iz -12aejotv: ignore-case zero-terminated header', 'read', plain),
  fold: program('-bs -w: bytes spaces width:', 'read', plain),
  fmt: program('-cstu -wpg: width: goal: split-only uniform-spacing', 'read', plain),
  expand: program('-i -t: initial tabs:', 'read', plain),
  unexpand: program('-a -t: all first-only tabs:', 'read', plain),
  rev: program('', 'read', plain),
  shuf: program('-erz -in: echo head-count: repeat zero-terminated', 'read', { most: 1 }),
};

/** Programs and builtins whose arguments are text, names or numbers. */
const TALKING: Readonly<Record<string, Program>> = {
  // A wildcard lists names of files.
  echo: custom(
    (words) => words.filter(({ pattern }) => pattern !== undefined).map((word) => reads(word)),
    { facts: TEXT },
  ),
  tr: program('-cCdst complement delete squeeze-repeats truncate-set1', 'text', { facts: TEXT }),
  sleep: program('', 'text', { most: 4 }),
  seq: program('-w -fs: -# equal-width format: separator:', 'text', { facts: TEXT }),
  basename: program('-az -s: multiple suffix: zero', 'text'),
  dirname: program('-z zero', 'text'),
  pwd: program('-LP', 'none', { facts: TEXT }),
  whoami: program('', 'none'),
  id: program('-ugGnrz', 'text'),
  groups: program('', 'text'),
  uname: program('-asnrvmpio all kernel-name nodename machine operating-system', 'none'),
  arch: program('', 'none', { facts: { launches: true } }),
  nproc: program('all', 'none'),
  uptime: program('-ps', 'none'),
  which: program('-as', 'text'),
  type: program('-afptP', 'text'),
  free: program('-bkmghtlw human mega giga total wide', 'none'),
  tty: program('-s', 'none'),
  // `-m` decompresses each list of characters with a gzip from the PATH.
  locale: program('-a', 'none'),
  hostname: program('', 'none'),
  wait: program('', 'none', { facts: { names: true } }),
  history: program('', 'text', {
    most: 1,
    only: /^\d+$/,
    also: ({ operands }) =>
      operands.filter(({ value }) => !/^\d+$/.test(value)).map((word) => writes(word)),
  }),
  ...rows('true false :', program('', 'text', { facts: TEXT })),
  exit: program('', 'text', { most: 1, only: /^\d+$/, facts: TEXT }),
};

const RM = program('-rR=recursive -fvdiI force verbose dir recursive=recursive', 'delete', {
  ...edits,
  facts,
});

export const MV = program(
  `-fnuv -T=exact -t:write force no-clobber update verbose no-target-directory=exact target-directory:write
  -S:unsure suffix:unsure`,
  'move',
  { ...edits, facts },
);

const CP = program(
  `-fnuvpdi -T=exact -rRa=recursive -t:write force no-clobber update verbose recursive=recursive
  archive=recursive no-target-directory=exact target-directory:write parents=parents -L=follow
  dereference=follow -S:unsure suffix:unsure no-preserve:unsure sparse:unsure`,
  'copy',
  { ...edits, facts },
);

/** Programs that change files. */
const CHANGING: Readonly<Record<string, Program>> = {
  mkdir: program('-pv -m: parents verbose mode:', 'write', edits),
  touch: program('-acm -dt: no-create date: -r:read reference:read', 'write', edits),
  rm: RM,
  rmdir: program('-pv parents verbose ignore-fail-on-non-empty', 'delete', { ...edits, facts }),
  unlink: program('', 'delete', { most: 1, facts }),
  shred: program('-fvxzu -ns: force remove? zero verbose iterations:', 'delete', {
    facts,
    also: ({ operands }) => operands.map((word) => writes(word)),
  }),
  truncate: program('-c -s: -r:read size: no-create reference:read', 'write', { facts }),
  mkfifo: program('-m: mode:', 'write'),
  tee: program('-aip append ignore-interrupts', 'write', { facts }),
  mv: MV,
  cp: CP,
};

/** The same elsewhere, and others that change files. */
export const OTHER_COREUTILS: Readonly<Record<string, Program>> = {
  ...rows('grm srm', RM),
  gmv: MV,
  gcp: CP,
  ditto: program('', 'copy', { walks: () => ({}) }),
  ...rows('trash trash-put rimraf', program('', 'delete', { walks: () => ({}) })),
  ...rows(
    'setfacl chattr chcon',
    program(
      `-cfvhHPndbk -R=recursive -L=follow -mMxXtulr: recursive=recursive reference: changes silent quiet verbose
      dereference no-dereference from: modify: set: remove: set-file: modify-file: remove-file: default restore:
      preserve-root no-preserve-root user: role: type: range: logical=follow physical`,
      'write',
      { facts },
    ),
  ),
  ...rows(
    'chmod chown chgrp gchmod gchown gchgrp',
    program(
      // A mode may begin with a dash: `-x`.
      `-cfvhHPwxXstugo -rR=recursive -L=follow recursive=recursive reference: changes silent quiet verbose
      dereference no-dereference from: preserve-root no-preserve-root`,
      'write',
      { facts },
    ),
  ),
};

export const COREUTILS: Readonly<Record<string, Program>> = {
  ...PRINTING,
  ...TALKING,
  ...CHANGING,
};
