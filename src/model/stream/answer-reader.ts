import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import type { ModelEvent, ModelFailure, StreamEvent } from '../client.js';
import {
  badResponse,
  type FailureContext,
  failureOfErrorObject,
  incompleteAnswer,
  sample,
} from '../failures.js';
import { SseParser } from './sse.js';

/** Turns the messages of one provider's stream into events. */
export interface StreamTranslator {
  /** Whether the answer has begun. */
  readonly started: boolean;
  /** Characters of an answer that was not streamed; more is not read. 0: such answers are not accepted. */
  readonly mostUnstreamed: number;
  /** Throws `MalformedMessage` for a message that cannot be an answer's. */
  message(message: Readonly<Record<string, unknown>>): Iterable<StreamEvent>;
  /** The closing events; undefined when the answer is incomplete. `sawEnd`: the server marked its end. */
  end(sawEnd: boolean): Iterable<StreamEvent> | undefined;
}

/** Thrown by a translator, with the reason. */
export class MalformedMessage extends Error {}

interface ReaderOptions {
  readonly model: string;
  readonly context: FailureContext;
  readonly requestId: string | undefined;
}

/** Characters of a body that is neither a stream nor an accepted answer. */
const MOST_OTHER = 1024 * 1024;

/** Reads the text of a response, a stream or one document, as events. Every error becomes one failure event. */
export class AnswerReader {
  readonly #translator: StreamTranslator;
  readonly #options: ReaderOptions;
  readonly #parser = new SseParser();
  #failed = false;
  /** The provider has marked the end of its stream; the rest of the body is not read. */
  sawEnd = false;

  constructor(translator: StreamTranslator, options: ReaderOptions) {
    this.#translator = translator;
    this.#options = options;
  }

  *push(text: string): Generator<ModelEvent> {
    for (const data of this.#parser.push(text)) {
      yield* this.#message(data);
      if (this.#failed || this.sawEnd) return;
    }
    const most = this.#translator.mostUnstreamed || MOST_OTHER;
    if ((this.#parser.document?.length ?? 0) > most) yield* this.end();
  }

  /** The body is over, or no more of it is read. Ends with `message_stop` or a failure. */
  *end(): Generator<ModelEvent> {
    const { document } = this.#parser;
    if (document !== undefined) yield* this.#message(document, { isDocument: true });
    else if (!this.sawEnd) {
      for (const data of this.#parser.end()) {
        if (!this.#failed && (isEndMark(data) || parseJson(data).ok)) yield* this.#message(data);
      }
    }
    if (this.#failed) return;
    const { context, requestId } = this.#options;
    const { started } = this.#translator;
    const closing = this.#translator.end(this.sawEnd);
    const stream = { isStarted: started, unknown: this.#parser.unknown };
    if (closing === undefined) yield this.#fail(incompleteAnswer(stream, context, requestId));
    else yield* closing;
  }

  *#message(data: string, { isDocument = false } = {}): Generator<ModelEvent> {
    if (isEndMark(data)) {
      this.sawEnd = true;
      return;
    }
    const { context, model, requestId } = this.#options;
    const parsed = parseJson(data);
    if (!parsed.ok || !isRecord(parsed.value)) {
      const reason = parsed.ok ? 'not an object' : sample(parsed.error);
      const what = data.trimStart().startsWith('<')
        ? 'the server sent a web page'
        : `an event of the stream cannot be read (${reason})`;
      yield this.#malformed(what, data);
      return;
    }
    const { value } = parsed;
    if (value.type === 'error' || (value.error !== undefined && value.error !== null)) {
      yield this.#fail(failureOfErrorObject(value, { model, requestId }, context));
    } else if (isDocument && this.#translator.mostUnstreamed === 0) {
      yield this.#malformed('the server sent an answer that is not a stream', data);
    } else {
      try {
        yield* this.#translator.message(value);
      } catch (thrown) {
        if (!(thrown instanceof MalformedMessage)) throw thrown;
        yield this.#malformed(thrown.message, data);
      }
    }
  }

  #malformed(what: string, data: string): ModelEvent {
    const { context, requestId } = this.#options;
    const retryable = this.#translator.started;
    return this.#fail(badResponse(`${what}: ${sample(data)}`, context, { retryable, requestId }));
  }

  #fail(failure: ModelFailure): ModelEvent {
    this.#failed = true;
    return { type: 'failure', failure };
  }
}

function isEndMark(data: string): boolean {
  return data.trim() === '[DONE]';
}
