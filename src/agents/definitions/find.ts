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

/** A directory that holds definitions, at any depth. */
export interface DefinitionRoot {
  readonly source: Extract<DefinitionSource, 'managed' | 'project' | 'user' | 'plugin'>;
  readonly directory: string;
  /** The directory whose `.claude` it is in, where a project's trust decides. */
  readonly level?: string;
  /** Of a plugin: stands before each name. */
  readonly prefix?: string;
  /** Of a plugin: what its files may lead to. */
  readonly home?: string;
  /** The only entry of the directory that counts. */
  readonly only?: string;
}

/** A Markdown file among the definitions, before it is read. */
export interface DefinitionFile {
  readonly root: DefinitionRoot;
  readonly file: string;
  /** Behind all links: what is the same file is the same definition. */
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

/** Strongest first. What a host or a flag gives stands behind the administrator's. */
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

export interface FindFileDeps {
  readonly fs: SkillPlaces['fs'];
  readonly homes: Homes;
}

const DEEPEST = 8;

/** Every Markdown file below a root, in the order of the paths. Reads directories, no file. */
export async function findDefinitions(
  root: DefinitionRoot,
  deps: FindFileDeps,
): Promise<FoundFiles> {
  const walk = new Walk(root, deps);
  try {
    await walk.into(root.directory, []);
  } catch (thrown) {
    // fail-closed: what cannot be looked at is not used.
    walk.skip(root.directory, `it cannot be looked at: ${messageOf(thrown)}`);
  }
  return walk;
}

class Walk implements FoundFiles {
  readonly files: DefinitionFile[] = [];
  readonly skipped: SkippedFile[] = [];
  readonly #root: DefinitionRoot;
  readonly #deps: FindFileDeps;
  /** Real directories, so that a loop of links ends. */
  readonly #seen = new Set<string>();
  #entries = 0;

  constructor(root: DefinitionRoot, deps: FindFileDeps) {
    this.#root = root;
    this.#deps = deps;
  }

  skip(file: string, reason: string): void {
    this.skipped.push({ root: this.#root, file, reason });
  }

  async into(directory: string, folders: readonly string[]): Promise<void> {
    const skip = (reason: string): void => this.skip(directory, reason);
    const entries = await listDirectory(directory, this.#deps.fs, skip);
    if (entries === undefined) return;
    const real = await this.#deps.fs.realPath(directory);
    if (this.#seen.has(real)) return;
    this.#seen.add(real);
    const at = { directory, real, folders, isHome: await this.#isHome(directory, real) };
    for (const entry of entries) {
      // fail-closed: whoever asks for trust does not look there either.
      if (entry.name.startsWith('.') || SKIPPED_DIRECTORIES.has(entry.name)) continue;
      if (this.#root.only !== undefined && this.#root.only !== entry.name) continue;
      if (++this.#entries > MOST_ENTRIES) {
        this.skip(directory, `only the first ${MOST_ENTRIES} files are looked at`);
        return;
      }
      await this.#entry(entry, at);
    }
  }

  /** Asked once for all: without links what is in a directory is where the directory is. */
  async #isHome(directory: string, real: string): Promise<boolean> {
    // fail-closed: an administrator's files, and what a link leads to, are looked at one by one.
    if (this.#root.source === 'managed' || real !== directory) return false;
    const at = { file: join(directory, 'any.md'), real: join(real, 'any.md') };
    return (await this.#stray(at)) === undefined;
  }

  async #entry(entry: Entry, at: Place): Promise<void> {
    const { fs } = this.#deps;
    const file = join(at.directory, entry.name);
    try {
      const isLink = entry.kind === 'symlink';
      const kind = isLink ? (await fs.stat(file))?.kind : entry.kind;
      if (kind === 'directory') {
        if (at.folders.length >= DEEPEST) this.skip(file, 'it lies too deep');
        else await this.into(file, [...at.folders, entry.name]);
        return;
      }
      if (!entry.name.toLowerCase().endsWith('.md')) return;
      if (kind !== 'file') {
        this.skip(file, kind === undefined ? 'it is a link to nothing' : 'it is no regular file');
        return;
      }
      const real = isLink ? await fs.realPath(file) : join(at.real, entry.name);
      const stray = !isLink && at.isHome ? undefined : await this.#stray({ file, real });
      if (stray !== undefined) this.skip(file, stray);
      else this.files.push({ root: this.#root, file, real, folders: at.folders });
    } catch (thrown) {
      // fail-closed: what cannot be looked at is not used.
      this.skip(file, `it cannot be looked at: ${messageOf(thrown)}`);
    }
  }

  async #stray(at: { file: string; real: string }): Promise<string | undefined> {
    const { source: origin, directory, level, home } = this.#root;
    return await this.#deps.homes.stray({ origin, directory, level, home }, at);
  }
}

interface Place {
  readonly directory: string;
  readonly real: string;
  readonly folders: readonly string[];
  /** What lies in it without a link may be read. */
  readonly isHome: boolean;
}
