import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { closeAll } from '../../lib/close-all.js';
import type { InputMessage, LoopOutcome, StopReason } from '../../loop/types.js';
import type { Clock } from '../../platform/clock.js';
import { addUsage, textOf, ZERO_USAGE } from '../../protocol/content.js';
import type { ToolCallResult } from '../../protocol/tool-call.js';
import { DEFERRED_MARK } from '../../session/resume.js';
import type { Agent } from './agent.js';
import { type Compaction, compactOrder } from './compaction.js';
import type { JoinedParts } from './live-settings.js';
import type {
  AgentSession,
  Beginning,
  RunOptions,
  RunResult,
  SessionOffers,
  TypedShell,
} from './session.js';
import { typedShell } from './typed-calls.js';

/** The parts of a session with its main agent. */
export interface SessionJoint extends JoinedParts {
  readonly agent: Agent;
  readonly compaction: Compaction;
  /** What stands before the first prompt; empty when the session goes on where it was. */
  readonly opening: readonly InputMessage[];
  /** Says what a host wants in plan mode, once each time that the mode is entered. */
  planNotes(): readonly string[];
  /** Takes in tools of servers that came during the last turn. */
  takeLateTools(): void;
}

/** Joins an agent with what happens around its runs. */
export function createSession(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: SessionJoint & { readonly offers: SessionOffers },
): AgentSession {
  const { agent, agents, model, log, current, events, offers } = parts;
  const { clock } = environment;
  const { background } = agents;
  const { ledger } = parts.toolRuntime.calls;
  const runShell = typedShell(environment, parts);
  let controller: AbortController | undefined;
  let beginning: Promise<Beginning> | undefined;
  /** The host asked for the prompts that hooks give, and runs them itself. */
  let promptsGiven = false;
  /** What hooks want before the first prompt, once they have said so; until a run has taken it. */
  let begun: Beginning | undefined;
  let opening = parts.opening;
  let deferred = log.history.deferredCalls;
  let closing: Promise<void> | undefined;

  /** Asks the hooks of the start, once. */
  const begin = (signal: AbortSignal): Promise<Beginning> => {
    beginning ??= events.runs.begin(signal).then((said) => {
      begun = said;
      return said;
    });
    return beginning;
  };

  /** What hooks, agents and the mode have to say since the last run, for the model. */
  const pendingNotes = (): readonly InputMessage[] => [
    ...agents.messaging.takeOwed(),
    ...parts.hooks.pending.take(),
    ...parts.hooks.notes.followUp(parts.planNotes()),
  ];

  const beginTurn = (prompts: readonly InputMessage[]): void => {
    const said = prompts.findLast(({ meta }) => meta !== true);
    if (said !== undefined) parts.checkpoints.turn(said.uuid, textOf(said.content));
    parts.toolRuntime.permissions.beginTurn();
    parts.skills.beginTurn({ said: said !== undefined });
    parts.takeLateTools();
  };

  const warn = (text: string): void => config.emit({ type: 'notice', level: 'warning', text });

  const warnOfCost = ({ reason }: LoopOutcome): void => {
    const limit = config.maxBudgetUsd;
    const spent = model.ledger.total().costUsd;
    if (limit === undefined || spent <= limit || reason.kind === 'budget') return;
    warn(
      `the session has cost $${spent.toFixed(4)}, more than its budget of $${limit}: the last answer passed it`,
    );
  };

  /** Ends what still runs, and says so. */
  const endWork = async (): Promise<void> => {
    const shells = parts.toolRuntime.builtins.shells.list();
    for (const { id, command } of shells.filter(({ status }) => status === 'running'))
      warn(`background command ${id} was still running and was ended: ${command}`);
    for (const { id, description } of agents.backgroundTasks())
      warn(`agent ${id} was still running and was ended: ${description}`);
    await parts.close();
  };

  /** What goes into the conversation before the next prompt; each message is given out once. */
  const takeContext = (): readonly InputMessage[] => {
    const { inputs = [], prompts = [] } = begun ?? {};
    const messages = [...opening, ...inputs, ...(promptsGiven ? [] : prompts)];
    opening = [];
    begun = undefined;
    return [...messages, ...pendingNotes()];
  };

  /** One run of the agent, hooks before and after it included. */
  const answer = async (
    prompts: readonly InputMessage[],
    signal: AbortSignal,
  ): Promise<LoopOutcome> => {
    await begin(signal);
    const submitted = await events.runs.submit(prompts, signal);
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
    const outcome = settle(
      { config, clock, parts },
      await model.budget.main.runAgent(() => agent.run(start, signal)),
    );
    if (outcome.reason.kind === 'tool_deferred') deferred = [outcome.reason.call];
    await events.runs.ended(outcome);
    warnOfCost(outcome);
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
    const started = clock.monotonic();
    const apiBefore = model.client.elapsedMs();
    let usage = ZERO_USAGE;
    current.run = {
      promptId: prompts.findLast((prompt) => prompt.meta !== true)?.uuid,
      async takeInput() {
        const arrived = [...pendingNotes(), ...background.take(), ...(options.takeInput?.() ?? [])];
        if (arrived.length === 0) return arrived;
        const submitted = await events.runs.submit(arrived, signal);
        if (submitted.kind === 'pass') return submitted.inputs;
        // A prompt that is held back holds nothing else back: reports of agents, notes of hooks.
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
      ...offers.accounts(),
      denials: ledger.denials(),
      unrecoveredDenials: ledger.unrecovered(),
    };
  };

  /** `/compact` as a prompt: no model turn of its own, only the summary. */
  const compactRun = async (focus: string, signal: AbortSignal): Promise<LoopOutcome> => {
    await begin(signal);
    const done = await agent.compact(focus === '' ? undefined : focus, signal);
    const held = parts.compaction.held;
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
    const submitted = await events.runs.submit(prompts, signal);
    const held = submitted.kind === 'blocked' ? submitted.message : undefined;
    add(submitted.kind === 'blocked' ? [] : submitted.inputs);
    return held;
  };

  const add = (said: readonly InputMessage[]): void => {
    for (const message of [...takeContext(), ...said]) addMessage({ config, parts }, message);
  };

  const shell = async (typed: TypedShell, signal: AbortSignal): Promise<ToolCallResult> => {
    const { uuid, command } = typed;
    await begin(signal);
    // A turn of its own in the journal: the way back leads to before the command.
    beginTurn([{ uuid, content: [{ type: 'text', text: `! ${command}` }] }]);
    const { result, inputs } = await runShell(typed, signal);
    add(inputs);
    return result;
  };

  return {
    ...offers,
    async begin() {
      promptsGiven = true;
      const { prompts } = await begin(new AbortController().signal);
      const given = prompts.map((prompt) => [prompt]);
      return deferred.length > 0 && config.drive === undefined ? [[], ...given] : given;
    },
    run: (prompts, options = {}) => interruptible((signal) => run(prompts, options, signal)),
    history: () => agent.conversation.messages,
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
    compact: (instructions) => interruptible((signal) => agent.compact(instructions, signal)),
    news: config.emit,
    takeBackgroundInput: () => background.take(),
    onBackgroundInput: (listener) => background.onArrival(listener),
    waitForBackground: () => background.wait(),
    close(reason = 'other') {
      closing ??= (async () => {
        controller?.abort(new Error('the session was closed'));
        await closeAll([
          () => (beginning === undefined ? undefined : events.runs.close(reason)),
          endWork,
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

interface Around {
  readonly config: SessionConfig;
  readonly clock: Clock;
  readonly parts: SessionJoint;
}

/** What the end of a run leaves in the conversation, and what an owed answer makes of it. */
function settle({ config, clock, parts }: Around, outcome: LoopOutcome): LoopOutcome {
  const { reason } = outcome;
  const { recorder } = parts.log;
  if (reason.kind === 'aborted') {
    const what = reason.during === 'tools' ? ' for tool use' : '';
    const text = `[Request interrupted by user${what}]`;
    addMessage({ config, parts }, { uuid: clock.uuid(), content: [{ type: 'text', text }] });
  }
  if (reason.kind === 'max_turns')
    recorder.attachment({ type: 'max_turns_reached', maxTurns: reason.limit });
  if (reason.kind === 'tool_deferred') {
    const toolUseId = reason.call.id;
    parts.toolRuntime.calls.ledger.deferred(toolUseId);
    recorder.attachment({ type: DEFERRED_MARK, toolUseId });
  }
  if (config.jsonSchema === undefined) return outcome;
  // A run that owes an answer in a schema and does not give it has not succeeded.
  const kind = 'structured_output_missing';
  if (reason.kind === 'stuck' && triedToAnswer(outcome))
    return { ...outcome, reason: { ...reason, kind, attempts: 0 } };
  if (reason.kind === 'completed')
    return { ...outcome, reason: { kind, attempts: STRUCTURED_ATTEMPTS } };
  return outcome;
}

/** A message that enters the conversation without asking the model. */
function addMessage({ config, parts }: Omit<Around, 'clock'>, message: InputMessage): void {
  parts.log.recorder.input(message);
  parts.agent.conversation.append({ role: 'user', content: message.content });
  config.emit({ type: 'input', message });
}

/** What it could not get right was the answer in a schema that it owes. */
function triedToAnswer({ lastAnswer }: LoopOutcome): boolean {
  const blocks = lastAnswer?.message.content ?? [];
  return blocks.some((block) => block.type === 'tool_use' && block.name === 'StructuredOutput');
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
