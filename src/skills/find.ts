import { findCommands } from './find-commands.js';
import type { SkillRoot } from './find-roots.js';
import { findSkills, rootSkill } from './find-skills.js';
import type { FindDeps, Found } from './found.js';

/** What is in one root. Reads directories, no file. */
export async function findIn(root: SkillRoot, deps: FindDeps): Promise<Found> {
  switch (root.kind) {
    case 'commands':
      return await findCommands(root, deps);
    case 'skills':
      return await findSkills(root, deps);
    case 'plugin':
      return await rootSkill(root, deps);
  }
}
