import type { Result } from '../../lib/result.js';
import { randomBytes } from '../../platform/random.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { attempt, failed } from '../dispatch/timeout.js';
import type {
  AgentHandler,
  HookFailure,
  HookRaw,
  HookRequest,
  HookRunner,
} from '../registry/hook.js';

export interface AgentQuestion {
  /** With the hook's input in it. */
  readonly prompt: string;
  /** As the hook names it; absent: the default. */
  readonly model?: string;
  /** The agent whose step is judged. */
  readonly agent: AgentRef;
  readonly toolUseId?: string;
}

export interface AgentVerdict {
  readonly ok: boolean;
  readonly reason?: string;
}

/** Has an agent find out and decide. */
export type AgentJudge = (
  question: AgentQuestion,
  signal: AbortSignal,
) => Promise<Result<AgentVerdict, HookFailure>>;

export interface AgentRunnerDeps {
  /** Absent: no agent can be run here, or not yet. */
  readonly judge?: AgentJudge;
}

/** Lets an agent look into the matter before it decides. */
export function createAgentRunner(deps: AgentRunnerDeps): HookRunner<AgentHandler> {
  return async ({ handler }, request) => {
    const { judge } = deps;
    const settled = aboutJudge(request);
    if (settled !== undefined) return settled;
    // fail-closed: nobody there to judge is not a yes.
    if (judge === undefined) return failed('unavailable', 'agent hooks cannot be run here');
    const { agent, toolUseId } = request;
    const question: AgentQuestion = {
      prompt: judgePrompt(handler.prompt, request.json),
      agent,
      model: handler.model,
      toolUseId,
    };
    return attempt(request, 'unavailable', async (signal) => {
      const verdict = await judge(question, signal);
      if (!verdict.ok) return failed(verdict.error.cause, verdict.error.message);
      const { ok, reason } = verdict.value;
      return { kind: 'verdict', ok, reason };
    });
  };
}

/** The type of the agents that agent hooks run. */
export const HOOK_AGENT_TYPE = 'hook-agent';

/** The tool through which such an agent says what it decided. */
export const VERDICT_TOOL = 'StructuredOutput';

/**
 * What a model is asked: the hook's prompt with the hook's input for `$ARGUMENTS` (`\$ARGUMENTS`
 * stays as it is), or with the input after it. The input stands between marks that nobody who wrote
 * a part of it could have known, so that it cannot end the block and go on as instructions. It is
 * never cut: what is left out could be what matters.
 */
export function judgePrompt(template: string, json: string): string {
  const mark = `hook-input-${randomBytes(8).toString('hex')}`;
  const block = `<${mark}>\n${json}\n</${mark}>`;
  let placed = false;
  const prompt = template.replace(/\\?\$ARGUMENTS(?![A-Za-z0-9_])/g, (found) => {
    if (found.startsWith('\\')) return found.slice(1);
    placed = true;
    return block;
  });
  return placed ? prompt : `${prompt}\n\n${block}`;
}

/**
 * What becomes of a hook that asks a model about the call of an agent that is itself a judge.
 * Undefined when it is about any other agent. Without this, one judge would need the next.
 */
export function aboutJudge({ agent, input }: HookRequest): HookRaw | undefined {
  if (agent.type !== HOOK_AGENT_TYPE) return undefined;
  // To say what it decided is no act: there is nothing to judge, and no verdict would ever arrive.
  if (input.tool_name === VERDICT_TOOL) return { kind: 'value', value: undefined };
  // fail-closed: the call is left to rules and other hooks, and this one has not agreed to it.
  return failed('unavailable', 'a judge cannot be judged by a judge');
}
