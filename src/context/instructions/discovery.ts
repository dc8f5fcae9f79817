import type { Sourced } from '../../lib/sourced.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join } from '../../platform/fs/paths.js';
import type { LocateJson } from '../enforced/enforced.js';
import type { IncludeApprovals } from './include-approvals.js';
import { enforcingGathering, type Gathering } from './load-result.js';
import type { InstructionLoader } from './loader.js';
import { isOn, takeMemories } from './memory-files.js';
import { gitignoreMatcher } from './path-matcher.js';
import { isDirectory, type ProjectPlace, pathFrom, realOrSelf } from './places.js';
import { type InstructionReader, isLocated, skip, unreadable } from './reader.js';
import { readRuleHead, ruleFilesIn } from './rules.js';
import type { InstructionSettings } from './settings.js';
import { withoutBlockComments, withoutHidden } from './text.js';
import type { Area, Entry, InstructionScope, Located, Place, Sought, Taking } from './types.js';

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

/** What instructions are looked for with. */
export interface DiscoveryParts extends InstructionBookParts {
  readonly project: ProjectPlace;
  readonly reader: InstructionReader;
  readonly loader: InstructionLoader;
}

export interface Discovery {
  /** Everything that holds from the start, broad before specific. */
  start(how: Taking): Promise<Gathering>;
  /** What one directory below the working directory brings; in `surveys` it is looked up first. */
  nested(directory: string, how: Taking, into: Gathering, surveys?: Surveys): Promise<void>;
}

/** Directories that were looked at, by their paths. */
export type Surveys = Map<string, Survey>;

/** What stands in one directory under the names that have a meaning. */
interface Survey {
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

interface Task {
  readonly how: Taking;
  readonly into: Gathering;
}

/** `added`: directories besides the project whose instructions count like its own. */
export function createDiscovery(parts: DiscoveryParts, added: readonly ProjectPlace[]): Discovery {
  const { settings, project, loader, reader } = parts;
  const managedOnly = settings.agentsMode === 'managed-only';
  const filesOff = managedOnly || isOn(parts.env.CLAUDE_CODE_DISABLE_CLAUDE_MDS);
  const sources = filesOff ? [] : parts.sources;
  const projects = [project, ...added];
  const survey = (directory: string, { nested = false } = {}): Promise<Survey> =>
    surveyOf({ ...parts, sources, projects, nested }, directory);

  async function takeSurvey(one: Survey, agents: boolean, { how, into }: Task): Promise<void> {
    const { directory, area } = one;
    const takesAgents = agents && sources.includes('project');
    const dot = join(directory, '.claude');
    const file = (path: string, scope: InstructionScope): Place => {
      return { path, scope, kind: 'file', base: directory, ...area };
    };
    const take = async (path: string, scope: InstructionScope, sought: Sought): Promise<void> => {
      if (sought !== 'absent') await loader.take(file(path, scope), how, into, sought);
    };
    await take(join(directory, 'CLAUDE.md'), 'project', one.own);
    await take(join(dot, 'CLAUDE.md'), 'project', one.dotted);
    if (takesAgents) {
      for (const folder of one.hasDotClaude ? [directory, dot] : [directory]) {
        const path = join(folder, AGENTS_FILE);
        const place: Place = { onceByContent: true, ...file(path, 'project') };
        const sought = one.agents.get(path) ?? (await reader.locate(place));
        one.agents.set(path, sought);
        if (sought !== 'absent') await loader.take(place, how, into, sought);
      }
    }
    if (one.hasRules) {
      const path = join(dot, 'rules');
      const rules: RuleDirectory = { path, scope: 'project', area, bases: [directory] };
      await takeRules(parts, rules, { how, into });
    }
    await take(join(directory, 'CLAUDE.local.md'), 'local', one.local);
  }

  return {
    async start(how) {
      const task = { how, into: enforcingGathering() };
      await takeManaged(parts, task);
      if (sources.includes('user')) await takeUser(parts, task);
      const surveys = await Promise.all(project.ancestors.map((one) => survey(one)));
      const agents = wantsAgents(settings, surveys.some(hasClaudeFile));
      for (const one of surveys) await takeSurvey(one, agents, task);
      for (const { root } of added) {
        const one = await survey(root);
        await takeSurvey(one, wantsAgents(settings, hasClaudeFile(one)), task);
      }
      if (!managedOnly) await takeMemories(parts, task);
      return task.into;
    },
    async nested(directory, how, into, surveys) {
      if (filesOff) return;
      const one = surveys?.get(directory) ?? (await survey(directory, { nested: true }));
      surveys?.set(directory, one);
      await takeSurvey(one, wantsAgents(settings, hasClaudeFile(one)), { how, into });
    },
  };
}

async function takeManaged(parts: DiscoveryParts, { how, into }: Task): Promise<void> {
  const { managedDir: base, fs, loader, settings } = parts;
  if (base !== undefined) {
    const path = join(base, 'CLAUDE.md');
    await loader.take({ path, scope: 'managed', kind: 'file', base }, how, into);
  }
  if (settings.claudeMd !== undefined) {
    const root = base ?? parts.configDir;
    into.entries.push(...settingEntry(settings.claudeMd, how, root));
  }
  const rules = base === undefined ? undefined : join(base, '.claude', 'rules');
  if (rules !== undefined && (await isDirectory(fs, rules))) {
    await takeRules(parts, freeRules(parts, rules, 'managed'), { how, into });
  }
}

async function takeUser(parts: DiscoveryParts, { how, into }: Task): Promise<void> {
  const { configDir: base, fs, loader } = parts;
  const path = join(base, 'CLAUDE.md');
  await loader.take({ path, scope: 'user', kind: 'file', base }, how, into);
  const rules = join(base, 'rules');
  if (!(await isDirectory(fs, rules))) return;
  await takeRules(parts, freeRules(parts, rules, 'user'), { how, into });
}

/** Rules of an administrator or of the user: where they lie is their own affair. */
function freeRules(
  { project }: DiscoveryParts,
  path: string,
  scope: 'managed' | 'user',
): RuleDirectory {
  return { path, scope, area: {}, bases: [project.root, project.cwd] };
}

function wantsAgents({ agentsMode }: InstructionSettings, hasClaudeFiles: boolean): boolean {
  if (agentsMode === 'claude-md-and-agents-md') return true;
  return agentsMode === 'claude-md-or-agents-md' && !hasClaudeFiles;
}

function hasClaudeFile({ own, dotted, local }: Survey): boolean {
  return [own, dotted, local].some(
    (sought) =>
      sought !== 'absent' &&
      (isLocated(sought) || (sought.kind !== 'excluded' && sought.kind !== 'not regular')),
  );
}

/** Instructions that stand in managed settings. */
function settingEntry(setting: Sourced<string>, { reason }: Taking, base: string): Entry[] {
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
      located: { wanted: place, real: '', stamp: '', bytes },
      source,
      depth: 0,
      line: setting.line ?? 1,
    },
  ];
}

interface RuleDirectory {
  readonly path: string;
  readonly scope: InstructionScope;
  readonly area: Area;
  /** The directories that patterns are meant from; the first is the one the rules speak for. */
  readonly bases: readonly [string, ...string[]];
}

/** Takes the rules of a directory that apply always, and notes those that wait. */
async function takeRules(
  { fs, reader, loader }: DiscoveryParts,
  { path, scope, area, bases }: RuleDirectory,
  { how, into }: Task,
): Promise<void> {
  const found = await ruleFilesIn(fs, path);
  for (const { path: file, realDirectory } of found.files) {
    const place: Place = { path: file, scope, kind: 'rule', base: bases[0], ...area };
    const sought = await reader.locate({ ...place, realDirectory });
    const globs = isLocated(sought) ? await globsAt(reader, sought) : undefined;
    if (globs === undefined || !isLocated(sought)) await loader.take(place, how, into, sought);
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

/** Undefined: the rule applies always, or cannot be read, which is said where it is taken. */
async function globsAt(
  reader: InstructionReader,
  located: Located,
): Promise<readonly string[] | undefined> {
  const read = await reader.read(located);
  return read.ok ? (await readRuleHead(read.value.text)).globs : undefined;
}

function fitsFrom(bases: readonly string[], globs: readonly string[]): (path: string) => boolean {
  const matches = gitignoreMatcher(globs);
  return (path) =>
    bases
      .map((base) => pathFrom(base, path))
      .some((relative) => relative !== undefined && matches(relative));
}

interface SurveyParts extends DiscoveryParts {
  /** In a folder that the session came to later. */
  readonly nested: boolean;
  /** The project, then the added directories that count like it. */
  readonly projects: readonly ProjectPlace[];
}

const AGENTS_FILE = 'AGENTS.md';

/** Looks for all names that have a meaning in a directory. */
async function surveyOf(look: SurveyParts, directory: string): Promise<Survey> {
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
  const around = projects.find(({ root }) => isInside(directory, root));
  if (around !== undefined) return { within: [around.realRoot], includesWithin: [around.realRoot] };
  const roots = projects.slice(0, 1).map(({ realRoot }) => realRoot);
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
