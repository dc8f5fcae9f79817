import { ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { abortableDelay } from '../../platform/turns.js';
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
import type { Started, TeammateRequest } from '../teams/team-base.js';
import description from './agent-tool.md';

export interface AgentToolDeps {
  readonly book: Pick<AgentBook, 'resolve'>;
  runtime(): AgentRuntime;
  readonly words: ReportWords;
  /** The definition of a fork of the caller; undefined when forks are not offered. */
  forks(): AgentDefinition | undefined;
  /** Why the agent may not start background agents; undefined when it may. */
  backgroundIsOff(agent: AgentRef): string | undefined;
  /** How many agents may run at once in this process. */
  mostRunning(): number;
  /** Starts a named agent as a teammate. Absent: there are no teams. */
  teammates?(wish: TeammateRequest): Promise<Result<Started, string>>;
}

type Input = ToolInputs['Agent'];

/**
 * Slots that the calls of one answer leave free for background and nested agents. Starting an agent over
 * the limit is refused, so an answer with many calls starts them a few at a time.
 */
const LEFT_FREE = 10;

/** How long a call waits for its background agent's first request. */
const MOST_BEGINNING_MS = 50;

export function agentTool(deps: AgentToolDeps): Tool<Input> {
  return defineTool({
    name: AGENT_TOOL,
    aliases: ['Task'],
    // The agent's actions are calls of its own and judged as such.
    kind: 'control',
    description,
    /** Fills in the default type, so that rules for it match calls without a type. */
    fromModel(input) {
      const given = typeof input.subagent_type === 'string' ? input.subagent_type : '';
      // fail-closed: rules must match the type whatever its surrounding blanks and Unicode form.
      const type = given.trim().normalize('NFC');
      if (type === '') return { ...input, subagent_type: DEFAULT_AGENT };
      return { ...input, subagent_type: isFork(type) ? FORK_TYPE : type };
    },
    subject: (input) => ({
      paths: [],
      summary: sliceWhole(`agent ${input.subagent_type ?? ''}: ${input.description}`, 0, 120),
    }),
    concurrencySafe: () => true,
    maxConcurrency: () => Math.max(LEFT_FREE, deps.mostRunning() - LEFT_FREE),
    run: (input, context) => run(deps, input, context),
  });
}

async function run(deps: AgentToolDeps, input: Input, context: ToolContext): Promise<ToolOutput> {
  const fork = isFork(input.subagent_type ?? '') ? deps.forks() : undefined;
  const found = fork ? ok(fork) : await deps.book.resolve(input.subagent_type ?? DEFAULT_AGENT);
  if (!found.ok) return failed(sentence(found.error));
  const definition = found.value;
  const { name, prompt, isolation } = input;
  if (isolation !== undefined && isolation !== 'worktree')
    return failed(`There is no isolation "${isolation}"; only "worktree" is known.`);
  const problem = name === undefined ? undefined : nameProblem(name);
  if (problem !== undefined) return failed(problem);
  if (prompt.trim() === '')
    return failed('The agent was not started: The prompt is empty. Say what it is to do.');
  // A named agent becomes a teammate of the main agent, unless it is a fork or has its own workspace.
  const isForTeam = context.agent.depth === 0 && isolation === undefined && fork === undefined;
  if (deps.teammates !== undefined && name !== undefined && isForTeam)
    return teammateOutput(
      prompt,
      await deps.teammates({
        definition,
        name,
        description: sliceWhole(input.description.trim() || definition.name, 0, 120),
        prompt,
        model: input.model,
        effort: input.effort,
        planRequired: input.mode === 'plan',
        context,
      }),
    );
  const { background, notes } = howToRun(deps, { input, agent: context.agent, fork }, definition);
  const { agentContext } = context;
  const started = await deps.runtime().spawn({
    definition,
    description: input.description,
    prompt,
    parent: context.agent,
    toolUseId: context.toolUseId,
    background,
    signal: context.signal,
    name,
    fork: fork && true,
    model: input.model,
    effort: input.effort,
    isolation,
    contexts: agentContext === undefined ? undefined : [agentContext],
  });
  if (!started.ok) return failed(`The agent was not started: ${sentence(started.error)}`);
  const task = started.value;
  if (!background) return finished(await task.ended, { task, notes, words: deps.words });
  // Waits until the agent's first request is on its way, so that its parent's next step does not overtake
  // it; limited, because hooks and servers may take long.
  const begun = new AbortController();
  const late = abortableDelay(MOST_BEGINNING_MS, begun.signal).catch(() => undefined);
  await Promise.race([task.atWork, late]);
  begun.abort();
  return launched(task, notes);
}

function isFork(type: string): boolean {
  return type.trim().toLowerCase() === FORK_TYPE;
}

const LONGEST_NAME = 64;

/** fail-closed: the name is shown to other models and must not contain instructions. */
function nameProblem(name: string): string | undefined {
  const isPlain = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._:/@#+-]*$/u.test(name);
  if (isPlain && name.length <= LONGEST_NAME) return undefined;
  return `The name is not used: it may hold letters, digits, blanks and ._:/@#+-, begins with a letter or digit, and has at most ${LONGEST_NAME} characters. The agent was not started.`;
}

/** Foreground unless the definition or the call says otherwise; `notes` name the ignored parts of the call. */
function howToRun(
  deps: AgentToolDeps,
  { input, agent, fork }: { input: Input; agent: AgentRef; fork: AgentDefinition | undefined },
  { background, foregroundOnly, name }: AgentDefinition,
): { readonly background: boolean; readonly notes: readonly string[] } {
  const isWanted = input.run_in_background === true || background;
  const why = foregroundOnly
    ? `agents of the type ${name} are always waited for`
    : deps.backgroundIsOff(agent);
  const unused = (['model', 'effort'] as const)
    .filter((field) => fork !== undefined && input[field] !== undefined)
    .map((field) => `\`${field}\``);
  const notes = [
    ...(isWanted && why !== undefined ? [`[It did not run in the background: ${why}.]`] : []),
    ...(unused.length > 0
      ? [`[A fork runs on the model of its original: ${unused.join(' and ')} did not count.]`]
      : []),
  ];
  return { background: isWanted && why === undefined, notes };
}

function teammateOutput(prompt: string, started: Result<Started, string>): ToolOutput {
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

function launched(task: AgentRun, notes: readonly string[]): ToolOutput {
  const { id, outputFile, description, model, plan } = task;
  const text = [
    `The agent runs in the background. agentId: ${id}. output_file: ${outputFile}`,
    'You will be told when it has ended, with its report. Do not poll, wait or guess what it will say: go on with something else, or end your turn.',
    ...notes,
  ].join('\n');
  return {
    content: text,
    structured: {
      status: 'async_launched',
      isAsync: true,
      agentId: id,
      description,
      prompt: plan.request.prompt,
      outputFile,
      resolvedModel: model,
    },
  };
}

async function finished(
  report: AgentReport,
  { task, notes, words }: { task: AgentRun; notes: readonly string[]; words: ReportWords },
): Promise<ToolOutput> {
  const { account, worktree, end } = report;
  const text = [await reportText(report, words), ...notes].join('\n');
  const isWorkable = end.kind === 'done' || end.kind === 'cut-off';
  // The parent got nothing to work with.
  const isError = !isWorkable && (end.kind !== 'failed' || report.text.trim() === '');
  const tree = worktree?.kept === true ? worktree : undefined;
  return {
    content: text,
    ...(isError ? { isError } : {}),
    structured: {
      status: 'completed',
      end: end.kind,
      agentId: task.id,
      agentType: task.ref.type,
      content: [{ type: 'text', text }],
      totalToolUseCount: account.toolUses,
      totalDurationMs: Math.round(account.seconds * 1000),
      totalTokens: account.lastTokens ?? 0,
      usage: account.usage,
      prompt: task.plan.request.prompt,
      resolvedModel: task.model,
      modelsUsed: account.models,
      ...(tree ? { worktreePath: tree.path, worktreeBranch: tree.branch } : {}),
    },
  };
}

function sentence(text: string): string {
  const full = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(full) ? full : `${full}.`;
}

function failed(content: string): ToolOutput {
  return { content, isError: true, structured: `Error: ${content}` };
}
