import type { ToolUseBlock } from '../protocol/content.js';
import { type AtOnce, isLater } from '../util/at-once.js';
import type { LoopDeps, MalformedInput, ToolCallResult } from './types.js';

/** Concurrency-safe calls of one group that run at the same time, unless a tool says otherwise. */
const MAX_PARALLEL_CALLS = 10;

export interface ToolBatch {
  readonly calls: readonly ToolUseBlock[];
  readonly malformed: ReadonlyMap<string, MalformedInput>;
}

/**
 * Runs the calls of one answer: neighbours that are safe together run together, the rest one after
 * another. Results are recorded and emitted in call order. A call that an abort or an interrupting
 * refusal kept from starting still gets a result.
 */
export function runToolBatch(
  deps: LoopDeps,
  batch: ToolBatch,
  signal: AbortSignal,
): AtOnce<readonly ToolCallResult[]> {
  return deps.prepareCalls === undefined
    ? runInOrder(deps, batch, signal)
    : runPrepared(deps, batch, signal);
}

async function runPrepared(
  deps: LoopDeps,
  batch: ToolBatch,
  signal: AbortSignal,
): Promise<readonly ToolCallResult[]> {
  const whole = batch.calls.filter((call) => !batch.malformed.has(call.id));
  const end = await deps.prepareCalls?.(whole, signal);
  try {
    return await runInOrder(deps, batch, signal);
  } finally {
    end?.();
  }
}

function runInOrder(
  deps: LoopDeps,
  batch: ToolBatch,
  signal: AbortSignal,
): AtOnce<readonly ToolCallResult[]> {
  const { calls } = batch;
  const only = calls.length === 1 ? calls[0] : undefined;
  if (only === undefined) return runGroups(deps, batch, signal);
  // There is nothing to keep it apart from, and nobody makes room for it.
  if (signal.aborted) return ranAlone(deps, only, notRun(deps, only));
  const running = deps.runTool(only, batch.malformed.get(only.id), signal);
  return isLater(running)
    ? running.then((result) => ranAlone(deps, only, result))
    : ranAlone(deps, only, running);
}

async function runGroups(
  deps: LoopDeps,
  batch: ToolBatch,
  signal: AbortSignal,
): Promise<readonly ToolCallResult[]> {
  const results: ToolCallResult[] = [];
  let stopped = false;
  const run = async (call: ToolUseBlock): Promise<ToolCallResult> => {
    if (stopped || signal.aborted) return notRun(deps, call);
    const result = await deps.runTool(call, batch.malformed.get(call.id), signal);
    const { interrupt, finish, stop } = result;
    if (interrupt === true || finish !== undefined || stop !== undefined) stopped = true;
    return result;
  };
  for (const group of await groupsOf(deps, batch.calls)) {
    const started = inTurn(deps, group, run);
    try {
      for (const [index, call] of group.entries()) {
        const result = (await started[index]) ?? notRun(deps, call);
        record(deps, call, result);
        results.push(result);
      }
    } catch (thrown) {
      // fail-closed: what cannot be recorded is not gone on with. Nothing more starts, and nothing is
      // left running behind the failure.
      stopped = true;
      await Promise.allSettled(started);
      throw thrown;
    }
  }
  return results;
}

/** What became of the one call of an answer. */
function ranAlone(
  deps: LoopDeps,
  call: ToolUseBlock,
  result: ToolCallResult,
): readonly ToolCallResult[] {
  if (!isPutOff(deps, result)) record(deps, call, result);
  return [result];
}

function record(deps: LoopDeps, call: ToolUseBlock, result: ToolCallResult): void {
  deps.recordResult(call, result);
  deps.emit({ type: 'tool_result', call, result });
}

/** Starts calls in their order, the next one when there is room for it. */
function inTurn<T>(
  deps: Pick<LoopDeps, 'mostAtOnce'>,
  calls: readonly ToolUseBlock[],
  run: (call: ToolUseBlock) => Promise<T>,
): readonly Promise<T>[] {
  const waiting: { readonly call: ToolUseBlock; begin(): void }[] = [];
  let running = 0;
  const hasRoom = (call: ToolUseBlock): boolean =>
    running < (deps.mostAtOnce?.(call) ?? MAX_PARALLEL_CALLS);
  const leave = (): void => {
    running--;
    for (let [first] = waiting; first !== undefined && hasRoom(first.call); [first] = waiting) {
      waiting.shift();
      first.begin();
    }
  };
  const begin = (call: ToolUseBlock): Promise<T> => {
    running++;
    const result = run(call);
    result.then(leave, leave);
    return result;
  };
  return calls.map((call) =>
    waiting.length === 0 && hasRoom(call)
      ? begin(call)
      : new Promise<T>((resolve) => {
          waiting.push({ call, begin: () => resolve(begin(call)) });
        }),
  );
}

/** Only a call that stands alone can be put off: its siblings' results would have no place to go. */
export function isDeferred(
  deps: Pick<LoopDeps, 'mayDefer'>,
  { calls }: ToolBatch,
  result: ToolCallResult | undefined,
): boolean {
  return result !== undefined && isPutOff(deps, result) && calls.length === 1;
}

function isPutOff(deps: Pick<LoopDeps, 'mayDefer'>, result: ToolCallResult): boolean {
  return result.deferred === true && deps.mayDefer === true;
}

async function groupsOf(
  deps: LoopDeps,
  calls: readonly ToolUseBlock[],
): Promise<readonly ToolUseBlock[][]> {
  const groups: ToolUseBlock[][] = [];
  let open: ToolUseBlock[] | undefined;
  for (const call of calls) {
    if (!(await deps.isConcurrencySafe(call))) {
      open = undefined;
      groups.push([call]);
    } else if (open === undefined) {
      open = [call];
      groups.push(open);
    } else {
      open.push(call);
    }
  }
  return groups;
}

function notRun(deps: LoopDeps, call: ToolUseBlock): ToolCallResult {
  return {
    uuid: deps.uuid(),
    block: {
      type: 'tool_result',
      tool_use_id: call.id,
      content: 'Not run: the turn was interrupted before this call started.',
      is_error: true,
    },
    structured: 'Error: interrupted',
  };
}
