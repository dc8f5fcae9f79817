export interface Hazard {
  /** Long options, without dashes; their abbreviations count too. */
  readonly long?: string;
  /** Short options, also inside a cluster. */
  readonly short?: string;
  /** Words that count as they stand. */
  readonly words?: RegExp;
}

/**
 * Options with which a program runs another one, reads its own code from elsewhere, writes a file or
 * leaves the place it works in. A rule for the beginning of a command does not cover them: only a
 * rule that spells the option out, or the whole command, does.
 */
export const HAZARDS: Readonly<Record<string, Hazard>> = {
  awk: { long: 'profile dump-variables debug pretty-print' },
  bazel: { long: 'run_under action_env shell_executable output_base output_user_root' },
  cargo: { short: 'ZC', long: 'config manifest-path target-dir' },
  clang: { words: /^-(wrapper|fplugin|load|Xclang|specs|B|T)/, short: 'o' },
  cmake: { short: 'EPCS', long: 'build toolchain', words: /^-D/ },
  csplit: { short: 'f', long: 'prefix' },
  curl: {
    short: 'oOKTDcEJ',
    long: `output config upload-file remote-name remote-name-all dump-header cookie-jar trace trace-ascii
      stderr libcurl hsts alt-svc netrc-file cert key engine unix-socket abstract-unix-socket
      proto-default etag-save output-dir remote-header-name`,
    words: /^@|=@|^(file|scp|sftp|smb|smbs|dict|gopher|ldap|tftp|telnet):/i,
  },
  docker: { short: 'H', long: 'host context config' },
  fd: { short: 'xX', long: 'exec exec-batch' },
  find: { words: /^-(exec|execdir|ok|okdir|delete|fls|fprint0?|fprintf|files0-from)$/ },
  eslint: {
    short: 'co',
    long: 'config rulesdir plugin parser resolve-plugins-relative-to format output-file cache-location',
  },
  'g++': { words: /^-(wrapper|fplugin|specs|B|T)/ },
  gcc: { words: /^-(wrapper|fplugin|specs|B|T)/ },
  gdb: {
    words: /^--?(ex|eval-command|x|command|ix|iex|init-command|init-eval-command|batch-silent)\b/,
  },
  gh: { short: 'X', long: 'method', words: /^(alias|extension|codespace)$/ },
  git: {
    long: `config-env exec-path git-dir work-tree namespace output ext-diff textconv open-files-in-pager
      upload-pack receive-pack exec template no-index contents paginate sendmail-cmd extcmd to-cmd
      cc-cmd header-cmd smtp-server
      tree-filter index-filter msg-filter env-filter commit-filter parent-filter`,
    words: /^(-c.*|-C.*|-p|filter-branch|instaweb|daemon|shell|cvsserver)$/s,
  },
  go: {
    words:
      /^--?(vettool|exec|toolexec|o|modfile|overlay|C|ldflags|gcflags|asmflags|gccgoflags|compiler|(cover|cpu|mem|block|mutex)profile|trace|outputdir|pkgdir)\b/,
  },
  jq: { short: 'L', long: 'rawfile slurpfile from-file' },
  kubectl: { short: 's', long: 'kubeconfig server context' },
  less: {
    short: 'oOkT',
    long: 'lesskey-file lesskey-src log-file LOG-FILE tag-file',
    words: /^\+/,
  },
  make: {
    short: 'fCI',
    long: 'eval file makefile directory include-dir',
    // Programs that rules run by variable, and values that are more than a word: a path, an option, a function.
    words:
      /^\.?(SHELL|SHELLFLAGS|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|MAKEFILES|MAKE|AR|AS|CC|CXX|CPP|FC|LD|LEX|YACC|LINT|RM|INSTALL|CO|GET|TEX|PYTHON|NODE)[:+?!]*=|^[^=\s]*=.*[^\w.,:+@%=]/s,
  },
  man: { short: 'PHCl', long: 'pager html config-file local-file' },
  mysql: { short: 'e', long: 'execute pager tee', words: /\\!|system\s/ },
  node: {
    short: 'repC',
    long: `require eval print import loader experimental-loader env-file inspect inspect-brk
      snapshot-blob openssl-config conditions`,
    words:
      /^--(test-reporter(?!=(spec|tap|dot|junit|lcov)$)|test-reporter-destination|(experimental-)?test-global-setup|experimental-(default-)?config-file|env-file-if-exists|diagnostic-dir|(cpu|heap)-prof-(dir|name)|redirect-warnings|trace-event-file-pattern|build-snapshot|build-snapshot-config|report-dir|report-directory|report-filename|build-sea|experimental-sea-config|run|inspect-wait|inspect-port|icu-data-dir|tls-keylog|interactive)(=|$)|^-i$/,
  },
  npm: {
    short: 'C',
    long: 'script-shell prefix local-prefix logs-dir node-options globalconfig userconfig',
  },
  npx: { short: 'cp', long: 'call package' },
  openssl: { words: /^-(engine|provider|provider-path|out|config|writerand)$/ },
  perl: { short: 'eE' },
  php: { short: 'rBRdFz' },
  pandoc: {
    short: 'FLo',
    long: 'filter lua-filter pdf-engine output data-dir extract-media defaults template',
  },
  pip: {
    short: 'tc',
    long: 'target prefix root index-url extra-index-url find-links constraint config-settings',
  },
  pnpm: { long: 'script-shell dir prefix node-options' },
  prettier: { long: 'plugin config plugin-search-dir' },
  protoc: { long: 'plugin', words: /^--[\w-]+_out=/ },
  psql: { short: 'of', long: 'output file log-file', words: /\\(!|o|g|copy|w)|\|/ },
  pytest: {
    short: 'pco',
    long: 'rootdir confcutdir override-ini basetemp pyargs junitxml junit-xml debug log-file',
  },
  rsync: { short: 'e', long: 'rsh rsync-path write-batch only-write-batch log-file' },
  rustc: { short: 'CLo', long: 'codegen out-dir' },
  ruby: { short: 'erI' },
  scp: { short: 'SoFJ' },
  sftp: { short: 'SoFbD' },
  split: { long: 'filter' },
  sqlite3: {
    words:
      /^-(cmd|init)$|(^|[\n;])\s*\.(shell|system|output|once|load|import|backup|save|open|read|cd|log|excel|clone|archive)\b|\b(edit|writefile|load_extension)\s*\(/i,
  },
  ssh: { short: 'oFESI', words: /ProxyCommand|LocalCommand/i },
  tar: {
    short: 'IFP',
    long: `checkpoint-action use-compress-program to-command rsh-command rmt-command
      new-volume-script info-script absolute-names`,
    // The old way to write options, without a dash.
    words: /^(?=[A-Za-z]*[xctru])(?=[A-Za-z]*[IFP])[A-Za-z]+$/,
  },
  tcpdump: { short: 'zw' },
  terraform: { words: /^--?(chdir|out|state|state-out|plugin-dir)\b/ },
  unzip: { short: 'd' },
  vim: { short: 'cSuwWs', long: 'cmd startuptime', words: /^\+/ },
  wget: {
    short: 'OoaPie',
    long: `output-document output-file append-output directory-prefix use-askpass input-file config execute
      post-file body-file load-cookies save-cookies warc-file`,
  },
  yarn: { long: 'cwd use-yarnrc script-shell' },
  zip: { words: /^-TT|^-T/, long: 'unzip-command test' },
};

/** Subcommands of git that have a short option which runs a program or writes a file. */
export const GIT_SHORT: Readonly<Record<string, string>> = {
  archive: 'o',
  clone: 'uc',
  difftool: 'x',
  'format-patch': 'o',
  grep: 'O',
  help: 'w',
  rebase: 'x',
};
