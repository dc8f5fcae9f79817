import type { HookFailure } from '../../hooks/registry/hook.js';
import {
  type AgentJudge,
  type AgentQuestion,
  type AgentVerdict,
  HOOK_AGENT_TYPE,
} from '../../hooks/runners/model.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { LoopOutcome } from '../../loop/types.js';
import type { ModelClient, SystemBlock } from '../../model/client.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { ToolUseBlock } from '../../protocol/content.js';
import { STRUCTURED_OUTPUT, structuredOutputTool } from '../../tools/builtin/structured-output.js';
import type { Invoke } from '../../tools/invocation.js';
import { createPool } from '../../tools/pool.js';
import type { AnyTool, Workspace } from '../../tools/tool.js';
import { type AgentRecord, type AgentSetup, createAgent, type ModelChoice } from './agent.js';
import type { Caller } from './calls.js';
import system from './hook-agent.md';

/** What the session provides to agents that judge for hooks. */
export interface HookAgentParts {
  readonly client: ModelClient;
  /** The model that the hook names, or the default; may throw for an unknown name. */
  choice(name: string | undefined): ModelChoice;
  /** Calls through the session's gate with a separate read state. */
  invoke(caller: Pick<Caller, 'agent' | 'pool' | 'workspace'>): Invoke;
  /** The session's tools, of which a judge gets the read-only ones. */
  tools(): readonly AnyTool[];
  /** A separate workspace for the judge in the judged agent's directory. */
  workspace(): Workspace;
  uuid(): string;
  /** The deepest level at which agents may be nested. */
  readonly depthLimit: number;
}

/** The most turns of one judge. */
export const HOOK_AGENT_TURNS = 50;

/** A judge's tools: none that edits, starts agents, changes the mode or asks people. */
const JUDGE_TOOLS: ReadonlySet<string> = new Set(['Bash', 'Glob', 'Grep', 'Read']);

const VERDICT_SCHEMA: Readonly<Record<string, unknown>> = {
  type: 'object',
  properties: {
    ok: { type: 'boolean', description: 'Whether the condition is met.' },
    reason: { type: 'string', description: 'What is wrong, for the agent.' },
  },
  required: ['ok'],
  additionalProperties: false,
};

const SYSTEM: readonly SystemBlock[] = [{ type: 'text', text: system.trim() }];

/** Runs a restricted agent that investigates a question and decides it. */
export function createHookAgent(parts: HookAgentParts): AgentJudge {
  let count = 0;
  let output: ReturnType<typeof structuredOutputTool> | undefined;
  return async (question, signal) => {
    const { agent: parent } = question;
    // fail-closed: judges that need judges would recurse without end.
    if (parent.depth + 1 > parts.depthLimit) {
      return none('unavailable', `agents are nested ${parent.depth} deep already`);
    }
    const ref: AgentRef = {
      id: parts.uuid(),
      type: HOOK_AGENT_TYPE,
      path: `${parent.path}/hook#${++count}`,
      parentId: parent.id,
      depth: parent.depth + 1,
      background: false,
      spawnedBy: question.toolUseId,
      isolation: parent.isolation,
      workspace: parent.workspace,
    };
    output ??= structuredOutputTool(VERDICT_SCHEMA);
    const made = await output;
    if (!made.ok) return none('unavailable', made.error.message);
    return await judge(parts, { ref, question, output: made.value }, signal);
  };
}

async function judge(
  parts: HookAgentParts,
  { ref, question, output }: { ref: AgentRef; question: AgentQuestion; output: AnyTool },
  signal: AbortSignal,
): Promise<Result<AgentVerdict, HookFailure>> {
  const choice = parts.choice(question.model);
  const offered = parts.tools().filter((tool) => JUDGE_TOOLS.has(tool.name));
  const pool = createPool([...offered.map(inForeground), output]);
  const agent = createAgent({
    ref,
    client: parts.client,
    choice: () => choice,
    system: SYSTEM,
    pool,
    invoke: parts.invoke({ agent: ref, pool, workspace: parts.workspace() }),
    record: NO_RECORD,
    history: [],
    compaction: NO_COMPACTION,
    shouldStop: (turns) =>
      turns < HOOK_AGENT_TURNS ? undefined : { kind: 'max_turns', limit: HOOK_AGENT_TURNS },
    takeInput: async () => [],
    onIdle: async () => undefined,
    onAnswer: () => {},
    emit: () => {},
    uuid: parts.uuid,
  });
  const prompt = {
    uuid: parts.uuid(),
    content: [{ type: 'text' as const, text: question.prompt }],
  };
  const outcome = await agent.run({ prompts: [prompt] }, signal);
  if (outcome.reason.kind !== 'finished') return noVerdict(outcome, signal);
  const calls = (outcome.lastAnswer?.message.content ?? []).filter(
    (block): block is ToolUseBlock =>
      block.type === 'tool_use' && pool.resolve(block.name) === output,
  );
  return readVerdict(outcome.reason.structuredOutput, calls);
}

/** A judge's background work would be lost after the verdict. */
function inForeground(tool: AnyTool): AnyTool {
  return {
    ...tool,
    validate: async (input) =>
      isRecord(input) && input.run_in_background === true
        ? [{ path: '/run_in_background', message: 'a judge cannot leave commands running' }]
        : await tool.validate(input),
  };
}

/** `calls` are all verdict calls of the last answer, of which only the first valid one ran. */
function readVerdict(
  given: unknown,
  calls: readonly ToolUseBlock[],
): Result<AgentVerdict, HookFailure> {
  if (!isRecord(given) || typeof given.ok !== 'boolean') {
    return none('no-verdict', 'the verdict of the judge cannot be read');
  }
  const { ok: verdict, reason } = given;
  // fail-closed: contradictory verdicts in one answer count as none.
  if (calls.some(({ input }) => input.ok !== verdict)) {
    return none('no-verdict', 'the judge contradicted itself');
  }
  return ok({ ok: verdict, ...(typeof reason === 'string' ? { reason } : {}) });
}

/** fail-closed: a judge that ended without a verdict has not said yes. */
function noVerdict({ reason }: LoopOutcome, signal: AbortSignal): Result<never, HookFailure> {
  switch (reason.kind) {
    case 'model_failure':
      return none('unavailable', `the judge's model cannot be asked: ${reason.failure.message}`);
    case 'max_turns':
      return none('no-verdict', `the judge came to no verdict in ${reason.limit} turns`);
    case 'aborted':
      if (signal.aborted) return none('timeout', 'the judge was ended before it decided');
      return none('no-verdict', 'the judge was interrupted before it decided');
    case 'hook_stopped':
      return none('no-verdict', `a hook ended the judge: ${reason.message}`);
    default:
      return none('no-verdict', `the judge ended without calling ${STRUCTURED_OUTPUT}`);
  }
}

function none(cause: HookFailure['cause'], message: string): Result<never, HookFailure> {
  return err({ cause, message });
}

const NO_RECORD: AgentRecord = { input: () => {}, answer: () => {}, result: () => {} };

/** A question that exceeds the model's window gets no verdict. */
const NO_COMPACTION: AgentSetup['compaction'] = {
  isDue: () => false,
  noteUsage: () => {},
  run: async () => undefined,
};
