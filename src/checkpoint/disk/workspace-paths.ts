import { realpathSync } from 'node:fs';
import { basename, dirname, isInside, join, relative, resolve } from '../../platform/fs/paths.js';

/** Where a write to a path ends up: a path from the root of the workspace, or one outside of it. */
export type WritePlace = { readonly inside: string } | { readonly outside: string };

/**
 * Follows the links of a path as a write to it would. `root` is a real path; a relative path starts there.
 */
export function writePlaceOf(root: string, path: string): WritePlace {
  const real = realPathOf(resolve(root, path));
  return real !== root && isInside(real, root)
    ? { inside: relative(root, real) }
    : { outside: real };
}

/** What does not exist yet is below the nearest directory that does. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}
