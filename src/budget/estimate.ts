import type { ModelRequest } from '../model/client.js';
import type { Message, Usage } from '../protocol/content.js';
import { ZERO_USAGE } from '../protocol/content.js';
import type { Ask } from './account.js';
import { type Amounts, NOTHING, nanosOf } from './units.js';

/** Rough counts of what a request holds. */
export interface TokenEstimate {
  /** System prompt and tools. */
  fixed(request: Pick<ModelRequest, 'system' | 'tools'>): number;
  messages(messages: readonly Message[]): number;
}

export interface EstimateParts {
  readonly tokens: TokenEstimate;
  /** Dollars; undefined where no price is known. */
  price(model: string, usage: Usage): number | undefined;
  /** Milliseconds. */
  now(): number;
}

/** What the calls of one agent will take, learnt from what they took. */
export interface CallEstimate {
  /** Wishes for a normal call, the fullest first: with ever shorter answers. */
  asks(request: ModelRequest): readonly SizedAsk[];
  /** The same for the last call, which may use what was kept for it. */
  lastAsks(request: ModelRequest): readonly SizedAsk[];
  /** For a call beside the turns: as it is, and what is kept stays kept. */
  sideAsk(request: ModelRequest): SizedAsk;
  /** The least that the next call will take, before its request is known; undefined: nothing is known. */
  next(): Ask | undefined;
  /** What a turn took. From now on enough for one more is kept. */
  learn(request: ModelRequest, model: string, usage: Usage): void;
  /** What is kept for the last call. */
  kept(): Amounts;
}

export interface SizedAsk extends Ask {
  readonly maxTokens: number;
}

/** Estimates are off by this much, at most as a rule. */
const SAFETY = 1.25;
/** An answer shorter than this is not worth asking for. */
const LEAST_ANSWER = 1_024;
/** What an agent needs to say what it has done. */
const LAST_ANSWER = 2_048;
const LEAST_LAST_ANSWER = 256;
/** How long a provider keeps what it has read, unless asked otherwise. */
const CACHE_MS = 5 * 60_000;

/** What the provider said about the last request. */
interface Known {
  readonly model: string;
  /** Tokens of its input, however they were read. */
  readonly input: number;
  readonly output: number;
  readonly messages: number;
  readonly last: Message | undefined;
  readonly at: number;
  readonly isCached: boolean;
  readonly thinking: number;
}

export function createCallEstimate(parts: EstimateParts): CallEstimate {
  const fixed = new WeakMap<object, number>();
  let known: Known | undefined;
  let kept: Amounts = NOTHING;

  /** Tokens of the request: those that were read before, and the rest. */
  const inputOf = (request: ModelRequest): Input => {
    const { messages, tools } = request;
    const last = known?.last;
    if (known !== undefined && last !== undefined && messages[known.messages - 1] === last) {
      const added = messages.slice(known.messages + 1);
      const fresh = known.output + Math.ceil(parts.tokens.messages(added) * SAFETY);
      const isWarm =
        known.isCached && known.model === request.model && parts.now() - known.at < CACHE_MS;
      return isWarm ? { warm: known.input, fresh } : { warm: 0, fresh: known.input + fresh };
    }
    const standing = fixed.get(tools) ?? parts.tokens.fixed(request);
    fixed.set(tools, standing);
    return { warm: 0, fresh: Math.ceil((standing + parts.tokens.messages(messages)) * SAFETY) };
  };

  const amounts = (model: string, input: Input, output: number): Amounts => {
    const usd = parts.price(model, {
      ...ZERO_USAGE,
      cache_creation_input_tokens: input.fresh,
      cache_read_input_tokens: input.warm,
      output_tokens: output,
    });
    // Without a price the ask says so, and no budget in dollars takes it.
    const nanoUsd = usd === undefined ? 0 : nanosOf(usd);
    return { turns: 1, tokens: input.fresh + input.warm + output, nanoUsd };
  };

  const ask = (model: string, call: Amounts, keep: Amounts): Ask => ({
    call,
    keep,
    ...(parts.price(model, ZERO_USAGE) === undefined ? { unpriced: model } : {}),
  });

  /** The last turn reads all of this again, as a rule from the provider's cache. */
  const lastTurn = (model: string, context: number, thinking: number): Amounts => {
    const isCached = known?.isCached !== false;
    const input = isCached ? { warm: context, fresh: 0 } : { warm: 0, fresh: context };
    return amounts(model, input, LAST_ANSWER + thinking);
  };

  return {
    asks(request) {
      const { model } = request;
      const input = inputOf(request);
      const thinking = thinkingOf(request);
      return answerSizes(request.maxTokens, LEAST_ANSWER + thinking).map((maxTokens) => {
        const keep = lastTurn(model, input.warm + input.fresh + maxTokens, thinking);
        return { ...ask(model, amounts(model, input, maxTokens), keep), maxTokens };
      });
    },
    lastAsks(request) {
      const { model } = request;
      const input = inputOf(request);
      const thinking = thinkingOf(request);
      const most = Math.min(request.maxTokens, LAST_ANSWER + thinking);
      return answerSizes(most, LEAST_LAST_ANSWER + thinking).map((maxTokens) => ({
        ...ask(model, amounts(model, input, maxTokens), NOTHING),
        maxTokens,
      }));
    },
    sideAsk(request) {
      const { model, maxTokens } = request;
      return { ...ask(model, amounts(model, inputOf(request), maxTokens), kept), maxTokens };
    },
    next() {
      if (known === undefined) return undefined;
      const { model, input, output, thinking, isCached } = known;
      const size = LEAST_ANSWER + thinking;
      const before = isCached ? { warm: input, fresh: output } : { warm: 0, fresh: input + output };
      const keep = lastTurn(model, input + output + size, thinking);
      return ask(model, amounts(model, before, size), keep);
    },
    learn(request, model, usage) {
      const cached = usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
      known = {
        model,
        input: usage.input_tokens + cached,
        output: usage.output_tokens,
        messages: request.messages.length,
        last: request.messages.at(-1),
        at: parts.now(),
        isCached: cached > 0,
        thinking: thinkingOf(request),
      };
      kept = lastTurn(model, known.input + known.output, known.thinking);
    },
    kept: () => kept,
  };
}

interface Input {
  readonly warm: number;
  readonly fresh: number;
}

/** Providers refuse an answer that is not longer than the thinking in it. */
function thinkingOf({ thinking }: ModelRequest): number {
  return thinking?.type === 'enabled' ? thinking.budget_tokens : 0;
}

/** Halves, down to the least that is worth it. */
function answerSizes(most: number, least: number): readonly number[] {
  const sizes = [most];
  for (let size = Math.floor(most / 2); size > least; size = Math.floor(size / 2)) sizes.push(size);
  if (most > least) sizes.push(least);
  return sizes;
}
