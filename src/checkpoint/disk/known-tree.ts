import type { NodeState, TreeChange } from '../types.js';

/** What the file system says about a path without opening it. */
export interface EntryStat {
  readonly kind: NodeState['kind'];
  /** Permission bits only. */
  readonly mode: number;
  readonly size: number;
  readonly ino: number;
  /** Change time in milliseconds: the one time that no program can set. */
  readonly ctime: number;
  readonly dev?: number;
  /** Of a link. */
  readonly target?: string;
}

/** A path that is known. */
export interface TreeNode {
  state: NodeState;
  ino: number;
  ctime: number;
  size: number;
  mode: number;
  /** SHA-256 of the bytes that were read last, also where they could not be stored. */
  hash?: string | undefined;
  /** It changed so shortly before it was read that a later change may carry the same time. */
  isRacy: boolean;
  /** Number of the last walk that came upon it. */
  walk: number;
}

/** The tree as it was last seen, by paths from its root, which is ''. Holds only what is tracked. */
export type KnownTree = Map<string, TreeNode>;

/** What a walk found at a path that differs from what is known. */
export interface Observation {
  readonly path: string;
  readonly stat: EntryStat;
  /** It stood there before, but was left out by an ignore rule that has gone. */
  readonly isAdopted: boolean;
}

/** Time stamps come from a clock that ticks every 4 to 10 ms; twice that, to be safe. */
const RACY_MS = 20;
/** What some file systems cut all stamps down to. */
const SECOND_MS = 1_000;

/** Whether what bore this change time when it was read may change after that and bear it still. */
export function isRacyTime(ctime: number, readAt: number): boolean {
  const tick = ctime % SECOND_MS === 0 ? SECOND_MS + RACY_MS : RACY_MS;
  return readAt - ctime < tick;
}

const TYPE_MASK = 0o170000;
const KINDS = new Map<number, NodeState['kind']>([
  [0o100000, 'file'],
  [0o040000, 'directory'],
  [0o120000, 'link'],
]);

/** The part of Node's `Stats` that counts. */
interface StatLike {
  readonly mode: number;
  readonly size: number;
  readonly ino: number;
  readonly ctimeMs: number;
  readonly dev: number;
}

export function entryStat({ mode, size, ino, ctimeMs, dev }: StatLike): EntryStat {
  const kind = KINDS.get(mode & TYPE_MASK) ?? 'special';
  return { kind, mode: mode & 0o7777, size, ino, ctime: ctimeMs, dev };
}

export function isSameEntry(node: TreeNode, stat: EntryStat): boolean {
  return (
    node.ctime === stat.ctime &&
    node.ino === stat.ino &&
    node.state.kind === stat.kind &&
    node.mode === stat.mode &&
    (stat.kind !== 'file' || node.size === stat.size)
  );
}

/** The state of what was only looked at. */
export function stateOf({ kind, size, mode, target = '' }: EntryStat): NodeState {
  switch (kind) {
    case 'file':
      return { kind, size, mode, unstored: 'not-yet' };
    case 'directory':
      return { kind, mode };
    case 'link':
      return { kind, target };
    case 'special':
      return { kind };
  }
}

export function nodeOf(stat: EntryStat, walk: number): TreeNode {
  const { ino, ctime, size, mode } = stat;
  return { state: stateOf(stat), ino, ctime, size, mode, isRacy: false, walk };
}

/** The directory that a path stands in; '' for the root. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** A change as it is gathered; `node` is what came or, where nothing stands there any more, what went. */
export interface Found {
  readonly path: string;
  readonly before?: NodeState | undefined;
  readonly after?: NodeState;
  readonly at: number;
  readonly node: TreeNode;
}

/** Whether nothing has changed for anybody who reads it. Files whose bytes are not known differ. */
export function isSameState(one: TreeNode, other: TreeNode): boolean {
  const [a, b] = [one.state, other.state];
  if (a.kind !== b.kind) return false;
  const isMode = a.kind === 'file' || a.kind === 'directory';
  if (isMode && one.mode !== other.mode) return false;
  return (a.kind !== 'file' && a.kind !== 'link') || isSameContent(one, other);
}

/** Names what has only moved: another path of this look had the same inode and the same bytes. */
export function withRenames(found: readonly Found[]): TreeChange[] {
  const gone = new Map<number, Found>();
  for (const one of found) if (one.after === undefined) gone.set(one.node.ino, one);
  return found.map(({ node, ...change }) => {
    const from = change.before === undefined ? gone.get(node.ino) : undefined;
    const isMoved = from !== undefined && isSameContent(from.node, node);
    return isMoved ? { ...change, renamedFrom: from.path } : change;
  });
}

function isSameContent(one: TreeNode, other: TreeNode): boolean {
  if (one.state.kind === 'file' && other.state.kind === 'file') {
    return one.hash !== undefined && one.hash === other.hash;
  }
  return (
    one.state.kind === 'link' &&
    other.state.kind === 'link' &&
    one.state.target === other.state.target
  );
}
