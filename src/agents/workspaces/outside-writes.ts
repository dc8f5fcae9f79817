import type { Git } from '../../permissions/git/hardened.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join } from '../../platform/fs/paths.js';
import type { WriteLedger } from '../../tools/files/write-ledger.js';
import { statusFiles } from './worktree-end.js';

export interface OutsideWrites {
  /** Files outside the workspace that the agent certainly or probably wrote. */
  finish(): Promise<readonly string[]>;
}

const MOST_FILES = 10_000;

/**
 * Compares the project before and after an agent works, because its programs may write files that no
 * command analysis sees. A file that changed while only this agent's commands ran is attributed to it.
 */
export async function trackOutsideWrites(
  parts: {
    readonly fs: Pick<FileSystem, 'lstat'>;
    readonly git: Git;
    readonly ledger: Pick<WriteLedger, 'writesOf' | 'commandsAt' | 'lastWrite'>;
  },
  agent: { readonly path: string; readonly workspace: string; readonly project: string },
): Promise<OutsideWrites> {
  const { fs, git, ledger } = parts;
  const { project, workspace } = agent;
  const look = async () => {
    const found = new Map<string, { readonly stamp: string; readonly mtimeMs: number }>();
    const status = await statusFiles(git, project);
    if (!status.ok) return found;
    const top = await git(['rev-parse', '--show-toplevel'], { cwd: project });
    for (const name of status.value.slice(0, MOST_FILES)) {
      const file = join(top.ok ? top.value.trim() : project, name);
      const stat = isInside(file, workspace) ? undefined : await fs.lstat(file);
      if (stat === undefined) continue;
      const { mtimeMs, size, inode } = stat;
      found.set(file, { stamp: `${mtimeMs} ${size} ${inode ?? ''}`, mtimeMs });
    }
    return found;
  };
  const before = await look();
  return {
    async finish() {
      const known = ledger.writesOf(agent.path).filter((file) => !isInside(file, workspace));
      const outside = new Set(known);
      for (const [file, { stamp, mtimeMs }] of await look()) {
        if (before.get(file)?.stamp === stamp) continue;
        const runs = ledger.commandsAt(mtimeMs);
        const isOnly = runs.length > 0 && runs.every((run) => run.agent === agent.path);
        const last = ledger.lastWrite(file);
        if (isOnly && (last === undefined || last.agent === agent.path)) outside.add(file);
      }
      return [...outside].sort();
    },
  };
}
