import type { FileSystem } from '../../platform/fs/fs.js';
import { openScripts, type ScriptReader } from './scripts.js';
import type { UsedDocument } from './types.js';

/** One look at all levels of a project: what it may still read, and what it has met. */
export interface TrustLook {
  readonly scripts: ScriptReader;
  /** The document that is used: its text is judged, in place of what its file holds. */
  readonly used: UsedDocument | undefined;
  /** Whether there is still room for a file of this size, which is taken. */
  fits(size: number): boolean;
  /** Whether one more thing that runs is looked at. */
  takes(): boolean;
  /** The document in use was found among the project's. */
  meet(): void;
  hasMet(): boolean;
}

/** Of settings, skills, commands and agents together; limits, so that no folder holds a start up. */
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_RUNNING = 10_000;

export function openLook(
  fs: Pick<FileSystem, 'stat' | 'readBytes'>,
  used?: UsedDocument | undefined,
): TrustLook {
  let room = MOST_BYTES;
  let running = 0;
  let isMet = false;
  return {
    scripts: openScripts(fs),
    used,
    fits(size) {
      if (size > room) return false;
      room -= size;
      return true;
    },
    takes: () => ++running <= MOST_RUNNING,
    meet() {
      isMet = true;
    },
    hasMet: () => isMet,
  };
}
