import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { closeAll } from '../../lib/close-all.js';
import type { InputMessage, LoopOutcome, StopReason } from '../../loop/types.js';
import { addUsage, textOf, ZERO_USAGE } from '../../protocol/content.js';
import type { ToolCallResult } from '../../protocol/tool-call.js';
import { DEFERRED_MARK } from '../../session/resume.js';
import type { Agent } from './agent.js';
import { type Compaction, compactOrder } from './compaction.js';
import type { JoinedParts } from './live-settings.js';
import type {
  AgentSession,
  RunOptions,
  RunResult,
  SessionEndReason,
  TypedShell,
} from './session.js';
import type { Beginning } from './session-events.js';
import { typedShell } from './typed-calls.js';

export interface SessionJoint extends JoinedParts {
  readonly agent: Agent;
  readonly compaction: Compaction;
  /** The messages before the first prompt; empty in a resumed session. */
  readonly opening: readonly InputMessage[];
  /** A host's plan mode instructions, once each time the mode is entered. */
  planNotes(): readonly string[];
  /** Adds server tools that arrived during the last turn. */
  takeLateTools(): void;
  readonly accounts: AgentSession['accounts'];
}

/** Runs the main agent prompt by prompt, with the work around each run. */
export function createSession(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: SessionJoint,
) {
  const { agent, agents, model, log, current, events, hooks } = parts;
  const { clock } = environment;
  const { background } = agents;
  const { ledger } = parts.toolRuntime.calls;
  let controller: AbortController | undefined;
  let beginning: Promise<Beginning> | undefined;
  /** The host requested the prompts of hooks and runs them itself. */
  let promptsGiven = false;
  /** Messages to add before the next prompt. */
  let opening = parts.opening;
  let deferred = log.history.deferredCalls;
  let closing: Promise<void> | undefined;
  const warn = (text: string): void => config.emit({ type: 'notice', level: 'warning', text });

  /** Runs the start hooks once. */
  const begin = (signal: AbortSignal): Promise<Beginning> => {
    beginning ??= events.begin(signal).then((said) => {
      opening = [...opening, ...said.inputs, ...(promptsGiven ? [] : said.prompts)];
      return said;
    });
    return beginning;
  };

  /** Notes of hooks, agents and the mode since the last run, for the model. */
  const pendingNotes = (): readonly InputMessage[] => [
    ...agents.messaging.takeOwed(),
    ...hooks.pending.take(),
    ...hooks.notes.followUp(parts.planNotes()),
  ];

  /** Takes the messages to add before the next prompt. */
  const takeContext = (): readonly InputMessage[] => {
    const messages = opening;
    opening = [];
    return [...messages, ...pendingNotes()];
  };

  /** Adds a message to the conversation without calling the model. */
  const add = (message: InputMessage): void => {
    log.recorder.input(message);
    agent.conversation.append({ role: 'user', content: message.content });
    config.emit({ type: 'input', message });
  };

  const beginTurn = (prompts: readonly InputMessage[]): void => {
    const said = prompts.findLast(({ meta }) => meta !== true);
    if (said !== undefined) parts.checkpoints.turn(said.uuid, textOf(said.content));
    parts.toolRuntime.permissions.beginTurn();
    parts.skills.beginTurn({ said: said !== undefined });
    parts.takeLateTools();
  };

  /** Records how a run ended, and fails one that still owes a structured answer. */
  const settle = (outcome: LoopOutcome): LoopOutcome => {
    const { reason } = outcome;
    if (reason.kind === 'aborted') {
      const what = reason.during === 'tools' ? ' for tool use' : '';
      const text = `[Request interrupted by user${what}]`;
      add({ uuid: clock.uuid(), content: [{ type: 'text', text }] });
    }
    if (reason.kind === 'max_turns')
      log.recorder.attachment({ type: 'max_turns_reached', maxTurns: reason.limit });
    if (reason.kind === 'tool_deferred') {
      deferred = [reason.call];
      ledger.deferred(reason.call.id);
      log.recorder.attachment({ type: DEFERRED_MARK, toolUseId: reason.call.id });
    }
    const limit = config.maxBudgetUsd;
    const spent = model.ledger.total().costUsd;
    if (limit !== undefined && spent > limit && reason.kind !== 'budget')
      warn(
        `the session has cost $${spent.toFixed(4)}, more than its budget of $${limit}: the last answer passed it`,
      );
    return config.jsonSchema === undefined ? outcome : withOwedAnswer(outcome);
  };

  /** Runs the agent once, including the hooks before and after. */
  const answer = async (
    prompts: readonly InputMessage[],
    signal: AbortSignal,
  ): Promise<LoopOutcome> => {
    await begin(signal);
    const submitted = await events.submit(prompts, signal);
    if (submitted.kind === 'blocked') {
      const { message, cause } = submitted;
      // An interrupted hook blocks the prompt; the outcome then reports the interruption.
      return signal.aborted
        ? endedWith({ kind: 'aborted', during: 'streaming' }, message)
        : endedWith({ kind: 'prompt_blocked', message, cause }, message);
    }
    const pending = deferred;
    deferred = [];
    const start = { prompts: [...takeContext(), ...submitted.inputs], pending };
    const outcome = settle(await model.budget.main.runAgent(() => agent.run(start, signal)));
    await events.ended(outcome);
    return outcome;
  };

  /** `/compact` as a prompt only makes the summary, without a model turn. */
  const compactRun = async (focus: string, signal: AbortSignal): Promise<LoopOutcome> => {
    await begin(signal);
    const done = await agent.compact(focus === '' ? undefined : focus, signal);
    const held = done ? undefined : parts.compaction.held;
    if (!done && held === undefined) return endedWith(NOT_SUMMARISED, '');
    return endedWith(DONE, held ?? 'The conversation was summarised.');
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
    const started = clock.monotonic();
    const apiBefore = model.client.elapsedMs();
    let usage = ZERO_USAGE;
    current.run = {
      promptId: prompts.findLast((prompt) => prompt.meta !== true)?.uuid,
      async takeInput() {
        const arrived = [...pendingNotes(), ...background.take(), ...(options.takeInput?.() ?? [])];
        if (arrived.length === 0) return arrived;
        const submitted = await events.submit(arrived, signal);
        if (submitted.kind === 'pass') return submitted.inputs;
        // Only the prompt is blocked: reports of agents and notes of hooks still reach the model.
        return arrived.filter(({ meta }) => meta === true);
      },
      onAnswer(one) {
        usage = addUsage(usage, one.usage);
      },
    };
    ledger.beginRun();
    beginTurn(prompts);
    const focus = compactOrder(prompts);
    const outcome =
      focus === undefined ? await answer(prompts, signal) : await compactRun(focus, signal);
    await agents.recallCosts();
    return {
      outcome,
      durationMs: clock.monotonic() - started,
      apiMs: model.client.elapsedMs() - apiBefore,
      usage,
      ...parts.accounts(),
      denials: ledger.denials(),
      unrecoveredDenials: ledger.unrecovered(),
    };
  };

  /** Stops the work that still runs, with a notice. */
  const endWork = async (): Promise<void> => {
    const shells = parts.toolRuntime.builtins.shells.list();
    for (const { id, command } of shells.filter(({ status }) => status === 'running'))
      warn(`background command ${id} was still running and was ended: ${command}`);
    for (const { id, description } of agents.backgroundTasks())
      warn(`agent ${id} was still running and was ended: ${description}`);
    await parts.close();
  };

  return {
    async begin() {
      promptsGiven = true;
      const { prompts } = await begin(new AbortController().signal);
      const given = prompts.map((prompt) => [prompt]);
      return deferred.length > 0 && config.drive === undefined ? [[], ...given] : given;
    },
    run: (prompts: readonly InputMessage[], options: RunOptions = {}) =>
      interruptible((signal) => run(prompts, options, signal)),
    history: () => agent.conversation.messages,
    append: (prompts: readonly InputMessage[]) =>
      interruptible(async (signal) => {
        await begin(signal);
        const submitted = await events.submit(prompts, signal);
        const inputs = submitted.kind === 'blocked' ? [] : submitted.inputs;
        for (const message of [...takeContext(), ...inputs]) add(message);
        return submitted.kind === 'blocked' ? submitted.message : undefined;
      }),
    shell: (typed: TypedShell) =>
      interruptible(async (signal): Promise<ToolCallResult> => {
        const { uuid, command } = typed;
        current.run = {
          promptId: uuid,
          takeInput: async () => [],
          onAnswer: () => undefined,
        };
        await begin(signal);
        // The command is a turn of its own in the journal, so that rewinding can lead to before it.
        beginTurn([{ uuid, content: [{ type: 'text', text: `! ${command}` }] }]);
        const { result, inputs } = await typedShell(environment, parts, typed, signal);
        for (const message of [...takeContext(), ...inputs]) add(message);
        return result;
      }),
    interrupt() {
      if (controller === undefined || controller.signal.aborted) return false;
      controller.abort(new Error('interrupted'));
      return true;
    },
    compact: (instructions: string | undefined) =>
      interruptible((signal) => agent.compact(instructions, signal)),
    news: config.emit,
    takeBackgroundInput: background.take,
    onBackgroundInput: background.onArrival,
    waitForBackground: background.wait,
    close(reason: SessionEndReason = 'other') {
      closing ??= (async () => {
        controller?.abort(new Error('the session was closed'));
        await closeAll([
          () => (beginning === undefined ? undefined : events.close(reason)),
          endWork,
        ]);
      })();
      return closing;
    },
  };
}

const DONE: StopReason = { kind: 'completed', stopReason: null };
const NOT_SUMMARISED: StopReason = {
  kind: 'model_failure',
  failure: {
    kind: 'bad_response',
    message: 'the conversation could not be summarised',
    retryable: false,
  },
};

/** A run that ended before the model was called. */
function endedWith(reason: StopReason, text: string): LoopOutcome {
  return { reason, turns: 0, text, lastAnswer: undefined };
}

/** A run that owes a structured answer fails without one. */
function withOwedAnswer(outcome: LoopOutcome): LoopOutcome {
  const { reason, lastAnswer } = outcome;
  const kind = 'structured_output_missing';
  // The model got stuck on the structured answer itself.
  const hasTried = lastAnswer?.message.content.some(
    (block) => block.type === 'tool_use' && block.name === 'StructuredOutput',
  );
  if (reason.kind === 'stuck' && hasTried === true)
    return { ...outcome, reason: { ...reason, kind, attempts: 0 } };
  return reason.kind === 'completed'
    ? { ...outcome, reason: { kind, attempts: STRUCTURED_ATTEMPTS } }
    : outcome;
}

/** How often the model is asked for the structured answer before the run fails. */
const STRUCTURED_ATTEMPTS = 5;

const NUDGE =
  'Give your answer by calling the StructuredOutput tool now, with an input that fits its schema. Text alone is not accepted.';

/** Reminds a model that ends its turn without the structured answer it owes. */
export function structuredNudge(uuid: () => string): () => InputMessage | undefined {
  let asked = 0;
  return () => {
    if (++asked >= STRUCTURED_ATTEMPTS) return undefined;
    return { uuid: uuid(), content: [{ type: 'text', text: NUDGE }], meta: true };
  };
}
