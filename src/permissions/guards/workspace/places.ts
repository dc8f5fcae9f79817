import type { FileSystem } from '../../../platform/fs/fs.js';
import { isInside, join, relative, resolve, toPosix } from '../../../platform/fs/paths.js';
import type { AgentRef } from '../../../protocol/agent-ref.js';
import type { CallView } from '../../gate/view.js';
import type { PathSpellings } from '../../paths/paths.js';
import { linksStay } from '../../paths/paths.js';
import { mainCheckout } from '../../paths/working-trees.js';

export interface FencePlace {
  readonly fence: Fence;
  readonly view: CallView;
  readonly fs: FenceFiles;
}

export type FenceFiles = Pick<FileSystem, 'stat' | 'lstat' | 'list'>;

/** What holds for one agent. All directories with links followed. */
export interface Fence {
  /** As the agent knows it. */
  readonly workspace: string;
  readonly writable: readonly string[];
  /** What belongs to the project, wherever the agent works. */
  readonly project: readonly string[];
  /** Neither read nor written, but for what is writable or shared. */
  readonly hidden: readonly string[];
  readonly shared: readonly string[];
  readonly isolation: AgentRef['isolation'];
}

/** Programs write to these without writing a file. */
const STREAMS = /^\/dev\/(null|stdout|stderr|tty|fd\/\d+)$/;

/** Why a file may not be written; undefined when it may. */
export function writeProblem(fence: Fence, path: PathSpellings): string | undefined {
  if (STREAMS.test(path.literal) || isWithin(path.real, fence.writable)) return undefined;
  const hidden = hiddenProblem(fence, path);
  if (hidden !== undefined) return hidden;
  const leads = path.real === path.literal ? '' : ` (it leads to ${path.real})`;
  return `${path.literal}${leads} is outside of ${fence.workspace}, the only place that this agent writes to`;
}

/**
 * Why a file may not be looked at; undefined when it may. `below`: so is what lies under it, so that a
 * directory above the project is no way in.
 */
export function readProblem(
  fence: Fence,
  path: PathSpellings,
  { below }: { readonly below: boolean },
): string | undefined {
  if (fence.hidden.length === 0 || isWithin(path.real, [...fence.writable, ...fence.shared])) {
    return undefined;
  }
  const isAbove = fence.hidden.some((one) => one !== path.real && isInside(one, path.real));
  if (below && isAbove && !fence.hidden.includes(path.real)) {
    return `${path.literal} holds the main checkout, which this agent works apart from; look in ${fence.workspace}`;
  }
  return hiddenProblem(fence, path);
}

/** Why a variable may not have a value: programs write where variables say. */
export function valueProblem(fence: Fence, path: PathSpellings): string | undefined {
  const isNamed = isWithin(path.real, fence.project) && !isWithin(path.real, fence.shared);
  return isNamed ? writeProblem(fence, path) : undefined;
}

export function isWithin(real: string, directories: readonly string[]): boolean {
  return directories.some((directory) => isInside(real, directory));
}

function hiddenProblem(fence: Fence, { literal, real }: PathSpellings): string | undefined {
  const hidden = fence.hidden.find((one) => isInside(real, one));
  if (hidden === undefined) return undefined;
  const way = relative(hidden, real);
  if (/^\.claude\/worktrees(\/|$)/.test(toPosix(way))) {
    return `${literal} belongs to the tree of another agent; this one works in ${fence.workspace}`;
  }
  if (/^\.git(\/|$)/.test(toPosix(way))) {
    return `${literal} is git's own data of the main checkout; use git commands in ${fence.workspace}`;
  }
  const tree = mainCheckout(fence.workspace)?.tree ?? fence.workspace;
  return `${literal} is in the main checkout, and this agent works in a tree of its own: use ${resolve(join(tree, way))}`;
}

/** Where names come from that may be links. */
export interface NameWalk {
  readonly starts: readonly string[];
  /** What lies deeper has its turn, too. */
  readonly deep: boolean;
  /** Whether a link of this path may be among them. */
  mayBe(path: string): boolean;
  /** Whether what takes the names takes this one for what it is; absent: it takes all. */
  readonly isName?: ((name: string) => boolean) | undefined;
}

/**
 * Whether something out of reach lies below these paths, or links there may lead to it: all that a command follows, or
 * those whose names it hands on.
 */
export async function leadsAway(
  paths: readonly string[],
  directories: readonly string[] = ['/'],
  { fence, view }: Pick<FencePlace, 'fence' | 'view'>,
  { walk, access = 'read' }: { readonly walk?: NameWalk; readonly access?: 'read' | 'write' } = {},
): Promise<boolean> {
  const isFine = (target: PathSpellings): boolean =>
    access === 'write'
      ? writeProblem(fence, target) === undefined
      : readProblem(fence, target, { below: true }) === undefined;
  const named = walk && {
    isFine: (target: PathSpellings): boolean => isFine(target) || !walk.mayBe(target.literal),
    isFineName: walk.isName,
    follows: false,
    deep: walk.deep,
  };
  for (const directory of directories) {
    for (const path of paths) {
      const starts = await view.judge.spellFrom(directory, path);
      if (!starts.every(isFine)) return true;
      if (!(await linksStay(starts, view.judge, named ?? { isFine }))) return true;
    }
  }
  return false;
}
