import type { Hook } from '../hooks/registry/hook.js';
import { basename, dirname, stateDirectory } from '../platform/fs/paths.js';
import { projectLevels } from '../platform/fs/project-levels.js';
import { openProjectTrust, type ProjectTrust } from '../settings/trust/project-trust.js';
import type { UsedDocument } from '../settings/trust/types.js';
import type { SessionConfig } from './session-config.js';
import type { SessionEnvironment } from './session-environment.js';

/** Trust in the folders of a session, the project's and those of added and nested directories. */
export interface FolderTrust {
  /** Whether what stands in the `.claude` of a directory may grant and execute, as it is now. */
  trusts(directory: string, used?: UsedDocument): Promise<boolean>;
  /** Of a command hook of a project: the file that it stands for and that has changed; undefined: none. */
  changedScript(hook: Hook): Promise<string | undefined>;
}

const opened = new WeakMap<SessionEnvironment, FolderTrust>();

/** The one of a session: what hooks were accepted with is known to whoever runs them. */
export function folderTrust(
  config: Pick<SessionConfig, 'cwd'>,
  environment: SessionEnvironment,
): FolderTrust {
  const known = opened.get(environment) ?? open(config, environment);
  opened.set(environment, known);
  return known;
}

function open(config: Pick<SessionConfig, 'cwd'>, environment: SessionEnvironment): FolderTrust {
  const levels = projectLevels(config.cwd);
  const others = new Map<string, ProjectTrust>();
  const trustOf = (directory: string): ProjectTrust => {
    const known = others.get(directory);
    if (known !== undefined) return known;
    const made = openProjectTrust({
      fs: environment.fs,
      cwd: directory,
      configDir: environment.configDir,
      stateDirectory: stateDirectory(environment.env),
      sources: environment.sources,
      now: environment.clock.now,
    });
    others.set(directory, made);
    return made;
  };
  return {
    async trusts(directory, used) {
      if (levels.includes(directory)) return await environment.trust.covers(used);
      const { verdict } = await trustOf(directory).check({ used });
      return verdict === 'trusted';
    },
    async changedScript({ handler, source, file }) {
      const ofProject = source === 'project' || source === 'local';
      if (handler.type !== 'command' || !ofProject) return undefined;
      // fail-closed: a hook that stands nowhere was accepted by nobody.
      if (file === undefined) return 'its file, which is not known';
      const commands = [handler.command, ...(handler.args ?? [])];
      const trust = others.get(levelOf(file)) ?? environment.trust.trust;
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
