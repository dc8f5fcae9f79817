import type { ParseYaml } from '../../lib/parse-yaml.js';
import type { Sourced } from '../../lib/sourced.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { join } from '../../platform/fs/paths.js';
import {
  AGENTS_FILE,
  isDirectory,
  type Survey,
  type Surveys,
  surveyOf,
} from './directory-survey.js';
import { enforcingGathering, type Gathering } from './load-result.js';
import type { Entry, InstructionLoader, Place, Taking } from './loader.js';
import { isOn, takeMemories } from './memory-files.js';
import type { PathMatcher } from './path-matcher.js';
import type { ProjectPlace } from './places.js';
import { type InstructionReader, isLocated, type Sought } from './reader.js';
import type { RuleDirectory } from './rule-taking.js';
import type { InstructionSettings } from './settings.js';
import { withoutBlockComments, withoutHidden } from './text.js';
import type { InstructionScope } from './types.js';

export interface DiscoveryParts {
  readonly fs: FileSystem;
  readonly home: string;
  readonly configDir: string;
  readonly managedDir?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Which optional settings sources count; instruction files follow them. */
  readonly sources: readonly string[];
  readonly settings: InstructionSettings;
  /** Whether the project is trusted. */
  readonly trusted: boolean;
  readonly project: ProjectPlace;
  readonly reader: InstructionReader;
  readonly loader: InstructionLoader;
  readonly matcher?: PathMatcher;
  readonly parseYaml?: ParseYaml;
}

export interface Discovery {
  /** Everything that holds from the start, broad before specific. */
  start(how: Taking): Promise<Gathering>;
  /** What one directory below the working directory brings; in `surveys` it is looked up first. */
  nested(directory: string, how: Taking, into: Gathering, surveys?: Surveys): Promise<void>;
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

/** Most projects have none, so the code for them is not part of the start. */
async function takeRules(parts: DiscoveryParts, rules: RuleDirectory, task: Task): Promise<void> {
  await (await import('./rule-taking.js')).takeRules(parts, rules, task);
}
