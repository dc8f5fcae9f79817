import { isRecord } from '../../lib/own.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import type { AskAnswer, Asker, AskRequest } from '../../permissions/gate/types.js';
import type { ToolUseBlock } from '../../protocol/content.js';
import type { ToolCallResult } from '../../protocol/tool-call.js';
import type { Invoke } from '../../tools/invocation.js';

/** How far a call of an MCP client has come. */
export type Round =
  | { readonly kind: 'done'; readonly result: ToolCallResult }
  /** A person must be asked first; `token` identifies the call when the answer comes. */
  | { readonly kind: 'asks'; readonly token: string; readonly message: string };

export interface ServedCall {
  readonly name: string;
  readonly input: ToolUseBlock['input'];
  /** Whether the client can put a question to a person. */
  readonly canAsk: boolean;
  readonly signal: AbortSignal;
}

interface Running {
  readonly key: string;
  readonly canAsk: boolean;
  readonly abort: AbortController;
  readonly done: Promise<Round>;
  question?: Question | undefined;
  onQuestion?: (question: Question) => void;
}

interface Question {
  readonly token: string;
  readonly message: string;
  answer(answer: AskAnswer): void;
}

/** A person may be away. Without an answer in time the call is refused. */
const TIMEOUT_MS = 10 * 60_000;
const MAX_MESSAGE = 4_000;

/** Calls of an MCP client that stop for a question and continue with its answer, with one receipt each. */
export class ServedCalls {
  readonly #uuid: () => string;
  readonly #byId = new Map<string, Running>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(uuid: () => string) {
    this.#uuid = uuid;
  }

  /** Puts a question of the gate to the client of the call. */
  readonly ask: Asker = (request) => {
    const running = this.#byId.get(request.call.toolUseId);
    // fail-closed: without a person to ask the call is refused.
    if (running?.canAsk !== true) return Promise.resolve(CANNOT_ASK);
    return new Promise((resolve) => {
      const answer = (given: AskAnswer): void => {
        clearTimeout(timer);
        running.question = undefined;
        resolve(given);
      };
      const timer = setTimeout(() => answer(refuse('No answer came in time.')), TIMEOUT_MS);
      timer.unref();
      const onAbort = (): void => answer(refuse('The call was withdrawn.'));
      request.call.signal.addEventListener('abort', onAbort, { once: true });
      running.question = { token: this.#uuid(), message: questionText(request), answer };
      running.onQuestion?.(running.question);
    });
  };

  /** Starts a call. One that is not `shared` runs alone, as in a session. */
  begin(
    call: ServedCall,
    { invoke, shared }: { readonly invoke: Invoke; readonly shared: boolean },
  ): Promise<Round> {
    const { name, input } = call;
    const id = `call_${this.#uuid()}`;
    const abort = new AbortController();
    call.signal.addEventListener('abort', () => abort.abort(), { once: true });
    const started = (shared ? Promise.resolve() : this.#last).then(() =>
      invoke({ type: 'tool_use', id, name, input }, undefined, abort.signal),
    );
    if (!shared) this.#last = started.catch(() => undefined);
    const done = started
      .then((result): Round => ({ kind: 'done', result }))
      .finally(() => this.#byId.delete(id));
    const running: Running = { key: keyOf(call), canAsk: call.canAsk, abort, done };
    this.#byId.set(id, running);
    return nextRound(running);
  }

  /** Continues a call with the answer to its question. Undefined: no call waits for this answer. */
  resume(token: string, call: ServedCall, answer: unknown): Promise<Round> | undefined {
    const running = [...this.#byId.values()].find(({ question }) => question?.token === token);
    // fail-closed: an answer counts for the call that was asked about, and for no other.
    if (running === undefined || running.key !== keyOf(call)) return undefined;
    call.signal.addEventListener('abort', () => running.abort.abort(), { once: true });
    running.question?.answer(readAnswer(answer));
    return nextRound(running);
  }

  close(): void {
    for (const { abort } of this.#byId.values()) abort.abort();
  }
}

/** Resolves at the end of the call or at its next question. */
function nextRound(running: Running): Promise<Round> {
  const asked = new Promise<Round>((resolve) => {
    running.onQuestion = ({ token, message }) => resolve({ kind: 'asks', token, message });
    if (running.question !== undefined) running.onQuestion(running.question);
  });
  return Promise.race([running.done, asked]);
}

const CANNOT_ASK: AskAnswer = {
  behavior: 'deny',
  message: 'No person can be asked: the MCP client does not support elicitation.',
  unanswered: true,
};

function refuse(message: string): AskAnswer {
  return { behavior: 'deny', message };
}

/** fail-closed: anything but a clear yes is a no. */
function readAnswer(answer: unknown): AskAnswer {
  const content = isRecord(answer) && answer.action === 'accept' ? answer.content : undefined;
  const isYes = isRecord(content) && content.allow === true;
  return isYes ? { behavior: 'allow' } : refuse('The user said no.');
}

function keyOf({ name, input }: Pick<ServedCall, 'name' | 'input'>): string {
  return JSON.stringify([name, input]);
}

function questionText({ call, reason }: AskRequest): string {
  const what = call.subject.command ?? call.subject.summary;
  const lines = [`Allow ${call.tool.name}?`, ...what.split('\n'), reason];
  return sliceWhole(lines.map(visible).join('\n'), 0, MAX_MESSAGE);
}
