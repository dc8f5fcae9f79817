import { ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/truncate.js';
import { type AgentRef, DEFAULT_AGENT } from '../../protocol/agent-ref.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../../tools/define-tool.js';
import type { Tool, ToolContext, ToolOutput } from '../../tools/tool.js';
import type { AgentDefinition } from '../definitions/definition.js';
import type { AgentBook } from '../definitions/definitions.js';
import { AGENT_TOOL } from '../definitions/tools.js';
import { FORK_TYPE } from '../runtime/fork.js';
import { type AgentReport, type ReportWords, reportText } from '../runtime/report.js';
import type { AgentRun } from '../runtime/run.js';
import type { AgentRuntime } from '../runtime/runtime.js';
import type { Started, TeammateWish } from '../teams/team-base.js';
import description from './agent-tool.md';

export interface AgentToolDeps {
  readonly book: Pick<AgentBook, 'resolve'>;
  runtime(): AgentRuntime;
  readonly words: ReportWords;
  /** What stands for copies of the caller; undefined: they are not offered. */
  forks(): AgentDefinition | undefined;
  /** Why nothing is left to run by itself; undefined: it may. */
  backgroundIsOff(agent: AgentRef): string | undefined;
  /** How many agents may run at once in this process. */
  mostRunning(): number;
  /** Makes a teammate of an agent with a name. Absent: there are no teams. */
  teammates?(wish: TeammateWish): Promise<Result<Started, string>>;
}

type Input = ToolInputs['Agent'];

/** Agents that one answer does not take: for those in the background, and those that agents start. */
const LEFT_FREE = 10;

/**
 * One agent more than may run is refused, so an answer that asks for many starts them a few at a time.
 * Who raises the limit gets more at a time.
 */
function mostStartedTogether(mostRunning: number): number {
  return Math.max(LEFT_FREE, mostRunning - LEFT_FREE);
}

export function agentTool(deps: AgentToolDeps): Tool<Input> {
  return defineTool({
    name: AGENT_TOOL,
    aliases: ['Task'],
    // Nothing happens by it that is not a call of its own, and judged as such.
    kind: 'control',
    description,
    /** Rules for a type hold for calls that leave it out. */
    fromModel(input) {
      const given = typeof input.subagent_type === 'string' ? input.subagent_type : '';
      // fail-closed: rules are about the name, not about the blanks around it or its form of Unicode.
      const type = given.trim().normalize('NFC');
      if (type === '') return { ...input, subagent_type: DEFAULT_AGENT };
      return { ...input, subagent_type: isFork(type) ? FORK_TYPE : type };
    },
    subject: (input) => ({
      paths: [],
      summary: sliceWhole(`agent ${input.subagent_type ?? ''}: ${input.description}`, 0, 120),
    }),
    concurrencySafe: () => true,
    maxConcurrency: () => mostStartedTogether(deps.mostRunning()),
    run: (input, context) => run(deps, input, context),
  });
}

async function run(deps: AgentToolDeps, input: Input, context: ToolContext): Promise<ToolOutput> {
  const fork = isFork(input.subagent_type ?? '') ? deps.forks() : undefined;
  const found =
    fork === undefined ? await deps.book.resolve(input.subagent_type ?? DEFAULT_AGENT) : ok(fork);
  if (!found.ok) return failed(sentence(found.error));
  const definition = found.value;
  if (input.isolation !== undefined && input.isolation !== 'worktree') {
    return failed(`There is no isolation "${input.isolation}"; only "worktree" is known.`);
  }
  const problem = input.name === undefined ? undefined : nameProblem(input.name);
  if (problem !== undefined) return failed(problem);
  if (input.prompt.trim() === '') {
    return failed('The agent was not started: The prompt is empty. Say what it is to do.');
  }
  if (isForTeam(deps, input, context)) return await joined(deps, { input, definition, context });
  const { background, note: how } = howToRun(deps, { input, agent: context.agent }, definition);
  const notes = [how, fork === undefined ? undefined : unusedNote(input)].filter(
    (one) => one !== undefined,
  );
  const note = notes.length === 0 ? undefined : notes.join('\n');
  const { agentContext } = context;
  const started = await deps.runtime().spawn({
    definition,
    description: input.description,
    prompt: input.prompt,
    parent: context.agent,
    toolUseId: context.toolUseId,
    background,
    signal: context.signal,
    name: input.name,
    fork: fork === undefined ? undefined : (true as const),
    model: input.model,
    effort: input.effort,
    isolation: input.isolation === undefined ? undefined : ('worktree' as const),
    contexts: agentContext === undefined ? undefined : [agentContext],
  });
  if (!started.ok) return failed(`The agent was not started: ${sentence(started.error)}`);
  const task = started.value;
  if (background) {
    await beginning(task);
    return launched(task, input, note);
  }
  return await finished(deps, { task, input, note });
}

function isFork(type: string): boolean {
  return type.trim().toLowerCase() === FORK_TYPE;
}

const LONGEST_NAME = 64;

/** fail-closed: a name stands in what other models read, and must not speak to them. */
function nameProblem(name: string): string | undefined {
  const isPlain = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._:/@#+-]*$/u.test(name);
  if (isPlain && name.length <= LONGEST_NAME) return undefined;
  return `The name is not used: it may hold letters, digits, blanks and ._:/@#+-, begins with a letter or digit, and has at most ${LONGEST_NAME} characters. The agent was not started.`;
}

/** A copy is not another model. */
function unusedNote({ model, effort }: Input): string | undefined {
  const unused = [
    ...(model === undefined ? [] : ['`model`']),
    ...(effort === undefined ? [] : ['`effort`']),
  ];
  if (unused.length === 0) return undefined;
  return `[A fork runs on the model of its original: ${unused.join(' and ')} did not count.]`;
}

/** Waiting is the rule; a definition or the call may say otherwise. */
function howToRun(
  deps: AgentToolDeps,
  { input: { run_in_background }, agent }: { readonly input: Input; readonly agent: AgentRef },
  { background, foregroundOnly, name }: AgentDefinition,
): { readonly background: boolean; readonly note?: string } {
  if (run_in_background !== true && !background) return { background: false };
  const why = foregroundOnly
    ? `agents of the type ${name} are always waited for`
    : deps.backgroundIsOff(agent);
  if (why === undefined) return { background: true };
  return { background: false, note: `[It did not run in the background: ${why}.]` };
}

/** Whom the agent of the conversation gives a name works with it, unless it is a copy or works elsewhere. */
function isForTeam(deps: AgentToolDeps, input: Input, { agent }: ToolContext): boolean {
  return (
    deps.teammates !== undefined &&
    agent.depth === 0 &&
    input.name !== undefined &&
    input.isolation === undefined &&
    !isFork(input.subagent_type ?? '')
  );
}

async function joined(
  { teammates }: AgentToolDeps,
  {
    input,
    definition,
    context,
  }: { input: Input; definition: AgentDefinition; context: ToolContext },
): Promise<ToolOutput> {
  const { name = '', description: task, prompt, model, effort, mode } = input;
  const planRequired = mode === 'plan';
  const started = await teammates?.({
    definition,
    name,
    description: sliceWhole(task.trim() || definition.name, 0, 120),
    prompt,
    model,
    effort,
    planRequired,
    context,
  });
  if (started === undefined) return failed('There are no teams.');
  if (!started.ok) return failed(`The teammate was not started: ${sentence(started.error)}`);
  const { member, outputFile } = started.value;
  const text = [
    `The teammate "${member.name}" is at work. agentId: ${member.agentId}.`,
    'It stays until you ask it to stop, and tells you by itself when it rests, with what it said last. Do not poll or wait: go on with something else, or end your turn. Reach it with SendMessage.',
    ...(member.planRequired ? ['It changes nothing before you have approved its plan.'] : []),
  ].join('\n');
  return {
    content: text,
    structured: {
      status: 'teammate_spawned',
      isAsync: true,
      agentId: member.agentId,
      name: member.name,
      description: member.description,
      prompt,
      resolvedModel: member.model,
      outputFile,
    },
  };
}

/** Longer than this nobody waits for an agent to begin: hooks and servers may hold it up. */
const MOST_BEGINNING_MS = 50;

/** Until its first request is on its way: what it does is not overtaken by what its parent says next. */
async function beginning({ atWork }: AgentRun): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, MOST_BEGINNING_MS);
  });
  await Promise.race([atWork, late]);
  clearTimeout(timer);
}

function launched(task: AgentRun, { prompt }: Input, note: string | undefined): ToolOutput {
  const { id, outputFile, description, model } = task;
  const text = [
    `The agent runs in the background. agentId: ${id}. output_file: ${outputFile}`,
    'You will be told when it has ended, with its report. Do not poll, wait or guess what it will say: go on with something else, or end your turn.',
    ...(note === undefined ? [] : [note]),
  ].join('\n');
  return {
    content: text,
    structured: {
      status: 'async_launched',
      isAsync: true,
      agentId: id,
      description,
      prompt,
      outputFile,
      resolvedModel: model,
    },
  };
}

async function finished(
  deps: AgentToolDeps,
  { task, input, note }: { task: AgentRun; input: Input; note: string | undefined },
): Promise<ToolOutput> {
  const report = await task.ended;
  const shown = await reportText(report, deps.words);
  const text = note === undefined ? shown : `${shown}\n${note}`;
  return {
    content: text,
    ...(isFailure(report) ? { isError: true } : {}),
    structured: structuredOf(report, { task, prompt: input.prompt, text }),
  };
}

/** Whether whoever asked has got nothing to work with. */
function isFailure({ end, text }: AgentReport): boolean {
  if (end.kind === 'done' || end.kind === 'cut-off') return false;
  return end.kind !== 'failed' || text.trim() === '';
}

function structuredOf(
  { account, worktree, end }: AgentReport,
  { task, prompt, text }: { task: AgentRun; prompt: string; text: string },
) {
  return {
    status: 'completed',
    end: end.kind,
    agentId: task.id,
    agentType: task.ref.type,
    content: [{ type: 'text', text }],
    totalToolUseCount: account.toolUses,
    totalDurationMs: Math.round(account.seconds * 1000),
    totalTokens: account.lastTokens ?? 0,
    usage: account.usage,
    prompt,
    resolvedModel: task.model,
    modelsUsed: account.models,
    ...(worktree?.kept === true
      ? { worktreePath: worktree.path, worktreeBranch: worktree.branch }
      : {}),
  };
}

function sentence(text: string): string {
  const full = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(full) ? full : `${full}.`;
}

function failed(content: string): ToolOutput {
  return { content, isError: true, structured: `Error: ${content}` };
}
