import { closeAll } from '../../lib/close-all.js';
import type { InputMessage, LoopOutcome, StopReason } from '../../loop/types.js';
import { addUsage, ZERO_USAGE } from '../../protocol/content.js';
import type { ToolCallResult } from '../../protocol/tool-call.js';
import { compactOrder } from './compaction.js';
import type {
  AgentSession,
  Beginning,
  RunOptions,
  RunResult,
  SessionParts,
  SessionRun,
  TypedShell,
} from './session.js';

/** Joins an agent with what happens around its runs. `current` is what the agent's own callbacks read. */
export function createSession(
  parts: SessionParts,
  current: { run: SessionRun | undefined },
): AgentSession {
  let controller: AbortController | undefined;
  let beginning: Promise<Beginning> | undefined;
  /** The host asked for the prompts that hooks give, and runs them itself. */
  let promptsGiven = false;
  /** What hooks want before the first prompt, once they have said so; until a run has taken it. */
  let begun: Beginning | undefined;
  let opening = parts.opening;
  let deferred = parts.deferredCalls;
  let closing: Promise<void> | undefined;

  /** Asks the hooks of the start, once. */
  const begin = (signal: AbortSignal): Promise<Beginning> => {
    beginning ??= parts.hooks.begin(signal).then((said) => {
      begun = said;
      return said;
    });
    return beginning;
  };

  /** What goes into the conversation before the next prompt; each message is given out once. */
  const takeContext = (): readonly InputMessage[] => {
    const { inputs = [], prompts = [] } = begun ?? {};
    const messages = [...opening, ...inputs, ...(promptsGiven ? [] : prompts)];
    opening = [];
    begun = undefined;
    return [...messages, ...parts.pendingNotes()];
  };

  /** One run of the agent, hooks before and after it included. */
  const answer = async (
    prompts: readonly InputMessage[],
    signal: AbortSignal,
  ): Promise<LoopOutcome> => {
    await begin(signal);
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

  const interruptible = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    controller = new AbortController();
    try {
      return await work(controller.signal);
    } finally {
      controller = undefined;
      current.run = undefined;
    }
  };

  const run = async (
    prompts: readonly InputMessage[],
    options: RunOptions,
    signal: AbortSignal,
  ): Promise<RunResult> => {
    const started = parts.clock.monotonic();
    const apiBefore = parts.apiMs();
    let usage = ZERO_USAGE;
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
    const focus = compactOrder(prompts);
    const outcome =
      focus === undefined ? await answer(prompts, signal) : await compactRun(focus, signal);
    await parts.costsKnown();
    return {
      outcome,
      durationMs: parts.clock.monotonic() - started,
      apiMs: parts.apiMs() - apiBefore,
      usage,
      ...parts.offers.accounts(),
      denials: parts.calls.denials(),
      unrecoveredDenials: parts.calls.unrecovered(),
    };
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
    await begin(signal);
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
    await begin(signal);
    // A turn of its own in the journal: the way back leads to before the command.
    parts.beginTurn?.([{ uuid, content: [{ type: 'text', text: `! ${command}` }] }]);
    const { result, inputs } = await parts.shell(typed, signal);
    add(inputs);
    return result;
  };

  return {
    ...parts.offers,
    async begin() {
      promptsGiven = true;
      const { prompts } = await begin(new AbortController().signal);
      const given = prompts.map((prompt) => [prompt]);
      return deferred.length > 0 && parts.promptFollows !== true ? [[], ...given] : given;
    },
    run: (prompts, options = {}) => interruptible((signal) => run(prompts, options, signal)),
    history: () => parts.agent.conversation.messages,
    append: (prompts) => interruptible((signal) => append(prompts, signal)),
    shell: (typed) =>
      interruptible((signal) => {
        const promptId = typed.uuid;
        current.run = { promptId, takeInput: async () => [], onAnswer: () => undefined };
        return shell(typed, signal);
      }),
    interrupt() {
      if (controller === undefined || controller.signal.aborted) return false;
      controller.abort(new Error('interrupted'));
      return true;
    },
    compact: (instructions) => interruptible((signal) => parts.agent.compact(instructions, signal)),
    news: (event) => parts.emit(event),
    takeBackgroundInput: () => parts.background.take(),
    onBackgroundInput: (listener) => parts.background.onArrival(listener),
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

type SettleParts = Pick<
  SessionParts,
  | 'agent'
  | 'clock'
  | 'calls'
  | 'structuredAttempts'
  | 'emit'
  | 'recordInput'
  | 'onMaxTurns'
  | 'onDeferred'
>;

/** What the end of a run leaves in the conversation, and what an owed answer makes of it. */
function settle(parts: SettleParts, outcome: LoopOutcome): LoopOutcome {
  const { reason } = outcome;
  if (reason.kind === 'aborted') leaveMark(parts, reason);
  if (reason.kind === 'max_turns') parts.onMaxTurns(reason.limit);
  if (reason.kind === 'tool_deferred') {
    parts.calls.deferred(reason.call.id);
    parts.onDeferred(reason.call.id);
  }
  if (reason.kind === 'stuck' && parts.structuredAttempts !== undefined && triedToAnswer(outcome)) {
    return { ...outcome, reason: { ...reason, kind: 'structured_output_missing', attempts: 0 } };
  }
  if (reason.kind === 'completed' && parts.structuredAttempts !== undefined) {
    // A run that owes an answer in a schema and does not give it has not succeeded.
    return {
      ...outcome,
      reason: { kind: 'structured_output_missing', attempts: parts.structuredAttempts },
    };
  }
  return outcome;
}

/** What it could not get right was the answer in a schema that it owes. */
function triedToAnswer({ lastAnswer }: LoopOutcome): boolean {
  const blocks = lastAnswer?.message.content ?? [];
  return blocks.some((block) => block.type === 'tool_use' && block.name === 'StructuredOutput');
}

/** The model is told in its history that it was interrupted. */
function leaveMark(parts: SettleParts, reason: Extract<StopReason, { kind: 'aborted' }>): void {
  const text =
    reason.during === 'tools'
      ? '[Request interrupted by user for tool use]'
      : '[Request interrupted by user]';
  const message: InputMessage = { uuid: parts.clock.uuid(), content: [{ type: 'text', text }] };
  parts.recordInput(message);
  parts.agent.conversation.append({ role: 'user', content: message.content });
  parts.emit({ type: 'input', message });
}

/** How often the model is asked for the structured answer before the run fails. */
export const STRUCTURED_ATTEMPTS = 5;

const NUDGE =
  'Give your answer by calling the StructuredOutput tool now, with an input that fits its schema. Text alone is not accepted.';

/** Reminds a model that owes a structured answer and wants to leave without it. */
export function structuredNudge(uuid: () => string): () => InputMessage | undefined {
  let asked = 0;
  return () => {
    if (++asked >= STRUCTURED_ATTEMPTS) return undefined;
    return { uuid: uuid(), content: [{ type: 'text', text: NUDGE }], meta: true };
  };
}
