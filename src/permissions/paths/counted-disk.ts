import type { FileSystem } from '../../platform/fs/fs.js';
import type { Budget } from '../gate/budget.js';

export type PathFileSystem = Pick<
  FileSystem,
  'realPath' | 'list' | 'lstat' | 'readText' | 'readBytes'
>;

/** What the system is asked about a path takes as long as so many steps of our own. */
export const STEPS_OF_LOOK = 100;
const STEPS_OF_LISTING = 40;
const STEPS_OF_ENTRY = 3;

/** The disk as one call sees it: every look is drawn from the budget of the call. */
export function countedDisk(disk: PathFileSystem, budget: Budget): PathFileSystem {
  const look = (path: string): void => budget.spend(STEPS_OF_LOOK + (path.length >> 4));
  return {
    async realPath(path) {
      look(path);
      return await disk.realPath(path);
    },
    async lstat(path) {
      look(path);
      return await disk.lstat(path);
    },
    async list(directory) {
      budget.spend(STEPS_OF_LISTING);
      const entries = await disk.list(directory);
      budget.spend(entries.length * STEPS_OF_ENTRY);
      return entries;
    },
    // Texts are rules and settings, which are parsed; bytes are lists of files, of which each is counted.
    async readText(path, options) {
      look(path);
      const text = await disk.readText(path, options);
      budget.spend(text.length >> 4);
      return text;
    },
    async readBytes(path, options) {
      look(path);
      const bytes = await disk.readBytes(path, options);
      budget.spend(bytes.length >> 10);
      return bytes;
    },
  };
}
