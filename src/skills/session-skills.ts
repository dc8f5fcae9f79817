import type { SessionConfig } from '../config/session-config.js';
import type { SessionEnvironment } from '../config/session-environment.js';
import { reminder } from '../context/prompt/reminders.js';
import { configObjections } from '../hooks/events/config.js';
import type { OpenHooks } from '../hooks/session/session-hooks.js';
import { isRecord } from '../lib/own.js';
import { err } from '../lib/result.js';
import type { GateExtension } from '../permissions/gate/open.js';
import type { RuleSet } from '../permissions/rules/rules.js';
import { homeDirectory, isInside } from '../platform/fs/paths.js';
import { privateDirectory } from '../platform/fs/private-files.js';
import { projectLevels } from '../platform/fs/project-levels.js';
import type { ProcessSupervisor } from '../platform/process/process.js';
import { type AgentRef, MAIN_AGENT } from '../protocol/agent-ref.js';
import { judgesCalls } from '../protocol/hooks/hook-events.js';
import { managedSettingsDirectory } from '../settings/files/load.js';
import type { EffectiveSettings } from '../settings/types.js';
import { openSkillBook } from './discovery/book.js';
import {
  bundledFilesResolver,
  createOwnFiles,
  openExtraction,
} from './discovery/bundled-skills.js';
import { gitIgnored } from './discovery/find-nested.js';
import { someNames } from './discovery/names.js';
import { hasOverrides, overrideFrom } from './discovery/overrides.js';
import { createSkillApprovals } from './grants/approval.js';
import { createSkillGrants } from './grants/grant.js';
import { agentTrees } from './invoke/agent-trees.js';
import type { Invoker } from './invoke/find.js';
import { createSkillInvoker, type ReadySkill, type RunFork } from './invoke/invoke.js';
import { skillsAgain } from './invoke/memory.js';
import { forbiddenByRules, preloadSkills } from './invoke/preload.js';
import { type CallForSkill, skillFiles, skillShell } from './invoke/skill-calls.js';
import { skillTool } from './invoke/skill-tool.js';
import { SkillLedger } from './listing/ledger.js';
import {
  listingMessage,
  type SkillListing,
  type SkillOverride,
  skillListing,
  skillNotice,
} from './listing/listing.js';
import type { Skill } from './skill.js';

export interface SkillParts {
  readonly hooks: OpenHooks;
  readonly processes: ProcessSupervisor;
  readonly sessionId: string;
  /** Whether rules keep a file from being read. */
  isHidden(path: string): Promise<boolean>;
  readonly choices: {
    current(): { readonly effort?: string | undefined };
    forTurn(wish: { readonly effort: string | undefined }): void;
    endTurn(): void;
  };
  /** What the texts of skills run and read. Undefined: the session is not open yet. */
  call(): CallForSkill | undefined;
  /** Runs a skill as an agent. Undefined: the session is not open yet. */
  fork(): RunFork | undefined;
  /** All rules that hold for an agent, those of skills included. Undefined: they are not known yet. */
  rules(agent: AgentRef): RuleSet | undefined;
}

/** The skills of a session: which there are, what they open and forbid, and the tool that starts one. */
export function openSkills(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: SkillParts,
) {
  const { fs, env, host } = environment;
  let { values } = environment.settings;
  let isOverridden = hasOverrides(environment.settings.files);
  let managedOnly = environment.settings.permissions.managedRulesOnly !== undefined;
  const home = homeDirectory(env);
  const managedDir = managedSettingsDirectory(host.os);
  const files = privateDirectory(host.temporaryDirectory, 'portcullis-skills-');
  const override = (name: string): SkillOverride | undefined => {
    const said = isOverridden ? overrideFrom(values, name) : undefined;
    const isWanted = config.skills === undefined || isNamed(name, config.skills);
    // The host's list decides what the model is told of; it brings back nothing that settings turn off.
    return isWanted || said === 'off' ? said : 'user-invocable-only';
  };
  const levels = projectLevels(config.cwd);
  const guard = skillGuard(parts.hooks);
  let hasBegun = false;
  const root = levels.at(-1) ?? config.cwd;
  const hasBundled = values.get('disableBundledSkills')?.value !== true;
  const book = openSkillBook({
    fs,
    cwd: config.cwd,
    configDir: environment.configDir,
    managedDir,
    sources: environment.sources,
    plugins: environment.plugins,
    additionalDirectories: () => environment.workspace.roots.slice(1),
    override,
    trusts: environment.folders.trusts,
    isHidden: parts.isHidden,
    isIgnored: gitIgnored({
      fs,
      processes: parts.processes,
      env,
      isTrusted: environment.trust.accepted,
    }),
    veto: guard.veto,
    ...(hasBundled ? { bundled: openExtraction(files) } : {}),
  });
  const grants = createSkillGrants({
    cwd: config.cwd,
    home,
    projectDir: config.cwd,
    managedOnly: () => (managedOnly ? 'only managed rules may allow anything here' : undefined),
  });
  const approvals = createSkillApprovals(book);
  const call: CallForSkill = async (...asked) =>
    (await parts.call()?.(...asked)) ?? err('the session is not open yet');
  const own = createOwnFiles(fs);
  const newId = environment.clock.uuid;
  const ledger = new SkillLedger({
    fs,
    stateDirectory: environment.stateDirectory,
    counts: config.persist,
    now: environment.clock.now,
    tell: parts.hooks.tell,
  });
  const invoker = createSkillInvoker({
    book,
    grants,
    runShell: skillShell(call, newId),
    attachments: {
      home,
      isFile: async (path) => (await fs.stat(path))?.kind === 'file',
      async opensOwn({ source, directory, trusted }) {
        if (source !== 'project' && source !== 'local') return trusted;
        // fail-closed: a project shows what is in it; what it links to was not put beside the skill.
        return isInside(await fs.realPath(directory), await fs.realPath(root));
      },
      read: skillFiles(call, { newId, own }),
    },
    projectDir: config.cwd,
    placeFor: agentTrees(fs, config.cwd),
    sessionId: () => parts.sessionId,
    effort: () => parts.choices.current().effort ?? config.effort,
    shellIsOff: () => values.get('disableSkillShellExecution')?.value === true,
    async fork(task) {
      const done = await parts.fork()?.(task);
      if (done === undefined) return { kind: 'refused', reason: 'the session is not open yet' };
      if (done.kind === 'done') ledger.started(task.skill, task.by);
      return done;
    },
  });
  /** A skill whose hooks judge calls from now on, of everybody. */
  let guarding: string | undefined;
  /** What of a skill goes beyond its text and its rules. */
  const onReady = (ready: ReadySkill, { agent, by }: StartedBy): void => {
    const { hooks, notes, skill, effort } = ready;
    ledger.started(skill, by);
    // The model of another agent is its own business.
    if (agent.path === MAIN_AGENT.path) parts.choices.forTurn({ effort });
    if (hooks !== undefined) parts.hooks.addScoped({ kind: 'skill', ...hooks });
    if (isRecord(hooks?.hooks) && Object.keys(hooks.hooks).some(judgesCalls))
      guarding ??= skill.name;
    for (const note of notes) parts.hooks.tell(`skill ${skill.name}: ${note}`);
  };
  const extension: GateExtension = {
    guards: [grants.guard, approvals.guard],
    resolvers: [approvals.resolver, bundledFilesResolver(files.path, fs), own.resolver],
    rules: grants.rules,
    contentOf: approvals.contentOf,
  };
  let windowTokens: number | undefined;
  /** The list of these skills, within the share of the window that settings give to it. */
  const list = (skills: readonly Skill[]): SkillListing => {
    const listing = skillListing(skills, {
      windowTokens,
      overrides: override,
      isDormant: book.isDormant,
      used: ledger.counts,
      fraction: numberOf(values.get('skillListingBudgetFraction')?.value),
      maxEntryChars: numberOf(values.get('skillListingMaxDescChars')?.value),
      budgetChars: numberOf(Number(env.SLASH_COMMAND_TOOL_CHAR_BUDGET) || undefined),
    });
    ledger.listed(skills, listing);
    return listing;
  };
  /** Notices can wait until the first request has left. */
  const tellLater = (...notices: readonly (string | undefined)[]): void => {
    const text = notices.filter((notice) => notice !== undefined).join('\n');
    if (text !== '') setImmediate(() => parts.hooks.tell(text));
  };
  /** A list of skills that become known later. */
  const listLater = (skills: readonly Skill[]): string => {
    const { text, note } = list(skills);
    tellLater(note);
    return text;
  };
  const tool = skillTool({
    invoker,
    approvals,
    onReady: (ready, { agent }) => onReady(ready, { agent, by: 'model' }),
  });
  const forbids = async (name: string, agent: AgentRef): Promise<string | undefined> => {
    const rules = parts.rules(agent);
    // fail-closed: without rules nobody knows what they forbid.
    if (rules === undefined) return 'the session is not open yet';
    const { workspace } = environment;
    return await forbiddenByRules({ tool, workspace, view: { fs, home }, rules }, name, agent);
  };
  return {
    book,
    invoker,
    extension,
    onReady,
    tools: [tool],
    beginTurn(turn: { readonly said: boolean }) {
      grants.beginTurn(turn);
      parts.choices.endTurn();
      if (!hasBegun) ledger.keepSoon();
      hasBegun = true;
    },
    /** The list that the model is shown at the start; undefined when there is none to show. */
    async listing(window: number, { quiet = false } = {}): Promise<string | undefined> {
      windowTokens = window;
      const offered = await book.offered();
      const listing = list(offered);
      if (!quiet) tellLater(listing.note, skillNotice(offered, await book.skipped()));
      return listing.text === '' ? undefined : reminder(listingMessage(listing));
    },
    /** The texts of skills that an agent is given from the start. Nothing else of them holds. */
    preload: (names: readonly string[], agent: AgentRef, signal: AbortSignal) =>
      preloadSkills({ book, invoker, forbids, tell: parts.hooks.tell }, { names, agent, signal }),
    /** Skills that became known because files were touched. */
    async touched(paths: readonly string[]): Promise<string | undefined> {
      const found = await book.touched(paths);
      const text = found.length === 0 ? '' : listLater(found);
      return text === '' ? undefined : reminder(`These skills can be started now:\n\n${text}`);
    },
    /** What is new, different or gone on disk since the model was told last. */
    async changed(): Promise<string | undefined> {
      const before = await book.list();
      if (!(await book.refresh())) return undefined;
      const after = await book.list();
      const text = listLater(newAmong(after, before));
      const gone = namesMissing(before, after);
      const news = [
        ...(text === '' ? [] : [`The skills have changed. These can be started now:\n\n${text}`]),
        ...(gone.length === 0 ? [] : [`These skills are gone: ${someNames(gone, MOST_NAMED)}`]),
      ];
      return news.length === 0 ? undefined : reminder(news.join('\n\n'));
    },
    /** Other settings hold from now on. */
    replace(now: Pick<EffectiveSettings, 'values' | 'permissions' | 'files'>): void {
      values = now.values;
      isOverridden = hasOverrides(now.files);
      managedOnly = now.permissions.managedRulesOnly !== undefined;
    },
    /** A skill that holds the main agent, and those that it starts, back from something now. */
    holding: (): string | undefined => grants.restraining(MAIN_AGENT)?.name ?? guarding,
    /** A summary took the place of a conversation: the texts of skills that were in it. */
    afterCompaction({ path }: AgentRef): string | undefined {
      const text = skillsAgain(invoker.summarised(path), windowTokens);
      return text === undefined ? undefined : reminder(text);
    },
    /** An agent has ended: what skills said and granted there is over. */
    release({ path }: AgentRef): void {
      invoker.forget(path);
      grants.release(path);
    },
    async close() {
      // Whoever only looked leaves nothing behind.
      if (hasBegun) ledger.end(await book.waiting());
      guard.close();
      files.remove();
      if (hasBegun) await ledger.keep();
    },
  };
}

export type OpenSkills = ReturnType<typeof openSkills>;

/** By itself, or by the last part of its name. */
function isNamed(name: string, names: readonly string[]): boolean {
  return names.some((one) => one === name || name.endsWith(`:${one}`));
}

/** Who started a skill, and in whose conversation. */
interface StartedBy {
  readonly agent: AgentRef;
  readonly by: Invoker;
}

/** ConfigChange hooks may hold back changes of skills. */
function skillGuard({ dispatch, scene, tell }: OpenHooks) {
  const over = new AbortController();
  const source = 'skills' as const;
  return {
    async veto(file: string): Promise<string | undefined> {
      const change = { source, file_path: file };
      const refusal = await configObjections({ dispatch, tell }, [change], scene(over.signal));
      if (refusal !== undefined) tell(`a change of a skill is not taken over: ${refusal}`);
      return refusal;
    },
    close: () => over.abort(new Error('the session is over')),
  };
}

/** Those of which the model was not told, or something else. */
function newAmong(after: readonly Skill[], before: readonly Skill[]): readonly Skill[] {
  const told = new Map(before.map((skill) => [skill.name, wordsOf(skill)]));
  return after.filter((skill) => told.get(skill.name) !== wordsOf(skill));
}

function namesMissing(before: readonly Skill[], after: readonly Skill[]): readonly string[] {
  const names = new Set(after.map(({ name }) => name));
  return before.map(({ name }) => name).filter((name) => !names.has(name));
}

const MOST_NAMED = 100;

function wordsOf({ head }: Skill): string {
  return JSON.stringify([head.description, head.whenToUse, head.disableModelInvocation]);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
