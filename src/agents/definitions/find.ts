import { messageOf } from '../../errors.js';
import { join } from '../../platform/fs/paths.js';
import { SKIPPED_DIRECTORIES } from '../../settings/trust/tree.js';
import { type Entry, listDirectory, MOST_ENTRIES } from '../../skills/discovery/find.js';
import type { Homes } from '../../skills/discovery/homes.js';
import {
  entryOrAll,
  type PluginPlace,
  projectDirectories,
  type SkillPlaces,
} from '../../skills/discovery/roots.js';
import type { DefinitionSource } from './definition.js';

/** A directory that contains definitions at any depth. */
export interface DefinitionRoot {
  readonly source: Extract<DefinitionSource, 'managed' | 'project' | 'user' | 'plugin'>;
  readonly directory: string;
  /** The directory with the `.claude` folder, for projects, whose trust decides. */
  readonly level?: string;
  /** Prefix of a plugin's agent names. */
  readonly prefix?: string;
  /** The plugin's directory, which its files must not leave. */
  readonly home?: string;
  /** The only entry of the directory to read. */
  readonly only?: string;
}

/** A Markdown file among the definitions, not read yet. */
export interface DefinitionFile {
  readonly root: DefinitionRoot;
  readonly file: string;
  /** With links resolved, to recognise the same file under two names. */
  readonly real: string;
  /** Folders between the root and the file. */
  readonly folders: readonly string[];
}

export interface SkippedFile {
  readonly root: DefinitionRoot;
  readonly file: string;
  readonly reason: string;
}

export interface FoundFiles {
  readonly files: readonly DefinitionFile[];
  readonly skipped: readonly SkippedFile[];
}

const FOLDER = 'agents';

/** Strongest first; definitions of a host or a flag rank after the administrator's. */
export async function definitionRoots(places: SkillPlaces): Promise<readonly DefinitionRoot[]> {
  const { configDir, managedDir, plugins = [] } = places;
  const projects = await projectDirectories(places);
  return [
    { source: 'managed', directory: join(managedDir, '.claude', FOLDER) },
    ...projects.map(
      ({ directory, level }): DefinitionRoot => ({
        source: 'project',
        directory: join(directory, FOLDER),
        level,
      }),
    ),
    ...(places.sources.includes('user')
      ? [{ source: 'user' as const, directory: join(configDir, FOLDER) }]
      : []),
    ...plugins.flatMap(({ name, directory, agents }: PluginPlace): DefinitionRoot[] =>
      (agents ?? [join(directory, FOLDER)]).map((at) => ({
        source: 'plugin',
        prefix: name,
        home: directory,
        ...entryOrAll(at),
      })),
    ),
  ];
}

const DEEPEST = 8;

/** Finds every Markdown file below a root, sorted by path, reading directories only. */
export async function findDefinitions(
  root: DefinitionRoot,
  { fs, homes }: { readonly fs: SkillPlaces['fs']; readonly homes: Homes },
): Promise<FoundFiles> {
  const { source: origin, level, home, only } = root;
  const files: DefinitionFile[] = [];
  const skipped: SkippedFile[] = [];
  /** Real directories, so that a loop of links ends. */
  const seen = new Set<string>();
  let count = 0;
  const skip = (file: string, reason: string): void => void skipped.push({ root, file, reason });

  async function into(directory: string, folders: readonly string[]): Promise<void> {
    const entries = await listDirectory(directory, fs, (reason) => skip(directory, reason));
    const real = entries === undefined ? '' : await fs.realPath(directory);
    if (entries === undefined || seen.has(real)) return;
    seen.add(real);
    for (const entry of entries) {
      // fail-closed: the check of trust skips these directories, too.
      if (entry.name.startsWith('.') || SKIPPED_DIRECTORIES.has(entry.name)) continue;
      if (only !== undefined && only !== entry.name) continue;
      if (++count > MOST_ENTRIES) {
        skip(directory, `only the first ${MOST_ENTRIES} files are looked at`);
        return;
      }
      await lookable(join(directory, entry.name), (file) => take(entry, { file, folders }));
    }
  }

  async function take(
    { name, kind: listed }: Entry,
    { file, folders }: { file: string; folders: readonly string[] },
  ): Promise<void> {
    const kind = listed === 'symlink' ? (await fs.stat(file))?.kind : listed;
    if (kind === 'directory') {
      if (folders.length >= DEEPEST) skip(file, 'it lies too deep');
      else await into(file, [...folders, name]);
      return;
    }
    if (!name.toLowerCase().endsWith('.md')) return;
    if (kind !== 'file') {
      skip(file, kind === undefined ? 'it is a link to nothing' : 'it is no regular file');
      return;
    }
    const real = await fs.realPath(file);
    const place = { origin, directory: root.directory, level, home };
    const outside = await homes.whyOutside(place, { file, real });
    if (outside === undefined) files.push({ root, file, real, folders });
    else skip(file, outside);
  }

  /** fail-closed: a file that cannot be inspected is not used. */
  async function lookable(file: string, look: (file: string) => Promise<void>): Promise<void> {
    try {
      await look(file);
    } catch (thrown) {
      skip(file, `it cannot be looked at: ${messageOf(thrown)}`);
    }
  }

  await lookable(root.directory, (directory) => into(directory, []));
  return { files, skipped };
}
