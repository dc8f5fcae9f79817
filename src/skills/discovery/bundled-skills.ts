import type { Resolver } from '../../permissions/gate/guard.js';
import type { CallView } from '../../permissions/gate/view.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join } from '../../platform/fs/paths.js';
import type { PrivateDirectory } from '../../platform/fs/private-files.js';
import { BUNDLED_SKILLS, type BundledSkill } from '../bundled/index.js';
import { readSkill } from '../head/head.js';
import type { Skill } from '../skill.js';

/** The skills that come with the program. Their files are written to disk when one of them is used. */
export async function bundledSkills(extraction: Extraction): Promise<readonly Skill[]> {
  return await Promise.all(BUNDLED_SKILLS.map((skill) => load(skill, extraction)));
}

async function load({ name, text, files }: BundledSkill, extraction: Extraction): Promise<Skill> {
  const { head, body, bodyLine, problems } = await readSkill(text);
  return {
    name,
    origin: 'bundled',
    source: 'builtin',
    file: `bundled:${name}`,
    directory: extraction.directoryOf(name),
    head,
    trusted: true,
    bodyLine,
    problems,
    async body() {
      if (Object.keys(files).length > 0) extraction.extract(name, files);
      return body;
    },
  };
}

/** Opens reading what bundled skills put into the private directory of this process, and nothing else. */
export function bundledFilesResolver(
  directory: string,
  fs: Pick<FileSystem, 'realPath'>,
): Resolver {
  const reason = 'it reads files of a bundled skill';
  const source = `bundled skills (${directory})`;
  return filesResolver('bundled skill files', fs, () => ({ directory, reason, source }));
}

/** A directory whose files may be read, and how a receipt names that. */
interface OpenDirectory {
  readonly directory: string;
  readonly reason: string;
  readonly source: string;
}

/** Opens reading below a directory to the calls that it is open to, and nothing else. */
function filesResolver(
  name: string,
  fs: Pick<FileSystem, 'realPath'>,
  openTo: (call: CallView['call']) => OpenDirectory | undefined,
): Resolver {
  return {
    name,
    async decide(view) {
      const open = view.call.tool.kind === 'read' ? openTo(view.call) : undefined;
      const touched = open === undefined ? [] : await view.paths();
      if (open === undefined || touched.length === 0) return undefined;
      const { directory, reason, source } = open;
      const isNamed = touched.every(
        ({ access, spellings }) => access === 'read' && isInside(spellings.literal, directory),
      );
      if (!isNamed) return undefined;
      // fail-closed: a link in there leads elsewhere. Throws where nothing was put there yet.
      const real = await fs.realPath(directory);
      const isThere = touched.every(({ spellings }) => isInside(spellings.real, real));
      return isThere ? { decision: 'allow', reason, source } : undefined;
    },
  };
}

/** A skill that is being started may read what lies beside it, wherever that is. */
export interface OwnFiles {
  readonly resolver: Resolver;
  /** Opens the directory of a skill to one call. Returns how to close it again. */
  open(toolUseId: string, directory: string): () => void;
}

export function createOwnFiles(fs: Pick<FileSystem, 'realPath'>): OwnFiles {
  const opened = new Map<string, OpenDirectory>();
  return {
    resolver: filesResolver('files of a skill', fs, ({ toolUseId }) => opened.get(toolUseId)),
    open(toolUseId, directory) {
      const reason = 'the skill that is started names a file of its own';
      opened.set(toolUseId, { directory, reason, source: `skill (${directory})` });
      return () => void opened.delete(toolUseId);
    },
  };
}

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
      // A name with `..` in it is refused there, also one that stays among the bundled skills.
      for (const [name, text] of done.has(skill) ? [] : Object.entries(files)) {
        place.write(`${skill}/${name}`, text);
      }
      done.add(skill);
      return directoryOf(skill);
    },
  };
}
