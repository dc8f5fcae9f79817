import type { OptionSpec } from './options.js';

export interface ReadOnlyProgram extends OptionSpec {
  /** What the operands are: files, text, or a pattern followed by files. */
  readonly operands: 'paths' | 'text' | 'pattern-paths' | 'none';
  /** Options that give the pattern, so that all operands are files. */
  readonly patternOptions?: string;
  /** Most operands it may have before one of them would be written to. */
  readonly most?: number;
  /** It follows the links in directories that it is given, unless this option is. */
  readonly filesOnly?: string;
  /** Whether wildcards are fine: no file name could turn into an option that does harm. */
  readonly wildcards?: boolean;
}

const files = { operands: 'paths', wildcards: true } as const;
const text = { operands: 'text' } as const;

const GREP: ReadOnlyProgram = {
  operands: 'pattern-paths',
  wildcards: true,
  flags: 'ivnHhlLcoqswxrEFGPabzZUTy',
  valued: 'eABCmfdD',
  numeric: true,
  paths: 'f file',
  patternOptions: 'e f regexp file',
  long: `after-context= before-context= binary-files= byte-offset color[=] colour[=] context= count
    directories= exclude= exclude-dir= extended-regexp files-with-matches files-without-match file=
    fixed-strings ignore-case include= initial-tab invert-match line-buffered line-number
    line-regexp max-count= no-filename no-ignore-case no-messages null only-matching perl-regexp
    quiet recursive regexp= silent text with-filename word-regexp basic-regexp`,
};

const CHECKSUM: ReadOnlyProgram = {
  ...files,
  flags: 'btz',
  long: 'binary text tag zero',
};

/** Programs that change nothing with these options, whatever their operands. */
export const READ_ONLY_PROGRAMS: Readonly<Record<string, ReadOnlyProgram>> = {
  ls: {
    ...files,
    flags: 'aAbBcCdfFgGhHiklmnNopqQrRsStuUvxXZ1',
    valued: 'IwT',
    long: `all almost-all author classify[=] color[=] directory full-time group-directories-first
      human-readable hyperlink[=] ignore= inode literal no-group numeric-uid-gid recursive reverse
      si size sort= time= time-style= format= indicator-style= width= zero`,
  },
  cat: {
    ...files,
    flags: 'AbeEnstTuv',
    long: 'number number-nonblank show-all show-ends show-tabs squeeze-blank show-nonprinting',
  },
  tac: { ...files, flags: 'br', valued: 's', long: 'before regex separator=' },
  nl: { ...files, flags: 'p', valued: 'bdfhilnsvw' },
  head: {
    ...files,
    flags: 'qvz',
    valued: 'nc',
    numeric: true,
    long: 'lines= bytes= quiet silent verbose zero-terminated',
  },
  tail: {
    ...files,
    flags: 'qvz',
    valued: 'nc',
    numeric: true,
    long: 'lines= bytes= quiet silent verbose zero-terminated',
  },
  wc: { ...files, flags: 'clmwL', long: 'bytes chars lines words max-line-length total=' },
  cut: {
    ...files,
    flags: 'nsz',
    valued: 'bcdf',
    long: 'bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated',
  },
  sort: {
    operands: 'paths',
    flags: 'bdfgiMhnRrVcCmsuz',
    valued: 'kt',
    long: `check[=] debug dictionary-order field-separator= general-numeric-sort human-numeric-sort
      ignore-case ignore-leading-blanks key= merge month-sort numeric-sort reverse sort= stable
      unique version-sort zero-terminated`,
  },
  uniq: {
    operands: 'paths',
    most: 1,
    flags: 'cdDuiz',
    valued: 'fsw',
    long: `count repeated all-repeated[=] unique ignore-case skip-fields= skip-chars= check-chars=
      group[=] zero-terminated`,
  },
  comm: { ...files, flags: '123z', long: 'check-order nocheck-order output-delimiter= total' },
  cmp: {
    operands: 'paths',
    flags: 'bls',
    valued: 'in',
    long: 'print-bytes bytes= verbose silent quiet',
  },
  diff: {
    operands: 'paths',
    flags: 'abBcdeEipqstTuwy',
    valued: 'UCWI',
    long: `brief color[=] context[=] ignore-all-space ignore-blank-lines ignore-case
      ignore-space-change minimal no-dereference side-by-side suppress-common-lines text unified[=]
      width= normal report-identical-files strip-trailing-cr`,
    filesOnly: 'no-dereference',
  },
  stat: {
    ...files,
    flags: 'Lft',
    valued: 'c',
    long: 'dereference file-system format= printf= terse',
  },
  file: {
    operands: 'paths',
    flags: 'bhiLk',
    long: 'brief mime mime-type mime-encoding dereference no-dereference keep-going extension',
  },
  du: {
    ...files,
    flags: 'abchklmsSx0',
    valued: 'dtB',
    long: `all apparent-size block-size= bytes exclude= human-readable max-depth= null
      one-file-system summarize si threshold= total`,
  },
  df: {
    ...files,
    flags: 'ahHiklPT',
    valued: 'tB',
    long: 'all human-readable inodes local portability print-type si total type=',
  },
  realpath: {
    ...files,
    flags: 'emLPqsz',
    paths: 'relative-to relative-base',
    long: 'canonicalize-existing canonicalize-missing logical physical quiet strip zero relative-to= relative-base= no-symlinks',
  },
  readlink: {
    ...files,
    flags: 'femnqsvz',
    long: 'canonicalize canonicalize-existing canonicalize-missing no-newline',
  },
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  rg: {
    operands: 'pattern-paths',
    flags: 'ivnNHIlcowxFsSuUP.0pqa',
    valued: 'egABCmtTdjrMf',
    numeric: false,
    paths: 'f file ignore-file',
    patternOptions: 'e f regexp file',
    long: `after-context= before-context= case-sensitive color= column context= count count-matches
      crlf files files-with-matches files-without-match fixed-strings file= glob= heading hidden
      iglob= ignore-case ignore-file= invert-match json line-number line-regexp max-columns=
      max-count= max-depth= max-filesize= multiline multiline-dotall no-filename no-heading
      no-ignore no-ignore-vcs no-line-number no-messages null only-matching pcre2 pretty quiet
      regexp= replace= smart-case sort= sortr= stats text threads= trim type= type-list type-not=
      unrestricted vimgrep with-filename word-regexp`,
  },
  od: {
    ...files,
    flags: 'abcdfhiloOsvx',
    valued: 'AjNSt',
    optional: 'w',
    long: 'address-radix= skip-bytes= read-bytes= format= output-duplicates width[=]',
  },
  hexdump: { ...files, flags: 'bcCdovx', valued: 'ns' },
  md5sum: CHECKSUM,
  sha1sum: CHECKSUM,
  sha224sum: CHECKSUM,
  sha256sum: CHECKSUM,
  sha384sum: CHECKSUM,
  sha512sum: CHECKSUM,
  b2sum: CHECKSUM,
  cksum: { ...files },
  sum: { ...files, flags: 'rs' },
  column: { ...files, flags: 'txeJ', valued: 'socN', long: 'table separator= output-separator=' },
  paste: { ...files, flags: 'sz', valued: 'd', long: 'serial delimiters= zero-terminated' },
  fold: { ...files, flags: 'bs', valued: 'w', long: 'bytes spaces width=' },
  fmt: { ...files, flags: 'cstu', valued: 'wpg', long: 'width= goal= split-only uniform-spacing' },
  expand: { ...files, flags: 'i', valued: 't', long: 'initial tabs=' },
  unexpand: { ...files, flags: 'a', valued: 't', long: 'all first-only tabs=' },
  rev: files,
  tr: { ...text, flags: 'cCdst', long: 'complement delete squeeze-repeats truncate-set1' },
  /** Changes nothing but the time. */
  sleep: { ...text, most: 4 },
  seq: { ...text, flags: 'w', valued: 'fs', numeric: true, long: 'equal-width format= separator=' },
  basename: { ...text, flags: 'az', valued: 's', long: 'multiple suffix= zero' },
  dirname: { ...text, flags: 'z', long: 'zero' },
  pwd: { operands: 'none', flags: 'LP' },
  whoami: { operands: 'none' },
  id: { ...text, flags: 'ugGnrz' },
  groups: text,
  uname: {
    operands: 'none',
    flags: 'asnrvmpio',
    long: 'all kernel-name nodename machine operating-system',
  },
  arch: { operands: 'none' },
  nproc: { operands: 'none', long: 'all' },
  uptime: { operands: 'none', flags: 'ps' },
  which: { ...text, flags: 'as' },
  type: { ...text, flags: 'afptP' },
  free: { operands: 'none', flags: 'bkmghtlw', long: 'human mega giga total wide' },
  tty: { operands: 'none', flags: 's' },
  locale: { operands: 'none', flags: 'am' },
  true: text,
  false: text,
  ':': text,
};
