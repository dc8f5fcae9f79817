import { own } from '../../lib/own.js';
import { wordSet } from '../../lib/patterns/word-set.js';
import { simpleFileUse } from '../shell/effects/uses.js';
import { programOf, type ShellWord } from '../shell/model.js';
import { hazardsIn } from '../shell/runners/hazards.js';
import { LAUNCHERS, runsAfter, SHELLS, WRAPPERS } from '../shell/runners/tables.js';

/**
 * How many leading words of a command a rule for "commands like this" should fix, or undefined when
 * every such rule would open more than what was asked.
 */
export function prefixLength(words: readonly ShellWord[]): number | undefined {
  const program = programOf(words);
  if (program === undefined || words[0]?.value !== program) return undefined;
  if (runsAnything(program) || DESTROYS.has(program)) return undefined;
  if (simpleFileUse(words)?.writes[0] !== undefined) return undefined;
  const literal = words.every((word) => word.literal && word.pattern === undefined);
  if (!literal || hazardsIn({ words, fed: false }).length > 0) return undefined;
  if (!SUBCOMMANDS.has(program)) return words.length > 1 ? 1 : undefined;
  return subcommandLength(words, program);
}

/** Whether the program is one whose subcommands are opened one at a time. */
export function hasSubcommands(program: string | undefined): boolean {
  return program !== undefined && SUBCOMMANDS.has(program);
}

function subcommandLength(words: readonly ShellWord[], program: string): number | undefined {
  const texts = words.map((word) => word.value);
  const [, first = ''] = texts;
  const isGroup = own(GROUPS, program)?.test(first) === true;
  const runs = own(runsAfter, program)?.test(first) === true && !isGroup;
  // An option in front of the subcommand may change what it does.
  if (!SUBCOMMAND.test(first) || runs || own(RUNNING_SUBCOMMANDS, program)?.test(first) === true) {
    return undefined;
  }
  const length = (TWO_WORDS.has(program) ? 3 : 2) + (isGroup ? 1 : 0);
  const named = texts.slice(1, length);
  const isWhole = named.length === length - 1 && named.every((text) => SUBCOMMAND.test(text));
  return isWhole ? length : undefined;
}

const SUBCOMMAND = /^[a-z][a-z0-9:._-]*$/i;

/** Programs with subcommands. */
const SUBCOMMANDS = wordSet(`apt apt-get aws az brew bun bundle cargo composer conda deno docker
  docker-compose dotnet flutter gcloud gem gh git glab go gradle heroku helm hg jj just kubectl make
  mix mvn npm nx pip pip3 pnpm podman poetry rails rake rustup svn swift systemctl terraform tofu turbo
  uv yarn`);

/** Those of which two words name one. */
const TWO_WORDS = wordSet('aws az gcloud gh glab');

/** Subcommands that only name a group: one word more says what is done. */
const GROUPS: Readonly<Record<string, RegExp>> = {
  docker: /^(compose|container|image|network|volume)$/,
  git: /^(notes|remote|stash|worktree)$/,
  kubectl: /^(config|rollout)$/,
  npm: /^run$/,
  pnpm: /^run$/,
  podman: /^(container|image)$/,
  terraform: /^(state|workspace)$/,
  uv: /^pip$/,
  yarn: /^run$/,
};

/** Programs that run whatever their arguments name, besides wrappers, launchers and shells. */
const RUNS_ANYTHING = wordSet(
  'awk direnv find gawk gdb mawk nawk pipx pnpx rsh screen socat source tclsh tmux tsx ts-node .',
);

/** Subcommands that do, or that say what others run, besides those that run what follows them. */
const RUNNING_SUBCOMMANDS: Readonly<Record<string, RegExp>> = {
  aws: /^ssm$/,
  gcloud: /^ssh$/,
  gh: /^(alias|api|extension)$/,
  git: /^(bisect|config|filter-branch|submodule)$/,
  go: /^(generate|run)$/,
  mix: /^run$/,
  npm: /^config$/,
  rails: /^runner$/,
  systemctl: /^edit$/,
};

function runsAnything(program: string): boolean {
  const runsOthers = WRAPPERS.has(program) || LAUNCHERS.has(program) || SHELLS.has(program);
  return runsOthers || RUNS_ANYTHING.has(program) || INTERPRETER.test(program);
}

/** Languages, with or without a version: `python3.12`. */
const INTERPRETER =
  /^(python|pypy|node|nodejs|deno|bun|ruby|jruby|irb|perl|php|lua|luajit|Rscript|R|julia|java|jshell|groovy|scala|kotlin|osascript|guile|racket|sbcl|ghci?|runghc|elixir|iex|erl|swipl|octave|psql|mysql|sqlite|mongo|redis-cli)[\d.]*$/;

/** Programs of which "anything that begins like this" is never what somebody means. */
const DESTROYS = wordSet(
  `chattr chgrp chmod chown cp curl dd fdisk halt install kill killall ln mkfs mount mv passwd pkill
  poweroff reboot rm rmdir rsync scp sed setfacl sftp shred shutdown tee truncate umount unlink useradd
  userdel wget wipefs`,
);
