import { spendPermit } from '../permissions/permit.js';
import type { GateCall, GateVerdict } from '../permissions/types.js';
import type { ToolUseBlock } from '../protocol/content.js';
import type { MalformedInput, ToolCallResult } from '../protocol/tool-call.js';
import { type AtOnce, isLater } from '../util/at-once.js';
import { extended } from '../util/extended.js';
import { seal } from '../util/sealed.js';
import { failure, refusedResult, thrownOutput, thrownText, unknownTool } from './call-result.js';
import { type Allowed, resultOfRun } from './call-run.js';
import { describeMalformed, describeProblems } from './invalid-input.js';
import type { CallWatch, CheckedCall, Invoke, InvokeDeps } from './invocation.js';
import type { AnyTool, ToolContext, ToolOutput, ValidationProblem } from './tool.js';

/**
 * The one way in: name → input → gate → run → bound. No other code calls `Tool.run`; the
 * architecture test checks it.
 */
export function createInvoke(deps: InvokeDeps): Invoke {
  return (call, malformed, signal) => {
    const tool = deps.pool.resolve(call.name);
    if (tool === undefined) {
      const why = deps.elsewhere?.(call.name) ?? unknownTool(deps.pool, call.name);
      return failure(deps, call, why);
    }
    try {
      const running = checked(deps, { call, tool, malformed }, signal);
      return isLater(running)
        ? running.then(undefined, (thrown) => failure(deps, call, thrownText(tool, thrown)))
        : running;
    } catch (thrown) {
      return failure(deps, call, thrownText(tool, thrown));
    }
  };
}

interface NamedCall {
  readonly call: ToolUseBlock;
  readonly tool: AnyTool;
  readonly malformed: MalformedInput | undefined;
}

function checked(
  deps: InvokeDeps,
  { call, tool, malformed }: NamedCall,
  signal: AbortSignal,
): AtOnce<ToolCallResult> {
  const fixed = seal(tool.fromModel?.(call.input) ?? call.input);
  // fail-closed: what may change after it was judged is not judged at all.
  if (!fixed.ok)
    return failure(deps, call, `${tool.name}: the input is not plain: ${fixed.error}.`);
  const underway = new CallUnderway(deps, { call, tool, input: fixed.value }, signal);
  if (malformed !== undefined) return underway.invalid(malformed, []);
  const checking = tool.validate(fixed.value);
  return isLater(checking)
    ? checking.then((problems) => underway.validated(problems))
    : underway.validated(checking);
}

const NONE: readonly string[] = [];

/**
 * A call whose name and input are right, on its way through the gate. Each step goes on at once where
 * its answer is there: of most calls there is nothing to wait for, and a promise for each step costs.
 */
class CallUnderway {
  readonly deps: InvokeDeps;
  readonly checked: CheckedCall;
  readonly signal: AbortSignal;

  constructor(deps: InvokeDeps, call: CheckedCall, signal: AbortSignal) {
    this.deps = deps;
    this.checked = call;
    this.signal = signal;
  }

  validated(problems: readonly ValidationProblem[]): AtOnce<ToolCallResult> {
    return problems.length === 0 ? this.judge() : this.invalid(undefined, problems);
  }

  async invalid(
    malformed: MalformedInput | undefined,
    problems: readonly ValidationProblem[],
  ): Promise<ToolCallResult> {
    const { deps, signal } = this;
    const { call, tool } = this.checked;
    const text =
      malformed === undefined
        ? describeProblems(tool.name, problems)
        : describeMalformed(tool.name, malformed);
    const note = await deps.onInvalidInput({ call, tool: tool.name, malformed, problems }, signal);
    return failure(deps, call, note === undefined ? text : `${text}\n${note}`);
  }

  judge(): AtOnce<ToolCallResult> {
    const { agent, workspace, unattended, gate } = this.deps;
    const { call, tool, input } = this.checked;
    const subject = tool.subject(input, workspace);
    const { signal } = this;
    const asked: GateCall = { toolUseId: call.id, tool, input, subject, agent, workspace, signal };
    const judging = gate(unattended === true ? extended(asked, { unattended }) : asked);
    return isLater(judging)
      ? judging.then((verdict) => this.judged(verdict))
      : this.judged(judging);
  }

  judged(verdict: GateVerdict): AtOnce<ToolCallResult> {
    const { deps, checked: known, signal } = this;
    const { call, tool } = known;
    deps.onVerdict(call, tool, verdict);
    if (verdict.kind === 'refused') return refusedResult(deps, { checked: known, verdict }, signal);
    const { agentContext, judged, input } = verdict;
    const plain = deps.contextFor(call, signal, judged);
    const context = agentContext === undefined ? plain : extended(plain, { agentContext });
    const watching = deps.watch?.({ call, tool, input, verdict }, context);
    return watching === undefined
      ? this.start(verdict, context, undefined)
      : this.startWatched(verdict, context, watching);
  }

  async startWatched(
    verdict: Allowed,
    context: ToolContext,
    watching: AtOnce<CallWatch | undefined>,
  ): Promise<ToolCallResult> {
    const watch = await watching;
    const hold = watch?.hold;
    // fail-closed: a tool that does not say that it waits is not run before it may change something.
    if (hold !== undefined && this.checked.tool.startsHeld !== true) await hold();
    return this.start(verdict, context, watch);
  }

  start(
    verdict: Allowed,
    context: ToolContext,
    watch: CallWatch | undefined,
  ): AtOnce<ToolCallResult> {
    const { call, tool } = this.checked;
    const hold = watch?.hold;
    const started = { verdict, context, watch, at: this.deps.monotonic() };
    spendPermit(verdict.permit, call.id, verdict.input);
    const own = hold === undefined ? context : extended(context, { hold });
    let running: AtOnce<ToolOutput>;
    try {
      running = tool.run(verdict.input, own, verdict.permit);
    } catch (thrown) {
      running = thrownOutput(tool, thrown);
    }
    return isLater(running)
      ? running.then(
          (output) => this.ended(started, output),
          (thrown) => this.ended(started, thrownOutput(tool, thrown)),
        )
      : this.ended(started, running);
  }

  ended({ verdict, context, watch, at }: Started, output: ToolOutput): AtOnce<ToolCallResult> {
    const { deps } = this;
    const ms = deps.monotonic() - at;
    const ran = { checked: this.checked, verdict, context, output, ms };
    if (watch === undefined) return resultOfRun(deps, ran, NONE);
    return watch.ended(output).then((observed) => resultOfRun(deps, ran, observed));
  }
}

/** A call that runs. */
interface Started {
  readonly verdict: Allowed;
  readonly context: ToolContext;
  readonly watch: CallWatch | undefined;
  readonly at: number;
}
