import type { FileSystem } from '../../platform/fs/fs.js';
import { createDiscovery, type Discovery, type InstructionBookParts } from './discovery.js';
import { createInstructionLoader, type InstructionLoader } from './loader.js';
import { isOn } from './memory-files.js';
import type { FolderMemory } from './nested-search.js';
import { type ProjectPlace, projectPlace, realOrSelf } from './places.js';
import { createInstructionReader, type InstructionReader } from './reader.js';

/** What the files of a session are looked for with, and where. */
export interface World {
  readonly fs: FileSystem;
  readonly reader: InstructionReader;
  readonly loader: InstructionLoader;
  readonly discovery: Discovery;
  /** The project, then the added directories that count like it. */
  readonly projects: readonly ProjectPlace[];
  /** What stood in folders below when somebody looked. */
  readonly folders: FolderMemory;
}

export async function createWorld(parts: InstructionBookParts): Promise<World> {
  const { fs, home, settings, additionalDirectories = [] } = parts;
  const project = await projectPlace(fs, parts.cwd, home);
  const isAddedRead = isOn(parts.env.CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD);
  const added = await Promise.all(
    (isAddedRead ? additionalDirectories : []).map(async (root): Promise<ProjectPlace> => {
      return { cwd: root, root, realRoot: await realOrSelf(fs, root), ancestors: [root] };
    }),
  );
  const reader = createInstructionReader({
    fs,
    home,
    root: project.root,
    realRoot: project.realRoot,
    approvals: parts.approvals,
    excludes: settings.excludes,
    isHidden: parts.isHidden,
  });
  const loader = createInstructionLoader({ reader, ...parts });
  const discovery = createDiscovery({ project, reader, loader, ...parts }, added);
  return {
    fs,
    reader,
    loader,
    discovery,
    projects: [project, ...added],
    folders: new Map(),
  };
}
