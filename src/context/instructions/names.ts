import { basename } from '../../platform/fs/paths.js';

const NAMES = new Set(['claude.md', 'claude.local.md', 'agents.md', 'memory.md']);

/** Whether later sessions load this file as instructions. */
export function isInstructionFile(path: string): boolean {
  const plain = path.replaceAll('\\', '/').toLowerCase();
  return NAMES.has(basename(plain)) || /(?:^|\/)\.claude\/rules\/.*\.md$/.test(plain);
}

/** Words of a shell command that may be such files. */
export function instructionFilesIn(command: string): readonly string[] {
  const words = command.split(/[\s'"`;|&()<>=]+/).filter((word) => word !== '');
  return [...new Set(words.filter(isInstructionFile))];
}
