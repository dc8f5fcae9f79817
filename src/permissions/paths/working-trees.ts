import {
  basename,
  dirname,
  findRepositoryRoot,
  isInside,
  join,
  nearestRepository,
  relative,
  toPosix,
} from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';

/** Where agents have copies of a checkout. What restricts a file there restricts its copies. */
export interface WorkingTrees {
  /** The names in the checkout of what lies in a tree at this path; none where no tree is. */
  standsFor(path: string): readonly string[];
  /** Whether a tree may lie below the directory. */
  leadsTo(directory: string): boolean;
  /** What the session calls its checkout; links may be among the names. */
  checkouts(): readonly string[];
}

interface SessionTrees extends WorkingTrees {
  /** An agent begins. A tree that it has stays known: its files may outlive it. */
  admit(agent: Pick<AgentRef, 'isolation' | 'workspace'>): void;
}

/** A tree that a hook has made, wherever it likes. */
interface ForeignTree {
  readonly tree: string;
  readonly checkout: string;
}

export function createWorkingTrees(cwd: string): SessionTrees {
  const foreign: ForeignTree[] = [];
  const ownTree = treeAround(cwd);
  const checkouts = (): readonly string[] => [...new Set([findRepositoryRoot(cwd) ?? cwd, cwd])];
  const inForeign = (path: string): readonly string[] =>
    foreign.flatMap(({ tree, checkout }) =>
      isInside(path, tree) ? [join(checkout, relative(tree, path))] : [],
    );
  return {
    checkouts,
    standsFor(path) {
      const outside = namesOutsideTrees(path);
      const own = ownTree === undefined ? outside : [...outside, ...namesInTree(ownTree, path)];
      return foreign.length === 0 ? own : [...own, ...[path, ...own].flatMap(inForeign)];
    },
    leadsTo: (directory) =>
      ON_THE_WAY.test(toPosix(directory)) || foreign.some(({ tree }) => isInside(tree, directory)),
    admit({ isolation, workspace }) {
      if (isolation !== 'worktree' || workspace === undefined) return;
      if (namesOutsideTrees(workspace).length > 0 || inForeign(workspace).length > 0) return;
      const [root = cwd] = checkouts();
      const above = nearestRepository(workspace) ?? workspace;
      // fail-closed: the hook alone knows whether it copied the repository or the directory of the session.
      const possible = [
        { tree: workspace, checkout: root },
        ...(root === cwd ? [] : [{ tree: workspace, checkout: cwd }]),
        ...(above === workspace ? [] : [{ tree: above, checkout: root }]),
      ];
      foreign.push(...possible.filter(({ tree, checkout }) => !isInside(checkout, tree)));
    },
  };
}

/** Where a session is itself in a tree, those of its agents lie beside that, and are copies of it. */
function namesInTree(own: string, path: string): readonly string[] {
  const below = relativeTo(dirname(own), toPosix(path));
  if (below === undefined) return [];
  const [tree = '', ...rest] = below.split('/');
  return tree === '' || tree === basename(own) ? [] : [[own, ...rest].join('/')];
}

/** The innermost tree that a directory is in. */
export function treeAround(directory: string): string | undefined {
  const posix = toPosix(directory);
  const last = [...posix.matchAll(TREE)].at(-1);
  return last === undefined ? undefined : posix.slice(0, last.index + last[0].length);
}

/** Of a tree that we made: the checkout that it lies in, and the tree's own root. */
export function mainCheckout(workspace: string): { main: string; tree: string } | undefined {
  const found = /^(.+?)\/\.claude\/worktrees\/[^/]+/.exec(toPosix(workspace));
  return found === null ? undefined : { main: found[1] ?? '', tree: found[0] };
}

/** What stands behind the name of the directory and its slash, in whatever case that is written. */
function relativeTo(directory: string, path: string): string | undefined {
  const start = `${directory}/`;
  const isBelow = path.slice(0, start.length).toLowerCase() === start.toLowerCase();
  return isBelow ? path.slice(start.length) : undefined;
}

/** Those that are known by their place, for whoever knows of no session. */
export const TREES_BY_PLACE: WorkingTrees = {
  standsFor: namesOutsideTrees,
  leadsTo: (directory) => ON_THE_WAY.test(toPosix(directory)),
  checkouts: () => [],
};

const TREE = /\/\.claude\/worktrees\/[^/]+/giu;
const ON_THE_WAY = /\/\.claude(?:\/worktrees)?\/?$/iu;

/**
 * Whatever the tree is called: what is there is a copy of what is beside `.claude`. A session may itself
 * be in a tree, so that of trees in trees each may be the checkout.
 */
function namesOutsideTrees(path: string): readonly string[] {
  const posix = toPosix(path);
  const names: string[] = [];
  for (const { index } of posix.matchAll(TREE)) {
    const name = posix.slice(0, index) + posix.slice(index).replace(TREE, '');
    names.push(name === '' ? '/' : name);
  }
  return names;
}
