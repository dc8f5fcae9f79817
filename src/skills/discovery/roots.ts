import type { SettingSource } from '../../lib/sourced.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { basename, dirname, join } from '../../platform/fs/paths.js';
import { lookAtLevels } from '../../platform/fs/project-levels.js';
import type { SkillOrigin } from '../skill.js';

export type SkillFiles = Pick<
  FileSystem,
  'stat' | 'lstat' | 'list' | 'readHead' | 'readText' | 'readWithStat' | 'realPath'
>;

/** A plugin's directory; its skills are named `name:skill`. */
export interface PluginPlace {
  readonly name: string;
  readonly directory: string;
  /** Whether a person allowed it to grant and execute. */
  readonly trusted: boolean;
  /** The values of `${CLAUDE_PLUGIN_ROOT}` and `${CLAUDE_PLUGIN_DATA}` in its texts. */
  readonly paths?: PluginDirectories;
  /** Directories with skills, besides `skills`. */
  readonly skills?: readonly string[];
  /** Directories and files of commands, replacing `commands`. */
  readonly commands?: readonly string[];
  /** Directories and files of agents, replacing `agents`. */
  readonly agents?: readonly string[];
}

export interface PluginDirectories {
  readonly root: string;
  readonly data: string;
}

/** Where skills are searched. */
export interface SkillPlaces {
  readonly fs: SkillFiles;
  /** The session's start directory, absolute. */
  readonly cwd: string;
  /** The user's configuration directory. */
  readonly configDir: string;
  readonly managedDir: string;
  /** Optional settings sources in use: `user` for personal ones, `project` for all of projects. */
  readonly sources: readonly string[];
  /** The current additional working directories. */
  additionalDirectories(): readonly string[];
  readonly plugins?: readonly PluginPlace[];
  /** Whether rules forbid reading a file, which then no link may show. Absent: there are no rules. */
  isHidden?(path: string): Promise<boolean>;
}

/** A directory with skills, or with command files of the older form. */
export interface SkillRoot {
  readonly kind: 'skills' | 'commands' | 'plugin';
  readonly origin: SkillOrigin;
  readonly source: SettingSource;
  readonly directory: string;
  /** The directory with the `.claude` folder, for projects, whose trust decides. */
  readonly level?: string;
  /** Prefix of each name: the plugin, or a subdirectory whose names would clash. */
  readonly prefix?: string;
  readonly trusted?: boolean;
  /** A plugin's directory, which its files must not leave. */
  readonly home?: string;
  readonly plugin?: PluginDirectories;
  /** The only entry of the directory to read. */
  readonly only?: string;
}

/** Strongest first: of two skills with one name, the one found first is in force. */
export async function skillRoots(places: SkillPlaces): Promise<readonly SkillRoot[]> {
  const { configDir, managedDir } = places;
  const hasUser = places.sources.includes('user');
  const projects = await projectRoots(places);
  const user = (kind: 'skills' | 'commands'): SkillRoot => ({
    kind,
    origin: kind === 'skills' ? 'user' : 'command',
    source: 'user',
    directory: join(configDir, kind),
  });
  const managed: SkillRoot = {
    kind: 'skills',
    origin: 'managed',
    source: 'managed',
    directory: join(managedDir, '.claude', 'skills'),
  };
  return [
    managed,
    ...(hasUser ? [user('skills')] : []),
    ...projects.filter(({ kind }) => kind === 'skills'),
    // fail-closed: plugins come before commands, so that no command in a folder of the same name replaces theirs.
    ...(places.plugins ?? []).flatMap(pluginRoots),
    ...(hasUser ? [user('commands')] : []),
    ...projects.filter(({ kind }) => kind === 'commands'),
  ];
}

async function projectRoots(places: SkillPlaces): Promise<readonly SkillRoot[]> {
  const directories = await projectDirectories(places);
  return directories.flatMap(({ directory, level, isAdded }): SkillRoot[] => {
    const skills = skillsRoot(directory, level);
    if (isAdded) return [skills];
    const at = join(directory, 'commands');
    return [skills, { ...skills, kind: 'commands', origin: 'command', directory: at }];
  });
}

export interface ProjectDirectory {
  readonly directory: string;
  /** The directory that contains it, whose trust decides. */
  readonly level: string;
  /** Belongs to an additional working directory. */
  readonly isAdded: boolean;
}

/** Every `.claude` directory of the project in use, the closest first, then those of added directories. */
export async function projectDirectories(
  places: SkillPlaces,
): Promise<readonly ProjectDirectory[]> {
  if (!places.sources.includes('project')) return [];
  const own = await realOrSelf(places.fs, places.configDir);
  const found: ProjectDirectory[] = [];
  const levels = lookAtLevels(places.cwd);
  for (const { path: level, hasDirectory } of levels) {
    // Most levels have none, which saves a search in each.
    if (!hasDirectory) continue;
    const directory = join(level, '.claude');
    // In the home directory the user's own skills do not count as a project's.
    if ((await realOrSelf(places.fs, directory)) === own) continue;
    found.push({ directory, level, isAdded: false });
  }
  for (const added of places.additionalDirectories()) {
    const directory = basename(added) === '.claude' ? added : join(added, '.claude');
    if ((await realOrSelf(places.fs, directory)) === own) continue;
    found.push({ directory, level: dirname(directory), isAdded: true });
  }
  return found;
}

/** The skills of a project's `.claude` directory. */
export function skillsRoot(directory: string, level: string): SkillRoot {
  const at = join(directory, 'skills');
  return { kind: 'skills', origin: 'project', source: 'project', directory: at, level };
}

/** A plugin may itself be a skill; others are in its directories, or where its manifest says. */
function pluginRoots(place: PluginPlace): readonly SkillRoot[] {
  const { name, directory, trusted, paths } = place;
  const root = {
    origin: 'plugin',
    source: 'plugin',
    prefix: name,
    trusted,
    home: directory,
    plugin: paths,
  } as const;
  const skills = [join(directory, 'skills'), ...(place.skills ?? [])];
  const commands = place.commands ?? [join(directory, 'commands')];
  return [
    { ...root, kind: 'plugin', directory },
    ...[...new Set(skills)].map((at): SkillRoot => ({ ...root, kind: 'skills', directory: at })),
    ...commands.map((at): SkillRoot => ({ ...root, kind: 'commands', ...entryOrAll(at) })),
  ];
}

/** A Markdown file is read as the only entry of its directory. */
export function entryOrAll(path: string): { readonly directory: string; readonly only?: string } {
  return path.toLowerCase().endsWith('.md')
    ? { directory: dirname(path), only: basename(path) }
    : { directory: path };
}

async function realOrSelf(fs: Pick<SkillFiles, 'realPath'>, path: string): Promise<string> {
  try {
    return await fs.realPath(path);
  } catch {
    // A loop of links is reported when its target is read.
    return path;
  }
}
