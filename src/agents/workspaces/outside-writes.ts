import { type Git, zeroSeparated } from '../../permissions/git/hardened.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join } from '../../platform/fs/paths.js';
import type { WriteLedger } from '../../tools/files/write-ledger.js';

/** What an agent wrote, by where. */
export interface Written {
  readonly inside: readonly string[];
  readonly strays: readonly string[];
}

/** Sorts files by whether they are in the workspace or in what settings added to it. */
export function sortWritten(files: readonly string[], writable: readonly string[]): Written {
  const isIn = (file: string): boolean => writable.some((directory) => isInside(file, directory));
  const all = [...new Set(files)].sort();
  return { inside: all.filter(isIn), strays: all.filter((file) => !isIn(file)) };
}

export interface StrayWatch {
  /** Files outside of the workspace that the agent wrote, surely or as far as anybody can tell. */
  finish(): Promise<readonly string[]>;
}

export interface StrayParts {
  readonly fs: Pick<FileSystem, 'lstat'>;
  readonly git: Git;
  readonly ledger: Pick<WriteLedger, 'writesOf' | 'commandsAt' | 'lastWrite'>;
}

/**
 * Looks at the project before and after an agent works: programs that it runs may write where no
 * analysis of the command line could see it. What changed while one of its commands ran, and while
 * nobody else's did, is taken to be its doing.
 */
export async function trackOutsideWrites(
  { fs, git, ledger }: StrayParts,
  agent: { readonly path: string; readonly workspace: string; readonly project: string },
): Promise<StrayWatch> {
  const { project, workspace } = agent;
  const look = async (): Promise<ReadonlyMap<string, string>> => {
    const found = new Map<string, string>();
    const status = await git(
      [
        'status',
        '--porcelain=v1',
        '-z',
        '--untracked-files=all',
        '--no-renames',
        // fail-closed: a repository inside brings filters of its own, which git would run to look into it.
        '--ignore-submodules=dirty',
      ],
      { cwd: project },
    );
    if (!status.ok) return found;
    const top = await git(['rev-parse', '--show-toplevel'], { cwd: project });
    for (const field of zeroSeparated(status.value).slice(0, MOST_FILES)) {
      const file = join(top.ok ? top.value.trim() : project, field.slice(3));
      const stat = isInside(file, workspace) ? undefined : await fs.lstat(file);
      if (stat !== undefined) found.set(file, `${stat.mtimeMs} ${stat.size} ${stat.inode ?? ''}`);
    }
    return found;
  };
  const before = await look();
  return {
    async finish() {
      const known = ledger.writesOf(agent.path);
      const changed: string[] = [];
      for (const [file, stamp] of await look()) {
        if (before.get(file) === stamp) continue;
        const stat = await fs.lstat(file);
        const runs = stat === undefined ? [] : ledger.commandsAt(stat.mtimeMs);
        const isOnly = runs.length > 0 && runs.every((run) => run.agent === agent.path);
        const last = ledger.lastWrite(file);
        if (isOnly && (last === undefined || last.agent === agent.path)) changed.push(file);
      }
      return sortWritten([...known, ...changed], [workspace]).strays;
    },
  };
}

const MOST_FILES = 10_000;
