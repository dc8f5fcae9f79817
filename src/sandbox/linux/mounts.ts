import { PortcullisError } from '../../errors.js';
import { basename, dirname, isInside, join, resolve } from '../../platform/fs/paths.js';
import type { SandboxPolicy } from '../types.js';

export type DiskKind = 'file' | 'directory' | 'symlink' | 'other';

/** Disk access that does not follow the last link. */
export interface Disk {
  kind(path: string): DiskKind | undefined;
  /** Like `FileSystem.realPath`, also for missing paths. */
  real(path: string): string;
  /** The target text of a symbolic link. */
  link(path: string): string;
  list(path: string): readonly string[];
}

/** A mount inside the sandbox at the same path as outside. */
export interface Mount {
  /** `temporary`: a private directory for temporary files. */
  readonly kind: 'writable' | 'read-only' | 'masked-file' | 'masked-tree' | 'temporary';
  readonly path: string;
}

export interface MountPlan {
  /** In the order of mounting. */
  readonly mounts: readonly Mount[];
  /** Missing protected paths that need a temporary directory as mount point. */
  readonly guards: readonly string[];
  /** Directories made read-only because they contain a link at a protected path. */
  readonly frozen: readonly string[];
}

interface PlanOptions {
  /** Temporary directories, which are private inside. */
  readonly temporary: readonly string[];
  /** Files that our own programs inside must read, whatever the policy hides. */
  readonly needed: readonly string[];
}

/** The mounts that implement a policy on top of a read-only root. */
export function planMounts(policy: SandboxPolicy, disk: Disk, options: PlanOptions): MountPlan {
  const plan = new Plan(disk, writableRoots(policy, disk));
  const areas = areasOf(policy, disk, plan.roots, options);
  for (const path of policy.protected) plan.protect(path);
  for (const path of policy.hidden) plan.keepInPlace(disk.real(path));
  plan.freeze();
  return plan.finish(areas);
}

/** fail-closed: hiding the root would prevent everything, so it is a mistake. */
function refuseRoot(path: string): void {
  if (dirname(path) !== path) return;
  throw new PortcullisError('denied', 'the sandbox cannot hide the root of the file system', {
    remedy: 'Name the directories that are not to be read.',
  });
}

/** Existing writable trees, without nested ones. */
function writableRoots(policy: SandboxPolicy, disk: Disk): readonly string[] {
  const real = [...new Set(policy.writable.map((path) => disk.real(path)))].filter(
    (path) => disk.kind(path) === 'directory' || disk.kind(path) === 'file',
  );
  return real.filter((path) => !real.some((other) => other !== path && isInside(path, other)));
}

/** The base kind of each area before protection; the deepest one decides. */
function areasOf(
  policy: SandboxPolicy,
  disk: Disk,
  roots: readonly string[],
  options: PlanOptions,
): ReadonlyMap<string, Mount['kind']> {
  const areas = new Map<string, Mount['kind']>();
  for (const path of options.temporary) {
    // A writable directory is not replaced by a private one.
    if (disk.kind(path) !== 'directory' || roots.some((root) => isInside(path, root))) continue;
    areas.set(path, 'temporary');
  }
  for (const root of roots) areas.set(root, 'writable');
  for (const path of [...policy.shown, ...options.needed]) {
    const real = disk.real(path);
    if (disk.kind(real) !== undefined && !areas.has(real)) areas.set(real, 'read-only');
  }
  // fail-closed: hidden wins over shown.
  for (const path of policy.hidden) {
    const real = disk.real(path);
    refuseRoot(real);
    const kind = disk.kind(real);
    if (kind !== undefined) areas.set(real, kind === 'directory' ? 'masked-tree' : 'masked-file');
  }
  return areas;
}

class Plan {
  readonly roots: readonly string[];
  readonly #disk: Disk;
  /** Paths that get their own mount, so that they cannot be renamed or replaced. */
  readonly #pins = new Set<string>();
  readonly #readOnly = new Set<string>();
  readonly #guards = new Set<string>();
  readonly #frozen = new Set<string>();

  constructor(disk: Disk, roots: readonly string[]) {
    this.#disk = disk;
    this.roots = roots;
  }

  protect(path: string): void {
    const real = this.#follow(path);
    const root = this.#rootOf(real);
    if (root === undefined) {
      // A protected tree around a writable one makes it read-only.
      for (const inner of this.roots) if (isInside(inner, real)) this.#readOnly.add(inner);
      return;
    }
    const missing = this.#firstMissing(real, root);
    if (missing === undefined) this.#readOnly.add(real);
    else this.#guards.add(missing);
    this.#pinAbove(missing ?? real, root);
  }

  /** Pins a hidden path, which could otherwise be moved to a visible place. */
  keepInPlace(real: string): void {
    const root = this.#rootOf(real);
    if (root !== undefined && this.#disk.kind(real) !== undefined) this.#pinAbove(real, root);
  }

  /** Links cannot be mounted over, so their directory becomes read-only while its other entries stay writable. */
  freeze(): void {
    for (const directory of this.#frozen) {
      const root = this.#rootOf(directory);
      if (root === undefined) continue;
      this.#pinAbove(directory, root);
      this.#readOnly.add(directory);
      for (const name of this.#disk.list(directory)) {
        const child = join(directory, name);
        const kind = this.#disk.kind(child);
        if (kind === 'file' || kind === 'directory') this.#pins.add(child);
      }
    }
  }

  finish(areas: ReadonlyMap<string, Mount['kind']>): MountPlan {
    const all = new Map<string, Mount['kind']>(areas);
    const isOpen = (path: string): boolean => nearest(areas, path) === 'writable';
    // In a frozen directory all entries but the link stay writable.
    const isIn = (path: string, kept: Iterable<string>): boolean =>
      [...kept].some((one) => isInside(path, one) && !this.#frozen.has(one));
    for (const path of this.#pins) {
      const isKept = isIn(path, this.#readOnly) || isIn(path, this.#guards);
      if (isOpen(path) && !isKept && !areas.has(path)) all.set(path, 'writable');
    }
    const guards = [...this.#guards].filter((path) => isOpen(path) && !isIn(path, this.#readOnly));
    for (const path of [...this.#readOnly, ...guards]) {
      if (isOpen(path)) all.set(path, 'read-only');
    }
    const mounts = [...all]
      .filter(([path, kind]) => isSeen(areas, path, kind))
      .map(([path, kind]): Mount => ({ kind, path }))
      .sort((a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1));
    return {
      mounts,
      guards,
      frozen: [...this.#frozen].filter((path) => this.#rootOf(path) !== undefined),
    };
  }

  #rootOf(path: string): string | undefined {
    return this.roots.find((root) => isInside(path, root));
  }

  /** Resolves a path step by step and records each replaceable link. */
  #follow(path: string, links = { count: 0 }): string {
    const parent = dirname(path);
    if (parent === path) return path;
    const place = join(this.#follow(parent, links), basename(path));
    if (this.#disk.kind(place) !== 'symlink') return place;
    links.count += 1;
    // fail-closed: a path through a link loop cannot be protected.
    if (links.count > MOST_LINKS) {
      throw new PortcullisError('denied', `${path} goes through too many symbolic links`, {
        remedy: 'Remove the loop of links.',
      });
    }
    this.#frozen.add(dirname(place));
    return this.#follow(resolve(dirname(place), this.#disk.link(place)), links);
  }

  #firstMissing(path: string, root: string): string | undefined {
    if (this.#disk.kind(path) !== undefined) return undefined;
    const parent = dirname(path);
    if (path === root || this.#disk.kind(parent) !== undefined) return path;
    return this.#firstMissing(parent, root);
  }

  #pinAbove(path: string, root: string): void {
    for (
      let above = dirname(path);
      above !== root && isInside(above, root);
      above = dirname(above)
    ) {
      this.#pins.add(above);
    }
  }
}

function nearest(
  areas: ReadonlyMap<string, Mount['kind']>,
  path: string,
): Mount['kind'] | undefined {
  for (let at = path; ; at = dirname(at)) {
    const area = areas.get(at);
    if (area !== undefined) return area;
    if (dirname(at) === at) return undefined;
  }
}

/** Drops mounts without effect, such as masks inside masks. */
function isSeen(
  areas: ReadonlyMap<string, Mount['kind']>,
  path: string,
  kind: Mount['kind'],
): boolean {
  if (DEVICES.some((place) => isInside(path, place))) return false;
  if (!areas.has(path)) return true;
  const around = dirname(path) === path ? undefined : nearest(areas, dirname(path));
  if (kind === 'masked-file' || kind === 'masked-tree' || kind === 'temporary') {
    return around !== 'masked-tree' && around !== 'temporary';
  }
  // A shown path matters only inside a hidden area; a protected tree may have made it read-only anyway.
  if (areas.get(path) === 'read-only') return around === 'masked-tree' || around === 'temporary';
  return true;
}

const MOST_LINKS = 40;

/** Mounted afresh inside. */
const DEVICES = ['/dev', '/proc'];

function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length - 1;
}
