import { join } from '../../platform/fs/paths.js';
import type { PrivateDirectory } from '../../platform/fs/private-files.js';

/** Where the supporting files of bundled skills are put when one is used. */
export interface Extraction {
  /** Of one skill; nothing is there before `extract` has run. */
  directoryOf(skill: string): string;
  /** Writes the files of a skill, once for each process. Returns their directory. */
  extract(skill: string, files: Readonly<Record<string, string>>): string;
}

/** Members are relative paths; one that leads out of its skill's directory is refused with a throw. */
export function openExtraction(place: PrivateDirectory): Extraction {
  const done = new Set<string>();
  const directoryOf = (skill: string): string => join(place.path, skill);
  return {
    directoryOf,
    extract(skill, files) {
      if (!done.has(skill)) {
        for (const [name, text] of Object.entries(files)) {
          // A name with `..` in it is refused there, also one that stays among the bundled skills.
          place.write(`${skill}/${name}`, text);
        }
        done.add(skill);
      }
      return directoryOf(skill);
    },
  };
}
