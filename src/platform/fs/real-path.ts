import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { PortcullisError, systemCodeOf } from '../../errors.js';
import { basename, dirname, join, resolve, separator } from './paths.js';

/** As `FileSystem.realPath`. */
export function realPathSync(path: string): string {
  return realPath(resolve(path), { followed: 0 });
}

const MOST_LINKS = 40;

/** Links to nothing that were met on the way. */
interface Way {
  followed: number;
}

function realPath(path: string, way: Way): string {
  try {
    return realpathSync.native(path);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw thrown;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const above = realPath(parent, way);
  const here = join(above, basename(path));
  // A link to nothing still decides where a write would land.
  return isLink(here) ? targetOf(here, above, way) : here;
}

/** Step by step: `..` is what lies above the place that was reached, not above its name. */
function targetOf(link: string, above: string, way: Way): string {
  way.followed++;
  // fail-closed: a chain of links this long is a loop, and nobody can say where it leads.
  if (way.followed > MOST_LINKS) {
    throw new PortcullisError('io', `${link} goes through too many symbolic links`, {
      remedy: 'Remove the loop of links.',
    });
  }
  const target = readlinkSync(link);
  if (separator !== '/') return realPath(resolve(above, target), way);
  let at = target.startsWith('/') ? '/' : above;
  for (const step of target.split('/')) {
    if (step === '..') at = dirname(at);
    else if (step !== '' && step !== '.') at = realPath(join(at, step), way);
  }
  return at;
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch (thrown) {
    // Below a file there is nothing.
    if (systemCodeOf(thrown) === 'ENOTDIR') return false;
    throw thrown;
  }
}
