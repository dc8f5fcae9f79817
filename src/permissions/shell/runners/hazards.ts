import { own } from '../../../lib/own.js';
import { wordSet } from '../../../lib/patterns/word-set.js';
import { GIT_LOOKS, gitSubcommandAt } from '../../git/subcommands.js';
import { effectsOfWords } from '../effects/effects.js';
import { type OptionTable, optionTable, parseOptions } from '../effects/options.js';
import { uncoveredOptions } from '../effects/program.js';
import { literalWord, nameOf, programOf, type ShellWord } from '../model.js';
import { modelOf } from '../programs/index.js';
import { assignsByFormat } from '../programs/text.js';
import { isTransparent } from '../programs/wrappers.js';
import { namingOptions } from './naming-options.js';

/** Programs that run others, and builtins that change what the commands after them mean. */
const NEVER_BY_PREFIX = wordSet(
  `watch setsid ionice flock eval exec source . trap builtin export declare typeset local readonly unset read
  readarray mapfile getopts let alias unalias hash enable set shopt bind complete compgen compopt coproc fc`,
);

interface HazardQuery {
  readonly words: readonly ShellWord[];
  /** More arguments come from the input. */
  readonly fed: boolean;
}

/** The words that a prefix rule does not cover. */
export function hazardsIn({ words, fed }: HazardQuery): readonly string[] {
  const name = nameOf(words) ?? '';
  const program = programOf(words) ?? '';
  if (NEVER_BY_PREFIX.has(name)) return [name];
  // Options that are not understood: what it runs has to be named by the rule.
  if (isTransparent(name)) return runBy(words);
  if (program === 'env') return envHazards(words);
  if (/^(g?sed|[gmn]?awk)$/.test(program)) {
    // Whatever comes out of the input may be the script.
    return fed ? ['xargs'] : codeHazards([literalWord(program), ...words.slice(1)]);
  }
  const whole = onlyAsWhole(words) ?? variableOption(name, words);
  if (whole !== undefined) return [whole];
  const module = /^python[\d.]*$/.test(program)
    ? words.findIndex(({ value }) => value === '-m')
    : -1;
  // `python -m pytest -p x` is `pytest -p x`.
  if (module !== -1) return hazardsIn({ words: words.slice(module + 1), fed });
  const modelled = hazardName(program);
  const hazard = own(HAZARDS, modelled);
  const uncovered = [...uncoveredIn(program, words), ...namedIn(program, words)];
  // Whatever comes out of the input may be an option of any program.
  if (fed && !isPlain(program)) return ['xargs', ...uncovered];
  return hazard === undefined ? uncovered : [...uncovered, ...listedIn(modelled, hazard, words)];
}

/** Other names of the programs in the table below. */
const ALIASES: readonly (readonly [RegExp, string])[] = [
  [/^(.*-)?(cc|c\+\+|g\+\+|cpp|c89|c99|gfortran|gcc)$/, 'gcc'],
  [/^(.*-)?clang(\+\+|-cl|-cpp)?$/, 'clang'],
  [/^(.*-)?(ar|gcc-ar|ranlib|nm|ld|ld\.(bfd|gold|lld)|objdump|objcopy|strip|size|strings)$/, 'nm'],
  [/^(vi|r?view|ex|r?vim|nvim|gvim|vimdiff)$/, 'vim'],
  [/^nodejs$/, 'node'],
  [/^[bg]?(sd)?tar$/, 'tar'],
  [/^gmake$/, 'make'],
  [/^sqlite$/, 'sqlite3'],
  [/^mariadb$/, 'mysql'],
  [/^py\.test$/, 'pytest'],
  [/^sdiff$/, 'diff3'],
];

/** The row of a program by its name without a version (`gcc-12`) or by another name of it (`cc`). */
function hazardName(program: string): string {
  if (Object.hasOwn(HAZARDS, program) || program.length > LONGEST_NAME) return program;
  const bare = program.replace(/-?\d+(\.\d+)*$/, '');
  const isMeant = ([names]: (typeof ALIASES)[number]): boolean =>
    names.test(program) || names.test(bare);
  return ALIASES.find(isMeant)?.[1] ?? bare;
}

/** No system takes a longer name of a file. */
const LONGEST_NAME = 255;

/** Options that tell by their names what they do, where no row lists all of them. */
function namedIn(program: string, words: readonly ShellWord[]): readonly string[] {
  const values = words.slice(1).map(({ value }) => value);
  if (program === 'git') {
    const at = gitSubcommandAt(words.slice(1));
    const isKnown = at === -1 || GIT_SUBCOMMANDS.has(values[at] ?? '');
    return isKnown ? [] : namingOptions(values.slice(at + 1));
  }
  const row = modelOf(program);
  const isListed = row !== undefined && row.partial !== true && row.restrictsOnly !== true;
  return isListed && row.custom === undefined ? [] : namingOptions(values);
}

/** Options that are not known, and code that does more than print: files, pipes, commands or further source files. */
function codeHazards(words: readonly ShellWord[]): readonly string[] {
  return effectsOfWords(words).flatMap((effect) =>
    effect.kind === 'unknown' && /^(option|script)$/.test(effect.why)
      ? (effect.word?.value ?? [])
      : [],
  );
}

/** Options and words of the table below. */
function listedIn(program: string, hazard: Hazard, words: readonly ShellWord[]): readonly string[] {
  // A wildcard in front may become the name of a file that is an option.
  const wild = words.filter(({ pattern }) => /^[*?[]/.test(pattern ?? '')).map(({ raw }) => raw);
  const rest = words.slice(1).map((word) => word.value);
  const isGit = program === 'git';
  const end = isGit
    ? gitSubcommandAt(words.slice(1))
    : rest.findIndex((value) => !value.startsWith('-'));
  const subcommand = rest[end] ?? '';
  const short = isGit ? optionTable(own(GIT_SHORT, subcommand) ?? '') : NO_OPTIONS;
  // What follows the name of a package is for its program.
  const mine = program === 'npx' ? rest.slice(0, end + 1) : rest;
  const inner = program === 'npx' && end !== -1 ? words.slice(end + 1) : [];
  const ended = rest.indexOf('--');
  const found = mine.filter((value, at) => {
    if (isGit) {
      // In front of the subcommand an option may take the next word, and change everything.
      if (at < end || end === -1) return value.startsWith('-') && !GIT_LEADING.test(value);
      // An alias, or a program of its own.
      if (at === end) return !GIT_SUBCOMMANDS.has(value);
      if (/^ext::/i.test(value) || GIT_RUNS.test(`${subcommand} ${value}`)) return true;
    } else if (hazard.words?.test(value) === true) return true;
    // Its settings name programs, and all of them are options.
    if (program === 'npm' && value.startsWith('-') && (ended === -1 || at < ended)) {
      return !NPM_HARMLESS.test(value) && isNpmSetting(value);
    }
    // A project of this directory.
    if (program === 'tsc' && /^--?p(roject)?$/i.test(value)) {
      return !/^(\.|tsconfig[\w.-]*\.json)$/.test(rest[at + 1] ?? '');
    }
    // The old way to write options, without a dash.
    if (program === 'tar' && at === 0 && /^[^-]*[IFP]/.test(value)) return true;
    return isGiven(value, hazard.options) || isGiven(value, short);
  });
  return [
    ...wild,
    ...found,
    ...(inner.length === 0 ? [] : hazardsIn({ words: inner, fed: false })),
  ];
}

/** By the row of the program, or of its subcommand: what is not listed may do anything. */
function uncoveredIn(program: string, words: readonly ShellWord[]): readonly string[] {
  const row = program === 'git' ? own(GIT_LOOKS, words[1]?.value ?? '') : modelOf(program);
  if (row === undefined) return [];
  const rest = words.slice(program === 'git' ? 2 : 1);
  const options = uncoveredOptions(row, rest).map(({ value }) => value);
  // A wildcard in front may become the name of a file that is an option.
  const isOpen = row.plain !== true && row.custom === undefined && row.operands !== 'text';
  const wild = isOpen ? rest.filter(({ pattern }) => /^[*?[]/.test(pattern ?? '')) : [];
  return [...options, ...wild.map(({ raw }) => raw)];
}

/** Programs of which no option starts another: what the input may hold is no worse than what the rule opens. */
function isPlain(program: string): boolean {
  if (Object.hasOwn(HAZARDS, program)) return false;
  const row = modelOf(program);
  const takesText = row?.operands === 'text' && row.custom === undefined;
  return row?.plain === true || takesText || PLAIN.test(program);
}

const PLAIN = /^(mkdir|touch|rm|rmdir|mv|cp|chmod|kill|echo)$/;

/** Commands that look harmless by their first words and run code, or print a secret: the whole must be allowed. */
const ONLY_AS_WHOLE =
  /^(make (?:-n|--dry-run|--just-print|--recon)|perl -c|devbox run|printenv \w*(?:KEY|TOKEN|SECRET|PASS)\w*)( |$)/;

function onlyAsWhole(words: readonly ShellWord[]): string | undefined {
  const whole = ONLY_AS_WHOLE.exec(words.map(({ value }) => value).join(' '))?.[1];
  if (whole !== undefined) return whole;
  const options = words.slice(1).findIndex(({ value }) => !value.startsWith('-'));
  const leading = words.slice(1, options === -1 ? undefined : options + 1);
  // Code in an argument is another program each time.
  const isCode = ({ value }: ShellWord): boolean => /^-[A-Za-z]*c/.test(value);
  return /^(python[\d.]*|pypy3?)$/.test(programOf(words) ?? '')
    ? leading.find(isCode)?.value
    : undefined;
}

function runBy(words: readonly ShellWord[]): readonly string[] {
  const run = words.slice(1).find(({ value }) => !/^-|^[\d.]+[a-z]?$/.test(value));
  return run === undefined ? [] : [run.value];
}

/** Its options, the variables it sets, and what it runs. */
function envHazards(words: readonly ShellWord[]): readonly string[] {
  const rest = words.slice(1).map(({ value }) => value);
  const end = rest.findIndex((value) => !/^-|=/.test(value));
  return end === -1 ? rest : rest.slice(0, end + 1);
}

const NO_OPTIONS = optionTable('');

/** Whether a word is one of these options, has it in its cluster, or may be short for it. */
function isGiven(value: string, table: OptionTable): boolean {
  const option = /^--[\w-]+=?|^-[A-Za-z0-9]+/.exec(value)?.[0];
  if (option === undefined) return false;
  const { flags, values } = parseOptions([literalWord(option)], table);
  return values.length > 0 || [...flags].some((one) => table.short.has(one) || table.long.has(one));
}

/** What follows is run, or the option is. */
const GIT_RUNS =
  /^(submodule foreach|bisect (run|replay|view|visualize)|filter-branch (?!(-f|--force|--prune-empty|--all|--)$)-.*)$/s;

/** By which a builtin sets a variable, or looks one up. */
function variableOption(name: string, words: readonly ShellWord[]): string | undefined {
  if (!/^(test|\[|printf)$/.test(name)) return undefined;
  return words
    .slice(1)
    .map(({ value }) => value)
    .find((value) => /^-[vR]/.test(value) || (name === 'printf' && assignsByFormat(value)));
}

interface Hazard {
  /** Abbreviations of long options count too, and letters inside a cluster. */
  readonly options: OptionTable;
  /** Words that count as they stand. */
  readonly words?: RegExp | undefined;
}

function hazard(options: string, words?: RegExp): Hazard {
  return { options: optionTable(options), words };
}

/** Of a compiler: what it loads and runs, what is passed on to other programs, and files it writes besides. */
const COMPILES =
  /^@|^--?(wrapper|fplugin|fpass-plugin|fmodule-mapper|load|X|specs|prefix|config|plugin|W[alp],|aux-info|dump(dir|base)|save-temps|fuse-ld|ld-path|driver-mode|gcc-toolchain|gcc-install-dir|cc1|mllvm|serialize-diagnostics|M[FJD]|MMD|iplugindir|fprofile|fdump|fopt-info|fsave-optimization-record|fcrash-diagnostics|fmodules|foffload|resource-dir|B|T)|^-o./;

/** Options of npm that choose no program and no place. */
const NPM_HARMLESS =
  /^(-|--|-[sqdvhlapgwmDPOEByf]+|--(no-)?(silent|quiet|verbose|loglevel|json|long|all|depth|parseable|save|save-(dev|prod|optional|exact|peer|bundle)|global|workspaces?|include-workspace-root|if-present|ignore-scripts|audit|audit-level|fund|dry-run|force|legacy-peer-deps|strict-peer-deps|package-lock|package-lock-only|prefer-(offline|online|dedupe)|offline|production|omit|include|only|dev|prod|tag|access|otp|version|help|yes|colou?r|unicode|progress|description|searchlimit|foreground-scripts|update-notifier|engine-strict|message|git-tag-version|commit-hooks|preid)(=.*)?)$/s;

const NPM_SETTINGS =
  `auth-type authtoken before bin-links browser ca cache cafile call cert cidr diff dist-url editor expect-results fetch git
  globalconfig globalignorefile heading http-proxy https-proxy init install-links install-strategy key lockfile-version
  local-prefix location logs-dir maxsockets metrics-registry node-gyp node-options nodedir noproxy npm-path
  pack-destination package prefix provenance proxy python registry replace-registry-host sbom-format scope script-shell
  shell sign-git-commit sign-git-tag tag-version-prefix tmp userconfig user-agent viewer which workspace`.split(
    /\s+/,
  );

/** Whether it may be, or be short for, a setting that npm knows. What it does not know changes nothing. */
function isNpmSetting(value: string): boolean {
  const name = /^--(?:no-)?([A-Za-z][\w-]*)(?:=.*)?$/s.exec(value)?.[1]?.toLowerCase();
  return (
    name === undefined ||
    NPM_SETTINGS.some((one) => one.startsWith(name) || name.startsWith(one)) ||
    namingOptions([value]).length > 0
  );
}

/**
 * Options with which a program runs another one, reads its own code from elsewhere, writes a file or
 * leaves the place it works in. A rule for the beginning of a command does not cover them: only a
 * rule that spells the option out, or the whole command, does.
 */
const HAZARDS: Readonly<Record<string, Hazard>> = {
  bazel: hazard('run_under action_env shell_executable output_base output_user_root'),
  cargo: hazard('-ZC config manifest-path target-dir'),
  clang: hazard('-o', COMPILES),
  cmake: hazard('-EPCS build toolchain', /^-D/),
  csplit: hazard('-f prefix'),
  curl: hazard(
    `-oOKTDcEJ output config upload-file remote-name remote-name-all dump-header cookie-jar trace
    trace-ascii stderr libcurl hsts alt-svc netrc-file cert key engine unix-socket
    abstract-unix-socket proto-default etag-save output-dir remote-header-name`,
    /^@|=@|%output\{|^(file|scp|sftp|smb|smbs|dict|gopher|ldap|tftp|telnet):/i,
  ),
  dc: hazard('-f file', /!/),
  diff3: hazard('-o diff-program output'),
  docker: hazard('-H host context config'),
  fd: hazard('-xX exec exec-batch'),
  find: hazard('', /^-(exec|execdir|ok|okdir|delete|fls|fprint0?|fprintf|files0-from)$/),
  eslint: hazard(`-co config rulesdir plugin parser resolve-plugins-relative-to format output-file
    cache-location`),
  gcc: hazard('', COMPILES),
  gdb: hazard(
    '',
    /^--?(ex|eval-command|x|command|ix|iex|init-command|init-eval-command|batch-silent)\b/,
  ),
  gh: hazard('-X method', /^(alias|extension|codespace)$/),
  git: hazard(`config-env exec-path git-dir work-tree namespace output ext-diff textconv
    open-files-in-pager upload-pack receive-pack exec template no-index contents paginate sendmail-cmd extcmd
    to-cmd cc-cmd header-cmd smtp-server strategy tree-filter index-filter msg-filter env-filter
    commit-filter parent-filter`),
  go: hazard(
    '',
    /^--?(vettool|exec|toolexec|o|modfile|overlay|C|ldflags|gcflags|asmflags|gccgoflags|compiler|(cover|cpu|mem|block|mutex)profile|trace|outputdir|pkgdir)\b/,
  ),
  install: hazard('strip-program'),
  jq: hazard('-L rawfile slurpfile from-file'),
  kubectl: hazard('-s kubeconfig server context'),
  less: hazard('-oOkT lesskey-file lesskey-src log-file LOG-FILE tag-file', /^\+/),
  make: hazard(
    '-fCI eval file makefile directory include-dir',
    // Programs that rules run by variable, and values that are more than a word: a path, an option, a function.
    /^\.?(SHELL|SHELLFLAGS|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|MAKEFILES|MAKE|AR|AS|CC|CXX|CPP|FC|LD|LEX|YACC|LINT|RM|INSTALL|CO|GET|TEX|PYTHON|NODE)\s*[:+?!]*=|!\s*=|^[^=]*=.*[^\w.,:+@%=]/s,
  ),
  man: hazard('-PHCl pager html config-file local-file'),
  mocha: hazard('-r require import file opts package extension ui'),
  mysql: hazard('-e execute pager tee', /\\!|system\s/),
  node: hazard(
    `-repC require eval print import loader experimental-loader env-file inspect inspect-brk
    snapshot-blob openssl-config conditions`,
    /^--(test-reporter(?!=(spec|tap|dot|junit|lcov)$)|test-reporter-destination|(experimental-)?test-global-setup|experimental-(default-)?config-file|env-file-if-exists|diagnostic-dir|(cpu|heap)-prof-(dir|name)|redirect-warnings|trace-event-file-pattern|build-snapshot|build-snapshot-config|report-dir|report-directory|report-filename|build-sea|experimental-sea-config|run|inspect-wait|inspect-port|icu-data-dir|tls-keylog|interactive)(=|$)|^-i$/,
  ),
  nm: hazard('plugin', /^@|^-plugin/),
  npm: hazard(`-C script-shell prefix local-prefix logs-dir node-options globalconfig userconfig`),
  npx: hazard('-cp call package'),
  openssl: hazard('', /^-(engine|provider|provider-path|out|config|writerand)$/),
  perl: hazard('-eE'),
  php: hazard('-rBRdFz'),
  pandoc: hazard(
    `-FLo filter lua-filter pdf-engine output data-dir extract-media defaults template`,
  ),
  pip: hazard(
    `-tcd target prefix root index-url extra-index-url find-links constraint config-settings python log
    report src cache-dir dest cert client-cert build-option global-option keyring-provider`,
  ),
  pnpm: hazard('script-shell dir prefix node-options'),
  prettier: hazard('plugin config plugin-search-dir'),
  protoc: hazard('plugin', /^--[\w-]+_out=/),
  psql: hazard('-of output file log-file', /\\(!|o|g|copy|w)|\|/),
  pytest: hazard(
    `-pcoW pythonwarnings rootdir confcutdir override-ini basetemp pyargs junitxml junit-xml debug log-file`,
  ),
  rsync: hazard('-e rsh rsync-path write-batch only-write-batch log-file'),
  rspec: hazard('-rIOof require options out format', /^@/),
  rustc: hazard('-CLoZ codegen out-dir emit extern sysroot', /^@/),
  ruby: hazard('-erI'),
  scp: hazard('-SoFJ'),
  sftp: hazard('-SoFbD'),
  split: hazard('filter'),
  sqlite3: hazard(
    '',
    /^--?(cmd|init|A|ar)|^\.(?!\/)|[\n;]\s*\.[a-z]|\b(edit|writefile|load_extension)\s*\(/i,
  ),
  ssh: hazard('-oFESI', /ProxyCommand|LocalCommand/i),
  tar: hazard(`-IFP checkpoint-action use-compress-program to-command rsh-command rmt-command
    new-volume-script info-script absolute-names`),
  tcpdump: hazard('-zw'),
  terraform: hazard('', /^--?(chdir|out|state|state-out|plugin-dir)\b/),
  tsc: hazard(
    '',
    /^@|^--?(b|build|out|outdir|outfile|declarationdir|generatetrace|generatecpuprofile|tsbuildinfofile|init)$/i,
  ),
  unzip: hazard('-d'),
  vim: hazard('-cSuwWsl cmd startuptime remote remote-expr remote-send listen luamod-dev', /^\+/),
  wget: hazard(`-OoaPie output-document output-file append-output directory-prefix use-askpass input-file
    config execute post-file body-file rejected-log load-cookies save-cookies warc-file`),
  yarn: hazard('cwd use-yarnrc script-shell'),
  zip: hazard('unzip-command test', /^-TT|^-T/),
};

/** Subcommands of git that have a short option which runs a program or writes a file. */
const GIT_SHORT: Readonly<Record<string, string>> = {
  archive: '-o',
  clone: '-uc',
  difftool: '-x',
  'format-patch': '-o',
  grep: '-O',
  help: '-w',
  merge: '-s',
  pull: '-s',
  rebase: '-xs',
};

/** Options in front of a subcommand that take no value and change nothing. */
const GIT_LEADING =
  /^(-P|-h|-v|--(no-pager|no-optional-locks|no-replace-objects|no-lazy-fetch|no-advice|help|version|(literal|glob|noglob|icase)-pathspecs))$/;

/** Subcommands that start programs only by options listed above, hooks and the configuration of the repository. */
const GIT_SUBCOMMANDS = new Set(
  `add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap
  check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config
  count-objects describe diff diff-files diff-index diff-tree difftool fetch for-each-ref format-patch fsck gc grep
  hash-object help index-pack init interpret-trailers log ls-files ls-remote ls-tree mailinfo merge merge-base
  merge-file merge-tree mktag mktree mv name-rev notes pack-objects prune pull push range-diff read-tree rebase reflog
  remote repack replace request-pull rerere reset restore rev-list rev-parse revert rm send-email shortlog show
  show-branch show-index show-ref sparse-checkout stash status stripspace submodule switch symbolic-ref tag
  unpack-objects update-index update-ref var verify-commit verify-pack verify-tag version whatchanged worktree
  write-tree`.split(/\s+/),
);
