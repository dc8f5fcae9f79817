import type { FileSystem } from '../../platform/fs/fs.js';
import { createDiscovery, type Discovery, type InstructionBookParts } from './discovery.js';
import { createInstructionLoader, type InstructionLoader } from './loader.js';
import { isOn } from './memory-files.js';
import { type ProjectPlace, projectPlace, realOrSelf } from './places.js';
import { createInstructionReader, type InstructionReader } from './reader.js';

/** What the files of a session are looked for with, and where. */
export interface LoadContext {
  readonly fs: FileSystem;
  readonly reader: InstructionReader;
  readonly loader: InstructionLoader;
  readonly discovery: Discovery;
  /** The project, then the added directories that count like it. */
  readonly projects: readonly [ProjectPlace, ...ProjectPlace[]];
}

export async function createLoadContext(parts: InstructionBookParts): Promise<LoadContext> {
  const { fs, home, settings, additionalDirectories = [] } = parts;
  const project = await projectPlace(fs, parts.cwd, home);
  const isAddedRead = isOn(parts.env.CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD);
  const added = (isAddedRead ? additionalDirectories : []).map(async (root) => {
    return { cwd: root, root, realRoot: await realOrSelf(fs, root), ancestors: [root] };
  });
  const projects = [project, ...(await Promise.all(added))] as const;
  const { root, realRoot } = project;
  const reader = createInstructionReader({ ...parts, root, realRoot, excludes: settings.excludes });
  const loader = createInstructionLoader(reader, home);
  const discovery = createDiscovery({ ...parts, projects, reader, loader });
  return { fs, reader, loader, discovery, projects };
}
