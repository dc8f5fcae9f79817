import type { Result } from '../../lib/result.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { failed, inTime } from '../dispatch/timeout.js';
import type { AgentHandler, HookFailure, HookRunner } from '../registry/hook.js';
import { aboutJudge, judgePrompt } from './judge-prompt.js';

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
  /** Absent: no agent can be run here. */
  readonly judge?: AgentJudge;
}

/** Lets an agent look into the matter before it decides. */
export function createAgentRunner({ judge }: AgentRunnerDeps): HookRunner<AgentHandler> {
  return async ({ handler }, request) => {
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
    return inTime(request, 'unavailable', async (signal) => {
      const verdict = await judge(question, signal);
      if (!verdict.ok) return failed(verdict.error.cause, verdict.error.message);
      const { ok, reason } = verdict.value;
      return { kind: 'verdict', ok, reason };
    });
  };
}
