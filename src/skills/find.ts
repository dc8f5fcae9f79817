import { join } from '../env/paths.js';
import { findCommands } from './find-commands.js';
import type { SkillRoot } from './find-roots.js';
import { findSkills, rootSkill } from './find-skills.js';
import { type FindDeps, type Found, joined } from './found.js';

/** What is in one root. Reads directories, no file. */
export async function findIn(root: SkillRoot, deps: FindDeps): Promise<Found> {
  if (root.kind === 'commands') return await findCommands(root, deps);
  if (root.kind === 'skills') return await findSkills(root, deps);
  return joined([
    await rootSkill(root, deps),
    await findSkills({ ...root, directory: join(root.directory, 'skills') }, deps),
    await findCommands({ ...root, directory: join(root.directory, 'commands') }, deps),
  ]);
}
