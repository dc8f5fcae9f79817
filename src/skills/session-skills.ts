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
  /** Whether rules forbid reading a file. */
  isHidden(path: string): Promise<boolean>;
  readonly choices: {
    current(): { readonly effort?: string | undefined };
    forTurn(wish: { readonly effort: string | undefined }): void;
    endTurn(): void;
  };
  /** Runs the commands and file reads of skill texts; undefined before the session is open. */
  call(): CallForSkill | undefined;
  fork(): RunFork | undefined;
  /** All rules that hold for an agent, including those of skills; undefined before they are known. */
  rules(agent: AgentRef): RuleSet | undefined;
}

/** Opens the skills of a session: the book, the grants and the Skill tool. */
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
    // The host's list limits what the model is shown, but does not restore skills that settings turn off.
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
        // fail-closed: a link out of the project was not placed beside the skill as its file.
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
  /** A skill whose hooks judge the calls of all agents from now on. */
  let guarding: string | undefined;
  /** Applies what a skill brings besides its text and rules. */
  const onReady = (ready: ReadySkill, { agent, by }: StartedBy): void => {
    const { hooks, notes, skill, effort } = ready;
    ledger.started(skill, by);
    // The model settings of other agents are not affected.
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
  /** Lists these skills within the configured share of the window. */
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
  /** Shows notices after the first request was sent. */
  const tellLater = (...notices: readonly (string | undefined)[]): void => {
    const text = notices.filter((notice) => notice !== undefined).join('\n');
    if (text !== '') setImmediate(() => parts.hooks.tell(text));
  };
  /** Lists skills that become known during the session. */
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
    // fail-closed: without rules it is unknown what they forbid.
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
    /** The list that the model is shown at the start; undefined when it is empty. */
    async listing(window: number, { quiet = false } = {}): Promise<string | undefined> {
      windowTokens = window;
      const offered = await book.offered();
      const listing = list(offered);
      if (!quiet) tellLater(listing.note, skillNotice(offered, await book.skipped()));
      return listing.text === '' ? undefined : reminder(listingMessage(listing));
    },
    /** The texts of skills that an agent gets at its start, without their grants and restrictions. */
    preload: (names: readonly string[], agent: AgentRef, signal: AbortSignal) =>
      preloadSkills({ book, invoker, forbids, tell: parts.hooks.tell }, { names, agent, signal }),
    /** Lists skills that became known because files were touched. */
    async touched(paths: readonly string[]): Promise<string | undefined> {
      const found = await book.touched(paths);
      const text = found.length === 0 ? '' : listLater(found);
      return text === '' ? undefined : reminder(`These skills can be started now:\n\n${text}`);
    },
    /** Skills that were added, changed or removed on disk since the model last saw the list. */
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
    /** Applies changed settings. */
    replace(now: Pick<EffectiveSettings, 'values' | 'permissions' | 'files'>): void {
      values = now.values;
      isOverridden = hasOverrides(now.files);
      managedOnly = now.permissions.managedRulesOnly !== undefined;
    },
    /** A skill that currently restricts the main agent and the agents it starts. */
    holding: (): string | undefined => grants.restraining(MAIN_AGENT)?.name ?? guarding,
    /** Shows the skill texts again that a summary removed. */
    afterCompaction({ path }: AgentRef): string | undefined {
      const text = skillsAgain(invoker.summarised(path), windowTokens);
      return text === undefined ? undefined : reminder(text);
    },
    /** Frees the grants and texts of an agent that has ended. */
    release({ path }: AgentRef): void {
      invoker.forget(path);
      grants.release(path);
    },
    async close() {
      // A session without a prompt is not counted.
      if (hasBegun) ledger.end(await book.waiting());
      guard.close();
      files.remove();
      if (hasBegun) await ledger.keep();
    },
  };
}

export type OpenSkills = ReturnType<typeof openSkills>;

/** Matches the name or its last part. */
function isNamed(name: string, names: readonly string[]): boolean {
  return names.some((one) => one === name || name.endsWith(`:${one}`));
}

/** The conversation and the invoker of a started skill. */
interface StartedBy {
  readonly agent: AgentRef;
  readonly by: Invoker;
}

/** Lets ConfigChange hooks veto changes of skill files. */
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

/** Skills that are new or have another description. */
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
