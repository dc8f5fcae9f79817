import type { Resolver } from '../permissions/guard.js';
import type { FileSystem } from '../platform/fs/fs.js';
import { filesResolver } from './files-resolver.js';

/** Opens reading what bundled skills put into the private directory of this process, and nothing else. */
export function bundledFilesResolver(
  directory: string,
  fs: Pick<FileSystem, 'realPath'>,
): Resolver {
  const reason = 'it reads files of a bundled skill';
  const source = `bundled skills (${directory})`;
  return filesResolver('bundled skill files', fs, () => ({ directory, reason, source }));
}
