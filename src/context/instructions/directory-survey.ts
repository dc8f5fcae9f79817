import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join } from '../../platform/fs/paths.js';
import { type ProjectPlace, realOrSelf } from './places.js';
import type { InstructionReader, Sought } from './reader.js';
import type { Area } from './rule-taking.js';

/** Directories that were looked at, by their paths. */
export type Surveys = Map<string, Survey>;

/** What stands in one directory under the names that have a meaning. */
export interface Survey {
  readonly directory: string;
  readonly area: Area;
  readonly own: Sought;
  readonly dotted: Sought;
  readonly local: Sought;
  readonly hasDotClaude: boolean;
  readonly hasRules: boolean;
  /** Looked for only where they count. */
  readonly agents: Map<string, Sought>;
}

export interface SurveyParts {
  /** In a folder that the session came to later. */
  readonly nested: boolean;
  readonly fs: FileSystem;
  readonly reader: InstructionReader;
  readonly configDir: string;
  readonly sources: readonly string[];
  /** The project, then the added directories that count like it. */
  readonly projects: readonly ProjectPlace[];
}

export const AGENTS_FILE = 'AGENTS.md';

/** Looks for all names that have a meaning in a directory. */
export async function surveyOf(look: SurveyParts, directory: string): Promise<Survey> {
  const { fs, reader, sources, nested } = look;
  const around = await areaOf(fs, directory, look.projects);
  const area = nested ? { ...around, nested } : around;
  const found = async (path: string, scope: 'project' | 'local'): Promise<Sought> =>
    sources.includes(scope) ? await reader.locate({ path, scope, ...area }) : 'absent';
  const dot = join(directory, '.claude');
  // The user's own configuration is not the project's, also where it lies above it.
  const hasDotClaude =
    sources.includes('project') &&
    (await isDirectory(fs, dot)) &&
    !(await isSamePlace(fs, dot, look.configDir));
  return {
    directory,
    area,
    own: await found(join(directory, 'CLAUDE.md'), 'project'),
    dotted: hasDotClaude ? await found(join(dot, 'CLAUDE.md'), 'project') : 'absent',
    local: await found(join(directory, 'CLAUDE.local.md'), 'local'),
    hasDotClaude,
    hasRules: hasDotClaude && (await isDirectory(fs, join(dot, 'rules'))),
    agents: new Map(),
  };
}

/** Above the project a file may lie beside its link, and include what is in the project. */
async function areaOf(
  fs: FileSystem,
  directory: string,
  projects: readonly ProjectPlace[],
): Promise<Area> {
  const around = areaInside(directory, projects);
  if (around !== undefined) return around;
  const roots = projects.slice(0, 1).map(({ realRoot }) => realRoot);
  const within = [...roots, await realOrSelf(fs, directory)];
  return { within, includesWithin: roots, aboveProject: true };
}

/** Undefined above all projects. */
function areaInside(directory: string, projects: readonly ProjectPlace[]): Area | undefined {
  const around = projects.find(({ root }) => isInside(directory, root));
  if (around === undefined) return undefined;
  return { within: [around.realRoot], includesWithin: [around.realRoot] };
}

export async function isDirectory(fs: Pick<FileSystem, 'stat'>, path: string): Promise<boolean> {
  try {
    return (await fs.stat(path))?.kind === 'directory';
  } catch {
    // What cannot be looked at cannot be read either.
    return false;
  }
}

async function isSamePlace(
  fs: Pick<FileSystem, 'realPath'>,
  one: string,
  other: string,
): Promise<boolean> {
  return one === other || (await realOrSelf(fs, one)) === (await realOrSelf(fs, other));
}
