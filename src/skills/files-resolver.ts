import type { FileSystem } from '../env/fs.js';
import { isInside } from '../env/paths.js';
import type { Opening, Resolver } from '../permissions/guard.js';
import type { CallView } from '../permissions/view.js';

/** A directory whose files may be read, and how a receipt names that. */
export interface OpenDirectory {
  readonly directory: string;
  readonly reason: string;
  readonly source: string;
}

/** Opens reading below a directory to the calls that it is open to, and nothing else. */
export function filesResolver(
  name: string,
  fs: Pick<FileSystem, 'realPath'>,
  openTo: (call: CallView['call']) => OpenDirectory | undefined,
): Resolver {
  return {
    name,
    async decide(view): Promise<Opening | undefined> {
      const open = view.call.tool.kind === 'read' ? openTo(view.call) : undefined;
      if (open === undefined) return undefined;
      const { directory, reason, source } = open;
      const touched = await view.paths();
      const isNamed = touched.every(
        ({ access, spellings }) => access === 'read' && isInside(spellings.literal, directory),
      );
      if (touched.length === 0 || !isNamed) return undefined;
      // fail-closed: a link in there leads elsewhere. Throws where nothing was put there yet.
      const real = await fs.realPath(directory);
      if (!touched.every(({ spellings }) => isInside(spellings.real, real))) return undefined;
      return { decision: 'allow', reason, source };
    },
  };
}
