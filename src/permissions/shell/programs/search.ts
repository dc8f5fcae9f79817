import { trimEnd } from '../../../lib/text/trim-end.js';
import { reads } from '../effects/effect.js';
import { type GivenOptions, hasFlag, valuesOf } from '../effects/options.js';
import { type Program, program, rows } from '../effects/program.js';
import {
  broadMatcher,
  type CommandContext,
  globMatcher,
  leftOutBy,
  type Recursion,
} from '../effects/recursion.js';

const GREP = program(
  `-ivnHhlLcoqswxEFGPabzZUTyIuVOp -r=recursive -R=recursive+follow -S=recursive+follow -e:pattern -f:patterns -ABCmdD: -#
  after-context: before-context: binary-files: byte-offset color? colour? context: count directories:
  exclude: exclude-dir: exclude-from:read extended-regexp files-with-matches files-without-match file:patterns
  fixed-strings ignore-case include: initial-tab invert-match line-buffered line-number line-regexp max-count:
  no-filename no-ignore-case no-messages null only-matching perl-regexp quiet recursive=recursive
  dereference-recursive=recursive+follow regexp:pattern silent text with-filename word-regexp basic-regexp
  devices: group-separator: no-group-separator label: unix-byte-offsets version help decompress=unsure`,
  'pattern-read',
  { plain: true, here: true, facts: { leavesOut: true }, walks: walksOfGrep },
);

function walksOfGrep(given: GivenOptions, context: CommandContext): Recursion | undefined {
  const isTold = valuesOf(given, 'd directories').some((how) => 'recurse'.startsWith(how));
  const isSet = context.names('GREP_OPTIONS');
  if (!isSet && !isTold && !given.tags.has('recursive')) return undefined;
  return walkOfGrep(given, isSet || given.tags.has('follow'));
}

/** The last of these options that fits decides; without one it depends on the first. */
function walkOfGrep(given: GivenOptions, follows: boolean): Recursion {
  const included = broadMatcher(valuesOf(given, 'include'));
  const excluded = globMatcher(valuesOf(given, 'exclude'));
  const first = given.values.find(({ option }) => /^(in|ex)clude$/.test(option))?.option;
  return {
    follows,
    skips: {
      file: (name) => !included(name) && (first === 'include' || excluded(name)),
      directory: globMatcher(valuesOf(given, 'exclude-dir').map((glob) => trimEnd(glob, '/'))),
    },
    leaveOut: (one, kind) => `--exclude${kind === 'file' ? '' : '-dir'}=${one}`,
  };
}

const RG = program(
  `-ivnNHIlcowxFsSuUP.0pqaVhb -L=follow -z=unsure -e:pattern -gABCmtTdjrME: -f:patterns after-context:
  before-context: case-sensitive color: column context: count count-matches crlf files=no-pattern
  files-with-matches files-without-match fixed-strings file:patterns follow=follow glob: heading hidden iglob:
  ignore-case ignore-file:read invert-match json line-number line-regexp max-columns: max-count: max-depth:
  max-filesize: multiline multiline-dotall no-filename no-heading no-ignore no-ignore-vcs no-line-number
  no-messages null only-matching pcre2 pretty quiet regexp:pattern replace: smart-case sort: sortr: stats text
  threads: trim type: type-list type-not: unrestricted vimgrep with-filename word-regexp search-zip=unsure
  pre:run pre-glob: hostname-bin:run type-add: type-clear: encoding: colors: context-separator:
  field-context-separator: field-match-separator: engine: hyperlink-format: path-separator: regex-size-limit:
  dfa-size-limit: generate: no-config no-hidden no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global
  no-ignore-messages no-ignore-parent no-require-git one-file-system debug trace binary mmap no-mmap line-buffered
  block-buffered passthru glob-case-insensitive version help byte-offset auto-hybrid-regex no-unicode null-data
  include-zero print0`,
  'pattern-read',
  { here: 'unless-fed', walks: walksOfRg },
);

function walksOfRg(given: GivenOptions, context: CommandContext): Recursion {
  const isFollowing = given.tags.has('follow');
  if (hasFlag(given, 'files type-list version help V')) {
    return { namesOnly: true, follows: isFollowing };
  }
  const isConfigured = context.mayBeSet('RIPGREP_CONFIG_PATH') && !given.flags.has('no-config');
  const isUnrestricted = hasFlag(given, 'u unrestricted');
  const isTwice =
    given.repeated.has('u') ||
    given.repeated.has('unrestricted') ||
    (given.flags.has('u') && given.flags.has('unrestricted'));
  const globs = valuesOf(given, 'g glob iglob');
  const positive = globs.filter((glob) => !glob.startsWith('!'));
  const positives = broadMatcher(positive.map((glob) => glob.replace(/^\*\*\//, '').toLowerCase()));
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
  const typed = typeSkips(given);
  const ignores = !isUnrestricted && ![...given.flags].some((one) => /^no-i/.test(one));
  return {
    follows: isConfigured || isFollowing,
    skips: {
      file: (name) =>
        (positive.length > 0 && !fits(name)) ||
        (!shown(name) && negative.file(name)) ||
        typed(name),
      directory: (name) => !shown(name) && negative.directory(name),
      shown,
      hidden: !isConfigured && !isTwice && !hasFlag(given, '. hidden'),
      ...(!isConfigured && ignores ? { ignored: 'search' as const } : {}),
    },
    leaveOut: (name) => `-g '!${name}'`,
  };
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

/** Only the types that are called for; one that is not known may be any. */
function typeSkips(options: GivenOptions): (name: string) => boolean {
  const wanted = valuesOf(options, 't type');
  const known = wanted.flatMap((type) => (Object.hasOwn(TYPES, type) ? [TYPES[type] ?? ''] : []));
  const changed = valuesOf(options, 'type-add type-clear').length > 0;
  if (wanted.length === 0 || known.length < wanted.length || changed) return () => false;
  const fits = broadMatcher(known.flatMap((globs) => globs.split(' ')));
  return (name) => !fits(name);
}

const AG_OPTIONS = `-acfhilnorsStuvwzQULHDF0 -ABCGgmpW: after: before: context: file-search-regex: ignore: ignore-dir:
  path-to-ignore: max-count: depth: pager: workers: width: hidden unrestricted all-types all-text
  follow skip-vcs-ignores literal search-zip search-binary silent stats vimgrep nogroup nocolor
  noheading numbers count files-with-matches files-without-matches ignore-case smart-case
  case-sensitive word-regexp`;

const AG = program(AG_OPTIONS, 'pattern-read', {
  here: 'unless-fed',
  walks: (given) => ({
    follows: hasFlag(given, 'f follow'),
    skips: { hidden: !hasFlag(given, 'hidden u unrestricted') },
  }),
});

const ACK = program(
  `-acfhHilLnopqrRsvwxQ1k -ABCgmP: match:pattern output: ignore-dir: ignore-directory: ignore-file: type:
  type-set: type-add: pager: range-start: range-end: files-from:names max-count: after-context:
  before-context: context: follow noignore-dir: sort-files literal word-regexp ignore-case smart-case
  count recurse no-recurse`,
  'pattern-read',
  {
    here: 'unless-fed',
    walks: (given) => ({ follows: hasFlag(given, 'f follow') }),
  },
);

const DIFF = program(
  `-abBcdeEipqstTuwyNvnZ -r=recursive -l=unsure -UCWIFLxSD: -X:read brief color? context? ignore-all-space
  ignore-blank-lines ignore-case ignore-space-change minimal new-file no-dereference=no-follow
  recursive=recursive side-by-side suppress-common-lines text unified? width: normal report-identical-files
  strip-trailing-cr exclude: exclude-from:read starting-file: from-file:read to-file:read label:
  show-function-line: ignore-matching-lines: ifdef: horizon-lines: tabsize: line-format: palette:
  unidirectional-new-file paginate=unsure`,
  'read',
  {
    facts: { leavesOut: true },
    walks: walksOfDiff,
    also: (given) =>
      given.values
        .filter(({ option }) => /^(from|to)-file$/.test(option))
        .map(({ word }) => reads(word, walksOfDiff(given))),
  },
);

function walksOfDiff(given: GivenOptions): Recursion {
  const left = globMatcher(valuesOf(given, 'x exclude'));
  return {
    follows: !given.tags.has('no-follow'),
    // Of two directories it compares the files in them anyway.
    ...(given.tags.has('recursive') ? {} : { depth: 1 }),
    skips: { file: left, directory: left },
    leaveOut: (name) => `--exclude=${name}`,
  };
}

/** They go through directories unless they are told not to. */
const TREE_GREP: Program = { ...GREP, walks: (given) => walkOfGrep(given, true) };

export const SEARCH: Readonly<Record<string, Program>> = {
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  rg: RG,
  diff: DIFF,
  du: program(
    `-abchklmsSx0 -L=follow -dtB: all apparent-size block-size: bytes dereference=follow exclude: human-readable
    max-depth: null one-file-system summarize si threshold: total`,
    'read',
    { plain: true, here: true, facts: { opens: false, leavesOut: true }, walks: namesBelow },
  ),
  tree: program(
    `-adfFghiJnNpqrstuvUxCDQ -l=follow -LIP: -o:write dirsfirst filelimit: noreport gitignore prune si inodes device sort?
    matchdirs`,
    'read',
    { here: true, facts: { opens: false }, walks: namesBelow },
  ),
};

function namesBelow({ tags }: GivenOptions): Recursion {
  return { follows: tags.has('follow'), namesOnly: true };
}

export const OTHER_SEARCHES: Readonly<Record<string, Program>> = {
  ...rows(
    `zgrep zegrep zfgrep bzgrep bzegrep bzfgrep xzgrep xzegrep xzfgrep lzgrep zstdgrep ggrep gegrep gfgrep
    pcregrep pcre2grep`,
    GREP,
  ),
  rgrep: TREE_GREP,
  ...rows('ug ugrep', { ...TREE_GREP, here: 'unless-fed' }),
  ...rows('rga ripgrep batgrep', RG),
  ...rows('ag pt', AG),
  ...rows('ack ack-grep', ACK),
  ...rows('colordiff gdiff', DIFF),
};
