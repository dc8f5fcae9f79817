import { isFarAway } from './workspace-fence-push.js';

/** A git command as far as branches are concerned. */
export interface BranchUse {
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
