import { PortcullisError } from '../../errors.js';
import { isRecord } from '../../lib/own.js';
import { nearest } from '../../lib/text/nearest.js';
import { visible } from '../../lib/text/visible.js';
import type { Clock } from '../../platform/clock.js';
import { minimalEnvironment, shellEnvironment } from '../../platform/environment.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { join } from '../../platform/fs/paths.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import { type BashDeps, bashLimits, bashTool } from '../bash/bash.js';
import { bashOutputTool } from '../bash/bash-output.js';
import {
  type BackgroundShell,
  type BackgroundShells,
  createBackgroundShells,
} from '../bash/shells.js';
import { createDrafts, type Drafts, salvageWrite, writeDraftTool } from '../files/drafts.js';
import { editTool } from '../files/edit.js';
import { targetPath } from '../files/file-target.js';
import { notebookEditTool } from '../files/notebook-edit.js';
import { readTool } from '../files/read.js';
import { writeTool } from '../files/write.js';

import { createWriteLedger, type WriteLedger } from '../files/write-ledger.js';
import { FailureStreak, type InvalidInput } from '../invalid-input.js';
import { createPool, type PoolOptions, type ToolPool } from '../pool.js';
import { globTool } from '../search/glob.js';
import { grepTool } from '../search/grep.js';
import { type TaskToolDeps, type TaskWatch, taskListTools } from '../tasks/task-list.js';
import { type StopsAgents, taskStopTool } from '../tasks/task-stop.js';
import { createTaskStore, type TaskStore } from '../tasks/task-store.js';
import { type TodoLists, todoWriteTool } from '../tasks/todo-write.js';
import type { AnyTool, ToolOutput, Workspace } from '../tool.js';
import { webFetchTool } from '../web/web-fetch.js';
import { askUserQuestionTool } from './ask-user-question.js';
import { enterPlanModeTool, exitPlanModeTool } from './plan-mode.js';

export interface BuiltinParts {
  readonly fs: FileSystem;
  readonly clock: Clock;
  /** Starts commands, inside the sandbox where there is one. */
  readonly processes: ProcessSupervisor;
  /** Starts programs of our own choice, with arguments of our own. Absent: as commands. */
  readonly helpers?: ProcessSupervisor;
  /** Why a command runs outside of the sandbox; absent: none does. */
  readonly outside?: BashDeps['outside'];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names of variables that commands get although they look like secrets; asked before each. */
  passed?(): readonly string[];
  /** What hooks left for shell commands; asked before each. */
  variables?(): Readonly<Record<string, string>>;
  readonly workspace: Workspace;
  readonly configDir: string;
  readonly sessionId: string;
  /** Whether a person can answer; without one, tools that ask questions are not offered. */
  readonly hasPerson: boolean;
  /** Shows a warning to people. */
  readonly warn?: (text: string) => void;
  /** The names to offer; undefined: the default set. */
  readonly offered: readonly string[] | undefined;
  /** Names in allow rules: an allowed tool is offered even where it is not by default. */
  readonly allowed: readonly string[];
  /** Names to take away, whatever else says. */
  readonly banned: readonly string[];
  readonly jsonSchema: Readonly<Record<string, unknown>> | undefined;
  /** Tools of other parts of the program. */
  readonly more?: readonly AnyTool[];
  /** Tools of MCP servers, to which `offered` does not apply. */
  readonly ofServers?: readonly AnyTool[];
  readonly poolOptions?: PoolOptions;
  /** Ends agents, for TaskStop. */
  readonly agents?: StopsAgents | undefined;
  /** Looks at what happens to tasks and may object. */
  readonly taskWatch?: TaskWatch;
  /** The list of tasks that several share. Absent: the session's own, which has to be asked for. */
  readonly teamTasks?: TeamTasks | undefined;
  summarise(prompt: string, text: string, signal: AbortSignal): Promise<string | undefined>;
}

/** A list of tasks for all who work together. */
export interface TeamTasks extends Pick<TaskToolDeps, 'listId' | 'review'> {
  readonly store: TaskStore;
}

/** What is known of the calls of one agent that could not be read. */
export interface Attempts {
  /** Told of a broken call; keeps what can be saved of it and says so. */
  invalidInput(invalid: InvalidInput): string | undefined;
  /** Told of a call that ran. */
  validInput(): void;
  /** Set once the model keeps sending the same broken call. */
  stuck(): string | undefined;
}

/** The main agent's attempts among it. */
export interface Builtins extends Attempts {
  readonly pool: ToolPool;
  readonly shells: BackgroundShells;
  /** Who wrote which file, for all agents of the session. */
  readonly ledger: WriteLedger;
  /** Those of another agent. */
  attempts(workspace: Workspace): Attempts;
  /** The background command that a call has just started, if it did. */
  startedShell(output: ToolOutput): BackgroundShell | undefined;
  /** An agent has ended: its commands and lists end with it. */
  release(agentId: string): Promise<void>;
}

/** The built-in tools of one session, with the state that they share. */
export async function openBuiltins(parts: BuiltinParts): Promise<Builtins> {
  const shells = createBackgroundShells(parts);
  const drafts = createDrafts();
  const ledger = createWriteLedger(parts.clock.now);
  const todos: TodoLists = new Map();
  const attempts = (workspace: Workspace): Attempts => {
    const streak = new FailureStreak();
    return {
      invalidInput(invalid) {
        streak.failed(invalid);
        return keepDraft(invalid, drafts, workspace);
      },
      validInput: () => streak.succeeded(),
      stuck: () => streak.stuck,
    };
  };
  const all = [
    ...allTools(parts, { shells, drafts, todos, ledger }),
    ...(parts.more ?? []),
    ...(await structuredOutput(parts)),
  ];
  return {
    pool: createPool([...chosen(parts, all), ...(parts.ofServers ?? [])], parts.poolOptions),
    shells,
    ledger,
    ...attempts(parts.workspace),
    attempts,
    startedShell({ structured }) {
      const id = isRecord(structured) ? structured.backgroundTaskId : undefined;
      return typeof id === 'string' ? shells.get(id) : undefined;
    },
    async release(agentId) {
      todos.delete(agentId);
      await shells.endOf(agentId);
    },
  };
}

function allTools(
  parts: BuiltinParts,
  state: { shells: BackgroundShells; drafts: Drafts; todos: TodoLists; ledger: WriteLedger },
): AnyTool[] {
  const { shells, drafts, todos, ledger } = state;
  const { fs, clock, processes, env } = parts;
  return [
    bashTool({
      processes,
      shells,
      fs,
      limits: bashLimits(env),
      ledger,
      outside: parts.outside,
      environment: () =>
        shellEnvironment(env, {
          grants: parts.passed?.() ?? [],
          extra: parts.variables?.() ?? {},
        }),
    }),
    bashOutputTool({ shells }),
    taskStopTool({ shells, agents: parts.agents }),
    readTool({ fs }),
    writeTool({ fs, ledger, drafts }),
    editTool({ fs, ledger }),
    writeDraftTool(drafts),
    notebookEditTool({ fs, clock, ledger }),
    globTool({ fs, clock }),
    grepTool({ fs, processes: parts.helpers ?? processes, env: minimalEnvironment(env) }),
    webFetchTool({
      clock,
      fetch: async () => (await import('../../platform/http/public-fetch.js')).fetchPublic,
      summarise: parts.summarise,
    }),
    todoWriteTool({ lists: todos }),
    ...taskListTools({
      tasks:
        parts.teamTasks?.store ??
        createTaskStore({ fs, directory: join(parts.configDir, 'tasks') }),
      watch: parts.taskWatch,
      listId: parts.teamTasks?.listId,
      review: parts.teamTasks?.review,
    }),
    askUserQuestionTool(),
    enterPlanModeTool(),
    exitPlanModeTool({ fs, plansDirectory: join(parts.configDir, 'plans') }),
  ];
}

async function structuredOutput(parts: BuiltinParts): Promise<AnyTool[]> {
  if (parts.jsonSchema === undefined) return [];
  const { structuredOutputTool } = await import('./structured-output.js');
  const tool = await structuredOutputTool(parts.jsonSchema);
  if (!tool.ok) throw tool.error;
  return [tool.value];
}

function chosen(parts: BuiltinParts, all: readonly AnyTool[]): readonly AnyTool[] {
  const fold = (names: readonly string[]): ReadonlySet<string> =>
    new Set(names.map((name) => name.toLowerCase()));
  const banned = fold(parts.banned);
  const allowed = fold(parts.allowed);
  const offered = parts.offered === undefined ? undefined : fold(parts.offered);
  for (const name of parts.offered ?? []) checkName(name, all, parts.warn ?? (() => undefined));
  return all.filter((tool) => {
    const names = [tool.name, ...(tool.aliases ?? [])].map((name) => name.toLowerCase());
    const isIn = (set: ReadonlySet<string>): boolean => names.some((name) => set.has(name));
    if (isIn(banned)) return false;
    if (tool.offered === 'always') return true;
    // Without a person to answer, the question would only waste a turn.
    const needsPerson = tool.needsPerson === true || tool.offered === 'with-person';
    if (needsPerson && !parts.hasPerson) return false;
    if (offered !== undefined) return isIn(offered);
    if (tool.offered === 'on-request')
      return (
        isIn(allowed) || parts.env.CLAUDE_CODE_ENABLE_TASKS === '1' || parts.teamTasks !== undefined
      );
    return true;
  });
}

/**
 * `--tools` restricts: a near miss of a tool's name is a mistake and stops the start; any other unknown name
 * causes a warning.
 */
function checkName(name: string, all: readonly AnyTool[], warn: (text: string) => void): void {
  const names = all.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])]);
  if (names.some((known) => known.toLowerCase() === name.toLowerCase()) || OTHERS.has(name)) return;
  const meant = nearest(name, names);
  if (meant === undefined) {
    const ofServer = name.startsWith('mcp__');
    if (!ofServer) warn(`--tools: there is no tool "${visible(name)}", so it is not offered`);
    return;
  }
  throw new PortcullisError('usage', `--tools: there is no tool "${name}"`, {
    remedy: `did you mean ${meant}?`,
  });
}

/** Tools of the ecosystem that this runtime does not have yet; clients name them in their lists. */
const OTHERS: ReadonlySet<string> = new Set(['WebSearch', 'SlashCommand', 'MultiEdit', 'LS']);

/** A Write that was cut off: the text that arrived is not paid for twice. */
function keepDraft(
  invalid: InvalidInput,
  drafts: Drafts,
  workspace: Workspace,
): string | undefined {
  if (invalid.tool !== 'Write' || invalid.malformed === undefined) return undefined;
  const saved = salvageWrite(invalid.malformed.raw);
  if (saved.file_path === undefined || saved.content === undefined || saved.content === '')
    return undefined;
  const id = drafts.keep({ path: targetPath(saved.file_path, workspace), content: saved.content });
  const tail = saved.content.slice(-80);
  return `The ${saved.content.length} characters that arrived are kept as draft ${id}; they end with ${JSON.stringify(tail)}. Call WriteDraft with draft_id "${id}" and append = the rest, or without append to write the draft as it is.`;
}
