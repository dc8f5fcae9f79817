import { trimEnd } from '../../../lib/trim-end.js';
import {
  type GivenOptions,
  hasFlag,
  optionTable,
  parseOptions,
  valuesOf,
} from '../effects/options.js';
import { literalWord, type ShellWord } from '../model.js';
import { DIFF, GREP, RG } from '../programs/search.js';
import {
  globMatcher,
  HERE,
  leftOutBy,
  type TreeProgram,
  type TreeSkips,
  type TreeUse,
} from './use.js';

const AG =
  optionTable(`-acfhilnorsStuvwzQULHDF0 -ABCGgmpW: after: before: context: file-search-regex: ignore: ignore-dir:
  path-to-ignore: max-count: depth: pager: workers: width: hidden unrestricted all-types all-text
  follow skip-vcs-ignores literal search-zip search-binary silent stats vimgrep nogroup nocolor
  noheading numbers count files-with-matches files-without-matches ignore-case smart-case
  case-sensitive word-regexp`);

const ACK =
  optionTable(`-acfhHilLnopqrRsvwxQ1k -ABCgmP: match: output: ignore-dir: ignore-directory: ignore-file: type:
  type-set: type-add: pager: range-start: range-end: files-from: max-count: after-context:
  before-context: context: follow noignore-dir: sort-files literal word-regexp ignore-case smart-case
  count recurse no-recurse`);

const grep: TreeProgram = (words, context, name) => {
  const options = parseOptions(words, GREP.options);
  const asked = valuesOf(options, 'd directories').some((how) => 'recurse'.startsWith(how));
  const always = /^(rgrep|ug|ugrep)$/.test(name) || context.names('GREP_OPTIONS');
  const recursive = hasFlag(options, 'r R S recursive dereference-recursive') || asked || always;
  if (!recursive) return [];
  const skips = grepSkips(options);
  const use: Omit<TreeUse, 'start'> = {
    access: 'read',
    follows: always || hasFlag(options, 'R S dereference-recursive'),
    skips,
    leaveOut: (one, kind) => `--exclude${kind === 'file' ? '' : '-dir'}=${one}`,
  };
  const given = hasFlag(options, 'e f regexp file');
  const isFilter = context.fed && name.startsWith('ug');
  return startsOf(options, { pattern: !given, here: !isFilter }).map((start) => ({
    start,
    ...use,
  }));
};

/** The last of these options that fits decides; without one it depends on the first. */
function grepSkips(options: GivenOptions): TreeSkips {
  const includes = valuesOf(options, 'include');
  const included = broad(includes);
  const excluded = globMatcher(valuesOf(options, 'exclude'));
  const first = options.values.find(({ option }) => /^(in|ex)clude$/.test(option))?.option;
  return {
    file: (name) => !included(name) && (first === 'include' || excluded(name)),
    directory: globMatcher(valuesOf(options, 'exclude-dir').map((glob) => trimEnd(glob, '/'))),
  };
}

/** For what is taken in: a glob that is not understood may fit anything. */
function broad(globs: readonly string[]): (name: string) => boolean {
  const simple = globs.filter((glob) => /^[^/{}[\]\\!,]+$/.test(glob));
  const fits = globMatcher(simple);
  return (name) => simple.length < globs.length || fits(name);
}

/** What the common types of files are called, for `-t`. */
const TYPES: Readonly<Record<string, string>> = {
  c: '*.[chH]',
  cpp: '*.cpp *.cc *.cxx *.hpp *.hh *.hxx *.h *.C *.H *.inl *.in',
  css: '*.css *.scss',
  go: '*.go',
  html: '*.htm *.html *.ejs',
  java: '*.java *.jsp *.jspx *.properties',
  js: '*.js *.jsx *.vue *.cjs *.mjs',
  json: '*.json composer.lock *.sarif',
  kotlin: '*.kt *.kts',
  markdown: '*.md *.markdown *.mdown *.mdwn *.mkd *.mkdn *.mdx',
  md: '*.md *.markdown *.mdown *.mdwn *.mkd *.mkdn *.mdx',
  php: '*.php *.php3 *.php4 *.php5 *.php7 *.php8 *.pht *.phtml',
  py: '*.py *.pyi',
  python: '*.py *.pyi',
  ruby: '*.rb *.rbw *.gemspec *.ru Gemfile Rakefile config.ru .irbrc',
  rust: '*.rs',
  scala: '*.scala *.sbt',
  swift: '*.swift',
  ts: '*.ts *.tsx *.cts *.mts',
  typescript: '*.ts *.tsx *.cts *.mts',
};

const rg: TreeProgram = (words, context) => {
  const options = parseOptions(words, RG.options);
  const listed = options.flags.has('files');
  if (listed || hasFlag(options, 'type-list version help V')) return [];
  const configured = context.mayBeSet('RIPGREP_CONFIG_PATH') && !options.flags.has('no-config');
  const unrestricted = words.reduce((sum, { value }) => sum + timesUnrestricted(value), 0);
  const globs = valuesOf(options, 'g glob iglob');
  const positive = globs.filter((glob) => !glob.startsWith('!'));
  const positives = broad(positive.map((glob) => glob.replace(/^\*\*\//, '').toLowerCase()));
  // Some of these options take `A` for `a`.
  const fits = (name: string): boolean => positives(name.toLowerCase());
  // `!x/**` speaks of what is in a directory, and so of directories alone too.
  const negative = leftOutBy(
    globs
      .filter((glob) => glob.startsWith('!'))
      .map((glob) =>
        glob
          .slice(1)
          .replace(/^\*\*\//, '')
          .replace(/\/\*\*$/, '/'),
      ),
  );
  const shown = (name: string): boolean => positive.length > 0 && fits(name);
  const typed = typeSkips(options);
  const use: Omit<TreeUse, 'start'> = {
    access: 'read',
    follows: configured || hasFlag(options, 'L follow'),
    skips: {
      file: (name) =>
        (positive.length > 0 && !fits(name)) ||
        (!shown(name) && negative.file(name)) ||
        typed(name),
      directory: (name) => !shown(name) && negative.directory(name),
      shown,
      ...(configured || unrestricted > 1 || hasFlag(options, '. hidden') ? {} : { hidden: true }),
      ...(configured || unrestricted > 0 || [...options.flags].some((one) => /^no-i/.test(one))
        ? {}
        : { ignored: 'search' as const }),
    },
    leaveOut: (name) => `-g '!${name}'`,
  };
  const given = hasFlag(options, 'e f regexp file');
  return startsOf(options, { pattern: !given, here: !context.fed }).map((start) => ({
    start,
    ...use,
  }));
};

/** How often `-u` is in a word; letters behind one with a value are that value. */
function timesUnrestricted(word: string): number {
  if (/^--unr/.test(word)) return 1;
  const cluster = /^-([^-egABCmtTdjrMfE]*)/.exec(word)?.[1] ?? '';
  return cluster.split('u').length - 1;
}

/** Only the types that are called for; one that is not known may be any. */
function typeSkips(options: GivenOptions): (name: string) => boolean {
  const wanted = valuesOf(options, 't type');
  const known = wanted.flatMap((type) => (Object.hasOwn(TYPES, type) ? [TYPES[type] ?? ''] : []));
  const changed = valuesOf(options, 'type-add type-clear').length > 0;
  if (wanted.length === 0 || known.length < wanted.length || changed) return () => false;
  const fits = broad(known.flatMap((globs) => globs.split(' ')));
  return (name) => !fits(name);
}

const ag: TreeProgram = (words, { fed }, name) => {
  const options = parseOptions(words, name === 'ack' || name === 'ack-grep' ? ACK : AG);
  const shows = name.startsWith('ack') || hasFlag(options, 'hidden u unrestricted');
  const skips: TreeSkips = shows ? {} : { hidden: true };
  const follows = hasFlag(options, 'f follow');
  const given = hasFlag(options, 'match');
  return startsOf(options, { pattern: !given, here: !fed }).map((start) => ({
    start,
    access: 'read',
    follows,
    skips,
  }));
};

const diff: TreeProgram = (words) => {
  const options = parseOptions(words, DIFF.options);
  const whole = hasFlag(options, 'r recursive');
  const others = valuesOf(options, 'from-file to-file').map(literalWord);
  const left = globMatcher(valuesOf(options, 'x exclude'));
  return [...options.operands, ...others]
    .filter(({ literal }) => literal)
    .map((start) => ({
      start,
      access: 'read',
      follows: !options.flags.has('no-dereference'),
      // Of two directories it compares the files in them anyway.
      ...(whole ? {} : { depth: 1 }),
      skips: { file: left, directory: left },
      leaveOut: (name: string) => `--exclude=${name}`,
    }));
};

function startsOf(
  { operands, unknown }: GivenOptions,
  { pattern, here }: { readonly pattern: boolean; readonly here: boolean },
): readonly ShellWord[] {
  const starts = operands.slice(pattern ? 1 : 0);
  // An option that is not known may have taken what looks like an operand.
  const default_ =
    here && (starts.length === 0 || unknown.some(({ why }) => why === 'option')) ? [HERE] : [];
  return [...starts.filter(({ literal, value }) => literal && value !== '-'), ...default_];
}

export const SEARCHING_PROGRAMS: Readonly<Record<string, TreeProgram>> = {
  ...Object.fromEntries(
    `grep egrep fgrep rgrep zgrep zegrep zfgrep bzgrep bzegrep bzfgrep xzgrep xzegrep xzfgrep
    lzgrep zstdgrep ggrep gegrep gfgrep pcregrep pcre2grep ug ugrep`
      .split(/\s+/)
      .map((name) => [name, grep]),
  ),
  rg,
  rga: rg,
  ripgrep: rg,
  batgrep: rg,
  ag,
  pt: ag,
  ack: ag,
  'ack-grep': ag,
  diff,
  colordiff: diff,
  gdiff: diff,
};
