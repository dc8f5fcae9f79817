import { memoised } from '../../lib/memo.js';
import { trimEnd } from '../../lib/trim-end.js';
import { wordSet } from '../../lib/word-set.js';
import { dirname, join } from '../../platform/fs/paths.js';
import { withoutBraces } from './braces.js';
import { type FileUse, readOnlyUse } from './effects/uses.js';
import { programOf, type ShellWord } from './model.js';
import { scanSed, scriptsOfSed } from './sed.js';

/** The last operand may be a directory, and what has the name in there may lead elsewhere. */
function targetsOf(sources: readonly string[], last: readonly string[]): readonly string[] {
  const names = sources.map((source) => trimEnd(source, '/').replace(/^.*\//s, ''));
  return last.flatMap((target) => [target, ...names.map((name) => `${target}/${name}`)]);
}

const WRITES_ALL = wordSet(
  `> mkdir touch rm rmdir mv tee truncate shred unlink chmod chown chgrp setfacl mkfifo mknod patch
  ln rename gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd ed ex vi vim nvim nano emacs sqlite3 zip
  split csplit ffmpeg convert magick mktemp sponge strip objcopy ar setfattr script logsave black
  isort rustfmt dos2unix unix2dos mac2unix chattr attr fallocate ranlib crudini mmv prename history`,
);
const WRITES_LAST = new Set(['cp', 'install', 'rsync', 'scp', 'ln', 'uniq', 'xxd']);
/** Programs that change files where `-i` is given. */
const EDITS_IN_PLACE =
  /^(g?sed|perl|ruby|[gmn]?awk|yq|clang-format|autopep8|yapf|xmlstarlet|jsonnetfmt)$/;
/** Letters of options may stand behind digits and signs: `perl -0pi`. A library of awk does the same. */
const IN_PLACE = /^-[^-/.=]*i|^--in-p|inplace/;
const TARS = /^(g|bsd)?tar$/;
/** Programs of which a subcommand carries files to the place that is named last. */
const TRANSFERS = /^(docker|podman|nerdctl|kubectl|oc|rclone|aws|gsutil|gcloud|s3cmd|mc)$/;
const CARRIES = /^(cp|copy|copyto|sync|move|moveto|mv|rsync|get|mirror)$/;
const TAKES_TEXT = wordSet('echo printf true false : exit cd pwd seq tr');

/** Whether all that a command is given is text for it. */
export function takesText(words: readonly ShellWord[]): boolean {
  return TAKES_TEXT.has(programOf(words) ?? '');
}

/**
 * What any command may do to files, by all that can be seen: for restrictions, so rather too much
 * than too little. Operands, values of `--option=value` and of `key=value` count as files.
 */
export const possibleFileUse = memoised(fileUseOf);

type PossibleFileUse = FileUse & { readonly unknown: boolean };

function fileUseOf(words: readonly ShellWord[]): PossibleFileUse {
  const program = programOf(words) ?? '';
  const rest = words.slice(1);
  if (takesText(words)) return { reads: [], writes: [], unknown: false };
  const looks = readOnlyUse(words);
  if (looks !== undefined) return { reads: looks.reads, writes: [], unknown: false };
  if (program === 'git' && onlyForgets(rest)) return { reads: [], writes: [], unknown: false };
  const operands = rest
    .filter((word, at) => !isLeftOut(program, rest, at) && (word.literal || knownPart(word) !== ''))
    .flatMap((word) => pathsIn(knownPart(word)));
  const takesFiles =
    isFileProgram(program) ||
    (program === 'git' && rest.some(({ value }) => value === 'rm' || value === 'mv'));
  const unknown =
    (takesFiles && rest.some((word) => !word.literal)) ||
    rest.some(hasManyBraces) ||
    rest.some(({ value }) => isUrlPattern(value));
  const writes = writesOf(program, rest, operands);
  const isCopy = program === 'cp' && rest.some(({ value }) => COPIES_AS_LINK.test(value));
  if (program !== 'ln' && !isCopy) return { reads: operands, writes, unknown };
  const behind = behindLinks(operands);
  if (behind === undefined) return { reads: operands, writes, unknown: true };
  // Through another name of it a file is written as well.
  return { reads: [...operands, ...behind], writes: [...writes, ...operands, ...behind], unknown };
}

const COPIES_AS_LINK = /^-[a-zA-Z]*[ls]|^--(link|sym)/;
const MOST_LINKS = 50;

/**
 * A link leads on from where it lies, not from where it is made: `ln -s ../secrets/key src/l`. Undefined:
 * there are too many to follow.
 */
function behindLinks(operands: readonly string[]): readonly string[] | undefined {
  if (operands.length > MOST_LINKS) return undefined;
  const targets = operands.filter((operand) => !operand.startsWith('/'));
  return operands.flatMap((place) =>
    targets
      .filter((target) => target !== place)
      .flatMap((target) => [join(dirname(place), target), join(place, target)]),
  );
}

/** `git rm --cached` takes names off git's list and leaves the files alone. */
function onlyForgets(rest: readonly ShellWord[]): boolean {
  // fail-closed: what is decided at run time may be an option that takes `--cached` back.
  if (rest.some(({ literal, pattern }) => !literal || pattern !== undefined)) return false;
  const [first, ...others] = rest.map(({ value }) => value);
  const options = others.filter((value) => value.startsWith('-'));
  return (
    first === 'rm' &&
    options.includes('--cached') &&
    options.every((option) =>
      /^(--cached|--|-[rfqn]+|--(force|quiet|ignore-unmatch))$/.test(option),
    )
  );
}

const LEAVES_OUT = /^(g?tar|bsdtar|rsync|g?diff|colordiff|[a-z]*grep|du)$/;

/** Names that a command is told to leave out are not names of what it takes. */
function isLeftOut(program: string, rest: readonly ShellWord[], at: number): boolean {
  const value = rest[at]?.value ?? '';
  const before = rest[at - 1]?.value ?? '';
  if (program === 'git')
    return rest[0]?.value === 'clean' && (before === '-e' || /^-e./.test(value));
  // `-not -path './.git/*'`
  if (program === 'find')
    return (
      /^-i?(name|path|wholename|regex)$/.test(before) &&
      /^(!|-not)$/.test(rest[at - 2]?.value ?? '')
    );
  if (!LEAVES_OUT.test(program)) return false;
  return /^--exclude(-dir)?=/.test(value) || /^--exclude(-dir)?$/.test(before);
}

function writesOf(
  program: string,
  rest: readonly ShellWord[],
  operands: readonly string[],
): readonly string[] {
  const plain = rest.map((word) => word.value).filter((value) => !value.startsWith('-'));
  const targets = operands.filter((_, index) => index === operands.length - 1);
  const outputs = rest.flatMap((word, index) =>
    outputValue(program, word.value, rest[index + 1]?.value),
  );
  if (WRITES_ALL.has(program)) return [...operands, ...outputs];
  if (WRITES_LAST.has(program)) {
    const sources = plain.slice(0, -1);
    const keepsPath = rest.some(({ value }) => /^--(par|rel)|^-[a-zA-Z]*R/.test(value));
    const kept = keepsPath ? sources.map((source) => `${plain.at(-1)}/${source}`) : [];
    return [...targets, ...targetsOf(sources, plain.slice(-1)), ...kept, ...outputs];
  }
  const edits = rest.some(({ value }) => IN_PLACE.test(value));
  if (/^g?sed$/.test(program) && !edits) return [...sedOutputs(rest), ...outputs];
  if (EDITS_IN_PLACE.test(program) && edits) return [...operands, ...outputs];
  if (TRANSFERS.test(program) && plain.some((word) => CARRIES.test(word))) {
    return [...targets, ...outputs];
  }
  const formats = rest.some((word) => /^--(write|fix|in-place|inplace)(=|$)/.test(word.value));
  const gofmt = /^(gofmt|goimports)$/.test(program) && rest.some((word) => word.value === '-w');
  if (formats || gofmt || (program === 'ruff' && plain[0] === 'format')) {
    return [...operands, ...outputs];
  }
  if (TARS.test(program)) return [...tarWrites(rest), ...outputs];
  if (program === 'git') return gitWrites(rest, operands)?.concat(outputs) ?? outputs;
  if (
    program === 'find' &&
    rest.some((word) => /^-(delete|exec|execdir|ok|okdir)$/.test(word.value))
  )
    return [...operands, ...outputs];
  if (program === 'find') {
    return rest.flatMap((word, index) =>
      /^-(fls|fprint0?|fprintf)$/.test(word.value) ? [rest[index + 1]?.value ?? ''] : [],
    );
  }
  // What is taken out of an archive by name.
  if (program === 'cpio') return [...plain, ...outputs];
  if (/^(unzip|unrar|7z[ar]?)$/.test(program)) return [...plain.slice(1), ...outputs];
  if (program === 'dd')
    return rest.flatMap((word) => (word.value.startsWith('of=') ? [word.value.slice(3)] : []));
  return outputs;
}

/** Letters of options that name where something is written, where it is not `-o` or `-O`. */
const TARGET_LETTERS: Readonly<Record<string, string>> = {
  cp: 't',
  install: 't',
  ln: 't',
  mv: 't',
  rsync: 'T',
  scp: '',
  'ssh-keygen': 'f',
  tar: 'C',
  bsdtar: 'C',
  gtar: 'C',
  cpio: 'D',
  ctags: 'fo',
  cscope: 'f',
  unzip: 'd',
  wget: 'OoaP',
  curl: 'oDc',
  csplit: 'f',
};

const LONG_TARGET =
  /^--(?:out|output|outdir|out-dir|outfile|outp\w*|output-[\w-]+|target-dir\w*|directory|directory-prefix|dir|dump-header|cookie-jar|trace|trace-ascii|stderr|hsts|hsts-file|etag-save|libcurl|save-cookies|warc-file|log-file|one-top-level|export-marks\w*|import-marks\w*)(?:=(.*))?$/is;

/** `-o file`, `-ofile`, `--output=file`, `-t directory`, `-out file`. */
function outputValue(program: string, value: string, next: string | undefined): readonly string[] {
  if (!value.startsWith('-')) return [];
  const long = LONG_TARGET.exec(value);
  if (long !== null) return [long[1] ?? next ?? ''];
  if (/^-(out|outfile|outdir|keyout)$/.test(value)) return [next ?? ''];
  // Long options may be cut short.
  const cut = TARGET_LETTERS[program] === 't' ? /^--t[a-z-]*(?:=(.*))?$/s.exec(value) : null;
  if (cut !== null) return [cut[1] ?? next ?? ''];
  if (value === '-MF' || value === '-dumpdir') return [next ?? ''];
  const letters = Object.hasOwn(TARGET_LETTERS, program) ? TARGET_LETTERS[program] : 'oO';
  if (letters === '') return [];
  const short = new RegExp(`^-[^-/.=]*?[${letters}]=?(.*)$`, 's').exec(value);
  if (short === null) return [];
  return [short[1] === '' ? (next ?? '') : (short[1] ?? '')];
}

function pathsIn(value: string): readonly string[] {
  // Some programs have lists of their own.
  const { texts } = withoutBraces(value);
  if (texts.length > 1 || texts[0] !== value) return [value, ...texts.flatMap(pathsInPlain)];
  return pathsInPlain(value);
}

function pathsInPlain(value: string): readonly string[] {
  if (!value.startsWith('-')) {
    const key = /^[A-Za-z_][\w.-]*=[@<]?(.+)$/s.exec(value);
    const file = /^@(.+)$/s.exec(value)?.[1] ?? fileOfUrl(value);
    return [value, ...(key === null ? [] : [key[1] ?? '']), ...(file === undefined ? [] : [file])];
  }
  const long = /^--[\w-]+=(.+)$/s.exec(value);
  if (long !== null) return [long[1] ?? ''];
  // Lines of a file: `-L1,9:file`.
  const lines = /^-L[^:]*:(?:.*:)?(.+)$/s.exec(value)?.[1];
  if (lines !== undefined) return [lines];
  return /^-[^-].+/s.test(value) ? [value.slice(2)] : [];
}

/** A word that is open only for its braces, as it stands; the shell spells it out. */
function bracesOf({ literal, raw }: ShellWord): string | undefined {
  return literal || /[$`<>(]/.test(raw) || !raw.includes('{')
    ? undefined
    : raw.replace(/["'\\]/g, '');
}

function knownPart(word: ShellWord): string {
  return bracesOf(word) ?? word.value;
}

/** fail-closed: what is not spelled out here may be any name. */
function hasManyBraces(word: ShellWord): boolean {
  const text = bracesOf(word);
  return text !== undefined && (/[*?[]|\.\./.test(text) || withoutBraces(text).isCut);
}

/** The file that an address of this machine leads to. */
function fileOfUrl(value: string): string | undefined {
  const path = /^file:(?:\/\/(?:localhost|127\.0\.0\.1)?(?=\/))?(.+)$/is.exec(value)?.[1];
  if (path === undefined) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    // What cannot be decoded stands for itself.
    return path;
  }
}

/** curl has patterns of its own in addresses, and nobody here spells them out. */
function isUrlPattern(value: string): boolean {
  return /^file:.*[[\]{}]/is.test(value);
}

/** Programs that read the files they are given, besides those that write them. */
const READS_FILES = wordSet(
  `cat tac head tail less more grep egrep fgrep zgrep rg sed awk gawk mawk nawk sort uniq cut nl wc od
  xxd hexdump hd strings base64 base32 basenc diff diff3 sdiff colordiff cmp comm join jq yq dd source
  tar zip gzip openssl file stat find curl wget pr paste fold fmt rev expand unexpand column shuf iconv
  cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum bat batcat zcat bzcat
  xzcat zstdcat lz4cat zless zmore look tsort ptx numfmt xmllint pandoc enscript gpg age`,
);

/** Whether it is known which of its operands a program writes. */
export function isKnownFileProgram(program: string): boolean {
  return isFileProgram(program) || EDITS_IN_PLACE.test(program) || TARS.test(program);
}

function isFileProgram(program: string): boolean {
  return WRITES_ALL.has(program) || WRITES_LAST.has(program) || READS_FILES.has(program);
}

/** Whether a program that is known to write does so where that is decided at run time. */
export function mayWriteUnknown(words: readonly ShellWord[]): boolean {
  const program = programOf(words) ?? '';
  const writes =
    WRITES_ALL.has(program) ||
    WRITES_LAST.has(program) ||
    (EDITS_IN_PLACE.test(program) && words.some(({ value }) => IN_PLACE.test(value)));
  return words.slice(1).some((word, at) => {
    if (word.literal) return false;
    const before = words[at]?.value ?? '';
    const isFile = (program === 'git' || TARS.test(program)) && ENDS_FILE.test(before);
    return writes || isFile || NAMES_OUTPUT.test(word.value) || ENDS_OUTPUT.test(before);
  });
}

/** An option that names a file to write, with its value in the same word or the next. */
const NAMES_OUTPUT = /^(of=|-[oO]|--out[\w-]*=)/;
const ENDS_OUTPUT = /^(-[a-zA-Z]*[oO]|--out[\w-]*)$/;
const ENDS_FILE = /^(-?[a-zA-Z]*f|--file)$/;

/** Where a program that is known to write does so; empty for the others. */
export function knownWrites(words: readonly ShellWord[]): readonly string[] {
  if (readOnlyUse(words) !== undefined || takesText(words)) return [];
  return possibleFileUse(words).writes;
}

/** Settings by which git runs a program or trusts another file: as good as writing its file by hand. */
const RUN_BY_GIT =
  /^(alias|filter|pager|difftool|mergetool|browser|man|include|includeif|credential|gpg|trailer|protocol|uploadpack|guitool|hook|tar|sendemail|imap)\.|^core\.(hookspath|fsmonitor|pager|editor|sshcommand|askpass|gitproxy|attributesfile|alternaterefscommand|worktree)$|^(sequence|diff|merge)\.(editor|external|tool)$|^(diff|merge)\..+\.(command|textconv|driver)$|^(interactive\.difffilter|gc\.recentobjectshook|lfs\.customtransfer\..+\.path|init\.templatedir|safe\.directory|web\.browser)$|^(remote|url|submodule)\..+\.(receivepack|uploadpack|vcs|proxy|insteadof|pushinsteadof|update)$/i;

/** Files that `git config` writes, where that matters to others than git's own bookkeeping. */
function gitConfigWrites(rest: readonly ShellWord[]): readonly string[] {
  const files = rest.flatMap((word, index) => {
    const file = /^(?:-f|--file=?)(.*)$/s.exec(word.value)?.[1];
    return file === '' ? [rest[index + 1]?.value ?? ''] : (file ?? []);
  });
  const values = rest.map(({ value }) => value);
  const at = values.findIndex((value) => RUN_BY_GIT.test(value));
  const looks = values.some((value) => /^--(get|unset|list|show)|^(get|list|unset)$/.test(value));
  const isSet = at !== -1 && !looks && values[at + 1] !== undefined;
  // fail-closed: an editor, or another name for a section, may set any of them.
  const isAny = values.some((value) =>
    /^(-e|--ed\w*|edit|--rename-s\S*|rename-section)$/.test(value),
  );
  return isSet || isAny ? [...files, '.git/config'] : files;
}

/** Files that scripts of sed write. */
function sedOutputs(rest: readonly ShellWord[]): readonly string[] {
  const values = rest.map(({ value }) => value);
  return (scriptsOfSed(values) ?? values).flatMap((script) => scanSed(script).writes);
}

/** Subcommands of git that change the files they name. */
const GIT_WRITES =
  /^(add|am|apply|bundle|checkout|checkout-index|clean|clone|credential-store|fast-import|index-pack|init|mailinfo|mailsplit|merge-file|mv|pack-objects|read-tree|reset|restore|revert|rm|stash|submodule|switch|worktree)$/;

const GIT_VALUED =
  /^(-[cC]|--(git-dir|work-tree|exec-path|namespace|super-prefix|config-env|attr-source))$/;

/** Files that git writes because it is told to; undefined where its subcommand names none. */
function gitWrites(
  rest: readonly ShellWord[],
  operands: readonly string[],
): readonly string[] | undefined {
  const values = rest.map(({ value }) => value);
  const subcommand = values.find(
    (value, at) => !value.startsWith('-') && !GIT_VALUED.test(values[at - 1] ?? ''),
  );
  if (subcommand === 'config') return gitConfigWrites(rest);
  // Hooks of a template go into the repository that is there.
  const isTemplate = values.some((value) => /^--te|templatedir/i.test(value));
  const hooks = subcommand === 'init' && isTemplate ? ['.git/hooks'] : [];
  return GIT_WRITES.test(subcommand ?? '') ? [...operands, ...hooks] : undefined;
}

const TAR_FILES =
  /^--(?:listed-incremental|index-file|volno-file|one-top-level|directory|dir\w*|cd)(?:=(.*))?$/s;
const TAR_RENAMES = /^(?:--(?:transform|xform)(?:=(.*))?|-s(.*))$/s;

/** Files that tar writes: the archive, what it keeps lists in, and what it takes out by name. */
function tarWrites(rest: readonly ShellWord[]): readonly string[] {
  const values = rest.map(({ value }) => value);
  const letters = values.map((value, at) =>
    at === 0 && /^[a-zA-Z]+$/.test(value) ? value : (/^-([a-zA-Z]+)/.exec(value)?.[1] ?? ''),
  );
  const has = (short: string, long: RegExp): boolean =>
    letters.some((cluster) => [...cluster].some((letter) => short.includes(letter))) ||
    values.some((value) => long.test(value));
  const makes = has('cruA', /^--(create|append|update|cat|concat|delete)/);
  const takes = has('x', /^--(extract|get)$/);
  const removes = values.some((value) => /^--remove/.test(value));
  const named = values.filter((value, at) => at > 0 && !value.startsWith('-'));
  const options = values.flatMap((value, at) => {
    const next = values[at + 1] ?? '';
    const list = TAR_FILES.exec(value);
    if (list !== null) return [list[1] ?? next];
    const file = /^--file(?:=(.*))?$/s.exec(value);
    if (file !== null) return makes ? [file[1] ?? next] : [];
    const renames = takes ? TAR_RENAMES.exec(value) : null;
    if (renames !== null) return renamedTo(renames[1] ?? (renames[2] || next));
    // Of a bundle the last letter has its value behind it, or all have theirs, in their order.
    const short = /^-?[a-zA-Z]*?([fgC])(.*)$/s.exec(letters[at] === '' ? '' : value);
    if (short === null || (short[1] === 'f' && !makes)) return [];
    return [short[2] ?? '', ...values.slice(at + 1, at + 4)];
  });
  return [...options, ...(takes || removes ? named : [])].filter((one) => one !== '');
}

/** What `s,from,to,` puts in: any part of it. */
function renamedTo(script: string): readonly string[] {
  const delimiter = script.charAt(script.startsWith('s') ? 1 : 0);
  const plain = script.replaceAll(`\\${delimiter}`, delimiter === '/' ? '\0' : delimiter);
  return plain.split(delimiter).map((part) => part.replaceAll('\0', '/').replace(/^\^/, ''));
}
