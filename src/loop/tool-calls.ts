import type { ToolUseBlock, UserBlock } from '../protocol/content.js';
import type {
  BatchEnd,
  InputMessage,
  LoopDeps,
  MalformedInput,
  StopReason,
  ToolCallResult,
} from './types.js';

/** How many concurrency-safe calls of one group run at once, unless a tool sets its own limit. */
const MAX_PARALLEL_CALLS = 10;

export interface ToolBatch {
  readonly calls: readonly ToolUseBlock[];
  readonly malformed: ReadonlyMap<string, MalformedInput>;
}

/**
 * Runs the calls of one answer, adds their results and new input to the conversation, and returns
 * the reason if the run ends here.
 */
export async function runToolCalls(
  deps: LoopDeps,
  { batch, takeInput }: { readonly batch: ToolBatch; readonly takeInput: LoopDeps['takeInput'] },
  signal: AbortSignal,
): Promise<StopReason | undefined> {
  const results = await runBatch(deps, batch, signal);
  const [call] = batch.calls;
  if (call !== undefined && isDeferred(deps, batch, results[0])) {
    return { kind: 'tool_deferred', call };
  }
  const finished = batch.calls.flatMap((made, index) => {
    const result = results[index];
    return result === undefined ? [] : [{ call: made, result }];
  });
  const after = await deps.afterBatch?.(finished, signal);
  const stop = stopAfter(results, after, signal);
  const input = stop === undefined ? await takeInput() : [];
  const blocks = results.map(({ block }) => block);
  addUserMessage(deps, blocks, [...(after?.inputs ?? []), ...input]);
  return stop;
}

/** Merges tool results (already recorded) and new input into one user message. */
export function addUserMessage(
  deps: LoopDeps,
  results: readonly UserBlock[],
  inputs: readonly InputMessage[],
): void {
  for (const input of inputs) {
    deps.recordInput(input);
    deps.emit({ type: 'input', message: input });
  }
  const content = [...results, ...inputs.flatMap((input) => input.content)];
  if (content.length > 0) deps.conversation.append({ role: 'user', content });
}

function stopAfter(
  results: readonly ToolCallResult[],
  after: BatchEnd | undefined,
  signal: AbortSignal,
): StopReason | undefined {
  const finish = results.find((result) => result.finish !== undefined)?.finish;
  if (finish !== undefined) {
    return { kind: 'finished', structuredOutput: finish.structuredOutput };
  }
  if (signal.aborted || results.some(({ interrupt }) => interrupt === true)) {
    return { kind: 'aborted', during: 'tools' };
  }
  const message = results.find(({ stop }) => stop !== undefined)?.stop ?? after?.stop;
  return message === undefined ? undefined : { kind: 'hook_stopped', message };
}

/**
 * Runs the calls of one answer: consecutive safe calls run together, the others one after another.
 * Results are recorded and emitted in call order. A call that an abort or an interrupting refusal
 * kept from starting still gets a result.
 */
export async function runBatch(
  deps: LoopDeps,
  batch: ToolBatch,
  signal: AbortSignal,
): Promise<readonly ToolCallResult[]> {
  const whole = batch.calls.filter((call) => !batch.malformed.has(call.id));
  const release = await deps.prepareCalls?.(whole, signal);
  try {
    return await runGroups(deps, batch, signal);
  } finally {
    release?.();
  }
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
    const started = startInOrder(deps, group, run);
    try {
      for (const [index, call] of group.entries()) {
        const result = (await started[index]) ?? notRun(deps, call);
        results.push(result);
        if (isDeferred(deps, batch, result)) continue;
        deps.recordResult(call, result);
        deps.emit({ type: 'tool_result', call, result });
      }
    } catch (thrown) {
      // fail-closed: the run ends when a result cannot be recorded; no further call starts, and the
      // running ones are awaited.
      stopped = true;
      await Promise.allSettled(started);
      throw thrown;
    }
  }
  return results;
}

/** Starts calls in order, each as soon as a slot is free. */
function startInOrder<T>(
  deps: Pick<LoopDeps, 'maxConcurrency'>,
  calls: readonly ToolUseBlock[],
  run: (call: ToolUseBlock) => Promise<T>,
): readonly Promise<T>[] {
  const waiting: { readonly call: ToolUseBlock; begin(): void }[] = [];
  let running = 0;
  const hasRoom = (call: ToolUseBlock): boolean =>
    running < (deps.maxConcurrency?.(call) ?? MAX_PARALLEL_CALLS);
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

/** Only an answer with a single call can be deferred: results of other calls could not be recorded before it. */
function isDeferred(
  deps: Pick<LoopDeps, 'mayDefer'>,
  { calls }: ToolBatch,
  result: ToolCallResult | undefined,
): boolean {
  return result?.deferred === true && deps.mayDefer === true && calls.length === 1;
}

async function groupsOf(
  deps: LoopDeps,
  calls: readonly ToolUseBlock[],
): Promise<readonly (readonly ToolUseBlock[])[]> {
  if (calls.length === 1) return [calls];
  const groups: ToolUseBlock[][] = [];
  let open: ToolUseBlock[] | undefined;
  for (const call of calls) {
    const isSafe = await deps.isConcurrencySafe(call);
    if (isSafe && open !== undefined) {
      open.push(call);
      continue;
    }
    const group = [call];
    groups.push(group);
    open = isSafe ? group : undefined;
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
