import { parseJson } from '../util/json.js';
import { isRecord } from '../util/own.js';
import { plainDelta } from './anthropic-delta.js';
import { isLast } from './bunched.js';
import type { ModelEvent, ModelFailure, StreamEvent } from './client.js';
import { badResponse, type FailureContext, failureOfErrorObject, sample } from './failures.js';
import { MAX_BODY_CHARS } from './http-reading.js';
import { SseParser } from './sse.js';

interface Options {
  readonly context: FailureContext;
  readonly model: string;
  readonly requestId: string | undefined;
}

/** By their text: ends of blocks and of answers, which say the same every time. */
const knownEnds = new Map<string, StreamEvent>();
const MOST_KNOWN_ENDS = 64;
const LONGEST_KNOWN_END = 100;

function knownEnd(data: string): StreamEvent | undefined {
  // A long one is none, and is not read once more to find that out.
  return data.length > LONGEST_KNOWN_END ? undefined : knownEnds.get(data);
}

function isEnd({ type }: StreamEvent): boolean {
  return type === 'content_block_stop' || type === 'message_stop';
}

/** Turns the text of a Messages API stream into events. Whatever is wrong becomes one failure. */
export class AnthropicEvents {
  readonly #options: Options;
  readonly #parser = new SseParser();
  /** Text of an answer that turned out not to be a stream. */
  #foreign: string | undefined;
  #sniffed = false;
  #started = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** The events of a piece; nothing is read behind the end of an answer. */
  push(chunk: string): readonly ModelEvent[] {
    if (this.#foreign !== undefined) {
      this.#foreign += chunk;
      return this.#foreign.length > MAX_BODY_CHARS ? [...this.end()] : [];
    }
    if (!this.#sniffed) {
      const first = chunk.trimStart().charAt(0);
      if (first === '') return [];
      this.#sniffed = true;
      if (first === '{' || first === '[' || first === '<') {
        this.#foreign = chunk;
        return [];
      }
    }
    const events: ModelEvent[] = [];
    for (const data of this.#parser.push(chunk)) {
      const event = this.#event(data);
      if (event === undefined) continue;
      events.push(event);
      if (isLast(event)) break;
    }
    return events;
  }

  /** The body ended without `message_stop`. */
  *end(): Generator<ModelEvent> {
    if (this.#foreign !== undefined) {
      yield this.#fail(this.#foreignFailure(this.#foreign));
      return;
    }
    for (const data of this.#parser.end()) {
      if (!parseJson(data).ok) continue;
      const event = this.#event(data);
      if (event === undefined) continue;
      yield event;
      if (isLast(event)) return;
    }
    const { stray } = this.#parser;
    if (!this.#started && stray !== '') {
      yield this.#fail(
        badResponse(
          `the server sent no event stream but: ${sample(stray)}`,
          this.#options.context,
          {
            requestId: this.#options.requestId,
          },
        ),
      );
      return;
    }
    yield this.#fail({
      kind: 'connection',
      message: this.#started
        ? 'the stream ended in the middle of the answer'
        : 'the server closed the stream without an answer',
      retryable: true,
      ...(this.#options.requestId === undefined ? {} : { requestId: this.#options.requestId }),
    });
  }

  #event(data: string): ModelEvent | undefined {
    const known = plainDelta(data) ?? knownEnd(data);
    if (known !== undefined) return known;
    const parsed = parseJson(data);
    if (!parsed.ok || !isRecord(parsed.value)) {
      return this.#fail(this.#malformed(data, parsed.ok ? 'not an object' : parsed.error));
    }
    const event = parsed.value;
    if (event.type === 'error') {
      const { model, requestId } = this.#options;
      return this.#fail(
        failureOfErrorObject(event.error ?? event, { model, requestId }, this.#options.context),
      );
    }
    const shape = typeof event.type === 'string' ? SHAPES.get(event.type) : undefined;
    if (shape === undefined) return undefined;
    const wrong = shape.wrong(event);
    if (wrong === 'ignore') return undefined;
    if (wrong !== undefined) return this.#fail(this.#malformed(data, wrong));
    if (shape.type === 'message_start') return this.#start(event);
    // Every layer compares it, and with the very same text that is quicker than with one that only says the same.
    event.type = shape.type;
    // Checked by the table of shapes just above.
    const checked = event as unknown as StreamEvent;
    if (isEnd(checked) && knownEnds.size < MOST_KNOWN_ENDS && data.length <= LONGEST_KNOWN_END) {
      knownEnds.set(data, Object.freeze(checked));
    }
    return checked;
  }

  #start(event: Record<string, unknown>): ModelEvent {
    this.#started = true;
    const given = isRecord(event.message) ? event.message : {};
    const { requestId } = this.#options;
    const message = isWhole(given)
      ? given
      : {
          ...given,
          id: typeof given.id === 'string' ? given.id : '',
          model: typeof given.model === 'string' ? given.model : this.#options.model,
          usage: isRecord(given.usage) ? given.usage : {},
        };
    return requestId === undefined
      ? { type: 'message_start', message }
      : { type: 'message_start', message, requestId };
  }

  #fail(failure: ModelFailure): ModelEvent {
    return { type: 'failure', failure };
  }

  #malformed(data: string, reason: string): ModelFailure {
    return badResponse(
      `an event of the stream cannot be read (${sample(reason)}): ${sample(data)}`,
      this.#options.context,
      { retryable: this.#started, requestId: this.#options.requestId },
    );
  }

  #foreignFailure(text: string): ModelFailure {
    const { context, model, requestId } = this.#options;
    const parsed = parseJson(text);
    if (parsed.ok && isRecord(parsed.value) && parsed.value.error !== undefined) {
      return failureOfErrorObject(parsed.value, { model, requestId }, context);
    }
    const what = text.trimStart().startsWith('<') ? 'a web page' : 'an answer that is not a stream';
    return badResponse(`the server sent ${what}: ${sample(text)}`, context, { requestId });
  }
}

type StartMessage = Extract<StreamEvent, { readonly type: 'message_start' }>['message'];

function isWhole(
  message: Record<string, unknown>,
): message is Record<string, unknown> & StartMessage {
  return (
    typeof message.id === 'string' && typeof message.model === 'string' && isRecord(message.usage)
  );
}

interface Shape {
  readonly type: StreamEvent['type'];
  /** What is wrong with an event of this kind; undefined: all is well. */
  wrong(event: Record<string, unknown>): string | undefined;
}

const KNOWN_DELTAS: ReadonlySet<unknown> = new Set([
  'text_delta',
  'thinking_delta',
  'signature_delta',
  'input_json_delta',
]);

/** What each kind of event must hold. Kinds that are not listed are skipped. */
const SHAPES: ReadonlyMap<string, Shape> = new Map(
  (
    [
      {
        type: 'message_start',
        wrong: (event) => (isRecord(event.message) ? undefined : 'no message'),
      },
      {
        type: 'content_block_start',
        wrong: (event) =>
          typeof event.index === 'number' &&
          isRecord(event.content_block) &&
          typeof event.content_block.type === 'string'
            ? undefined
            : 'no index or content block',
      },
      {
        type: 'content_block_delta',
        wrong(event) {
          if (typeof event.index !== 'number' || !isRecord(event.delta)) return 'no index or delta';
          return KNOWN_DELTAS.has(event.delta.type) ? undefined : 'ignore';
        },
      },
      {
        type: 'content_block_stop',
        wrong: (event) => (typeof event.index === 'number' ? undefined : 'no index'),
      },
      { type: 'message_delta', wrong: (event) => (isRecord(event.delta) ? undefined : 'no delta') },
      { type: 'message_stop', wrong: () => undefined },
      { type: 'ping', wrong: () => undefined },
    ] satisfies readonly Shape[]
  ).map((shape) => [shape.type, shape]),
);
