import type { FileSystem } from '../env/fs.js';
import { isInside } from '../env/paths.js';
import type { Resolver } from '../permissions/guard.js';

/** Opens reading what bundled skills put into the private directory of this process, and nothing else. */
export function bundledFilesResolver(
  directory: string,
  fs: Pick<FileSystem, 'realPath'>,
): Resolver {
  return {
    name: 'bundled skill files',
    async decide(view) {
      if (view.call.tool.kind !== 'read') return undefined;
      const touched = await view.paths();
      const isNamed = touched.every(
        ({ access, spellings }) => access === 'read' && isInside(spellings.literal, directory),
      );
      if (touched.length === 0 || !isNamed) return undefined;
      // fail-closed: a link in there leads elsewhere. Throws where nothing was put there yet.
      const real = await fs.realPath(directory);
      if (!touched.every(({ spellings }) => isInside(spellings.real, real))) return undefined;
      const reason = 'it reads files of a bundled skill';
      return { decision: 'allow', reason, source: `bundled skills (${directory})` };
    },
  };
}
