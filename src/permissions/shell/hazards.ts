import { nameOf, programOf, type ShellWord } from './model.js';

interface Hazard {
  /** Long options, without dashes; their abbreviations count too. */
  readonly long?: string;
  /** Short options, also inside a cluster. */
  readonly short?: string;
  /** Words that count as they stand. */
  readonly words?: RegExp;
}

/**
 * Options with which a program runs another one, writes a file or leaves the place it works in. A
 * rule for the beginning of a command does not cover them: only a rule that spells the option out,
 * or the whole command, does.
 */
const HAZARDS: Readonly<Record<string, Hazard>> = {
  find: { words: /^-(exec|execdir|ok|okdir|delete|fls|fprint0?|fprintf|files0-from)$/ },
  fd: { short: 'xX', long: 'exec exec-batch' },
  rg: { short: 'z', long: 'pre pre-glob hostname-bin search-zip' },
  tree: { short: 'o', long: 'output' },
  sort: { short: 'oT', long: 'output compress-program files0-from temporary-directory' },
  grep: {},
  git: {
    long: `config-env exec-path git-dir work-tree namespace output ext-diff textconv open-files-in-pager
      upload-pack receive-pack exec template no-index contents paginate`,
    words: /^(-c.*|-C.*|-p|foreach)$/s,
  },
  tar: {
    short: 'IFP',
    long: `checkpoint-action use-compress-program to-command rsh-command rmt-command
      new-volume-script info-script absolute-names`,
  },
  ssh: { short: 'oF', words: /ProxyCommand|LocalCommand/i },
  rsync: { short: 'e', long: 'rsh rsync-path' },
  make: { short: 'fCI', long: 'eval file makefile directory include-dir' },
  npm: { long: 'script-shell prefix node-options globalconfig userconfig' },
  npx: { short: 'cp', long: 'call package' },
  node: { short: 'repC', long: 'require eval print import loader experimental-loader' },
  curl: {
    short: 'oOKT',
    long: 'output config upload-file remote-name',
    words: /^(file|scp|sftp):/i,
  },
  wget: { short: 'O', long: 'output-document use-askpass input-file config execute' },
  docker: { short: 'H', long: 'host context config' },
  kubectl: { long: 'kubeconfig server context' },
  go: { words: /^-(vettool|exec|toolexec)\b/ },
  jq: { short: 'L', long: 'rawfile slurpfile from-file' },
  unzip: { short: 'd' },
  gh: { short: 'X', long: 'method' },
  vim: { short: 'cS', long: 'cmd', words: /^\+/ },
  gdb: { words: /^--?(ex|eval-command|x|command|ix|iex)\b/ },
  csplit: { short: 'f', long: 'prefix' },
  pytest: { short: 'pc', long: 'rootdir confcutdir' },
};

/** Subcommands of git that have a short option which runs a program or writes a file. */
const GIT_SHORT: Readonly<Record<string, string>> = {
  clone: 'uc',
  rebase: 'x',
  difftool: 'x',
  archive: 'o',
  grep: 'O',
  'format-patch': 'o',
};

const NEVER_BY_PREFIX =
  /^(watch|setsid|ionice|flock|eval|exec|source|\.|trap|builtin|export|declare|typeset|local|readonly|unset|read|let|alias|hash|enable|set|shopt|printf -v)$/;

export interface HazardQuery {
  readonly words: readonly ShellWord[];
  /** More arguments come from the input. */
  readonly fed: boolean;
}

/** The word that a prefix rule does not cover, if there is one. */
export function hazardIn({ words, fed }: HazardQuery): string | undefined {
  const name = nameOf(words) ?? '';
  if (NEVER_BY_PREFIX.test(name)) return name;
  const program = programOf(words) ?? '';
  if (/^[gmn]?awk$/.test(program)) return awkHazard(words);
  if (evaluatesSubscript(name, words)) return words[1]?.value ?? name;
  const hazard = Object.hasOwn(HAZARDS, program) ? HAZARDS[program] : undefined;
  if (hazard === undefined) return undefined;
  if (fed && program !== 'grep') return 'xargs';
  // A wildcard in front may become the name of a file that is an option.
  const wild = words.find((word) => word.pattern !== undefined && /^[*?[]/.test(word.pattern));
  if (wild !== undefined && program !== 'grep') return wild.raw;
  const rest = words.slice(1).map((word) => word.value);
  const subcommand = rest.find((value) => !value.startsWith('-')) ?? '';
  const short =
    (hazard.short ?? '') +
    (program === 'git' && Object.hasOwn(GIT_SHORT, subcommand) ? GIT_SHORT[subcommand] : '');
  // git's own -c and -C come before the subcommand; behind it they mean something else.
  const end = program === 'git' ? rest.indexOf(subcommand) : rest.length;
  return rest.find((value, index) => {
    const early = program !== 'git' || index <= end || value === 'foreach';
    if (early && hazard.words?.test(value) === true) return true;
    return hasLong(value, hazard.long) || hasShort(value, short);
  });
}

function hasLong(value: string, list: string | undefined): boolean {
  const name = /^--([\w-]+)/.exec(value)?.[1];
  if (name === undefined || list === undefined) return false;
  return list
    .split(/\s+/)
    .some((long) => long === name || (name.length > 3 && long.startsWith(name)));
}

function hasShort(value: string, letters: string): boolean {
  const cluster = /^-([A-Za-z0-9]+)/.exec(value)?.[1];
  return cluster !== undefined && [...cluster].some((letter) => letters.includes(letter));
}

/** Only programs that print: no files, pipes, commands or further source files. */
function awkHazard(words: readonly ShellWord[]): string | undefined {
  return words
    .slice(1)
    .map((word) => word.value)
    .find(
      (value) =>
        /^-[fiElo]|^--(file|include|load|exec|output)/.test(value) ||
        /[>|]|\bsystem\b|getline|@/.test(value),
    );
}

/** Builtins that evaluate `name[…]` in an argument, substitutions and all. */
function evaluatesSubscript(name: string, words: readonly ShellWord[]): boolean {
  if (!/^(test|\[|printf)$/.test(name)) return false;
  return words.slice(1).some((word) => /^-[vR]/.test(word.value));
}
