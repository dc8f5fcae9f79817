/** What stands at a path; see the type of the same shape in the change journal. */
export type TreeState =
  | {
      readonly kind: 'file';
      size: number;
      mode: number;
      blob?: string;
      unstored?: Unstored;
    }
  | { readonly kind: 'directory'; mode: number }
  | { readonly kind: 'link'; target: string }
  | { readonly kind: 'special' };

export type Unstored = 'too-large' | 'over-cap' | 'unreadable' | 'changed-while-read' | 'not-yet';

export type EntryKind = TreeState['kind'];

/** What the file system says about a path without opening it. */
export interface EntryStat {
  readonly kind: EntryKind;
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
  readonly name: string;
  readonly parent: TreeNode | undefined;
  state: TreeState;
  ino: number;
  ctime: number;
  size: number;
  mode: number;
  /** It changed so shortly before it was read that a later change may carry the same time. */
  isRacy: boolean;
  /** Of a directory: what is tracked in it. */
  children?: Map<string, TreeNode>;
}

/** What a look found at a path that differs from what is known. Without `stat`: nothing is there. */
export interface Observation {
  readonly path: string;
  readonly stat?: EntryStat;
  /** It stood there before, but was left out by an ignore rule that has gone. */
  readonly isAdopted?: true;
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
const KINDS = new Map<number, EntryKind>([
  [0o100000, 'file'],
  [0o040000, 'directory'],
  [0o120000, 'link'],
]);

export function entryKind(mode: number): EntryKind {
  return KINDS.get(mode & TYPE_MASK) ?? 'special';
}

/** The part of Node's `Stats` that counts. */
interface StatLike {
  readonly mode: number;
  readonly size: number;
  readonly ino: number;
  readonly ctimeMs: number;
  readonly dev: number;
}

export function entryStat({ mode, size, ino, ctimeMs, dev }: StatLike): EntryStat {
  return { kind: entryKind(mode), mode: mode & 0o7777, size, ino, ctime: ctimeMs, dev };
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

export function pathOf(node: TreeNode): string {
  const names: string[] = [];
  for (let at = node; at.parent !== undefined; at = at.parent) names.push(at.name);
  return names.reverse().join('/');
}

/** The tree as it was last seen. Holds only what is tracked. */
export class KnownTree {
  readonly root: TreeNode = {
    name: '',
    parent: undefined,
    state: { kind: 'directory', mode: 0 },
    ino: 0,
    ctime: 0,
    size: 0,
    mode: 0,
    isRacy: false,
    children: new Map(),
  };
  /** Everything but directories. */
  files = 0;

  find(path: string): TreeNode | undefined {
    let node: TreeNode | undefined = this.root;
    if (path !== '') for (const name of path.split('/')) node = node?.children?.get(name);
    return node;
  }

  /** Undefined when its directory is not known. What stood there before has to be gone. */
  add(path: string, stat: EntryStat, state: TreeState): TreeNode | undefined {
    const slash = path.lastIndexOf('/');
    const parent = this.find(slash === -1 ? '' : path.slice(0, slash));
    if (parent?.children === undefined) return undefined;
    const node = nodeOf(path.slice(slash + 1), parent, stat, state);
    parent.children.set(node.name, node);
    if (state.kind !== 'directory') this.files++;
    return node;
  }

  /** Takes it out with all that is below it; gives them, the deepest first. */
  remove(node: TreeNode): TreeNode[] {
    const gone = withAllBelow(node);
    // Its state may be another by now; only directories have children.
    for (const one of gone) if (one.children === undefined) this.files--;
    node.parent?.children?.delete(node.name);
    return gone;
  }

  /** Everything that is known. What is added or taken out meanwhile may be among it or not. */
  *nodes(): Iterable<TreeNode> {
    const directories = [this.root];
    for (let at = directories.pop(); at !== undefined; at = directories.pop()) {
      for (const child of at.children?.values() ?? []) {
        if (child.children !== undefined) directories.push(child);
        yield child;
      }
    }
  }
}

/** Not by recursion: a tree may be deeper than the stack. */
function withAllBelow(node: TreeNode): TreeNode[] {
  const all = [node];
  // What is added is reached by the same loop.
  for (const one of all) for (const child of one.children?.values() ?? []) all.push(child);
  return all.reverse();
}

/** A node that stands in no directory: for paths that are followed one by one. */
export function nodeOf(
  name: string,
  parent: TreeNode | undefined,
  { ino, ctime, size, mode }: EntryStat,
  state: TreeState,
): TreeNode {
  const node: TreeNode = { name, parent, state, ino, ctime, size, mode, isRacy: false };
  if (state.kind === 'directory') node.children = new Map();
  return node;
}
