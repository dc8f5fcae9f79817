import { resolve } from '../../platform/fs/paths.js';
import type { CarriedFile } from '../shell/model.js';
import { linksStay, type PathJudge } from './paths.js';

/** Why a path may lead elsewhere than it does now: what the same command line moves or copies there holds links. */
export async function carriedLink(
  carried: readonly CarriedFile[],
  judge: PathJudge,
): Promise<string | undefined> {
  for (const { directory, source } of carried) {
    const { literal, pattern, value } = source;
    const named = pattern === undefined ? [resolve(directory, value)] : undefined;
    const files = literal ? (named ?? (await judge.expand(directory, pattern ?? ''))) : undefined;
    // fail-closed: what is carried is decided at run time.
    if (files === undefined) return WHY;
    for (const file of files) {
      const isLink = (await judge.disk.lstat(file))?.kind === 'symlink';
      const spelled = await judge.spell(file);
      const isFine = (): Promise<boolean> => Promise.resolve(false);
      if (isLink || !(await linksStay([spelled], judge, { isFine }))) return WHY;
    }
  }
  return undefined;
}

const WHY = 'it goes through a link that it moves or copies itself';
