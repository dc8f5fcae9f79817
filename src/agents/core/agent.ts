import { createConversation } from '../../loop/conversation.js';
import { type LoopStart, runLoop } from '../../loop/loop.js';
import type {
  Conversation,
  InputMessage,
  LoopDeps,
  LoopOutcome,
  ModelAnswer,
  ToolCallResult,
} from '../../loop/types.js';
import type { ModelClient, ModelRequest, SystemBlock, ThinkingConfig } from '../../model/client.js';
import { mayHaveManyListeners } from '../../platform/host.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { Message, ToolUseBlock } from '../../protocol/content.js';
import type { Invoke } from '../../tools/invocation.js';
import type { ToolPool } from '../../tools/pool.js';
import type { Compaction } from './compaction.js';

/** The agent's transcript; each method returns once the record is durable. */
export interface AgentRecord {
  input(message: InputMessage): void;
  answer(answer: ModelAnswer): void;
  result(call: ToolUseBlock, result: ToolCallResult): void;
}

/** Model settings that may change between turns, read again for every model call. */
export interface ModelChoice {
  readonly model: string;
  readonly maxTokens: number;
  readonly thinking?: ThinkingConfig;
  readonly effort?: string;
  readonly betas?: readonly string[];
}

/** What the agent passes on to its loop. */
type LoopSetup =
  | 'shouldStop'
  | 'takeInput'
  | 'onIdle'
  | 'afterBatch'
  | 'display'
  | 'mayDefer'
  | 'emit'
  | 'emitPartials'
  | 'uuid';

export interface AgentSetup extends Pick<LoopDeps, LoopSetup> {
  readonly ref: AgentRef;
  readonly client: ModelClient;
  choice(): ModelChoice;
  readonly system: readonly SystemBlock[];
  readonly pool: ToolPool;
  readonly invoke: Invoke;
  readonly record: AgentRecord;
  readonly history: readonly Message[];
  readonly compaction: Pick<Compaction, 'isDue' | 'noteUsage' | 'run'>;
  /** Runs once a turn while the model works, and ends before any call of its answer runs. */
  betweenTurns?(): Promise<void>;
  prepareCalls?(...batch: Parameters<Prepare>): ReturnType<Prepare>;
  /** Whether the gate judges a call to change nothing. Absent: no call is known to. */
  isReadOnly?(call: ToolUseBlock): Promise<boolean>;
  onAnswer(answer: ModelAnswer): void;
}

type Prepare = NonNullable<LoopDeps['prepareCalls']>;

export interface Agent {
  readonly conversation: Conversation;
  run(start: LoopStart, signal: AbortSignal): Promise<LoopOutcome>;
  compact(instructions: string | undefined, signal: AbortSignal): Promise<boolean>;
}

/** Creates an agent: a conversation, a pool of tools and the loop that joins them. */
export function createAgent(setup: AgentSetup): Agent {
  const { pool, record, compaction, betweenTurns, prepareCalls } = setup;
  const conversation = createConversation(setup.history);
  const request = (): ModelRequest => ({
    system: setup.system,
    tools: pool.definitions,
    messages: conversation.messages,
    ...setup.choice(),
  });
  const compact = async (
    trigger: 'auto' | 'manual',
    instructions: string | undefined,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const order = { trigger, request: request(), instructions };
    const messages = await compaction.run(order, signal);
    if (messages !== undefined) conversation.replace(messages);
    return messages !== undefined;
  };
  /** The work between turns that runs while the model answers. */
  let settled: Promise<void> | undefined;
  const deps: LoopDeps = {
    ...setup,
    conversation,
    async prepareTurn(signal) {
      const next = request();
      if (!compaction.isDue(next)) return next;
      await compact('auto', undefined, signal);
      return request();
    },
    callModel(modelRequest, signal) {
      setup.emit({ type: 'requesting' });
      // The request is sent first. The work beside it reports its own failures and then keeps the previous state.
      if (betweenTurns !== undefined)
        settled = new Promise<void>((resolve) => setImmediate(resolve))
          .then(betweenTurns)
          .catch(() => undefined);
      return setup.client.stream(modelRequest, signal);
    },
    async isConcurrencySafe(call) {
      const safe = concurrencyOf(pool, call);
      if (safe !== 'if-read-only') return safe;
      await settled;
      return (await setup.isReadOnly?.(call)) === true;
    },
    maxConcurrency: (call) => pool.resolve(call.name)?.maxConcurrency?.(),
    async runTool(...call) {
      await settled;
      return await setup.invoke(...call);
    },
    prepareCalls:
      prepareCalls &&
      (async (...batch) => {
        await settled;
        return await prepareCalls(...batch);
      }),
    onPromptTooLong: (signal) => compact('auto', undefined, signal),
    recordInput: (message) => record.input(message),
    recordAnswer(answer) {
      record.answer(answer);
      setup.onAnswer(answer);
    },
    recordResult: (call, result) => record.result(call, result),
    emit(event) {
      // The answer is in the history by now, so the provider's count covers all of it.
      if (event.type === 'answer') compaction.noteUsage(event.answer.usage, conversation.messages);
      setup.emit(event);
    },
  };
  return {
    conversation,
    run(start, signal) {
      mayHaveManyListeners(signal);
      return runLoop(deps, start, signal);
    },
    compact: (instructions, signal) => compact('manual', instructions, signal),
  };
}

/** Unknown tools and inputs that fail this check run alone. */
function concurrencyOf(pool: ToolPool, call: ToolUseBlock): boolean | 'if-read-only' {
  try {
    return pool.resolve(call.name)?.concurrencySafe(call.input) ?? false;
  } catch {
    // fail-closed: the input is not validated yet; a tool that throws on it runs alone.
    return false;
  }
}
