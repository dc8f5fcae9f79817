import type { ModelRequest } from '../model/client.js';
import type { Message, Usage } from '../protocol/content.js';
import { ZERO_USAGE } from '../protocol/content.js';
import type { BudgetRequest } from './account.js';
import { type Amounts, NOTHING, nanosOf } from './units.js';

/** Rough token counts of a request. */
export interface TokenEstimate {
  /** Tokens of the system prompt and the tools. */
  fixed(request: Pick<ModelRequest, 'system' | 'tools'>): number;
  messages(messages: readonly Message[]): number;
}

interface EstimateParts {
  readonly tokens: TokenEstimate;
  /** The price in dollars; undefined when it is not known. */
  price(model: string, usage: Usage): number | undefined;
  /** The current time in milliseconds. */
  now(): number;
}

export interface SizedRequest extends BudgetRequest {
  readonly maxTokens: number;
}

/** Safety factor for estimates, which are rarely further off. */
const SAFETY = 1.25;
/** The smallest answer worth a request, in tokens. */
const LEAST_ANSWER = 1_024;
/** Tokens an agent needs to report what it has done. */
const LAST_ANSWER = 2_048;
const LEAST_LAST_ANSWER = 256;
/** How long a provider caches a prompt by default. */
const CACHE_MS = 5 * 60_000;

/** Input tokens of a request: those in the provider's cache, and the rest. */
interface Input {
  readonly warm: number;
  readonly fresh: number;
}

/** What the provider reported about the last request. */
interface Known {
  readonly model: string;
  /** All input tokens, cached or not. */
  readonly input: number;
  readonly output: number;
  readonly messages: number;
  readonly last: Message | undefined;
  readonly at: number;
  readonly isCached: boolean;
  readonly thinking: number;
}

/** Estimates the usage of one agent's calls from its last call. */
export class CallEstimate {
  readonly #parts: EstimateParts;
  #known: Known | undefined;
  #kept: Amounts = NOTHING;

  constructor(parts: EstimateParts) {
    this.#parts = parts;
  }

  /** What is kept for the last call. */
  get kept(): Amounts {
    return this.#kept;
  }

  /** Requests for a normal call, the longest answer first, then shorter ones. */
  turnRequests(request: ModelRequest): readonly SizedRequest[] {
    const { model } = request;
    const input = this.#inputOf(request);
    const thinking = thinkingOf(request);
    return answerSizes(request.maxTokens, LEAST_ANSWER + thinking).map((maxTokens) => {
      const keep = this.#lastTurn(model, input.warm + input.fresh + maxTokens, thinking);
      return this.#sized(model, { input, maxTokens, keep });
    });
  }

  /** Requests for the last call, which may use what was kept for it. */
  lastTurnRequests(request: ModelRequest): readonly SizedRequest[] {
    const { model } = request;
    const input = this.#inputOf(request);
    const thinking = thinkingOf(request);
    const most = Math.min(request.maxTokens, LAST_ANSWER + thinking);
    return answerSizes(most, LEAST_LAST_ANSWER + thinking).map((maxTokens) =>
      this.#sized(model, { input, maxTokens, keep: NOTHING }),
    );
  }

  /** The request for a side call: one size, and the kept amount stays kept. */
  sideRequest(request: ModelRequest): SizedRequest {
    const { model, maxTokens } = request;
    return this.#sized(model, { input: this.#inputOf(request), maxTokens, keep: this.#kept });
  }

  /** The least that the next call will take before its request is known; undefined before the first call. */
  next(): BudgetRequest | undefined {
    if (this.#known === undefined) return undefined;
    const { model, input, output, thinking, isCached } = this.#known;
    const size = LEAST_ANSWER + thinking;
    const before = isCached ? { warm: input, fresh: output } : { warm: 0, fresh: input + output };
    const keep = this.#lastTurn(model, input + output + size, thinking);
    return this.#sized(model, { input: before, maxTokens: size, keep });
  }

  /** Learns from a turn's usage, and keeps enough for one more turn from now on. */
  learn(request: ModelRequest, model: string, usage: Usage): void {
    const cached = usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
    const known = {
      model,
      input: usage.input_tokens + cached,
      output: usage.output_tokens,
      messages: request.messages.length,
      last: request.messages.at(-1),
      at: this.#parts.now(),
      isCached: cached > 0,
      thinking: thinkingOf(request),
    };
    this.#known = known;
    this.#kept = this.#lastTurn(model, known.input + known.output, known.thinking);
  }

  #inputOf(request: ModelRequest): Input {
    const { messages } = request;
    const { tokens, now } = this.#parts;
    const known = this.#known;
    if (known?.last === undefined || messages[known.messages - 1] !== known.last) {
      const all = tokens.fixed(request) + tokens.messages(messages);
      return { warm: 0, fresh: Math.ceil(all * SAFETY) };
    }
    const added = messages.slice(known.messages + 1);
    const fresh = known.output + Math.ceil(tokens.messages(added) * SAFETY);
    const isWarm = known.isCached && known.model === request.model && now() - known.at < CACHE_MS;
    return isWarm ? { warm: known.input, fresh } : { warm: 0, fresh: known.input + fresh };
  }

  #amounts(model: string, { fresh, warm }: Input, output: number): Amounts {
    const usd = this.#parts.price(model, {
      ...ZERO_USAGE,
      cache_creation_input_tokens: fresh,
      cache_read_input_tokens: warm,
      output_tokens: output,
    });
    // A model without a price is marked in the request, so that a budget in dollars refuses it.
    return { turns: 1, tokens: fresh + warm + output, nanoUsd: nanosOf(usd ?? 0) };
  }

  #sized(
    model: string,
    { input, maxTokens, keep }: { input: Input; maxTokens: number; keep: Amounts },
  ): SizedRequest {
    const isPriced = this.#parts.price(model, ZERO_USAGE) !== undefined;
    const call = this.#amounts(model, input, maxTokens);
    return { call, keep, unpriced: isPriced ? undefined : model, maxTokens };
  }

  /** The last turn reads the whole context again, usually from the provider's cache. */
  #lastTurn(model: string, context: number, thinking: number): Amounts {
    const isCached = this.#known?.isCached !== false;
    const input = isCached ? { warm: context, fresh: 0 } : { warm: 0, fresh: context };
    return this.#amounts(model, input, LAST_ANSWER + thinking);
  }
}

/** Providers refuse an answer limit that is not larger than the thinking budget. */
function thinkingOf({ thinking }: ModelRequest): number {
  return thinking?.type === 'enabled' ? thinking.budget_tokens : 0;
}

/** The answer limit, halved step by step down to the smallest worth asking for. */
function answerSizes(most: number, least: number): readonly number[] {
  const sizes = [most];
  for (let size = Math.floor(most / 2); size > least; size = Math.floor(size / 2)) sizes.push(size);
  if (most > least) sizes.push(least);
  return sizes;
}
