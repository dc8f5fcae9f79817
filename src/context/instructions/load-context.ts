import type { ParseYaml } from '../../lib/parse-yaml.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import type { LocateJson } from '../enforced/enforced.js';
import type { Surveys } from './directory-survey.js';
import { createDiscovery, type Discovery } from './discovery.js';
import type { IncludeApprovals } from './include-approvals.js';
import { createInstructionLoader, type InstructionLoader } from './loader.js';
import { isOn } from './memory-files.js';
import type { FolderMemory } from './nested-search.js';
import type { PathMatcher } from './path-matcher.js';
import { type ProjectPlace, projectPlace, realOrSelf } from './places.js';
import { createInstructionReader, type InstructionReader } from './reader.js';
import type { InstructionSettings } from './settings.js';

export interface InstructionBookParts {
  readonly fs: FileSystem;
  readonly cwd: string;
  readonly home: string;
  /** The user's configuration directory. */
  readonly configDir: string;
  /** An administrator's directory. */
  readonly managedDir?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Which optional settings sources count; instruction files follow them. */
  readonly sources: readonly string[];
  readonly settings: InstructionSettings;
  /** Directories that were added by a flag or a host, not by settings. */
  readonly additionalDirectories?: readonly string[];
  /** Whether the project is trusted. */
  readonly trusted: boolean;
  readonly approvals: IncludeApprovals;
  /** Whether a permission rule keeps a file from being read. `isIncluded`: another file brings it in. */
  isHidden?(path: string, how: { readonly isIncluded: boolean }): Promise<boolean>;
  /** For heads that are more than a simple list of fields. */
  readonly parseYaml?: ParseYaml;
  /** For the patterns of rules; absent: as of .gitignore. */
  readonly matcher?: PathMatcher;
  /** Reads the JSON of enforced rules. */
  readonly locateJson: LocateJson;
}

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
  /** What was seen for a call: nobody looks twice for the same one. */
  readonly looks: WeakMap<object, Surveys>;
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
  const patterns = settings.excludes;
  const matcher =
    patterns.length === 0 ? undefined : (await import('./path-matcher.js')).gitignoreMatcher;
  const reader = createInstructionReader({
    fs,
    home,
    root: project.root,
    realRoot: project.realRoot,
    approvals: parts.approvals,
    excludes: matcher === undefined ? undefined : { patterns, matcher },
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
    looks: new WeakMap(),
  };
}

export async function isDirectory({ fs }: World, path: string): Promise<boolean> {
  try {
    return (await fs.stat(path))?.kind === 'directory';
  } catch {
    // A file that cannot be looked at still lies in its directory.
    return false;
  }
}
