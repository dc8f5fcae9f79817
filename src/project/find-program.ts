import type { FileSystem } from '../platform/fs/fs.js';
import { join, pathDelimiter, resolve } from '../platform/fs/paths.js';

/** Where a program is: its file, or why it cannot be started. */
export type FoundProgram =
  | { readonly kind: 'found' | 'not executable'; readonly file: string }
  | { readonly kind: 'missing' };

const EXECUTE = 0o111;

/** Looks a program up as the system does: a name in PATH, a path from the directory. */
export async function findProgram(
  { fs, isWindows }: { readonly fs: Pick<FileSystem, 'stat'>; readonly isWindows: boolean },
  command: string,
  { path = '', cwd }: { readonly path?: string | undefined; readonly cwd: string },
): Promise<FoundProgram> {
  const isPath = /[/\\]/.test(command);
  const bare = isPath
    ? [resolve(cwd, command)]
    : path.split(pathDelimiter).map((directory) => join(directory || cwd, command));
  const files = isWindows
    ? bare.flatMap((file) => ['', '.exe', '.cmd', '.bat'].map((end) => `${file}${end}`))
    : bare;
  let plain: string | undefined;
  for (const file of files) {
    const stat = await fs.stat(file).catch(() => undefined);
    if (stat?.kind !== 'file') continue;
    if (isWindows || (stat.mode & EXECUTE) !== 0) return { kind: 'found', file };
    plain ??= file;
  }
  return plain === undefined ? { kind: 'missing' } : { kind: 'not executable', file: plain };
}
