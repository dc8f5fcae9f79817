import { createConversation } from '../../loop/conversation.js';
import { type LoopStart, runLoop } from '../../loop/loop.js';
import type {
  Conversation,
  InputMessage,
  LoopDeps,
  LoopEvent,
  LoopOutcome,
  ModelAnswer,
  StopReason,
  ToolCallResult,
} from '../../loop/types.js';
import type { ModelClient, ModelRequest, SystemBlock, ThinkingConfig } from '../../model/client.js';
import { mayHaveManyListeners } from '../../platform/host.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { Message, ToolUseBlock } from '../../protocol/content.js';
import type { Invoke } from '../../tools/invocation.js';
import type { ToolPool } from '../../tools/pool.js';
import type { Compaction } from './compaction.js';

/** What an agent writes down. Each call returns once the record is durable. */
export interface AgentRecord {
  input(message: InputMessage): void;
  answer(answer: ModelAnswer): void;
  result(call: ToolUseBlock, result: ToolCallResult): void;
}

/** What may change between turns. Read afresh for every model call. */
export interface ModelChoice {
  readonly model: string;
  readonly maxTokens: number;
  readonly thinking?: ThinkingConfig;
  readonly effort?: string;
  readonly betas?: readonly string[];
}

export interface AgentSetup {
  readonly ref: AgentRef;
  readonly client: ModelClient;
  choice(): ModelChoice;
  readonly system: readonly SystemBlock[];
  readonly pool: ToolPool;
  readonly invoke: Invoke;
  readonly record: AgentRecord;
  readonly history: readonly Message[];
  readonly compaction: Pick<Compaction, 'isDue' | 'noteUsage' | 'run'>;
  shouldStop(turnsTaken: number): StopReason | undefined;
  /** Once a turn, while the model works and nothing else runs; done before any call of its answer. */
  betweenTurns?(): Promise<void>;
  readonly takeInput: LoopDeps['takeInput'];
  readonly onIdle: LoopDeps['onIdle'];
  readonly afterBatch?: LoopDeps['afterBatch'];
  readonly display?: LoopDeps['display'];
  readonly prepareCalls?: LoopDeps['prepareCalls'];
  /** Whether a call surely changes nothing, as the gate judges it. Absent: none is known to. */
  isReadOnly?(call: ToolUseBlock): Promise<boolean>;
  /** Whether a run may end with a call that a hook put off. */
  readonly mayDefer?: boolean;
  onAnswer(answer: ModelAnswer): void;
  emit(event: LoopEvent): void;
  /** False: `emit` has no use for parts of an answer. */
  readonly emitPartials?: boolean;
  uuid(): string;
}

export interface Agent {
  readonly ref: AgentRef;
  readonly conversation: Conversation;
  run(start: LoopStart, signal: AbortSignal): Promise<LoopOutcome>;
  /** Summarises the conversation now. */
  compact(instructions: string | undefined, signal: AbortSignal): Promise<boolean>;
}

/** An agent is a conversation, a pool of tools and the loop that joins them. */
export function createAgent(setup: AgentSetup): Agent {
  const conversation = createConversation(setup.history);
  const request = (): ModelRequest => ({
    system: setup.system,
    tools: setup.pool.definitions,
    messages: conversation.messages,
    ...setup.choice(),
  });
  const compact = async (
    trigger: 'auto' | 'manual',
    instructions: string | undefined,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const messages = await setup.compaction.run(
      { trigger, request: request(), instructions },
      signal,
    );
    if (messages === undefined) return false;
    conversation.replace(messages);
    return true;
  };
  /** Undefined: nothing goes on beside the model. */
  let settled: Promise<void> | undefined;
  const { betweenTurns } = setup;
  const deps: LoopDeps = {
    conversation,
    async prepareTurn(signal) {
      const next = request();
      if (!setup.compaction.isDue(next)) return next;
      await compact('auto', undefined, signal);
      return request();
    },
    callModel(modelRequest, signal) {
      setup.emit({ type: 'requesting' });
      // The request goes out first; what is looked at meanwhile costs nobody's time.
      if (betweenTurns !== undefined) {
        settled = new Promise((resolve) => {
          setImmediate(() => {
            // It tells of its own failures and leaves what was in force as it was.
            void betweenTurns()
              .catch(() => undefined)
              .then(resolve);
          });
        });
      }
      return setup.client.stream(modelRequest, signal);
    },
    async isConcurrencySafe(call) {
      const safe = concurrencyOf(setup.pool, call);
      if (safe !== 'if-read-only') return safe;
      await settled;
      return (await setup.isReadOnly?.(call)) === true;
    },
    maxConcurrency: (call) => setup.pool.resolve(call.name)?.maxConcurrency?.(),
    runTool(call, malformed, signal) {
      if (settled === undefined) return setup.invoke(call, malformed, signal);
      return settled.then(() => setup.invoke(call, malformed, signal));
    },
    takeInput: setup.takeInput,
    shouldStop: setup.shouldStop,
    onIdle: setup.onIdle,
    afterBatch: setup.afterBatch,
    display: setup.display,
    prepareCalls:
      setup.prepareCalls === undefined
        ? undefined
        : async (calls, signal) => {
            await settled;
            return (await setup.prepareCalls?.(calls, signal)) ?? (() => undefined);
          },
    mayDefer: setup.mayDefer === true,
    onPromptTooLong: (signal) => compact('auto', undefined, signal),
    recordInput: (message) => setup.record.input(message),
    recordAnswer(answer) {
      setup.record.answer(answer);
      setup.onAnswer(answer);
    },
    recordResult: (call, result) => setup.record.result(call, result),
    emit(event) {
      // By now the answer is part of the history, so the provider's count stands for all of it.
      if (event.type === 'answer')
        setup.compaction.noteUsage(event.answer.usage, conversation.messages);
      setup.emit(event);
    },
    emitPartials: setup.emitPartials !== false,
    uuid: setup.uuid,
  };
  return {
    ref: setup.ref,
    conversation,
    run(start, signal) {
      mayHaveManyListeners(signal);
      return runLoop(deps, start, signal);
    },
    compact: (instructions, signal) => compact('manual', instructions, signal),
  };
}

/** Unknown tools and inputs that a tool cannot even look at run alone. */
function concurrencyOf(pool: ToolPool, call: ToolUseBlock): boolean | 'if-read-only' {
  const tool = pool.resolve(call.name);
  if (tool === undefined) return false;
  try {
    return tool.concurrencySafe(call.input);
  } catch {
    // fail-closed: the input was not validated yet; a tool that stumbles over it runs alone.
    return false;
  }
}
