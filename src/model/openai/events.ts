import { isRecord } from '../../lib/own.js';
import type { ModelStopReason, Usage } from '../../protocol/content.js';
import type { StreamEvent } from '../client.js';
import { MalformedMessage, type StreamTranslator } from '../stream/answer-reader.js';

interface Call {
  readonly id: string;
  readonly index: number;
  name: string;
  /** Arguments that came before the name. */
  pending: string;
  started: boolean;
}

/**
 * Translates chat-completion chunks to the events of the Messages API. Text and thinking blocks close
 * when something else begins; calls stay open until the end, because their pieces may alternate.
 */
export class ChatTranslator implements StreamTranslator {
  readonly #model: string;
  readonly #newId: () => string;
  readonly #requestId: string | undefined;
  readonly mostUnstreamed = 64 * 1024 * 1024;
  started = false;
  #next = 0;
  #open: { readonly kind: 'text' | 'thinking'; readonly index: number } | undefined;
  readonly #calls: { readonly key: number; readonly call: Call }[] = [];
  #finish: string | undefined;
  #usage: Partial<Usage> = {};

  constructor(options: {
    readonly model: string;
    readonly newId: () => string;
    readonly requestId: string | undefined;
  }) {
    this.#model = options.model;
    this.#newId = options.newId;
    this.#requestId = options.requestId;
  }

  /** One chunk, or a whole answer that was not streamed (its `message` stands for the delta). */
  *message(chunk: Readonly<Record<string, unknown>>): Generator<StreamEvent> {
    if (chunk.choices === undefined && chunk.usage === undefined) {
      throw new MalformedMessage('the answer has no choices');
    }
    if (!this.started) {
      this.started = true;
      yield {
        type: 'message_start',
        message: {
          id: textIn(chunk.id) ?? this.#newId(),
          model: textIn(chunk.model) ?? this.#model,
          usage: {},
        },
        requestId: this.#requestId,
      };
    }
    if (isRecord(chunk.usage)) this.#usage = usageOf(chunk.usage);
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isRecord(choice)) return;
    const delta = isRecord(choice.delta) ? choice.delta : choice.message;
    if (isRecord(delta)) yield* this.#delta(delta);
    this.#finish = textIn(choice.finish_reason) ?? this.#finish;
  }

  /** An answer is complete once the server has said why it stopped, or that it did. */
  end(sawEnd: boolean): Iterable<StreamEvent> | undefined {
    return this.#finish !== undefined || (sawEnd && this.started) ? this.#closing() : undefined;
  }

  *#closing(): Generator<StreamEvent> {
    yield* this.#closeOpen();
    for (const { call } of this.#calls) {
      if (!call.started) yield* this.#startCall(call);
      yield { type: 'content_block_stop', index: call.index };
    }
    yield {
      type: 'message_delta',
      delta: { stop_reason: this.#stopReason(), stop_sequence: null },
      usage: this.#usage,
    };
    yield { type: 'message_stop' };
  }

  *#delta(delta: Record<string, unknown>): Generator<StreamEvent> {
    const thinking = textIn(delta.reasoning_content) ?? textIn(delta.reasoning);
    if (thinking !== undefined) {
      const index = yield* this.#block('thinking');
      yield { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking } };
    }
    const text = textIn(delta.content) ?? partsText(delta.content) ?? textIn(delta.refusal);
    if (text !== undefined) {
      const index = yield* this.#block('text');
      yield { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
    }
    if (!Array.isArray(delta.tool_calls)) return;
    for (const part of delta.tool_calls) if (isRecord(part)) yield* this.#callPart(part);
  }

  *#block(kind: 'text' | 'thinking'): Generator<StreamEvent, number> {
    if (this.#open?.kind === kind) return this.#open.index;
    yield* this.#closeOpen();
    const index = this.#next++;
    this.#open = { kind, index };
    const block =
      kind === 'text' ? { type: kind, text: '' } : { type: kind, thinking: '', signature: '' };
    yield { type: 'content_block_start', index, content_block: block };
    return index;
  }

  *#closeOpen(): Generator<StreamEvent> {
    if (this.#open === undefined) return;
    yield { type: 'content_block_stop', index: this.#open.index };
    this.#open = undefined;
  }

  *#callPart(part: Record<string, unknown>): Generator<StreamEvent> {
    const made = isRecord(part.function) ? part.function : part;
    const name = textIn(made.name);
    const call = this.#callFor(part, name);
    if (name !== undefined && !call.started) call.name = name;
    call.pending += argumentsText(made.arguments);
    if (call.name === '') return;
    if (!call.started) {
      yield* this.#closeOpen();
      yield* this.#startCall(call);
    } else if (call.pending !== '') yield flush(call);
  }

  *#startCall(call: Call): Generator<StreamEvent> {
    call.started = true;
    yield {
      type: 'content_block_start',
      index: call.index,
      content_block: { type: 'tool_use', id: call.id, name: call.name, input: {} },
    };
    if (call.pending !== '') yield flush(call);
  }

  /**
   * Calls are distinguished by `index`. Servers that leave it out, or give every call the same, begin a
   * new call with a new id and a name.
   */
  #callFor(part: Record<string, unknown>, name: string | undefined): Call {
    const id = textIn(part.id);
    const given = typeof part.index === 'number' ? part.index : undefined;
    const known = this.#calls.findLast(({ key }) => given === undefined || key === given)?.call;
    const another =
      name !== undefined && id !== undefined && known !== undefined && known.id !== id;
    if (known !== undefined && !another && !(given === undefined && name !== undefined))
      return known;
    const call: Call = {
      id: id ?? this.#newId(),
      index: this.#next++,
      name: '',
      pending: '',
      started: false,
    };
    this.#calls.push({ key: given ?? this.#calls.length, call });
    return call;
  }

  #stopReason(): ModelStopReason {
    switch (this.#finish) {
      case 'length':
        return 'max_tokens';
      case 'content_filter':
        return 'refusal';
      case 'stop':
      case 'tool_calls':
      case 'function_call':
      case undefined:
        return this.#calls.length > 0 ? 'tool_use' : 'end_turn';
      default:
        return this.#finish;
    }
  }
}

function flush(call: Call): StreamEvent {
  const partial_json = call.pending;
  call.pending = '';
  return {
    type: 'content_block_delta',
    index: call.index,
    delta: { type: 'input_json_delta', partial_json },
  };
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function partsText(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const text = value
    .map((part: unknown) => (isRecord(part) && typeof part.text === 'string' ? part.text : ''))
    .join('');
  return text === '' ? undefined : text;
}

function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return isRecord(value) ? JSON.stringify(value) : '';
}

function usageOf(usage: Record<string, unknown>): Partial<Usage> {
  const prompt = count(usage.prompt_tokens);
  const details = isRecord(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const cached = Math.min(prompt, count(details.cached_tokens ?? usage.prompt_cache_hit_tokens));
  return {
    input_tokens: prompt - cached,
    output_tokens: count(usage.completion_tokens),
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}
