import { hazards } from '../effects/facts.js';
import { type Program, rows, unmodelled } from '../effects/program.js';
import { tellsVersion } from './version.js';

/** rustup starts the compiler that a project names, perhaps one of its own. */
export const RUSTUP = { files: ['rust-toolchain', 'rust-toolchain.toml'] };

/** Of a compiler: what it loads and runs, what is passed on to other programs, and files it writes besides. */
const COMPILES =
  /^@|^--?(wrapper|fplugin|fpass-plugin|fmodule-mapper|load|X|specs|prefix|config|plugin|W[alp],|aux-info|dump(dir|base)|save-temps|fuse-ld|ld-path|driver-mode|gcc-toolchain|gcc-install-dir|cc1|mllvm|serialize-diagnostics|M[FJD]|MMD|iplugindir|fprofile|fdump|fopt-info|fsave-optimization-record|fcrash-diagnostics|fmodules|foffload|resource-dir|for-assembler|fcompare-debug|fdeps|time=|B|T)|^-o./;

/** The programs that work on what a compiler makes load plugins, and options from files. */
export const BINUTILS = { hazards: hazards('plugin dump-section', /^@|^--?(plugin|Map)/) };

/** Compilers, build tools and the programs that they are made of. */
export const COMPILERS: Readonly<Record<string, Program>> = {
  gcc: tellsVersion('', {
    aliases: /^(.*-)?(cc|c\+\+|g\+\+|cpp|c89|c99|gfortran|gcc)$/,
    interprets: 'quoted',
    hazards: hazards('', COMPILES),
  }),
  clang: unmodelled({
    aliases: /^(.*-)?clang(\+\+|-cl|-cpp)?$/,
    interprets: 'quoted',
    hazards: hazards('-o', COMPILES),
  }),
  ...rows('tcc as nasm', unmodelled({ interprets: 'quoted' })),
  nm: unmodelled({
    ...BINUTILS,
    aliases:
      /^(.*-)?(ar|gcc-ar|ranlib|nm|ld|ld\.(bfd|gold|lld)|objdump|objcopy|strip|size|strings)$/,
  }),
  make: tellsVersion('', {
    aliases: /^gmake$/,
    subcommands: {},
    interprets: 'bare',
    runsInput: { when: /^-$|^(-\w*f|--(make)?file=)-$/ },
    wholeOnly: /^(-n|--dry-run|--just-print|--recon)( |$)/,
    hazards: hazards(
      '-fCIE eval file makefile temp-stdin directory include-dir',
      // Programs that rules run by variable, and values that are more than a word: a path, an option, a function.
      /^\.?(SHELL|SHELLFLAGS|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|MAKEFILES|MAKE|MAKE_COMMAND|AR|AS|CC|CXX|CPP|FC|LD|LEX|YACC|LINT|RM|INSTALL|CO|GET|TEX|PYTHON|NODE)\s*[:+?!]*=|!\s*=|^[^=]*=.*[^\w.,:+@%=]/s,
    ),
  }),
  tsc: tellsVersion('v', {
    hazards: hazards(
      '',
      /^@|^--?(b|build|out|outdir|outfile|declarationdir|generatetrace|generatecpuprofile|tsbuildinfofile|init)$/i,
      {
        // A project of this directory.
        also: (word, at, words) =>
          /^--?p(roject)?$/i.test(word) &&
          !/^(\.|tsconfig[\w.-]*\.json)$/.test(words[at + 1] ?? ''),
      },
    ),
  }),
  rustc: tellsVersion('V', {
    chosenBy: RUSTUP,
    hazards: hazards('-CLoZ codegen out-dir emit extern sysroot', /^@/),
  }),
  ...rows('dotnet flutter nx rake swift turbo', unmodelled({ subcommands: {} })),
  gradle: unmodelled({ subcommands: {}, hazards: hazards('init-script', /^-[Ibcgp]$/) }),
  mvn: unmodelled({
    subcommands: {},
    hazards: hazards('settings', /^-(g?s|l|b)$|^-D\s*(maven\.ext|exec)\.|^exec:|exec-maven-plugin/),
  }),
  just: unmodelled({ subcommands: {}, runsAfter: /^(-c|--command)$/ }),
  mix: unmodelled({ subcommands: { runs: /^run$/ } }),
  rails: unmodelled({ subcommands: { runs: /^runner$/ } }),
  bazel: unmodelled({
    hazards: hazards('run_under action_env shell_executable output_base output_user_root'),
  }),
  cmake: unmodelled({
    runsAfter: /^(env|time|chdir)$/,
    hazards: hazards('-EPCS build toolchain', /^-D/),
  }),
  eslint: unmodelled({
    hazards: hazards(
      `-co config rulesdir plugin parser resolve-plugins-relative-to format output-file cache-location`,
    ),
  }),
  prettier: unmodelled({ hazards: hazards('plugin config plugin-search-dir') }),
  protoc: unmodelled({ hazards: hazards('plugin', /^--[\w-]+_out=/) }),
};
