import { hazards, type ProgramFacts } from '../effects/facts.js';
import { type Program, program, rows, unmodelled } from '../effects/program.js';
import { tellsVersion } from './version.js';
import { CODE } from './wrappers.js';

/** Letters of options may stand behind digits and signs: `perl -0pi`. A library of awk does the same. */
export const IN_PLACE = /^-[^-/.=]*i|^--in-p|inplace/;

const INTERPRETER = { runsAnything: true, interprets: 'quoted' } as const;
/** Without a file it runs what it reads. */
export const READER = { ...INTERPRETER, runsInput: { bare: true, unless: CODE } } as const;
const NODE: ProgramFacts = {
  ...READER,
  hazards: hazards(
    `-repC require eval print import loader experimental-loader env-file inspect inspect-brk
    snapshot-blob openssl-config conditions`,
    /^--(test-reporter(?!=(spec|tap|dot|junit|lcov)$)|test-reporter-destination|(experimental-)?test-global-setup|experimental-(default-)?config-file|env-file-if-exists|diagnostic-dir|(cpu|heap)-prof-(dir|name)|redirect-warnings|trace-event-file-pattern|build-snapshot|build-snapshot-config|report-dir|report-directory|report-filename|build-sea|experimental-sea-config|run|inspect-wait|inspect-port|icu-data-dir|tls-keylog|interactive|localstorage-file|test-rerun-failures|trace-turbo-(path|cfg-file|file-prefix)|dump-wasm-module-path|redirect-code-traces-to|turbo-profiling-output)(=|$)|^-i$/,
  ),
};
/** Code in an argument is another program each time. */
const PYTHON: ProgramFacts = {
  ...READER,
  hazards: hazards('', undefined, {
    also: (word, at, words) =>
      /^-[A-Za-z]*c/.test(word) && words.slice(0, at).every((one) => one.startsWith('-')),
  }),
};
const DATABASE = { runsAnything: true, interprets: 'database' } as const;

const SQLITE: ProgramFacts = {
  ...DATABASE,
  hazards: hazards('', /^--?(cmd|init|A|ar)/i),
  runsInput: {
    reaching:
      /^\s*\.(?!(tables|schema|mode|headers?|index(es)?|width|quit|exit|databases|dbinfo|timer|changes|echo|bail|nullvalue|separator|help|dump|stats|show|print|explain|eqp|fullschema)\b)|\b(edit|writefile|readfile|load_extension|fts3_tokenizer|attach|vacuum\s+into)\b/im,
  },
};

/** Languages and databases that run the code that they are given. */
export const RUNTIMES: Readonly<Record<string, Program>> = {
  node: tellsVersion('v', NODE),
  nodejs: unmodelled(NODE),
  python: tellsVersion('V', PYTHON),
  python3: tellsVersion('V', PYTHON),
  pypy: unmodelled(PYTHON),
  ipython: unmodelled({ interprets: 'quoted', runsInput: READER.runsInput }),
  ruby: tellsVersion('v', {
    ...READER,
    editsWith: IN_PLACE,
    hazards: hazards('-erICxX crash-report'),
  }),
  perl: unmodelled({
    ...READER,
    editsWith: IN_PLACE,
    // Code may stand behind the name of a module, too: `-Mstrict;system(…)`.
    hazards: hazards('-eE', /^-[A-Za-z0-9]*[mMd].*[^\w:=,.-]/s),
    wholeOnly: /^-c( |$)/,
  }),
  php: unmodelled({
    ...READER,
    hazards: hazards(
      `-rBREdFz run process-begin process-code process-end process-file define zend-extension`,
    ),
  }),
  deno: unmodelled({ ...READER, subcommands: {} }),
  lua: unmodelled({ ...READER, aliases: /^lua\w*$/ }),
  tclsh: unmodelled({ ...READER, interprets: 'bare' }),
  ...rows('r rscript osascript tsx ts-node', unmodelled(READER)),
  ...rows(
    'irb julia jshell groovy scala guile racket sbcl ghc ghci elixir iex erl octave',
    unmodelled(INTERPRETER),
  ),
  ...rows('jruby kotlin runghc swipl', unmodelled({ runsAnything: true })),
  // Files of further arguments, and what the machine runs or writes when something happens.
  java: unmodelled({
    runsAnything: true,
    hazards: hazards('', /^@|^-X(run|boot|debug)|^-Xlog(gc)?:.*[/=]|^-XX:\w+=\D/),
  }),
  javac: unmodelled({
    hazards: hazards('', /^@|^-(d|s|h|processor\w*|Xplugin.*|J.*)$|^--processor/),
  }),
  ...rows('pg_dump pg_dumpall', unmodelled({ hazards: hazards('-f file') })),
  ...rows('ocaml raku crystal nim', unmodelled({ interprets: 'quoted' })),
  expect: unmodelled({ launches: true, interprets: 'bare', runsInput: { bare: true } }),
  ...rows('wish m4 gnuplot', unmodelled({ interprets: 'bare', runsInput: { bare: true } })),
  go: program('', 'none', {
    partial: true,
    subcommands: { version: program('', 'none') },
    facts: {
      subcommands: { runs: /^(generate|run)$/ },
      // From 1.21 on it downloads and starts the version that a module asks for (GOTOOLCHAIN).
      chosenBy: {
        files: ['go.mod', 'go.work'],
        says: /^\s*(toolchain\s|go\s+(1\.(2[1-9]|[3-9]\d|\d{3,})|[2-9]|\d{2,}))/m,
      },
      runsOption: {
        next: /^--?(exec|toolexec|vettool)$/,
        attached: /^--?(?:exec|toolexec|vettool)=(.+)$/is,
      },
      hazards: hazards(
        '',
        /^--?(test\.)?(vettool|exec|toolexec|o|modfile|overlay|C|ldflags|gcflags|asmflags|gccgoflags|compiler|(cover|cpu|mem|block|mutex)profile|trace|outputdir|pkgdir|gocoverdir|testlogfile|fuzzcachedir|debug-\w+)\b/,
      ),
    },
  }),
  ...rows('gofmt goimports', unmodelled({ editsWith: /^-w$/ })),
  ruff: unmodelled({ editsWith: /^format$/ }),
  ...rows(
    'yq clang-format autopep8 yapf xmlstarlet jsonnetfmt',
    unmodelled({ editsWith: IN_PLACE, opens: true }),
  ),
  psql: unmodelled({
    ...DATABASE,
    hazards: hazards('-ofL output file log-file', /\|/),
    runsInput: {
      unless: /^(-[a-zA-Z]*c|--command)/,
      reaching: /\\(?!(d\w*\+?|l\+?|x|q|timing|conninfo|pset|echo|\?)(?!\w))|`|\bprogram\b/i,
    },
  }),
  mysql: unmodelled({
    ...DATABASE,
    aliases: /^mariadb$/,
    hazards: hazards('-e execute pager tee defaults-file defaults-extra-file', /\\!|system\s/),
    runsInput: {
      unless: /^(-[a-zA-Z]*e|--execute)/,
      reaching: /\\[^\s'"%_\\0bnrtZ]|\b(system|tee|pager|source|edit)\b/i,
    },
  }),
  ...rows('mongosh redis-cli', unmodelled({ ...INTERPRETER, runsInput: {} })),
  mongo: unmodelled({ runsAnything: true, runsInput: {} }),
  ...rows('mail mailx', unmodelled({ interprets: 'quoted', runsInput: { reaching: /^~/m } })),
  'file-rename': unmodelled({ interprets: 'quoted' }),
  // It changes the file that it is given.
  ...rows('sqlite3 sqlite', program('', 'write', { restrictsOnly: true, facts: SQLITE })),
  bc: unmodelled({ interprets: 'quoted' }),
  dc: unmodelled({
    interprets: 'quoted',
    hazards: hazards('-f file', /!/),
    runsInput: { reaching: /!/ },
  }),
  gdb: unmodelled({
    runsAnything: true,
    interprets: 'bare',
    runsAfter: /^--args$/,
    runsInput: {},
    hazards: hazards(
      '',
      // Names may be cut short behind one dash, too.
      /^--?(ex|ev|x|com|ix|iex|init-|batch-silent)/,
    ),
  }),
  lldb: unmodelled({ interprets: 'bare', runsAfter: /^--$/, runsInput: {} }),
  mocha: unmodelled({
    hazards: hazards('-rn require import file opts package extension ui node-option'),
  }),
  pytest: unmodelled({
    aliases: /^py\.test$/,
    hazards: hazards(
      `-pcoW pythonwarnings rootdir confcutdir override-ini basetemp pyargs junitxml junit-xml debug log-file tx`,
      /^(--cov-report=)?\w+:(\/|~|\.\.)/,
    ),
  }),
  rspec: unmodelled({ hazards: hazards('-rIOof require options out format', /^@/) }),
};
