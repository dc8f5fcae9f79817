import { mainCheckout, treeAround } from '../../permissions/paths/working-trees.js';
import { type DomainPattern, matchesDomain } from '../../permissions/rules/domain.js';
import type { Rule, RuleSet } from '../../permissions/rules/rules.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import {
  basename,
  dirname,
  findRepositoryRoot,
  isInside,
  join,
  nearestRepository,
} from '../../platform/fs/paths.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { SandboxNetwork, SandboxPolicy } from '../types.js';
import type { Finder } from './find.js';
import {
  credentialPlaces,
  OF_MAIN_CHECKOUT,
  otherTrees,
  protectedIn,
  protectedInGit,
  sharedGit,
  shownConfiguration,
} from './places.js';
import { grantedTree, resolveSpots, restrictedSpots, spotOfPath, spotsInTrees } from './rules.js';
import type { SandboxSettings } from './settings.js';

export interface PolicyParts {
  readonly fs: Pick<FileSystem, 'realPath' | 'lstat' | 'list' | 'readText'>;
  readonly finder: Finder;
  readonly home: string;
  readonly configDir: string;
  readonly stateDirectory: string;
  /** The session's working directory. */
  readonly cwd: string;
  readonly settings: SandboxSettings;
  /** All settings files, because writing them changes the next policy. */
  readonly settingsFiles?: readonly string[];
  /** Plugin directories, which contain hooks. */
  readonly plugins?: readonly string[];
  rules(agent: AgentRef): RuleSet;
}

/** Whose program runs, and with which extras. */
export interface PolicyOrder {
  readonly agent: AgentRef;
  /** Its owner's working directories. */
  readonly roots: readonly string[];
  /** Our own directories that it needs, such as for hook variables or long output. */
  readonly lent?: { readonly readable?: readonly string[]; readonly writable?: readonly string[] };
  /** The name of a shared temporary directory. */
  readonly scratch?: string;
  /** Hides the project's checkout from an agent with its own worktree. */
  readonly hidesCheckout?: boolean;
}

/** Computes the policy before each program. */
export async function sandboxPolicy(
  parts: PolicyParts,
  order: PolicyOrder,
): Promise<SandboxPolicy> {
  return await new PolicyBuilder(parts, order).build();
}

interface Writable {
  readonly trees: readonly string[];
  /** Protected paths inside the trees. */
  readonly kept: readonly string[];
  /** The git directories among the trees. */
  readonly shared: readonly string[];
}

class PolicyBuilder {
  readonly #parts: PolicyParts;
  readonly #order: PolicyOrder;
  readonly #rules: RuleSet;
  readonly #checkout: string;
  /** Our own configuration and state. */
  readonly #own: readonly string[];

  constructor(parts: PolicyParts, order: PolicyOrder) {
    this.#parts = parts;
    this.#order = order;
    this.#rules = rulesFor(order.agent, parts);
    this.#checkout = findRepositoryRoot(parts.cwd) ?? parts.cwd;
    this.#own = [parts.configDir, parts.stateDirectory];
  }

  async build(): Promise<SandboxPolicy> {
    const { settings } = this.#parts;
    const common = {
      network: networkOf(settings, this.#rules),
      scratch: this.#order.scratch,
      weaker: {
        nestedUserNamespaces: settings.nestedUserNamespaces || undefined,
        localBinding: settings.localBinding || undefined,
        unixSockets: settings.unixSockets.length > 0 ? settings.unixSockets : undefined,
      },
    };
    if (settings.filesOpen) {
      return { ...common, writable: ['/'], protected: [], hidden: [], shown: [] };
    }
    const checkouts = await this.#hiddenCheckouts();
    const writable = await this.#writable(checkouts);
    return {
      ...common,
      ...(await this.#readable(writable.trees, checkouts)),
      writable: writable.trees,
      protected: await this.#protected(writable),
    };
  }

  async #writable(hiddenCheckouts: readonly string[]): Promise<Writable> {
    const { fs, home, settings } = this.#parts;
    const { agent, roots: given, lent } = this.#order;
    const roots = await this.#resolved(agent.workspace === undefined ? given : [agent.workspace]);
    const project = [...(await this.#resolved([this.#checkout])), ...hiddenCheckouts];
    const granted = await this.#resolved([
      ...this.#rules.allow.filter(isEdit).flatMap((rule) => grantedTree(rule) ?? []),
      ...settings.allowWrite,
    ]);
    const more = granted.filter((path) => {
      // Rules that cover everything, the home directory or a parent of a root do not open the sandbox.
      if (path === '/' || path === home || roots.some((root) => isInside(root, path))) return false;
      // An agent with its own workspace may not write to the project.
      return agent.workspace === undefined || !project.some((one) => isInside(path, one));
    });
    const kept: string[] = [];
    const shared: string[] = [];
    for (const root of roots) {
      const git = await sharedGit(root, fs);
      if (git === undefined) continue;
      shared.push(git);
      kept.push(...(await protectedInGit(git, fs)));
      kept.push(...OF_MAIN_CHECKOUT.map((name) => join(git, name)));
      // Git treats worktrees that it cannot see as deleted and would prune their records.
      if (this.#isApart()) kept.push(...(await otherTrees(git, root, fs)));
    }
    const trees = [...roots, ...more, ...shared, ...(await this.#resolved(lent?.writable ?? []))];
    return { trees: unique(trees), kept, shared };
  }

  async #protected({ trees, kept, shared }: Writable): Promise<readonly string[]> {
    const { settings, settingsFiles = [], plugins = [] } = this.#parts;
    // A path denied for reading is denied for writing too.
    const denied = await this.#denied(this.#rules.deny, [
      ...settings.denyWrite,
      ...settings.denyRead,
    ]);
    const lent = await this.#resolved(this.#order.lent?.writable ?? []);
    const own = await Promise.all(
      trees
        .filter((tree) => !lent.includes(tree) && !shared.includes(tree))
        .map((tree) => protectedIn(tree, this.#parts)),
    );
    const named = [...denied, ...own.flat(), ...kept, ...this.#own, ...settingsFiles, ...plugins];
    // Includes the unresolved name, so that a link there cannot be replaced.
    const all = [...named, ...(await this.#resolved(named))];
    return unique(all).filter((path) => trees.some((tree) => isInside(path, tree)));
  }

  async #readable(
    trees: readonly string[],
    checkouts: readonly string[],
  ): Promise<Pick<SandboxPolicy, 'hidden' | 'shown'>> {
    const { settings, home, configDir } = this.#parts;
    const rules = this.#rules.deny.filter(
      ({ spec }) => spec.kind === 'path' && spec.access === 'read',
    );
    const denied = await this.#resolved(await this.#denied(rules, settings.denyRead));
    const own = await this.#resolved(this.#own);
    // No setting reveals our own state or the hidden checkout, and a path denied by its exact name stays
    // denied.
    const reopened = (await this.#resolved(settings.allowRead)).filter(
      (path) => ![...own, ...checkouts].some((one) => isInside(path, one)),
    );
    const credentials = (await this.#resolved(credentialPlaces(home))).filter(
      (path) => !reopened.includes(path) && !trees.includes(path),
    );
    // Shown even when nothing is hidden, because temporary directories are private inside.
    const lent = await this.#resolved(this.#order.lent?.readable ?? []);
    const shown = [
      ...reopened.filter((path) => !denied.includes(path)),
      ...(await this.#resolved(shownConfiguration(configDir))),
      ...trees,
      ...(checkouts.length === 0 ? [] : await this.#sharedWithTree()),
    ];
    const hidden = unique([...denied, ...credentials, ...own, ...checkouts]);
    const within = shown.filter((path) => hidden.some((one) => isInside(path, one)));
    return { hidden, shown: unique([...lent, ...within]) };
  }

  /** What restrictions cover in the checkout and in the agents' copies of it. */
  async #denied(rules: readonly Rule[], paths: readonly string[]): Promise<readonly string[]> {
    const { finder, fs } = this.#parts;
    const spots = [
      ...rules.flatMap((rule) => restrictedSpots(rule, this.#parts)),
      ...paths.map((path) => spotOfPath(path, this.#parts)),
    ];
    const here = await resolveSpots(spots, finder);
    if (spots.length === 0) return here;
    const { isolation, workspace } = this.#order.agent;
    const own =
      isolation === 'worktree' && workspace !== undefined
        ? [nearestRepository(workspace) ?? workspace]
        : [];
    const others = (await this.#trees()).filter((at) => !own.includes(at));
    const mine = await resolveSpots(spotsInTrees(spots, this.#checkout, own), finder);
    const theirs = await resolveSpots(spotsInTrees(spots, this.#checkout, others), finder);
    // Nothing can be created in other agents' trees, so missing paths need no mount point.
    const there = await Promise.all(theirs.map((path) => fs.lstat(path)));
    return [...here, ...mine, ...theirs.filter((_, at) => there[at] !== undefined)];
  }

  /** The worktrees below the checkout, and its siblings when it is a worktree itself. */
  async #trees(): Promise<readonly string[]> {
    const around = treeAround(this.#checkout);
    const directories = [
      join(this.#checkout, '.claude/worktrees'),
      ...(around === undefined ? [] : [dirname(around)]),
    ];
    const lists = await Promise.all(
      directories.map(async (directory) => {
        const names = await this.#parts.fs.list(directory).catch(() => []);
        return names.map(({ name }) => join(directory, name));
      }),
    );
    return lists.flat().filter((tree) => tree !== around);
  }

  #isApart(): boolean {
    const { agent, hidesCheckout } = this.#order;
    return (
      hidesCheckout === true && agent.isolation === 'worktree' && agent.workspace !== undefined
    );
  }

  /** The checkouts hidden from an agent in its own worktree, including all other worktrees. */
  async #hiddenCheckouts(): Promise<readonly string[]> {
    const { workspace } = this.#order.agent;
    if (!this.#isApart() || workspace === undefined) return [];
    const around = mainCheckout(workspace)?.main;
    const all = [this.#checkout, ...(around === undefined ? [] : [around])];
    const own = await this.#resolved([workspace]);
    // For a session started in the workspace the checkout is the workspace itself.
    return (await this.#resolved(all)).filter((path) => !own.some((one) => isInside(path, one)));
  }

  /** What an agent in a worktree may read besides its workspace: the tree around it, git data and linked directories. */
  async #sharedWithTree(): Promise<readonly string[]> {
    const { workspace } = this.#order.agent;
    if (workspace === undefined) return [];
    const { fs, settings } = this.#parts;
    const tree = mainCheckout(workspace)?.tree ?? workspace;
    const git = await sharedGit(tree, fs);
    const linked = settings.linkedDirectories.map((name) => join(this.#checkout, name));
    return await this.#resolved([tree, ...(git === undefined ? [] : [git]), ...linked]);
  }

  /** Resolves links and keeps both the path and its target. */
  async #resolved(paths: readonly string[]): Promise<readonly string[]> {
    const { fs } = this.#parts;
    const all = await Promise.all(
      paths.map(async (path) => {
        const name = path === '/' ? '/' : join(await fs.realPath(dirname(path)), basename(path));
        return [await fs.realPath(path), name];
      }),
    );
    return unique(all.flat());
  }
}

/** Denials of the session apply to every agent; an agent's grants must also be granted to the session. */
function rulesFor(agent: AgentRef, { rules }: PolicyParts): RuleSet {
  const own = rules(agent);
  if (agent.depth === 0) return own;
  const main = rules(MAIN_AGENT);
  const allow = main.allow.filter((rule) => own.allow.some((one) => one.text === rule.text));
  return { allow, ask: own.ask, deny: [...new Set([...main.deny, ...own.deny])] };
}

function networkOf(settings: SandboxSettings, rules: RuleSet): SandboxNetwork {
  const isManaged = ({ origin }: Rule): boolean => origin.source === 'managed';
  const patterns = (list: readonly Rule[]): readonly DomainPattern[] =>
    list.flatMap(({ spec }) => (spec.kind === 'domain' ? [spec.pattern] : []));
  const allowRules = settings.managedDomainsOnly ? rules.allow.filter(isManaged) : rules.allow;
  const allowed = [...settings.allowedDomains, ...patterns(allowRules)];
  const denied = [...settings.deniedDomains, ...patterns(rules.deny)];
  // A deny rule for the whole tool says nothing about programs.
  if (allowed.length === 0) return { kind: 'none' };
  const fits = (list: readonly DomainPattern[], host: string): boolean =>
    list.some((pattern) => matchesDomain(pattern, urlOf(host)));
  const exact = allowed.filter(({ labels, subdomains, every }) => {
    return !subdomains && !every && labels.every((label) => !label.includes('*'));
  });
  return {
    kind: 'filtered',
    allows: async (host) => !fits(denied, host) && fits(allowed, host),
    named: (host) => fits(exact, host),
  };
}

function urlOf(host: string): string {
  return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}/`;
}

function isEdit({ spec }: Rule): boolean {
  return spec.kind === 'path' && spec.access === 'write' && spec.everyTool;
}

function unique<T>(list: readonly T[]): readonly T[] {
  return [...new Set(list)];
}
