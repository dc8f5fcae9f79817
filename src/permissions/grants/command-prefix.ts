import { simpleFileUse } from '../shell/effects/uses.js';
import { programOf, type ShellWord } from '../shell/model.js';
import { hazardsIn } from '../shell/runners/hazards.js';

/**
 * How many leading words of a command a rule for "commands like this" should fix, or undefined when
 * every such rule would open more than what was asked.
 */
export function prefixLength(words: readonly ShellWord[]): number | undefined {
  const program = programOf(words);
  if (program === undefined || words[0]?.value !== program) return undefined;
  if (RUNS_ANYTHING.has(program) || INTERPRETER.test(program) || DESTROYS.has(program)) {
    return undefined;
  }
  if (simpleFileUse(words)?.writes[0] !== undefined) return undefined;
  const literal = words.every((word) => word.literal && word.pattern === undefined);
  if (!literal || hazardsIn({ words, fed: false }).length > 0) return undefined;
  const depth = Object.hasOwn(SUBCOMMANDS, program) ? SUBCOMMANDS[program] : undefined;
  if (depth === undefined) return words.length > 1 ? 1 : undefined;
  return subcommandLength(words, depth);
}

/** Whether the program is one whose subcommands are opened one at a time. */
export function hasSubcommands(program: string | undefined): boolean {
  return program !== undefined && Object.hasOwn(SUBCOMMANDS, program);
}

function subcommandLength(words: readonly ShellWord[], depth: number): number | undefined {
  const texts = words.map((word) => word.value);
  const [program = '', first = ''] = texts;
  // An option in front of the subcommand may change what it does.
  if (!SUBCOMMAND.test(first) || RUNS_ANYTHING.has(`${program} ${first}`)) return undefined;
  const length = depth + (GROUPS.has(`${program} ${first}`) ? 2 : 1);
  const named = texts.slice(1, length);
  const isWhole = named.length === length - 1 && named.every((text) => SUBCOMMAND.test(text));
  return isWhole ? length : undefined;
}

const SUBCOMMAND = /^[a-z][a-z0-9:._-]*$/i;

/** Programs with subcommands, and how many words name one. */
const SUBCOMMANDS: Readonly<Record<string, number>> = {
  apt: 1,
  'apt-get': 1,
  aws: 2,
  az: 2,
  brew: 1,
  bun: 1,
  bundle: 1,
  cargo: 1,
  composer: 1,
  conda: 1,
  deno: 1,
  docker: 1,
  'docker-compose': 1,
  dotnet: 1,
  flutter: 1,
  gcloud: 2,
  gem: 1,
  gh: 2,
  git: 1,
  glab: 2,
  go: 1,
  gradle: 1,
  heroku: 1,
  helm: 1,
  hg: 1,
  jj: 1,
  just: 1,
  kubectl: 1,
  make: 1,
  mix: 1,
  mvn: 1,
  npm: 1,
  nx: 1,
  pip: 1,
  pip3: 1,
  pnpm: 1,
  podman: 1,
  poetry: 1,
  rails: 1,
  rake: 1,
  rustup: 1,
  svn: 1,
  swift: 1,
  systemctl: 1,
  terraform: 1,
  tofu: 1,
  turbo: 1,
  uv: 1,
  yarn: 1,
};

/** Subcommands that only name a group: one word more says what is done. */
const GROUPS: ReadonlySet<string> = new Set([
  'npm run',
  'pnpm run',
  'yarn run',
  'bun run',
  'deno task',
  'docker compose',
  'docker container',
  'docker image',
  'docker network',
  'docker volume',
  'podman container',
  'podman image',
  'git notes',
  'git remote',
  'git stash',
  'git worktree',
  'kubectl config',
  'kubectl rollout',
  'terraform state',
  'terraform workspace',
  'uv pip',
]);

/** Programs and subcommands that run whatever their arguments name. */
const RUNS_ANYTHING: ReadonlySet<string> = new Set([
  ...`ansible ash awk bash builtin bunx busybox bwrap chroot chrt command csh dash direnv doas
  dotenv env eval exec expect find firejail fish flock gawk gdb ionice ksh ltrace mawk mksh mosh
  nawk nice nix-shell nohup npx nsenter parallel pipx pkexec pnpx proot pwsh rbash rsh runuser
  screen script setarch setpriv setsid sh socat source ssh stdbuf strace su sudo systemd-run
  taskset tclsh tcsh time timeout tmux toybox trap tsx ts-node unshare uvx valgrind watch watchexec
  xargs zsh .`.split(/\s+/),
  'aws ssm',
  'bun x',
  'bundle exec',
  'cargo run',
  'conda run',
  'deno eval',
  'deno run',
  'docker exec',
  'docker run',
  'gcloud ssh',
  'gh alias',
  'gh api',
  'gh extension',
  'git bisect',
  'git config',
  'git filter-branch',
  'git submodule',
  'go generate',
  'go run',
  'heroku run',
  'kubectl debug',
  'kubectl exec',
  'kubectl run',
  'mix run',
  'npm config',
  'npm exec',
  'npm x',
  'pnpm dlx',
  'pnpm exec',
  'podman exec',
  'podman run',
  'poetry run',
  'rails runner',
  'systemctl edit',
  'uv run',
  'uv tool',
  'yarn dlx',
  'yarn exec',
]);

/** Languages, with or without a version: `python3.12`. */
const INTERPRETER =
  /^(python|pypy|node|nodejs|deno|bun|ruby|jruby|irb|perl|php|lua|luajit|Rscript|R|julia|java|jshell|groovy|scala|kotlin|osascript|guile|racket|sbcl|ghci?|runghc|elixir|iex|erl|swipl|octave|psql|mysql|sqlite|mongo|redis-cli)[\d.]*$/;

/** Programs of which "anything that begins like this" is never what somebody means. */
const DESTROYS: ReadonlySet<string> = new Set(
  `chattr chgrp chmod chown cp curl dd fdisk halt install kill killall ln mkfs mount mv passwd pkill
  poweroff reboot rm rmdir rsync scp sed setfacl sftp shred shutdown tee truncate umount unlink useradd
  userdel wget wipefs`.split(/\s+/),
);
