import type { Hook } from '../hooks/registry/hook.js';
import type { FileSystem } from '../platform/fs/fs.js';
import { dirname } from '../platform/fs/paths.js';
import { claudeDirectoryOf, projectLevels } from '../platform/fs/project-levels.js';
import type { OpenedSettings } from '../settings/files/open.js';
import { openProjectTrust, type ProjectTrust } from '../settings/trust/project-trust.js';
import type { UsedDocument } from '../settings/trust/types.js';

/** Trust in the folders of a session: the project's and those of added and nested directories. */
export interface FolderTrust {
  /** Whether the current contents of a directory's `.claude` may grant and execute. */
  trusts(directory: string, used?: UsedDocument): Promise<boolean>;
  /** The script of a project's command hook that changed after it was trusted; undefined when none did. */
  changedScript(hook: Hook): Promise<string | undefined>;
}

interface TrustParts {
  readonly fs: FileSystem;
  readonly cwd: string;
  readonly configDir: string;
  readonly stateDirectory: string;
  readonly sources: readonly string[];
  readonly trust: OpenedSettings['trust'];
  now(): number;
}

/** Opened once per session, so that hooks are checked against the content they were trusted with. */
export function openFolderTrust(parts: TrustParts): FolderTrust {
  const { cwd, trust: project, ...how } = parts;
  const levels = projectLevels(cwd);
  const others = new Map<string, ProjectTrust>();
  const trustOf = (directory: string): ProjectTrust => {
    const known = others.get(directory);
    if (known !== undefined) return known;
    const made = openProjectTrust({ ...how, cwd: directory });
    others.set(directory, made);
    return made;
  };
  return {
    async trusts(directory, used) {
      if (levels.includes(directory)) return await project.covers(used);
      const { verdict } = await trustOf(directory).check({ used });
      return verdict === 'trusted';
    },
    async changedScript({ handler, source, file }) {
      const ofProject = source === 'project' || source === 'local';
      if (handler.type !== 'command' || !ofProject) return undefined;
      // fail-closed: a hook without a known file was never trusted.
      if (file === undefined) return 'its file, which is not known';
      const commands = [handler.command, ...(handler.args ?? [])];
      const claude = claudeDirectoryOf(file);
      const own = claude === undefined ? undefined : others.get(dirname(claude));
      const trust = own ?? project.trust;
      return await trust.changedScript({ file, commands });
    },
  };
}
