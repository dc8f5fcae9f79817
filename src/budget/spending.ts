import { err, ok, type Result } from '../lib/result.js';
import type { InputMessage, LoopOutcome, StopReason } from '../loop/types.js';
import type { ModelClient, ModelEvent, ModelFailure, ModelRequest } from '../model/client.js';
import { ABORTED } from '../model/failures.js';
import { withUsageTracking } from '../model/stream/wrappers.js';
import { type Clock, LONGEST_TIMER_MS } from '../platform/clock.js';
import type { Usage } from '../protocol/content.js';
import type { BudgetAccount, Reservation } from './account.js';
import { tokensIn } from './earlier.js';
import { CallEstimate, type SizedRequest, type TokenEstimate } from './estimate.js';
import { NOTHING, nanosOf, quantity, type Shortage, shortageWords } from './units.js';

export interface SpendingParts {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly tokens: TokenEstimate;
  /** The price in dollars; undefined when it is not known. */
  price(model: string, usage: Usage): number | undefined;
  /** Wraps a text of the program for the model. */
  note(text: string): InputMessage;
  /** Dollars spent by the whole session so far. */
  spentUsd(): number;
}

/** How one agent spends its budget, and how it ends when that is used up. */
export interface AgentSpending {
  /** Wraps the client for turns: each call is reserved first, and one that no longer fits becomes the last. */
  client(client: ModelClient): ModelClient;
  /** Wraps the client for side calls such as summaries: reserved too, and refused when they do not fit. */
  side(client: ModelClient): ModelClient;
  shouldStop(turnsTaken: number): StopReason | undefined;
  /** A notice sent once with the results when little is left: the next turn is the last. */
  lastTurnNotice(): InputMessage | undefined;
  /** Aborts when the agent's time is up; undefined when its time is not limited. */
  readonly signal: AbortSignal | undefined;
  /** Runs the agent while its time is counted; when the budget ended the run, the outcome says so. */
  runAgent(work: () => Promise<LoopOutcome>): Promise<LoopOutcome>;
  close(): void;
}

/** The share of its time after which an agent gets the notice to finish. */
const TIME_TO_END = 0.9;

interface State {
  readonly account: BudgetAccount;
  readonly parts: SpendingParts;
  readonly estimate: CallEstimate;
  /** Why the agent has to end, once it has to. */
  short: Shortage | undefined;
  /** `told`: its next call is the last. `over`: that call was made or refused. */
  phase: 'running' | 'told' | 'over';
}

/** `isChild`: an agent that was stopped reports it even with an answer, because its parent has to know. */
export function createSpending(
  account: BudgetAccount,
  parts: SpendingParts,
  { isChild }: { readonly isChild: boolean },
): AgentSpending {
  if (!account.isLimited) return unlimitedSpending(account);
  const state: State = {
    account,
    parts,
    estimate: new CallEstimate({ now: parts.clock.monotonic, ...parts }),
    short: undefined,
    phase: 'running',
  };
  const deadline = isChild && account.time() !== undefined ? armDeadline(state) : undefined;
  const signal = deadline?.signal;
  return {
    client: (client) => reserving(client, state, turn),
    side: (client) => reserving(client, state, side),
    shouldStop() {
      const time = account.time();
      if (time !== undefined && time.left <= 0) finish(state, { unit: 'seconds', ...time });
      return state.phase === 'over' ? reasonOf(state) : undefined;
    },
    lastTurnNotice() {
      if (state.phase !== 'running') return undefined;
      const short = nearlyOver(state);
      if (short === undefined) return undefined;
      state.short = short;
      state.phase = 'told';
      return parts.note(lastTurnText(short));
    },
    signal,
    async runAgent(work) {
      // A child's time already counts from its start to its end.
      if (!isChild) account.enter();
      try {
        const outcome = await work();
        const isOver = state.phase === 'over' && isCut(outcome.reason, { isChild, signal });
        const reason = isOver ? reasonOf(state) : undefined;
        return reason === undefined ? outcome : { ...outcome, reason };
      } finally {
        if (!isChild) account.leave();
      }
    },
    close() {
      deadline?.disarm();
      account.close();
    },
  };
}

/** Without any limit up to the root there is nothing to reserve. */
function unlimitedSpending(account: BudgetAccount): AgentSpending {
  return {
    client: (client) => client,
    side: (client) => client,
    shouldStop: () => undefined,
    lastTurnNotice: () => undefined,
    signal: undefined,
    runAgent: (work) => work(),
    close: () => account.close(),
  };
}

/** Whether the budget, once used up, is what ended this run. */
function isCut(
  { kind }: StopReason,
  { isChild, signal }: { readonly isChild: boolean; readonly signal: AbortSignal | undefined },
): boolean {
  switch (kind) {
    case 'completed':
    case 'finished':
      return isChild;
    case 'aborted':
      return signal?.aborted === true;
    default:
      // The loop sees a refused call as a failure of the model.
      return kind === 'model_failure';
  }
}

function reasonOf({ short, parts, account: { path } }: State): StopReason | undefined {
  return short === undefined ? undefined : stopFor(short, { spentUsd: parts.spentUsd(), path });
}

/** Aborts the agent when the first time budget in its chain is used up. */
function armDeadline(state: State): { readonly signal: AbortSignal; disarm(): void } {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const arm = (): void => {
    const time = state.account.time();
    if (time === undefined) return;
    if (time.left > 0) {
      // Longer times are waited for in steps. Rounded up, so that the time is over when the timer fires.
      timer = setTimeout(arm, Math.min(LONGEST_TIMER_MS, Math.ceil(time.left * 1000)));
      return;
    }
    finish(state, { unit: 'seconds', ...time });
    controller.abort(new Error(shortageWords({ unit: 'seconds', ...time })));
  };
  arm();
  return { signal: controller.signal, disarm: () => clearTimeout(timer) };
}

function finish(state: State, short: Shortage): void {
  state.short = short;
  state.phase = 'over';
}

/** The shortage if one more normal call would leave too little for the last one. */
function nearlyOver({ account, estimate }: State): Shortage | undefined {
  const time = account.time();
  if (time !== undefined && time.left <= time.limit * (1 - TIME_TO_END)) {
    return { unit: 'seconds', ...time };
  }
  const next = estimate.next();
  return next === undefined ? undefined : account.shortOf(next);
}

interface Admitted {
  readonly request: ModelRequest;
  readonly reservation: Reservation;
}

type Admission = Promise<Result<Admitted, ModelFailure>>;

/** Admits a normal turn or the last one; a model that had no notice yet gets it with the call. */
async function turn(state: State, request: ModelRequest, signal: AbortSignal): Admission {
  const { account, estimate, parts } = state;
  if (state.phase === 'running') {
    const sizes = estimate.turnRequests(request);
    const granted = await account.reserve(sizes, signal);
    if (granted.ok) return ok(admitted(request, sizes, granted.value));
    if (granted.error === undefined) return err(ABORTED);
    state.short = granted.error;
  }
  const wasTold = state.phase === 'told';
  const { short } = state;
  const sizes = estimate.lastTurnRequests(request);
  const granted = await account.reserve(sizes, signal);
  if (!granted.ok) {
    if (granted.error === undefined) return err(ABORTED);
    finish(state, granted.error);
    return err(refusal(granted.error));
  }
  state.phase = 'over';
  const text = short === undefined || wasTold ? undefined : parts.note(lastTurnText(short));
  return ok(
    admitted(text === undefined ? request : withLastWord(request, text), sizes, granted.value),
  );
}

async function side(state: State, request: ModelRequest, signal: AbortSignal): Admission {
  const granted = await state.account.reserve([state.estimate.sideRequest(request)], signal);
  if (granted.ok) return ok({ request, reservation: granted.value });
  return err(granted.error === undefined ? ABORTED : refusal(granted.error));
}

function admitted(
  request: ModelRequest,
  sizes: readonly SizedRequest[],
  reservation: Reservation,
): Admitted {
  const maxTokens = sizes[reservation.index]?.maxTokens ?? request.maxTokens;
  return {
    request: maxTokens === request.maxTokens ? request : { ...request, maxTokens },
    reservation,
  };
}

/** Wraps a client: every call is admitted first, and its usage is booked. */
function reserving(client: ModelClient, state: State, admit: typeof turn): ModelClient {
  async function* stream(wanted: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const admission = await admit(state, wanted, signal);
    if (!admission.ok) {
      yield { type: 'failure', failure: admission.error };
      return;
    }
    const { request, reservation } = admission.value;
    const bill = createBill(state, reservation, admit === turn ? request : undefined);
    const counted = withUsageTracking(client, { clock: state.parts.clock, recordUsage: bill.book });
    try {
      yield* counted.stream(request, signal);
    } finally {
      bill.settle();
    }
  }
  return { provider: client.provider, stream };
}

/** Counts what a call takes: one turn, and the tokens of all its attempts. */
function createBill(state: State, reservation: Reservation, turnRequest: ModelRequest | undefined) {
  const { estimate, parts } = state;
  let turns = 1;
  return {
    book(model: string, usage: Usage): void {
      const usd = parts.price(model, usage);
      const tokens = tokensIn(usage);
      // fail-closed: when a server reports no usage, the whole reservation counts as used.
      const used = tokens === 0 ? reservation.call : { tokens, nanoUsd: nanosOf(usd ?? 0) };
      reservation.book({ ...used, turns }, usd === undefined ? model : undefined);
      turns = 0;
      if (turnRequest !== undefined && tokens > 0) estimate.learn(turnRequest, model, usage);
    },
    settle(): void {
      // Nothing is kept after the last turn.
      reservation.end(state.phase === 'over' ? NOTHING : estimate.kept);
    },
  };
}

function refusal(short: Shortage): ModelFailure {
  return {
    kind: 'billing',
    message: shortageWords(short),
    remedy: 'Raise the budget, or start the work anew in smaller parts.',
    retryable: false,
  };
}

function lastTurnText({ unit, limit, left }: Shortage): string {
  const rest = unit === 'turns' ? 'this turn' : quantity(unit, Math.max(0, left));
  return `The budget of ${quantity(unit, limit)} is nearly used up (left: ${rest}). This is your last turn: finish now. Call no tools. Give your final answer: what you found or did, and what remains to be done.`;
}

/**
 * Appends the notice to the request, for an agent whose results were larger than expected. It is
 * the last turn, so the conversation need not record it.
 */
function withLastWord(request: ModelRequest, note: InputMessage): ModelRequest {
  const last = request.messages.at(-1);
  if (last?.role !== 'user') {
    return { ...request, messages: [...request.messages, { role: 'user', content: note.content }] };
  }
  const told = { ...last, content: [...last.content, ...note.content] };
  return { ...request, messages: [...request.messages.slice(0, -1), told] };
}

/** The stop reason of an agent whose budget is used up. */
function stopFor(
  short: Shortage,
  { spentUsd, path }: { readonly spentUsd: number; readonly path: string },
): StopReason {
  if (short.unit === 'turns') {
    const used = { ...short, left: 0 };
    const words = short.path === path ? {} : { words: shortageWords(used) };
    return { kind: 'max_turns', limit: short.limit, ...words };
  }
  return {
    kind: 'budget',
    limitUsd: short.unit === 'usd' ? short.limit : 0,
    spentUsd,
    words: shortageWords(short),
    ...(short.unit === 'seconds' ? { by: 'time' as const } : {}),
  };
}
