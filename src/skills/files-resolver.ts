import type { FileSystem } from '../env/fs.js';
import { isInside } from '../env/paths.js';
import type { Opening, Resolver } from '../permissions/guard.js';
import type { CallView, TouchedPath } from '../permissions/view.js';
import { whenThere } from '../util/at-once.js';

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
    decide(view) {
      const open = view.call.tool.kind === 'read' ? openTo(view.call) : undefined;
      if (open === undefined) return undefined;
      return whenThere(view.paths(), (touched) => {
        const isNamed = touched.every(
          ({ access, spellings }) =>
            access === 'read' && isInside(spellings.literal, open.directory),
        );
        return touched.length > 0 && isNamed ? openingOf(fs, open, touched) : undefined;
      });
    },
  };
}

async function openingOf(
  fs: Pick<FileSystem, 'realPath'>,
  { directory, reason, source }: OpenDirectory,
  touched: readonly TouchedPath[],
): Promise<Opening | undefined> {
  // fail-closed: a link in there leads elsewhere. Throws where nothing was put there yet.
  const real = await fs.realPath(directory);
  if (!touched.every(({ spellings }) => isInside(spellings.real, real))) return undefined;
  return { decision: 'allow', reason, source };
}
