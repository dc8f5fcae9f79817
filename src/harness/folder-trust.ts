import type { SessionConfig } from '../agents/session-config.js';
import { stateDirectory } from '../env/paths.js';
import { openProjectTrust } from '../settings/trust.js';
import { projectLevels } from '../skills/find-roots.js';
import type { Ground } from './ground.js';

/** Whether what stands in the `.claude` of a directory may grant and execute, as it is now. */
export function folderTrust(
  config: Pick<SessionConfig, 'cwd'>,
  ground: Ground,
): (directory: string) => Promise<boolean> {
  const levels = projectLevels(config.cwd);
  return async (directory) => {
    if (levels.includes(directory)) return await ground.trust.inForce();
    const { verdict } = await openProjectTrust({
      fs: ground.fs,
      cwd: directory,
      configDir: ground.configDir,
      stateDirectory: stateDirectory(ground.env),
      sources: ground.sources,
      now: ground.clock.now,
    }).check();
    return verdict === 'trusted';
  };
}
