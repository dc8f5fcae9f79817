import type { Resolver } from '../../permissions/gate/guard.js';
import type { CallView } from '../../permissions/gate/view.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join } from '../../platform/fs/paths.js';
import type { PrivateDirectory } from '../../platform/fs/private-files.js';
import { BUNDLED_SKILLS, type BundledSkill } from '../bundled/index.js';
import { readSkill } from '../head/head.js';
import type { Skill } from '../skill.js';

/** The skills that come with the program; their files are written to disk on first use. */
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

/** Allows reading the files that bundled skills wrote to this process's private directory, and nothing else. */
export function bundledFilesResolver(
  directory: string,
  fs: Pick<FileSystem, 'realPath'>,
): Resolver {
  const reason = 'it reads files of a bundled skill';
  const source = `bundled skills (${directory})`;
  return filesResolver('bundled skill files', fs, () => ({ directory, reason, source }));
}

/** A directory that may be read, with the reason for the receipt. */
interface OpenDirectory {
  readonly directory: string;
  readonly reason: string;
  readonly source: string;
}

/** Allows reading below the directory that `openTo` returns for a call, and nothing else. */
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
      // fail-closed: a link inside may lead elsewhere. Throws while the directory does not exist.
      const real = await fs.realPath(directory);
      const isThere = touched.every(({ spellings }) => isInside(spellings.real, real));
      return isThere ? { decision: 'allow', reason, source } : undefined;
    },
  };
}

/** Lets a skill that is being started read its own files, wherever they are. */
export interface OwnFiles {
  readonly resolver: Resolver;
  /** Opens a skill's directory to one call; the returned function closes it. */
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

/** Where the supporting files of bundled skills are written on first use. */
export interface Extraction {
  /** The directory of a skill, empty before `extract`. */
  directoryOf(skill: string): string;
  /** Writes the files of a skill, once per process, and returns their directory. */
  extract(skill: string, files: Readonly<Record<string, string>>): string;
}

/** File names are relative paths; one that leads out of its skill's directory throws. */
export function openExtraction(place: PrivateDirectory): Extraction {
  const done = new Set<string>();
  const directoryOf = (skill: string): string => join(place.path, skill);
  return {
    directoryOf,
    extract(skill, files) {
      // `write` refuses any name with `..`, even one that stays among the bundled skills.
      for (const [name, text] of done.has(skill) ? [] : Object.entries(files)) {
        place.write(`${skill}/${name}`, text);
      }
      done.add(skill);
      return directoryOf(skill);
    },
  };
}
