import type { Hook } from '../hooks/registry/hook.js';
import type { FileSystem } from '../platform/fs/fs.js';
import { basename, dirname } from '../platform/fs/paths.js';
import { projectLevels } from '../platform/fs/project-levels.js';
import type { OpenedSettings } from '../settings/files/open.js';
import { openProjectTrust, type ProjectTrust } from '../settings/trust/project-trust.js';
import type { UsedDocument } from '../settings/trust/types.js';

/** Trust in the folders of a session, the project's and those of added and nested directories. */
export interface FolderTrust {
  /** Whether what stands in the `.claude` of a directory may grant and execute, as it is now. */
  trusts(directory: string, used?: UsedDocument): Promise<boolean>;
  /** Of a command hook of a project: the file that it stands for and that has changed; undefined: none. */
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

/** Opened once for a session: whoever runs hooks knows what they were accepted with. */
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
      // fail-closed: a hook that stands nowhere was accepted by nobody.
      if (file === undefined) return 'its file, which is not known';
      const commands = [handler.command, ...(handler.args ?? [])];
      const trust = others.get(levelOf(file)) ?? project.trust;
      return await trust.changedScript({ file, commands });
    },
  };
}

/** The directory whose `.claude` a file is in; the file itself when it is in none. */
function levelOf(file: string): string {
  for (let at = dirname(file); at !== dirname(at); at = dirname(at)) {
    if (basename(at) === '.claude') return dirname(at);
  }
  return file;
}
