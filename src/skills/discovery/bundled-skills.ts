import type { Approval, Resolver } from '../../permissions/guard.js';
import type { CallView, TouchedPath } from '../../permissions/view.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside } from '../../platform/fs/paths.js';
import { BUNDLED_SKILLS, type BundledSkill } from '../bundled/index.js';
import { readSkill } from '../head/head.js';
import type { Skill } from '../skill.js';
import type { Extraction } from './extract.js';

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
export interface OpenDirectory {
  readonly directory: string;
  readonly reason: string;
  readonly source: string;
}

/** Opens reading below a directory to the calls that it is open to, and nothing else. */
export function filesResolver(
  name: string,
  fs: Pick<FileSystem, 'realPath'>,
  openTo: (call: CallView['call']) => OpenDirectory | undefined,
): Resolver {
  return {
    name,
    async decide(view) {
      const open = view.call.tool.kind === 'read' ? openTo(view.call) : undefined;
      if (open === undefined) return undefined;
      const paths = await view.paths();
      return areIn(open, paths) ? await openingOf(fs, open, paths) : undefined;
    },
  };
}

/** Whether it is all about reading files that are named there, and about any. */
function areIn({ directory }: OpenDirectory, touched: readonly TouchedPath[]): boolean {
  for (let at = 0; at < touched.length; at++) {
    const { access, spellings } = touched[at] as TouchedPath;
    if (access !== 'read' || !isInside(spellings.literal, directory)) return false;
  }
  return touched.length > 0;
}

async function openingOf(
  fs: Pick<FileSystem, 'realPath'>,
  { directory, reason, source }: OpenDirectory,
  touched: readonly TouchedPath[],
): Promise<Approval | undefined> {
  // fail-closed: a link in there leads elsewhere. Throws where nothing was put there yet.
  const real = await fs.realPath(directory);
  if (!touched.every(({ spellings }) => isInside(spellings.real, real))) return undefined;
  return { decision: 'allow', reason, source };
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
