import { nodeFileSystem } from '../env/node-fs.js';
import { systemCodeOf } from '../errors.js';
import type { CurrentText } from './call-preview.js';

/** What is larger is not compared in front of a person who waits. */
const MOST_BYTES = 1024 * 1024;

/** Never waits for a pipe or a device. */
export function currentText(path: string): CurrentText {
  try {
    const read = nodeFileSystem.readTextNow?.(path, { maxBytes: MOST_BYTES });
    return read === undefined || read.text.includes('\0') ? 'unreadable' : { text: read.text };
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENOENT' ? 'absent' : 'unreadable';
  }
}
