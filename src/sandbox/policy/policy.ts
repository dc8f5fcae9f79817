import { mainCheckout, treeAround } from '../../permissions/paths/working-trees.js';
import { type DomainPattern, matchesDomain, parseDomain } from '../../permissions/rules/domain.js';
import type { Rule, RuleSet } from '../../permissions/rules/rules.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import {
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
import {
  grantedTree,
  resolveSpots,
  restrictedSpots,
  type Spot,
  spotOfPath,
  spotsInTrees,
} from './rules.js';
import type { SandboxPath, SandboxSettings } from './settings.js';

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
  /** Reports once what the sandbox cannot enforce exactly. */
  tell(text: string): void;
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
  const { settings } = parts;
  const rules = rulesFor(order.agent, parts);
  const network = networkOf(settings, rules);
  const { scratch } = order;
  const weaker = {
    nestedUserNamespaces: settings.nestedUserNamespaces || undefined,
    localBinding: settings.localBinding || undefined,
    unixSockets: settings.unixSockets.length > 0 ? settings.unixSockets : undefined,
  };
  if (settings.filesOpen) {
    return { writable: ['/'], protected: [], hidden: [], shown: [], network, weaker, scratch };
  }
  const job: Job = { order, settings, rules, parts };
  const writable = await writableOf(job);
  const readable = await readableOf(job, writable);
  const kept = await protectedOf(job, writable);
  return { writable: writable.trees, protected: kept, ...readable, network, weaker, scratch };
}

interface Job {
  readonly order: PolicyOrder;
  readonly settings: SandboxSettings;
  readonly rules: RuleSet;
  readonly parts: PolicyParts;
}

/** Denials of the session apply to every agent; an agent's grants must also be granted to the session. */
function rulesFor(agent: AgentRef, { rules }: PolicyParts): RuleSet {
  const own = rules(agent);
  if (agent.depth === 0) return own;
  const main = rules(MAIN_AGENT);
  const allow = main.allow.filter((rule) => own.allow.some((one) => one.text === rule.text));
  return { allow, ask: own.ask, deny: [...new Set([...main.deny, ...own.deny])] };
}

interface Writable {
  readonly trees: readonly string[];
  /** Protected paths inside the trees. */
  readonly kept: readonly string[];
  /** The git directories among the trees. */
  readonly shared: readonly string[];
}

async function writableOf(job: Job): Promise<Writable> {
  const { order, settings, rules, parts } = job;
  const { agent } = order;
  const own = agent.workspace === undefined ? order.roots : [agent.workspace];
  const granted = [
    ...rules.allow.filter(isEdit).flatMap((rule) => grantedTree(rule) ?? []),
    ...settings.allowWrite.flatMap((one) => literal(one, parts)),
  ];
  const roots = await resolved(own, parts);
  const project = [
    ...(await resolved([checkoutOf(parts)], parts)),
    ...(await hiddenCheckouts(job)),
  ];
  const more = (await resolved(granted, parts)).filter((path) => {
    // Rules that cover everything, the home directory or a parent of a root do not open the sandbox.
    if (path === '/' || path === parts.home || roots.some((root) => isInside(root, path))) {
      return false;
    }
    // An agent with its own workspace may not write to the project.
    return agent.workspace === undefined || !project.some((one) => isInside(path, one));
  });
  const kept: string[] = [];
  const shared: string[] = [];
  for (const root of roots) {
    const git = await sharedGit(root, parts.fs);
    if (git === undefined) continue;
    shared.push(git);
    kept.push(...(await protectedInGit(git, parts.fs)));
    kept.push(...OF_MAIN_CHECKOUT.map((name) => join(git, name)));
    // Git treats worktrees that it cannot see as deleted and would prune their records.
    if (isApart(order)) kept.push(...(await otherTrees(git, root, parts.fs)));
  }
  const lent = await resolved(order.lent?.writable ?? [], parts);
  return { trees: unique([...roots, ...more, ...shared, ...lent]), kept, shared };
}

async function protectedOf(
  { order, settings, rules, parts }: Job,
  { trees, kept, shared }: Writable,
): Promise<readonly string[]> {
  const base = { cwd: parts.cwd, home: parts.home };
  const spots: Spot[] = [
    // A path denied for reading is denied for writing too.
    ...rules.deny
      .filter((rule) => rule.spec.kind === 'path')
      .flatMap((rule) => restrictedSpots(rule, base)),
    ...settings.denyWrite.map(({ path }) => spotOfPath(path, base)),
    ...settings.denyRead.map(({ path }) => spotOfPath(path, base)),
  ];
  const denied = await foundInTrees(spots, { order, parts });
  const lent = await resolved(order.lent?.writable ?? [], parts);
  const own = await Promise.all(
    trees
      .filter((tree) => !lent.includes(tree) && !shared.includes(tree))
      .map((tree) => protectedIn(tree, parts)),
  );
  const named = [
    ...denied,
    ...own.flat(),
    ...kept,
    ...ownPlaces(parts),
    ...(parts.settingsFiles ?? []),
    ...(parts.plugins ?? []),
  ];
  // Includes the unresolved name, so that a link there cannot be replaced.
  const all = [...named, ...(await resolved(named, parts))];
  return unique(all).filter((path) => trees.some((tree) => isInside(path, tree)));
}

async function readableOf(
  job: Job,
  { trees }: Writable,
): Promise<{ readonly hidden: readonly string[]; readonly shown: readonly string[] }> {
  const { order, settings, rules, parts } = job;
  const base = { cwd: parts.cwd, home: parts.home };
  const spots: Spot[] = [
    ...rules.deny
      .filter((rule) => rule.spec.kind === 'path' && rule.spec.access === 'read')
      .flatMap((rule) => restrictedSpots(rule, base)),
    ...settings.denyRead.map(({ path }) => spotOfPath(path, base)),
  ];
  const denied = await resolved(await foundInTrees(spots, { order, parts }), parts);
  const own = await resolved(ownPlaces(parts), parts);
  const asked = await resolved(
    settings.allowRead.flatMap((one) => literal(one, parts)),
    parts,
  );
  const checkouts = await hiddenCheckouts(job);
  // No setting reveals our own state or the hidden checkout, and a path denied by its exact name stays
  // denied.
  const reopened = asked.filter(
    (path) => ![...own, ...checkouts].some((one) => isInside(path, one)),
  );
  const credentials = (await resolved(credentialPlaces(parts.home), parts)).filter(
    (path) => !reopened.includes(path) && !trees.includes(path),
  );
  // Shown even when nothing is hidden, because temporary directories are private inside.
  const lent = await resolved(order.lent?.readable ?? [], parts);
  const shown = [
    ...reopened.filter((path) => !denied.includes(path)),
    ...(await resolved(shownConfiguration(parts.configDir), parts)),
    ...trees,
    ...(checkouts.length === 0 ? [] : await sharedWithTree(job)),
  ];
  const hidden = unique([...denied, ...credentials, ...own, ...checkouts]);
  const within = shown.filter((path) => hidden.some((one) => isInside(path, one)));
  return { hidden, shown: unique([...lent, ...within]) };
}

function isApart({ agent: { isolation, workspace }, hidesCheckout }: PolicyOrder): boolean {
  return hidesCheckout === true && isolation === 'worktree' && workspace !== undefined;
}

/** The checkouts hidden from an agent in its own worktree, including all other worktrees. */
async function hiddenCheckouts({ order, parts }: Job): Promise<readonly string[]> {
  const { workspace } = order.agent;
  if (!isApart(order) || workspace === undefined) return [];
  const around = mainCheckout(workspace)?.main;
  const all = [checkoutOf(parts), ...(around === undefined ? [] : [around])];
  const own = await resolved([workspace], parts);
  // For a session started in the workspace the checkout is the workspace itself.
  return (await resolved(all, parts)).filter((path) => !own.some((one) => isInside(path, one)));
}

/** What an agent in a worktree may read besides its workspace: the tree around it, git data and linked directories. */
async function sharedWithTree({ order, settings, parts }: Job): Promise<readonly string[]> {
  const { workspace } = order.agent;
  if (workspace === undefined) return [];
  const tree = mainCheckout(workspace)?.tree ?? workspace;
  const git = await sharedGit(tree, parts.fs);
  const linked = settings.linkedDirectories.map((name) => join(checkoutOf(parts), name));
  return await resolved([tree, ...(git === undefined ? [] : [git]), ...linked], parts);
}

function checkoutOf({ cwd }: Pick<PolicyParts, 'cwd'>): string {
  return findRepositoryRoot(cwd) ?? cwd;
}

function ownPlaces({ configDir, stateDirectory }: PolicyParts): readonly string[] {
  return [configDir, stateDirectory];
}

function networkOf(settings: SandboxSettings, rules: RuleSet): SandboxNetwork {
  const isManaged = ({ origin }: Rule): boolean => origin.source === 'managed';
  const patterns = (list: readonly Rule[]): readonly DomainPattern[] =>
    list.flatMap(({ spec }) => (spec.kind === 'domain' ? [spec.pattern] : []));
  const named = (list: SandboxSettings['allowedDomains']): readonly DomainPattern[] =>
    list.flatMap(({ value }) => parseDomain(`domain:${value}`) ?? []);
  const allowRules = settings.managedDomainsOnly ? rules.allow.filter(isManaged) : rules.allow;
  const allowed = [...named(settings.allowedDomains), ...patterns(allowRules)];
  const denied = [...named(settings.deniedDomains), ...patterns(rules.deny)];
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

/** Returns a granted path; patterns grant nothing. */
function literal(
  { path, label }: SandboxPath,
  { cwd, home, tell }: PolicyParts,
): readonly string[] {
  const spot = spotOfPath(path, { cwd, home });
  if (spot.kind === 'place') return [spot.path];
  tell(`the sandbox opens no patterns, so ${label} opens nothing; name the directory`);
  return [];
}

/** Resolves spots in the checkout and in the agents' copies of it. */
async function foundInTrees(
  spots: readonly Spot[],
  { order: { agent }, parts }: Pick<Job, 'order' | 'parts'>,
): Promise<readonly string[]> {
  const here = await resolveSpots(spots, parts.finder);
  if (spots.length === 0) return here;
  const checkout = checkoutOf(parts);
  const { isolation, workspace } = agent;
  const own = isolation === 'worktree' && workspace !== undefined ? [treeOf(workspace)] : [];
  const others = (await treesOf(checkout, parts)).filter((at) => !own.includes(at));
  const mine = await resolveSpots(spotsInTrees(spots, checkout, own), parts.finder);
  const theirs = await resolveSpots(spotsInTrees(spots, checkout, others), parts.finder);
  // Nothing can be created in other agents' trees, so missing paths need no mount point.
  const there = await Promise.all(theirs.map((path) => parts.fs.lstat(path)));
  return [...here, ...mine, ...theirs.filter((_, at) => there[at] !== undefined)];
}

/** The worktrees below the checkout, and its siblings when it is a worktree itself. */
async function treesOf(checkout: string, { fs }: PolicyParts): Promise<readonly string[]> {
  const around = treeAround(checkout);
  const directories = [
    join(checkout, '.claude/worktrees'),
    ...(around === undefined ? [] : [dirname(around)]),
  ];
  const lists = await Promise.all(
    directories.map(async (directory) => {
      const names = await fs.list(directory).catch(() => []);
      return names.map(({ name }) => join(directory, name));
    }),
  );
  return lists.flat().filter((tree) => tree !== around);
}

function treeOf(workspace: string): string {
  return nearestRepository(workspace) ?? workspace;
}

/** Resolves links and keeps both the path and its target. */
async function resolved(
  paths: readonly string[],
  { fs }: Pick<PolicyParts, 'fs'>,
): Promise<readonly string[]> {
  const all = await Promise.all(
    paths.map(async (path) => {
      const parent = await fs.realPath(dirname(path));
      const name = path === '/' ? '/' : join(parent, path.slice(path.lastIndexOf('/') + 1));
      return [await fs.realPath(path), name];
    }),
  );
  return unique(all.flat());
}

function unique<T>(list: readonly T[]): readonly T[] {
  return [...new Set(list)];
}
