import type { AgentRef } from '../../protocol/agent-ref.js';
import { textOf } from '../../protocol/content.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { MalformedInput } from '../../protocol/tool-call.js';
import type { AnyTool, ToolOutput, ValidationProblem, Workspace } from '../../tools/tool.js';
import {
  blockedBy,
  blockingNotes,
  contextsOf,
  deniedBy,
  endOf,
  prefixOf,
  stopOf,
} from '../answers/round.js';
import { ask, type Scene } from '../dispatch/scene.js';
import type { HookDispatch, HookRound, Occasion } from '../registry/hook.js';
import { replaceOutput, responseOf } from './replace-output.js';
import { type FitsRule, namesOf, toolOccasion } from './tool-occasion.js';

type Input = Readonly<Record<string, unknown>>;

/** A call that has run. */
export interface FinishedCall {
  readonly call: {
    readonly toolUseId: string;
    readonly tool: AnyTool;
    /** What it ran with, after every rewrite. */
    readonly input: Input;
    readonly agent: AgentRef;
    readonly workspace: Workspace;
  };
  readonly mode: PermissionMode;
  readonly output: ToolOutput;
  /** How long it ran. */
  readonly ms: number;
  readonly signal: AbortSignal;
  /** Somebody ended it before it was done. */
  readonly interrupted?: boolean;
  /** Whether an `if` rule fits the call. */
  readonly fits?: FitsRule;
}

export interface AfterCall {
  /** What model, screen and transcript get. */
  readonly output: ToolOutput;
  /** For the model, after the result. */
  readonly contexts: readonly string[];
  /** The turn ends after this step, and why. */
  readonly stop?: string;
}

/** One call of a batch, as the model sees it. */
export interface BatchCall {
  readonly tool_name: string;
  readonly tool_input: Input;
  readonly tool_use_id: string;
  /** The text of its result. */
  readonly tool_response: string;
}

export interface AfterBatch {
  readonly contexts: readonly string[];
  readonly stop?: string;
}

/** A call whose input never became a valid one. */
export interface InvalidCall extends Scene {
  readonly toolUseId: string;
  readonly tool: AnyTool;
  readonly input: Input;
  readonly malformed?: MalformedInput | undefined;
  readonly problems: readonly ValidationProblem[];
  /** What the model is told. */
  readonly error: string;
}

export interface PostToolHooks {
  /** PostToolUse, or PostToolUseFailure for an output that is an error. */
  after(finished: FinishedCall): Promise<AfterCall>;
  /** PostToolBatch: once for all calls of an answer, when each has its result. */
  batch(scene: Scene, calls: readonly BatchCall[]): Promise<AfterBatch>;
  /** ToolInputInvalid. What the hooks add for the model. */
  invalid(invalid: InvalidCall): Promise<readonly string[]>;
}

/** What hooks do to the results of calls: add words, put something else in their place, end the turn. */
export function createPostToolHooks(dispatch: HookDispatch): PostToolHooks {
  return {
    async after(finished) {
      const { call, output } = finished;
      const event = output.isError === true ? 'PostToolUseFailure' : 'PostToolUse';
      if (!dispatch.has(event, { agent: call.agent, matched: namesOf(call) })) {
        return { output, contexts: [] };
      }
      const round = await dispatch.fire(event, occasionAfter(event, finished));
      // A failed call's own error goes on to the model, so a model's no about it does not end the turn.
      const stop = event === 'PostToolUse' ? endOf(round) : stopOf(round);
      const result = resultOf(finished, round, prefixOf(event, call.tool.name));
      return stop === undefined ? result : { ...result, stop };
    },
    async batch(scene, calls) {
      if (calls.length === 0) return { contexts: [] };
      const round = await ask(dispatch, 'PostToolBatch', { scene, fields: { tool_calls: calls } });
      const stop = stopOf(round) ?? blockedBy(round)[0]?.reason;
      return { contexts: contextsOf(round, prefixOf('PostToolBatch')), stop };
    },
    async invalid(invalid) {
      const { tool, toolUseId } = invalid;
      const round = await ask(dispatch, 'ToolInputInvalid', {
        scene: invalid,
        fields: fieldsOfInvalid(invalid),
        matched: namesOf({ tool }),
        toolUseId,
      });
      return contextsOf(round, prefixOf('ToolInputInvalid', tool.name));
    },
  };
}

type AfterEvent = 'PostToolUse' | 'PostToolUseFailure';

function occasionAfter(
  event: AfterEvent,
  { call, mode, output, ms, signal, interrupted, fits }: FinishedCall,
): Occasion {
  const outcome =
    event === 'PostToolUse'
      ? { tool_response: responseOf(output) }
      : { error: textOf(output.content), is_interrupt: interrupted === true };
  return toolOccasion(
    event,
    { call: { ...call, signal }, mode },
    { fields: { ...outcome, duration_ms: Math.round(ms) }, fits },
  );
}

function resultOf({ call, output }: FinishedCall, round: HookRound, prefix: string): AfterCall {
  const failed = round.reports.find(({ refuses }) => refuses === true);
  if (failed !== undefined) {
    // fail-closed: it was to look at the output before anybody else. The cause alone is told; the
    // message of a failure may quote what the hook was shown.
    const cause = failed.failure?.cause ?? 'no-verdict';
    const spent = Math.round(failed.ms);
    const why = `guard failed: ${failed.hook.label} gave no verdict (${cause}, after ${spent} ms)`;
    return withheld(call.tool, output, why);
  }
  const replacement = replaceOutput(call.tool, output, round);
  if (replacement.kind === 'withheld') return withheld(call.tool, output, replacement.why);
  const notes = blockingNotes(deniedBy(round), prefix);
  return {
    output: replacement.kind === 'replaced' ? replacement.output : output,
    contexts: [...notes, ...contextsOf(round, prefix)],
  };
}

/**
 * Nothing of the output, nor of what hooks said about it, which may quote it. An answer that would
 * have ended the run ends it all the same, without being given.
 */
function withheld(tool: AnyTool, output: ToolOutput, why: string): AfterCall {
  const text = `${tool.name} was run, and its output is withheld: ${why}. Do not run it again to see it; tell the user.`;
  return {
    output: { content: text, isError: true, structured: `Error: ${text}` },
    contexts: [],
    stop: output.finish === undefined ? undefined : `the answer is withheld: ${why}`,
  };
}

function fieldsOfInvalid({
  tool,
  toolUseId,
  input,
  malformed,
  problems,
  error,
}: InvalidCall): Occasion['fields'] {
  return {
    tool_name: tool.name,
    tool_input: input,
    tool_use_id: toolUseId,
    cause: malformed?.cause ?? 'schema',
    error,
    problems,
    raw: malformed?.raw,
  };
}
