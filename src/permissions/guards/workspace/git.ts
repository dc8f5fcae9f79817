import { isAbsolute, join } from '../../../platform/fs/paths.js';
import { parseGitConfig } from '../../git/config.js';
import { isHarmlessSetting } from '../../git/settings.js';
import { type GitCall, gitCall, gitSubcommand } from '../../git/subcommands.js';
import type { PathJudge } from '../../paths/paths.js';
import { readOnlyUse } from '../../shell/effects/uses.js';
import { literalWord, type ShellWord } from '../../shell/model.js';
import { type Fence, isWithin } from './places.js';

/** A git command that may lead git elsewhere. */
interface FencedCall extends Omit<GitCall, 'leading' | 'rest'> {
  readonly rest: readonly string[];
  /** An option that leads git elsewhere, or makes it start a program. */
  readonly redirect?: string;
}

const REDIRECTS =
  /^--(git-dir|work-tree|exec-path|config-env|namespace|super-prefix|bare|attr-source)(=|$)/;

export function readGit(words: readonly ShellWord[]): FencedCall {
  const { leading, rest, ...call } = gitCall(words);
  const redirect = leading.map(({ value }, at) => redirectOf(value, leading[at + 1]?.value ?? ''));
  return {
    ...call,
    rest: rest.map(({ value }) => value),
    redirect: redirect.find((one) => one !== undefined),
  };
}

function redirectOf(value: string, next: string): string | undefined {
  if (REDIRECTS.test(value)) return value;
  const setting = value === '-c' ? next : /^-c(.+)$/s.exec(value)?.[1];
  return setting === undefined || isHarmlessSetting(setting) ? undefined : `-c ${setting}`;
}

const DANGEROUS = [
  '--ignore-other-worktrees',
  '--unsafe-paths',
  '--no-index',
  '--separate-git-dir',
  '--reference',
  '--template',
];
/**
 * Why a git command may not run, whatever files it names. `whole`: the workspace is a whole working tree; else
 * it is a part of one, and commands for all of the tree reach beyond it.
 */
export function gitProblem(
  words: readonly ShellWord[],
  { whole }: { readonly whole: boolean },
): string | undefined {
  const { name: subcommand, row, rest, redirect } = readGit(words);
  if (redirect !== undefined) return `\`git ${redirect}\` leads git to another place`;
  if (subcommand === 'worktree' && rest[0] !== 'list') {
    return '`git worktree` changes the trees of others';
  }
  const setting = subcommand === 'config' ? configProblem(rest) : undefined;
  if (setting !== undefined) {
    return `\`git config ${setting}\` would change git for the main checkout too`;
  }
  // Git takes the beginning of an option for all of it.
  const isDangerous = ([name = '']: readonly string[]): boolean =>
    name.length > 2 && DANGEROUS.some((option) => option.startsWith(name));
  const flag = rest.find((value) => isDangerous(value.split('=', 1)));
  if (flag !== undefined) return `\`${flag}\` reaches beyond this tree`;
  // A file by the name of `HEAD:main` would be put in the place of a pattern.
  const wild = words.findIndex(({ pattern }) => pattern !== undefined);
  const isEarly = wild <= words.findIndex(({ value }) => value === subcommand);
  if (wild !== -1 && (isEarly || row.names === true)) {
    return `\`${words[wild]?.raw}\` is no plain word for git`;
  }
  const taken = movesBranches(subcommand, rest, { whole });
  if (taken !== undefined) return `\`git ${taken}\` may move a branch that others work on`;
  return !whole && row.wide === true
    ? `\`git ${subcommand}\` changes files all over the repository, of which this agent works in one directory`
    : undefined;
}

const TAKES_TEXT =
  /^(-[a-zA-Z]*m|--message|-F-|--author|--date|--trailer|-S|-G|--grep|--format|--pretty)$/;
const IS_TEXT = /^(-m|--message=|--author=|--date=|--format=|--pretty=|--grep=)/;

/** Words that may be files: messages are not. */
export function textlessOperands(rest: readonly string[]): readonly string[] {
  return rest.filter(
    (value, at) =>
      !TAKES_TEXT.test(value) && !IS_TEXT.test(value) && !TAKES_TEXT.test(rest[at - 1] ?? ''),
  );
}

const CONFIG_READS =
  /^(--get|--get-all|--get-regexp|--get-urlmatch|--get-color|--get-colorbool|-l|--list)$/;
const CONFIG_OPTIONS =
  /^(--local|--worktree|--type(=[\w-]+)?|--bool|--int|--bool-or-int|-z|--null|--show-origin|--show-scope|--name-only|--includes|--no-includes|--default=.*)$/;
/** Only for looking: what they name is not this agent's to change. */
const CONFIG_PLACES = /^(--global|--system|-f|--file(=.*)?|--blob(=.*)?)$/;
const CONFIG_WRITES = /^(--add|--replace-all|--unset|--unset-all|--all|--append|--fixed-value)$/;

/** What a `git config` would change that counts elsewhere; undefined when it only looks, or is harmless. */
function configProblem(rest: readonly string[]): string | undefined {
  const options = rest.filter((value) => value.startsWith('-'));
  const operands = rest.filter((value) => !value.startsWith('-'));
  const [first] = operands;
  const isPlain = options.every((one) => CONFIG_OPTIONS.test(one) || CONFIG_PLACES.test(one));
  const isRead = (one: string): boolean =>
    CONFIG_READS.test(one) || CONFIG_OPTIONS.test(one) || CONFIG_PLACES.test(one);
  const reads = options.some((one) => CONFIG_READS.test(one)) && options.every(isRead);
  // A key alone is looked up.
  if (reads || (isPlain && (/^(get|list)$/.test(first ?? '') || operands.length === 1))) {
    return first === 'edit' ? first : undefined;
  }
  // fail-closed: an editor may write anything; so may an option that is not known.
  const odd = options.find((one) => !CONFIG_OPTIONS.test(one) && !CONFIG_WRITES.test(one));
  if (odd !== undefined) return odd;
  const [key, ...values] = first === 'set' || first === 'unset' ? operands.slice(1) : operands;
  if (key === undefined) return rest.length === 0 ? undefined : rest.join(' ');
  const settings = values.map((value) => `${key}=${value}`);
  return [key, ...settings].every(isHarmlessSetting) ? undefined : key;
}

/** Whether files of the working tree, links among them, may be others afterwards. */
export function gitPlacesFiles(words: readonly ShellWord[]): boolean {
  const { name: subcommand, row, rest, redirect } = readGit(words);
  // fail-closed: what it starts may place any file.
  if (redirect !== undefined) return true;
  if (
    row.keepsTree === true ||
    readOnlyUse(['git', subcommand, ...rest].map(literalWord)) !== undefined
  ) {
    return false;
  }
  // A new branch of where the tree is already changes no file.
  const isNew =
    (subcommand === 'checkout' && rest[0] === '-b') ||
    (subcommand === 'switch' && rest[0] === '-c');
  return !(isNew && rest.length === 2);
}

/**
 * What moves or renames branches although they are checked out elsewhere, the one of the main checkout
 * among them. Other commands leave those alone by themselves.
 */
export function movesBranches(
  subcommand: string,
  rest: readonly string[],
  { whole }: { readonly whole: boolean },
): string | undefined {
  const { shared } = gitSubcommand(subcommand);
  if (shared === true) return subcommand;
  const word = rest.find((value) => shared?.test(value) === true);
  if (word !== undefined) return `${subcommand} ${word}`;
  const named = textlessOperands(rest).filter((value) => !value.startsWith('-'));
  switch (subcommand) {
    case 'symbolic-ref':
      return named.length > 1 ? subcommand : undefined;
    case 'fetch':
    case 'pull':
      return intoBranches(subcommand, rest);
    case 'branch':
      return renames(rest, { whole });
    case 'remote':
      return makesNearRemote(rest);
    default:
      return undefined;
  }
}

/** Words that are no value of an option. */
function withoutValues(rest: readonly string[], options: RegExp): readonly string[] {
  return rest.filter((_, at) => !options.test(rest[at - 1] ?? ''));
}

const OF_NO_BRANCH = /^(refs\/(?!heads\/)[\w-]+\/|tags\/|remotes\/)/;

/** Git's pull overwrites any branch that it is told to fetch into; so does the fetch of older ones. */
function intoBranches(subcommand: string, rest: readonly string[]): string | undefined {
  // fail-closed: what it fetches into stands elsewhere than behind the repository.
  const elsewhere = rest.find((value) => /^--(st|refm)/.test(value) && !value.endsWith('='));
  if (elsewhere !== undefined) return `${subcommand} ${elsewhere}`;
  const given = withoutValues(rest, /^(--depth|--deepen|-j|--jobs)$/);
  const repository = given.find((value) => !value.startsWith('-'));
  const found = given.find((value) => {
    const [, into = ''] = /^[^:]*:(.*)$/s.exec(value) ?? [];
    return value !== repository && into !== '' && !OF_NO_BRANCH.test(into);
  });
  return found === undefined ? undefined : `${subcommand} ${found}`;
}

/** Only the branch that the tree is on may get another name, and only one that is free. */
function renames(
  rest: readonly string[],
  { whole }: { readonly whole: boolean },
): string | undefined {
  const moved = rest.find((value) => /^(-[a-zA-Z]*[mMcC]|--mo|--cop)/.test(value));
  if (moved === undefined) return undefined;
  const isForced = rest.some((value) => /^(-[a-zA-Z]*[MCf]|--fo?r?c?e?$)/.test(value));
  const named = rest.filter((value) => !value.startsWith('-'));
  return isForced || named.length > 1 || !whole ? `branch ${moved}` : undefined;
}

/** A remote that leads here is a way to push to the main checkout, or to mirror into it. */
function makesNearRemote(rest: readonly string[]): string | undefined {
  const given = withoutValues(rest, /^(-[tm]|--track|--master)$/);
  const [action, , ...addresses] = given.filter((value) => !value.startsWith('-'));
  if (action === 'add' && rest.some((value) => /^--mi/.test(value))) return 'remote add --mirror';
  if (action !== 'add' && action !== 'set-url') return undefined;
  return addresses.every(isFarAway) ? undefined : `remote ${action} ${addresses.join(' ')}`;
}

interface PushPlace {
  readonly fence: Fence;
  readonly judge: Pick<PathJudge, 'spell' | 'disk'>;
}

const NEAR = /^(\.{1,2}(\/|$)|[/~]|file:|\.git$)/i;

/**
 * Why a `git push` may not run: it leads to this very repository, where it moves the branches that
 * others work on. `rest`: what stands behind `push`.
 */
export async function pushProblem(
  rest: readonly string[],
  place: PushPlace,
): Promise<string | undefined> {
  const valued = /^(-o|--push-option|--receive-pack|--exec|--repo)$/;
  const operands = withoutValues(rest, valued).filter((value) => !value.startsWith('-'));
  // `--repo` stands for the operand.
  const repositories = rest.flatMap((value, at) => {
    const [option, attached] = /^--repo?(?:=(.*))?$/s.exec(value) ?? [];
    return option === undefined ? [] : [attached ?? rest[at + 1] ?? ''];
  });
  const near = operands.find((value) => NEAR.test(value));
  if (near !== undefined) return leadsBack(near);
  const remotes = await remotesOf(place);
  const named = [...operands.slice(0, 1), ...repositories];
  // Without a name it goes to whichever remote the branch has.
  const isUnnamed = named.length === 0;
  for (const name of isUnnamed ? (remotes?.chosen ?? []) : named) {
    if (!isUnnamed && isFarAway(name)) continue;
    const isPath = /[/:]/.test(name) || NEAR.test(name);
    const addresses = remotes?.addresses.get(name) ?? (isUnnamed ? [name] : []);
    // fail-closed: what is no remote is taken for a directory.
    if (!isUnnamed && (isPath || (remotes !== undefined && addresses.length === 0))) {
      return leadsBack(name);
    }
    for (const address of addresses) {
      if (await leadsHere(address, place)) return leadsBack(name);
    }
  }
  return undefined;
}

function leadsBack(name: string): string {
  return `\`git push\` to ${name} may lead to a repository on this machine and move a branch that others work on; commit, and leave the branch to whoever takes the work over, or name a remote on another machine`;
}

const FAR =
  /^(?:(?:https?|ssh|git|git\+ssh|ssh\+git):\/\/(?:[^/@]*@)?([^/:@[\]]+)(?::\d+)?(?:\/|$)|(?:[\w.+-]+@)?([\w.-]{2,}):(?!:)(?!\/\/))/i;

/** Whether an address surely is another machine's. */
function isFarAway(address: string): boolean {
  const found = FAR.exec(address);
  const host = found?.[1] ?? found?.[2];
  return host !== undefined && !/^(localhost(\..*)?|127\..*|0|0\.0\.0\.0)$/i.test(host);
}

async function leadsHere(address: string, { fence, judge }: PushPlace): Promise<boolean> {
  if (isFarAway(address)) return false;
  const path = address.replace(/^file:\/\//i, '');
  // fail-closed: whatever else there is by which git finds a repository.
  if (!isAbsolute(path)) return true;
  const { real } = await judge.spell(path);
  return isWithin(real, [...fence.project, ...fence.writable]);
}

interface Remotes {
  readonly addresses: ReadonlyMap<string, readonly string[]>;
  /** What branches, and all of them together, are pushed to. */
  readonly chosen: readonly string[];
}

/** Undefined where the repository's configuration is not found in its place. */
async function remotesOf({ fence, judge }: PushPlace): Promise<Remotes | undefined> {
  for (const directory of fence.project) {
    // Without it only git knows the remotes, and those are not the agent's to make.
    const text = await judge.disk.readText(join(directory, '.git/config')).catch(() => undefined);
    if (text === undefined) continue;
    const addresses = new Map<string, string[]>();
    const chosen = new Set<string>();
    // Git pushes nothing where it cannot read its configuration.
    for (const { key, value } of parseGitConfig(text) ?? []) {
      const remote = /^remote\.(.+)\.(?:url|pushurl)$/s.exec(key)?.[1];
      if (remote !== undefined) addresses.set(remote, [...(addresses.get(remote) ?? []), value]);
      if (/^(branch\..+\.(remote|pushremote)|remote\.pushdefault)$/s.test(key)) chosen.add(value);
    }
    const origin = addresses.has('origin') ? ['origin'] : [];
    return { addresses, chosen: [...origin, ...[...chosen].filter((one) => one !== 'origin')] };
  }
  return undefined;
}
