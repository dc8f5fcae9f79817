import type { Approval, Resolver } from '../permissions/guard.js';
import type { CallView, TouchedPath } from '../permissions/view.js';
import type { FileSystem } from '../platform/fs/fs.js';
import { isInside } from '../platform/fs/paths.js';

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
    async decide(view) {
      const open = view.call.tool.kind === 'read' ? openTo(view.call) : undefined;
      if (open === undefined) return undefined;
      const paths = await view.paths();
      return areIn(open, paths) ? await openingOf(fs, open, paths) : undefined;
    },
  };
}

/** Whether it is all about reading files that are named there, and about any. */
function areIn({ directory }: OpenDirectory, touched: readonly TouchedPath[]): boolean {
  for (let at = 0; at < touched.length; at++) {
    const { access, spellings } = touched[at] as TouchedPath;
    if (access !== 'read' || !isInside(spellings.literal, directory)) return false;
  }
  return touched.length > 0;
}

async function openingOf(
  fs: Pick<FileSystem, 'realPath'>,
  { directory, reason, source }: OpenDirectory,
  touched: readonly TouchedPath[],
): Promise<Approval | undefined> {
  // fail-closed: a link in there leads elsewhere. Throws where nothing was put there yet.
  const real = await fs.realPath(directory);
  if (!touched.every(({ spellings }) => isInside(spellings.real, real))) return undefined;
  return { decision: 'allow', reason, source };
}
