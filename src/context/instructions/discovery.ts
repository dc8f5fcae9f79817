import type { Sourced } from '../../lib/sourced.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join } from '../../platform/fs/paths.js';
import type { LocateJson } from '../enforced/enforced.js';
import type { IncludeApprovals } from './include-approvals.js';
import { enforcingResult, type LoadResult } from './load-result.js';
import type { InstructionLoader } from './loader.js';
import { isOn, takeMemories } from './memory-files.js';
import { gitignoreMatcher } from './path-matcher.js';
import { isDirectory, type ProjectPlace, pathFrom, realOrSelf } from './places.js';
import { type InstructionReader, isLocated, skip, unreadable } from './reader.js';
import { ruleFilesIn } from './rules.js';
import type { InstructionSettings } from './settings.js';
import { withoutBlockComments, withoutHidden } from './text.js';
import type { Area, Entry, InstructionScope, LoadCause, Place, Sought } from './types.js';

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
  /** Reads the JSON of enforced rules. */
  readonly locateJson: LocateJson;
}

interface DiscoveryParts extends InstructionBookParts {
  /** The project, then the added directories whose instructions count like its own. */
  readonly projects: readonly [ProjectPlace, ...ProjectPlace[]];
  readonly reader: InstructionReader;
  readonly loader: InstructionLoader;
}

export interface Discovery {
  /** Everything that holds from the start, broad before specific. */
  start(how: LoadCause): Promise<LoadResult>;
  /** What one directory below the working directory brings. `known`: directories that were looked at. */
  nested(
    directory: string,
    how: LoadCause,
    into: LoadResult,
    known?: KnownDirectories,
  ): Promise<void>;
}

export type KnownDirectories = Map<string, DirectoryFiles>;

/** The instruction files of one directory. */
interface DirectoryFiles {
  /** CLAUDE.md, then AGENTS.md; each also in `.claude`. */
  readonly shared: readonly FoundFile[];
  readonly rules?: RuleDirectory;
  /** CLAUDE.local.md. */
  readonly local: readonly FoundFile[];
}

interface FoundFile {
  readonly place: Place;
  readonly sought: Sought;
  readonly isAgents: boolean;
}

interface RuleDirectory {
  readonly path: string;
  readonly scope: InstructionScope;
  readonly area: Area;
  /** The directories that patterns are meant from; the first is the one the rules speak for. */
  readonly bases: readonly [string, ...string[]];
}

interface Task {
  readonly how: LoadCause;
  readonly into: LoadResult;
}

export function createDiscovery(parts: DiscoveryParts): Discovery {
  const { fs, settings, projects, loader, reader } = parts;
  const [project, ...added] = projects;
  const managedOnly = settings.agentsMode === 'managed-only';
  const filesOff = managedOnly || isOn(parts.env.CLAUDE_CODE_DISABLE_CLAUDE_MDS);
  const sources = filesOff ? [] : parts.sources;

  async function filesIn(directory: string, nested = false): Promise<DirectoryFiles> {
    const around = await areaOf(fs, directory, projects);
    const area = nested ? { ...around, nested } : around;
    const dot = join(directory, '.claude');
    const hasProject = sources.includes('project');
    // The user's own configuration is not the project's, also where it lies above it.
    const hasDot =
      hasProject && (await isDirectory(fs, dot)) && !(await isSamePlace(fs, dot, parts.configDir));
    const folders = hasProject ? [directory, ...(hasDot ? [dot] : [])] : [];
    const find = async (path: string, scope: 'project' | 'local', isAgents = false) => {
      const place: Place = { path, scope, kind: 'file', base: directory, ...area };
      const sought = await reader.locate(place);
      return { place: isAgents ? { ...place, onceByContent: true } : place, sought, isAgents };
    };
    const rules = join(dot, 'rules');
    const [shared, local, hasRules] = await Promise.all([
      Promise.all([
        ...folders.map((folder) => find(join(folder, 'CLAUDE.md'), 'project')),
        ...folders.map((folder) => find(join(folder, 'AGENTS.md'), 'project', true)),
      ]),
      sources.includes('local') ? find(join(directory, 'CLAUDE.local.md'), 'local') : undefined,
      hasDot && isDirectory(fs, rules),
    ]);
    return {
      shared,
      rules: hasRules ? { path: rules, scope: 'project', area, bases: [directory] } : undefined,
      local: local === undefined ? [] : [local],
    };
  }

  async function takeFiles(files: DirectoryFiles, agents: boolean, task: Task): Promise<void> {
    const { how, into } = task;
    for (const { place, sought, isAgents } of files.shared) {
      if (agents || !isAgents) await loader.take(place, how, into, { sought });
    }
    if (files.rules !== undefined) await takeRules(parts, files.rules, task);
    for (const { place, sought } of files.local) await loader.take(place, how, into, { sought });
  }

  const wantsAgents = (directories: readonly DirectoryFiles[]): boolean => {
    const { agentsMode } = settings;
    if (agentsMode === 'claude-md-and-agents-md') return true;
    return agentsMode === 'claude-md-or-agents-md' && !directories.some(hasClaudeFile);
  };

  return {
    async start(how) {
      const task = { how, into: enforcingResult() };
      await takeManaged(parts, task);
      if (sources.includes('user')) await takeUser(parts, task);
      const directories = await Promise.all(project.ancestors.map((one) => filesIn(one)));
      const agents = wantsAgents(directories);
      for (const one of directories) await takeFiles(one, agents, task);
      for (const { root } of added) {
        const one = await filesIn(root);
        await takeFiles(one, wantsAgents([one]), task);
      }
      if (!managedOnly) await takeMemories({ ...parts, project }, task);
      return task.into;
    },
    async nested(directory, how, into, known) {
      if (filesOff) return;
      const files = known?.get(directory) ?? (await filesIn(directory, true));
      known?.set(directory, files);
      await takeFiles(files, wantsAgents([files]), { how, into });
    },
  };
}

function hasClaudeFile({ shared, local }: DirectoryFiles): boolean {
  return [...shared, ...local].some(
    ({ sought, isAgents }) =>
      !isAgents &&
      sought !== 'absent' &&
      (isLocated(sought) || (sought.kind !== 'excluded' && sought.kind !== 'not regular')),
  );
}

async function takeManaged(parts: DiscoveryParts, task: Task): Promise<void> {
  const { managedDir: base, settings } = parts;
  const scope = 'managed';
  if (base !== undefined) await takeOwnFile(parts, { base, scope }, task);
  if (settings.claudeMd !== undefined) {
    const root = base ?? parts.configDir;
    task.into.entries.push(...settingEntry(settings.claudeMd, task.how, root));
  }
  if (base === undefined) return;
  await takeOwnRules(parts, { path: join(base, '.claude', 'rules'), scope }, task);
}

async function takeUser(parts: DiscoveryParts, task: Task): Promise<void> {
  const { configDir: base } = parts;
  const scope = 'user';
  await takeOwnFile(parts, { base, scope }, task);
  await takeOwnRules(parts, { path: join(base, 'rules'), scope }, task);
}

/** The file of an administrator or of the user: where it leads is their own affair. */
async function takeOwnFile(
  { loader }: DiscoveryParts,
  { base, scope }: Pick<Place, 'base' | 'scope'>,
  { how, into }: Task,
): Promise<void> {
  await loader.take({ path: join(base, 'CLAUDE.md'), scope, kind: 'file', base }, how, into);
}

async function takeOwnRules(
  parts: DiscoveryParts,
  { path, scope }: Pick<Place, 'path' | 'scope'>,
  task: Task,
): Promise<void> {
  const [{ root, cwd }] = parts.projects;
  if (!(await isDirectory(parts.fs, path))) return;
  await takeRules(parts, { path, scope, area: {}, bases: [root, cwd] }, task);
}

/** Instructions that stand in managed settings. */
function settingEntry(setting: Sourced<string>, { reason }: LoadCause, base: string): Entry[] {
  const source = setting.value.replace(/\r\n?/g, '\n');
  const { text } = withoutHidden(withoutBlockComments(source));
  if (text.trim() === '') return [];
  const path = setting.file ?? 'managed settings';
  const bytes = source.length;
  const place = { path, scope: 'managed', kind: 'setting', base } as const;
  const shown = { path, scope: 'managed', memoryType: 'Managed', kind: 'setting' } as const;
  return [
    {
      instruction: { ...shown, loadReason: reason, text, bytes, notes: [] },
      place,
      located: { real: '', stamp: '', bytes },
      source,
      depth: 0,
      line: setting.line ?? 1,
    },
  ];
}

/** Takes the rules of a directory that apply always, and notes those that wait. */
async function takeRules(
  { fs, loader }: DiscoveryParts,
  { path, scope, area, bases }: RuleDirectory,
  { how, into }: Task,
): Promise<void> {
  const found = await ruleFilesIn(fs, path);
  for (const file of found.files) {
    const place: Place = { path: file.path, scope, kind: 'rule', base: bases[0], ...area };
    const look = await loader.look(place, file.realDirectory);
    const { sought, prepared } = look;
    const globs = prepared?.ok === true ? prepared.value.globs : undefined;
    if (globs === undefined || !isLocated(sought)) await loader.take(place, how, into, look);
    else into.waiting.push({ place, real: sought.real, globs, fits: fitsFrom(bases, globs) });
  }
  for (const closed of found.closed) {
    const wanted = { path: closed.path, scope, ...area };
    into.skipped.push(unreadable(wanted, closed.why, { isThere: true }));
  }
  if (found.cut) {
    into.skipped.push(skip({ path, scope }, 'too many', 'it holds more files than are looked at'));
  }
}

function fitsFrom(bases: readonly string[], globs: readonly string[]): (path: string) => boolean {
  const matches = gitignoreMatcher(globs);
  return (path) =>
    bases
      .map((base) => pathFrom(base, path))
      .some((relative) => relative !== undefined && matches(relative));
}

/** Above the project a file may lie beside its link, and include what is in the project. */
async function areaOf(
  fs: FileSystem,
  directory: string,
  projects: DiscoveryParts['projects'],
): Promise<Area> {
  const around = projects.find(({ root }) => isInside(directory, root));
  if (around !== undefined) return { within: [around.realRoot], includesWithin: [around.realRoot] };
  const roots = [projects[0].realRoot];
  const within = [...roots, await realOrSelf(fs, directory)];
  return { within, includesWithin: roots, aboveProject: true };
}

async function isSamePlace(
  fs: Pick<FileSystem, 'realPath'>,
  one: string,
  other: string,
): Promise<boolean> {
  return one === other || (await realOrSelf(fs, one)) === (await realOrSelf(fs, other));
}
