import { closeAll } from '../../lib/close-all.js';
import type { InputMessage, LoopOutcome, StopReason } from '../../loop/types.js';
import { addUsage, ZERO_USAGE } from '../../protocol/content.js';
import type { ToolCallResult } from '../../protocol/tool-call.js';
import { compactOrder } from './compaction.js';
import type { Beginning } from './run-hooks.js';
import type {
  AgentSession,
  RunOptions,
  RunResult,
  SessionParts,
  SessionRun,
  TypedShell,
} from './session.js';
import { settle } from './session-settle.js';

/** Joins an agent with what happens around its runs. `current` is what the agent's own callbacks read. */
export function createSession(
  parts: SessionParts,
  current: { run: SessionRun | undefined },
): AgentSession {
  let controller: AbortController | undefined;
  let beginning: Promise<Beginning> | undefined;
  /** The host asked for the prompts that hooks give, and runs them itself. */
  let promptsGiven = false;
  /** Messages that precede the first prompt, until a run has taken them. Undefined: not created yet. */
  let opening: readonly InputMessage[] | undefined;
  let deferred = parts.deferredCalls;
  let closing: Promise<void> | undefined;

  const begin = (signal: AbortSignal): Promise<Beginning> => {
    beginning ??= parts.hooks.begin(signal);
    return beginning;
  };

  const prepareOpening = async (signal: AbortSignal): Promise<void> => {
    if (opening !== undefined) return;
    const { inputs, prompts } = await begin(signal);
    opening = [...(await parts.openingMessages()), ...inputs, ...(promptsGiven ? [] : prompts)];
  };

  /** What goes into the conversation before the next prompt; each message is given out once. */
  const takeContext = (): readonly InputMessage[] => {
    const messages = [...(opening ?? []), ...parts.pendingNotes()];
    opening = [];
    return messages;
  };

  /** One run of the agent, hooks before and after it included. */
  const answer = async (
    prompts: readonly InputMessage[],
    signal: AbortSignal,
  ): Promise<LoopOutcome> => {
    await prepareOpening(signal);
    const submitted = await parts.hooks.submit(prompts, signal);
    if (submitted.kind === 'blocked') {
      const { message, cause } = submitted;
      return {
        // Hooks that were interrupted hold the prompt back; that it was interrupted is the reason.
        reason: signal.aborted
          ? { kind: 'aborted', during: 'streaming' }
          : { kind: 'prompt_blocked', message, cause },
        turns: 0,
        text: message,
        lastAnswer: undefined,
      };
    }
    const pending = deferred;
    deferred = [];
    const start = { prompts: [...takeContext(), ...submitted.inputs], pending };
    const outcome = settle(parts, await parts.agent.run(start, signal));
    if (outcome.reason.kind === 'tool_deferred') deferred = [outcome.reason.call];
    await parts.hooks.ended(outcome);
    parts.onEnded?.(outcome);
    return outcome;
  };

  const run = async (prompts: readonly InputMessage[], options: RunOptions): Promise<RunResult> => {
    const started = parts.clock.monotonic();
    const apiBefore = parts.apiMs();
    let usage = ZERO_USAGE;
    controller = new AbortController();
    const { signal } = controller;
    current.run = {
      promptId: prompts.findLast((prompt) => prompt.meta !== true)?.uuid,
      async takeInput() {
        const arrived = [
          ...parts.pendingNotes(),
          ...parts.background.take(),
          ...(options.takeInput?.() ?? []),
        ];
        if (arrived.length === 0) return arrived;
        const submitted = await parts.hooks.submit(arrived, signal);
        if (submitted.kind === 'pass') return submitted.inputs;
        // A prompt that is held back holds nothing else back: reports of agents, notes of hooks.
        return arrived.filter(({ meta }) => meta === true);
      },
      onAnswer(one) {
        usage = addUsage(usage, one.usage);
      },
    };
    parts.calls.beginRun();
    parts.beginTurn?.(prompts);
    try {
      const focus = compactOrder(prompts);
      const outcome =
        focus === undefined ? await answer(prompts, signal) : await compactRun(focus, signal);
      await parts.costsKnown();
      return {
        outcome,
        durationMs: parts.clock.monotonic() - started,
        apiMs: parts.apiMs() - apiBefore,
        usage,
        ...parts.accounts(),
        denials: parts.calls.denials(),
        unrecoveredDenials: parts.calls.unrecovered(),
      };
    } finally {
      controller = undefined;
      current.run = undefined;
    }
  };

  /** `/compact` as a prompt: no model turn of its own, only the summary. */
  const compactRun = async (focus: string, signal: AbortSignal): Promise<LoopOutcome> => {
    await begin(signal);
    const done = await parts.agent.compact(focus === '' ? undefined : focus, signal);
    const held = parts.compactionHeld();
    if (!done && held !== undefined) {
      return {
        reason: { kind: 'completed', stopReason: null },
        turns: 0,
        text: held,
        lastAnswer: undefined,
      };
    }
    const text = done ? 'The conversation was summarised.' : '';
    const reason: StopReason = done ? { kind: 'completed', stopReason: null } : NOT_SUMMARISED;
    return { reason, turns: 0, text, lastAnswer: undefined };
  };

  const append = async (
    prompts: readonly InputMessage[],
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    await prepareOpening(signal);
    const submitted = await parts.hooks.submit(prompts, signal);
    const held = submitted.kind === 'blocked' ? submitted.message : undefined;
    add(submitted.kind === 'blocked' ? [] : submitted.inputs);
    return held;
  };

  const add = (said: readonly InputMessage[]): void => {
    for (const message of [...takeContext(), ...said]) {
      parts.recordInput(message);
      parts.agent.conversation.append({ role: 'user', content: message.content });
      parts.emit({ type: 'input', message });
    }
  };

  const shell = async (typed: TypedShell, signal: AbortSignal): Promise<ToolCallResult> => {
    const { uuid, command } = typed;
    await prepareOpening(signal);
    // A turn of its own in the journal: the way back leads to before the command.
    parts.beginTurn?.([{ uuid, content: [{ type: 'text', text: `! ${command}` }] }]);
    const { result, inputs } = await parts.shell(typed, signal);
    add(inputs);
    return result;
  };

  return {
    id: parts.id,
    info: parts.info,
    inspect: parts.inspect,
    async begin() {
      promptsGiven = true;
      const { prompts } = await begin(new AbortController().signal);
      const given = prompts.map((prompt) => [prompt]);
      return deferred.length > 0 && parts.promptFollows !== true ? [[], ...given] : given;
    },
    run: (prompts, options = {}) => run(prompts, options),
    history: () => parts.agent.conversation.messages,
    async append(prompts) {
      controller = new AbortController();
      try {
        return await append(prompts, controller.signal);
      } finally {
        controller = undefined;
      }
    },
    async shell(typed) {
      controller = new AbortController();
      current.run = {
        promptId: typed.uuid,
        takeInput: async () => [],
        onAnswer: () => undefined,
      };
      try {
        return await shell(typed, controller.signal);
      } finally {
        controller = undefined;
        current.run = undefined;
      }
    },
    interrupt() {
      if (controller === undefined || controller.signal.aborted) return false;
      controller.abort(new Error('interrupted'));
      return true;
    },
    setMode: parts.setMode,
    setModel: parts.setModel,
    addDirectory: parts.addDirectory,
    mcp: parts.mcp,
    team: parts.team,
    requests: parts.requests,
    changes: parts.changes,
    hooks: parts.hookReport,
    context: parts.context,
    async compact(instructions) {
      controller = new AbortController();
      try {
        return await parts.agent.compact(instructions, controller.signal);
      } finally {
        controller = undefined;
      }
    },
    accounts: parts.accounts,
    news: (event) => parts.emit(event),
    takeBackgroundInput: () => parts.background.take(),
    onBackgroundInput: (listener) => parts.background.onArrival(listener),
    awaitPrompt: parts.awaitPrompt,
    waitForBackground: () => parts.background.wait(),
    close(reason = 'other') {
      closing ??= (async () => {
        controller?.abort(new Error('the session was closed'));
        await closeAll([
          () => (beginning === undefined ? undefined : parts.hooks.close(reason)),
          () => parts.close(),
        ]);
      })();
      return closing;
    },
  };
}

const NOT_SUMMARISED: StopReason = {
  kind: 'model_failure',
  failure: {
    kind: 'bad_response',
    message: 'the conversation could not be summarised',
    retryable: false,
  },
};
