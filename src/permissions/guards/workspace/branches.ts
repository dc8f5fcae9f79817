import { isAbsolute, join } from '../../../platform/fs/paths.js';
import type { PathJudge } from '../../paths/paths.js';
import { type Fence, isWithin } from './places.js';

interface PushPlace {
  readonly fence: Fence;
  readonly judge: Pick<PathJudge, 'spell' | 'disk'>;
}

/**
 * Why a `git push` may not run: it leads to this very repository, where it moves the branches that
 * others work on. `rest`: what stands behind `push`.
 */
export async function pushProblem(
  rest: readonly string[],
  place: PushPlace,
): Promise<string | undefined> {
  const given = rest.filter((_, at) => !WITH_VALUE.test(rest[at - 1] ?? ''));
  const operands = given.filter((value) => !value.startsWith('-'));
  const [first] = operands;
  const near = operands.find((value) => NEAR.test(value));
  if (near !== undefined) return leadsBack(near);
  const named = [...(first === undefined ? [] : [first]), ...repositoriesOf(rest)];
  const config = await configOf(place);
  if (named.length === 0) return unnamedProblem(config, place);
  for (const name of named) {
    if (isFarAway(name)) continue;
    // fail-closed: what is no remote is taken for a directory.
    if (/[/:]/.test(name) || NEAR.test(name)) return leadsBack(name);
    if (config === undefined) continue;
    const addresses = config.addresses.get(name) ?? [];
    if (addresses.length === 0) return leadsBack(name);
    for (const address of addresses) {
      if (await leadsHere(address, place)) return leadsBack(name);
    }
  }
  return undefined;
}

function leadsBack(name: string): string {
  return `\`git push ${name}\` may lead to a repository on this machine and move a branch that others work on; commit, and leave the branch to whoever takes the work over, or name a remote on another machine`;
}

const WITH_VALUE = /^(-o|--push-option|--receive-pack|--exec|--repo)$/;
const NEAR = /^(\.{1,2}(\/|$)|[/~]|file:|\.git$)/i;

/** `--repo` stands for the operand. */
function repositoriesOf(rest: readonly string[]): readonly string[] {
  return rest.flatMap((value, at) => {
    const [, attached] = /^--repo?=(.*)$/s.exec(value) ?? [];
    if (attached !== undefined) return [attached];
    return /^--repo?$/.test(value) ? [rest[at + 1] ?? ''] : [];
  });
}

/** Without a name it goes to whichever remote the branch has. */
async function unnamedProblem(
  config: Remotes | undefined,
  place: PushPlace,
): Promise<string | undefined> {
  for (const name of config?.chosen ?? []) {
    const addresses = config?.addresses.get(name) ?? [name];
    for (const address of addresses) {
      if (await leadsHere(address, place)) {
        return `\`git push\` may lead to "${name}", which is this repository: name another remote and the branch`;
      }
    }
  }
  return undefined;
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
async function configOf({ fence, judge }: PushPlace): Promise<Remotes | undefined> {
  for (const directory of fence.project) {
    const file = join(directory, '.git/config');
    // Without it only git knows the remotes, and those are not the agent's to make.
    const text = await judge.disk.readText(file).catch(() => undefined);
    if (text !== undefined) return remotesIn(text);
  }
  return undefined;
}

function remotesIn(text: string): Remotes {
  const addresses = new Map<string, string[]>();
  const chosen = new Set<string>();
  let section = '';
  let name = '';
  for (const line of text.split('\n')) {
    const header = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (header !== null) {
      section = (header[1] ?? '').toLowerCase();
      name = (header[2] ?? '').replace(/\\(.)/g, '$1');
    }
    const setting = /^([\w-]+)\s*=(.*)$/.exec(line.slice(header?.[0].length ?? 0).trim());
    const key = `${section}.${setting?.[1]?.toLowerCase()}`;
    const value = (setting?.[2] ?? '').trim().replace(/"/g, '');
    if (/^remote\.(url|pushurl)$/.test(key)) {
      addresses.set(name, [...(addresses.get(name) ?? []), value]);
    }
    if (/^(branch\.(remote|pushremote)|remote\.pushdefault)$/.test(key)) chosen.add(value);
  }
  return {
    addresses,
    chosen: ['origin', ...chosen].filter((one) => one !== 'origin' || addresses.has(one)),
  };
}

/** A git command as far as branches are concerned. */
interface BranchUse {
  readonly subcommand: string;
  readonly rest: readonly string[];
  /** Without messages and other texts. */
  readonly operands: readonly string[];
  /** The agent works in a whole tree, whose own branch is its own. */
  readonly whole: boolean;
}

/**
 * What moves or renames branches although they are checked out elsewhere, the one of the main checkout
 * among them. Other commands leave those alone by themselves.
 */
export function takesBranches(use: BranchUse): string | undefined {
  const { subcommand, rest } = use;
  const has = (option: RegExp): boolean => rest.some((value) => option.test(value));
  switch (subcommand) {
    case 'update-ref':
    case 'fast-import':
    case 'receive-pack':
    case 'send-pack':
    case 'filter-branch':
    case 'filter-repo':
    case 'replay':
    // Shared by all worktrees: objects, replacements for them, and the reflogs that keep them reachable.
    case 'replace':
    case 'gc':
    case 'prune':
    case 'prune-packed':
    case 'repack':
    case 'pack-refs':
    case 'pack-redundant':
    case 'multi-pack-index':
    case 'maintenance':
    case 'refs':
    case 'unpack-objects':
    case 'index-pack':
      return subcommand;
    case 'reflog':
      return has(/^(expire|delete|drop|write)$/) ? 'reflog expire' : undefined;
    case 'symbolic-ref': {
      const named = use.operands.filter((value) => !value.startsWith('-'));
      return named.length > 1 || has(/^(-[a-z]*d|--d)/) ? subcommand : undefined;
    }
    case 'checkout':
      return has(/^-[a-zA-Z]*B/) ? 'checkout -B' : undefined;
    case 'switch':
      return has(/^(-[a-zA-Z]*C|--force-)/) ? 'switch -C' : undefined;
    case 'fetch':
    case 'pull':
      if (has(/^(-[a-zA-Z0-9]*u|--update-h)/)) return `${subcommand} -u`;
      return intoBranches(subcommand, rest);
    case 'branch':
      return renames(use);
    case 'remote':
      return makesNearRemote(rest);
    case 'subtree':
      return has(/^push$/) ? 'subtree push' : undefined;
    default:
      return undefined;
  }
}

const OF_NO_BRANCH = /^(refs\/(?!heads\/)[\w-]+\/|tags\/|remotes\/)/;
const WITH_NUMBER = /^(--depth|--deepen|-j|--jobs)$/;

/** Git's pull overwrites any branch that it is told to fetch into; so does the fetch of older ones. */
function intoBranches(subcommand: string, rest: readonly string[]): string | undefined {
  // fail-closed: what it fetches into stands elsewhere than behind the repository.
  const elsewhere = rest.find((value) => /^--(st|refm)/.test(value) && !value.endsWith('='));
  if (elsewhere !== undefined) return `${subcommand} ${elsewhere}`;
  const given = rest.filter((_, at) => !WITH_NUMBER.test(rest[at - 1] ?? ''));
  const repository = given.find((value) => !value.startsWith('-'));
  const found = given.find((value) => {
    const [, into = ''] = /^[^:]*:(.*)$/s.exec(value) ?? [];
    return value !== repository && into !== '' && !OF_NO_BRANCH.test(into);
  });
  return found === undefined ? undefined : `${subcommand} ${found}`;
}

/** Only the branch that the tree is on may get another name, and only one that is free. */
function renames({ rest, whole }: BranchUse): string | undefined {
  const moved = rest.find((value) => /^(-[a-zA-Z]*[mMcC]|--mo|--cop)/.test(value));
  if (moved === undefined) return undefined;
  const isForced = rest.some((value) => /^(-[a-zA-Z]*[MCf]|--fo?r?c?e?$)/.test(value));
  const named = rest.filter((value) => !value.startsWith('-'));
  return isForced || named.length > 1 || !whole ? `branch ${moved}` : undefined;
}

/** A remote that leads here is a way to push to the main checkout, or to mirror into it. */
function makesNearRemote(rest: readonly string[]): string | undefined {
  const given = rest.filter((_, at) => !/^(-[tm]|--track|--master)$/.test(rest[at - 1] ?? ''));
  const [action, , ...addresses] = given.filter((value) => !value.startsWith('-'));
  if (action === 'add' && rest.some((value) => /^--mi/.test(value))) return 'remote add --mirror';
  if (action !== 'add' && action !== 'set-url') return undefined;
  return addresses.every(isFarAway) ? undefined : `remote ${action} ${addresses.join(' ')}`;
}
