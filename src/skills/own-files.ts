import type { Resolver } from '../permissions/guard.js';
import type { FileSystem } from '../platform/fs/fs.js';
import { filesResolver, type OpenDirectory } from './files-resolver.js';

/** A skill that is being started may read what lies beside it, wherever that is. */
export interface OwnFiles {
  readonly resolver: Resolver;
  /** Opens the directory of a skill to one call. Returns how to close it again. */
  open(toolUseId: string, directory: string): () => void;
}

export function createOwnFiles(fs: Pick<FileSystem, 'realPath'>): OwnFiles {
  const opened = new Map<string, OpenDirectory>();
  return {
    resolver: filesResolver('files of a skill', fs, ({ toolUseId }) => opened.get(toolUseId)),
    open(toolUseId, directory) {
      const reason = 'the skill that is started names a file of its own';
      opened.set(toolUseId, { directory, reason, source: `skill (${directory})` });
      return () => void opened.delete(toolUseId);
    },
  };
}
