import type { FileStat, FileSystem } from '../../platform/fs/fs.js';
import type { LookedAt } from '../types.js';

/** What tells one state of a file from another; empty when there is none. */
export function stampOf(stat: FileStat | undefined): string {
  if (stat === undefined) return '';
  const { mtimeMs, ctimeMs, size, inode, kind } = stat;
  return `${kind} ${size} ${mtimeMs} ${ctimeMs ?? ''} ${inode ?? ''}`;
}

/** The paths that are not as they were, those among them that came or went. A few stats, no reading. */
export async function changedPlaces(
  fs: Pick<FileSystem, 'stat'>,
  places: readonly LookedAt[],
): Promise<readonly LookedAt[]> {
  const changed: LookedAt[] = [];
  for (const place of places) {
    if ((await currentStamp(fs, place.path)) !== place.stamp) changed.push(place);
  }
  return changed;
}

async function currentStamp(fs: Pick<FileSystem, 'stat'>, path: string): Promise<string> {
  try {
    return stampOf(await fs.stat(path));
  } catch {
    // As when it was read: what cannot be looked at is no particular state.
    return '';
  }
}
