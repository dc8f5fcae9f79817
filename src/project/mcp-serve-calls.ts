import type { AskAnswer, Asker, AskRequest } from '../permissions/types.js';
import type { ToolUseBlock } from '../protocol/content.js';
import type { ToolCallResult } from '../protocol/tool-call.js';
import type { Invoke } from '../tools/invocation.js';
import { isRecord } from '../util/own.js';
import { sliceWhole } from '../util/truncate.js';
import { visible } from '../util/visible.js';

/** A call of a client, as far as it has come. */
export type Round =
  | { readonly kind: 'done'; readonly result: ToolCallResult }
  /** A person must be asked first; `token` leads back to the very same call. */
  | { readonly kind: 'asks'; readonly token: string; readonly message: string };

export interface ServedCall {
  readonly name: string;
  readonly input: ToolUseBlock['input'];
  /** Whether the client can put a question to a person. */
  readonly canAsk: boolean;
  readonly signal: AbortSignal;
}

export interface ServedCalls {
  /** Answers what no rule decides, by way of the client. */
  readonly asker: Asker;
  /** Must be called once before anything else: the way to the tools exists only with the asker. */
  lend(invoke: Invoke, isShared: (call: Pick<ServedCall, 'name' | 'input'>) => boolean): void;
  begin(call: ServedCall): Promise<Round>;
  /** Undefined: no call waits for this answer. */
  resume(token: string, call: ServedCall, answer: unknown): Promise<Round> | undefined;
  close(): void;
}

interface Running {
  readonly key: string;
  readonly canAsk: boolean;
  readonly over: AbortController;
  done: Promise<Round>;
  question: Question | undefined;
  /** Called with each question. */
  asked: (question: Question) => void;
}

interface Question {
  readonly token: string;
  readonly message: string;
  answer(answer: AskAnswer): void;
}

/** A person may be away; a question that nobody comes back to is answered no. */
const PATIENCE_MS = 10 * 60_000;
const SHOWN = 4_000;

/** Calls that may stop for a question and go on with its answer: one pass through the gate, one receipt. */
export function createServedCalls(uuid: () => string): ServedCalls {
  const byId = new Map<string, Running>();
  let invoke: Invoke | undefined;
  let isShared: (call: Pick<ServedCall, 'name' | 'input'>) => boolean = () => false;
  let last: Promise<unknown> = Promise.resolve();

  const ask: Asker = (request) => {
    const running = byId.get(request.call.toolUseId);
    // fail-closed: nobody can be asked.
    if (running?.canAsk !== true) return Promise.resolve(NOBODY);
    return new Promise((resolve) => {
      const { signal } = request.call;
      const answer = (said: AskAnswer): void => {
        clearTimeout(timer);
        running.question = undefined;
        resolve(said);
      };
      const timer = setTimeout(() => answer(no('Nobody answered.')), PATIENCE_MS);
      timer.unref();
      signal.addEventListener('abort', () => answer(no('The call was withdrawn.')), { once: true });
      const question = { token: uuid(), message: questionText(request), answer };
      running.question = question;
      running.asked(question);
    });
  };
  const nextRound = (running: Running): Promise<Round> => {
    const { question } = running;
    const asked = new Promise<Round>((resolve) => {
      const stop = ({ token, message }: Question): void =>
        resolve({ kind: 'asks', token, message });
      running.asked = stop;
      if (question !== undefined) stop(question);
    });
    return Promise.race([running.done, asked]);
  };
  const run = async (block: ToolUseBlock, signal: AbortSignal): Promise<ToolCallResult> => {
    if (invoke === undefined) throw new Error('nothing can be called yet');
    return await invoke(block, undefined, signal);
  };

  return {
    asker: ask,
    lend(way, shared) {
      invoke = way;
      isShared = shared;
    },
    begin(call) {
      const block: ToolUseBlock = {
        type: 'tool_use',
        id: `call_${uuid()}`,
        name: call.name,
        input: call.input,
      };
      const over = new AbortController();
      call.signal.addEventListener('abort', () => over.abort(), { once: true });
      // What changes something has the world to itself, as in a session.
      const started = isShared(call)
        ? run(block, over.signal)
        : last.then(() => run(block, over.signal));
      if (!isShared(call)) last = started.catch(() => undefined);
      const running: Running = {
        key: keyOf(call),
        canAsk: call.canAsk,
        over,
        done: started
          .then((result): Round => ({ kind: 'done', result }))
          .finally(() => byId.delete(block.id)),
        question: undefined,
        asked: () => undefined,
      };
      byId.set(block.id, running);
      return nextRound(running);
    },
    resume(token, call, answer) {
      const running = [...byId.values()].find(({ question }) => question?.token === token);
      // fail-closed: an answer counts for the call that was asked about, and for no other.
      if (running === undefined || running.key !== keyOf(call)) return undefined;
      call.signal.addEventListener('abort', () => running.over.abort(), { once: true });
      const { question } = running;
      running.question = undefined;
      question?.answer(answerOf(answer));
      return nextRound(running);
    },
    close() {
      for (const { over } of byId.values()) over.abort();
    },
  };
}

const NOBODY: AskAnswer = {
  behavior: 'deny',
  message: 'Nobody can be asked: the MCP client does not put questions to people (elicitation).',
  unanswered: true,
};

function no(message: string): AskAnswer {
  return { behavior: 'deny', message };
}

/** fail-closed: anything but a clear yes is a no. */
function answerOf(answer: unknown): AskAnswer {
  const said = isRecord(answer) && answer.action === 'accept' ? answer.content : undefined;
  return isRecord(said) && said.allow === true ? { behavior: 'allow' } : no('The user said no.');
}

function keyOf({ name, input }: Pick<ServedCall, 'name' | 'input'>): string {
  return JSON.stringify([name, input]);
}

function questionText({ call, reason }: AskRequest): string {
  const what = call.subject.command ?? call.subject.summary;
  const lines = [`Allow ${call.tool.name}?`, ...what.split('\n'), reason];
  return sliceWhole(lines.map(visible).join('\n'), 0, SHOWN);
}
