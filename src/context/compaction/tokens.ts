import type { ModelRequest } from '../../model/client.js';
import { toolText } from '../../model/request-json.js';
import type {
  AssistantBlock,
  Message,
  ResultBlock,
  Usage,
  UserBlock,
} from '../../protocol/content.js';

const BYTES_PER_TOKEN = 4;
/** Braces, quotes and short keys make JSON denser than prose. */
const JSON_BYTES_PER_TOKEN = 3;
const IMAGE_TOKENS = 1600;
const DOCUMENT_BYTES_PER_TOKEN = 40;
const BLOCK_OVERHEAD = 4;

/** Rough number of tokens of a text, from its length in UTF-8. */
export function estimateText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

export function estimateMessages(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateMessage(message), 0);
}

/** System prompt and tools: what every request of the conversation carries. */
export function estimateFixed({ system, tools }: Pick<ModelRequest, 'system' | 'tools'>): number {
  const texts = system.reduce((sum, { text }) => sum + estimateText(text), 0);
  // Two brackets, and a comma between two of them.
  const punctuation = 2 + Math.max(0, tools.length - 1);
  const bytes = tools.reduce((sum, tool) => sum + Buffer.byteLength(toolText(tool)), punctuation);
  return texts + Math.ceil(bytes / JSON_BYTES_PER_TOKEN);
}

/** Everything that the model had read and written when it ended this answer. */
export function tokensInContext(usage: Usage): number {
  return (
    usage.input_tokens +
    usage.cache_creation_input_tokens +
    usage.cache_read_input_tokens +
    usage.output_tokens
  );
}

/**
 * How full the context is: the provider's own count up to its last answer, estimates for what came
 * after, scaled by how far such estimates were off before.
 */
export interface TokenMeter {
  /** After an answer was appended to the history. */
  reported(usage: Usage, messages: readonly Message[]): void;
  used(messages: readonly Message[]): number;
}

export function createTokenMeter(fixedTokens: number): TokenMeter {
  return new HistoryMeter(fixedTokens);
}

class HistoryMeter implements TokenMeter {
  readonly #fixedTokens: number;
  readonly #estimate = new RunningEstimate();
  #scale = 1;
  /** What the provider counted last, and what we would have said of the same messages. */
  #counted:
    | {
        readonly tokens: number;
        readonly estimated: number;
        readonly messages: number;
        readonly first: Message | undefined;
        readonly last: Message | undefined;
      }
    | undefined;

  constructor(fixedTokens: number) {
    this.#fixedTokens = fixedTokens;
  }

  reported(usage: Usage, messages: readonly Message[]): void {
    const tokens = tokensInContext(usage);
    // Some servers count nothing.
    if (tokens === 0) return;
    const estimated = this.#estimate.of(messages);
    const { length, 0: first } = messages;
    this.#counted = { tokens, estimated, messages: length, first, last: messages.at(-1) };
    const expected = this.#fixedTokens + estimated;
    if (expected > 0) this.#scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, tokens / expected));
  }

  used(messages: readonly Message[]): number {
    const counted = this.#counted;
    const isSameHistory =
      counted !== undefined &&
      counted.messages <= messages.length &&
      messages[0] === counted.first &&
      messages[counted.messages - 1] === counted.last;
    const estimated = this.#estimate.of(messages);
    if (!isSameHistory) return Math.ceil((this.#fixedTokens + estimated) * this.#scale);
    return counted.tokens + Math.ceil((estimated - counted.estimated) * this.#scale);
  }
}

/** `estimateMessages` of a history that grows: only what is new since the last time is added up. */
class RunningEstimate {
  #tokens = 0;
  #count = 0;
  #first: Message | undefined;
  #last: Message | undefined;

  of(messages: readonly Message[]): number {
    const count = this.#count;
    const goesOn = count > 0 && messages[0] === this.#first && messages[count - 1] === this.#last;
    if (!goesOn) this.#tokens = 0;
    for (let at = goesOn ? count : 0; at < messages.length; at++) {
      const message = messages[at];
      if (message !== undefined) this.#tokens += estimateMessage(message);
    }
    this.#count = messages.length;
    this.#first = messages[0];
    this.#last = messages.at(-1);
    return this.#tokens;
  }
}

const MIN_SCALE = 0.5;
const MAX_SCALE = 2;

function estimateMessage(message: Message): number {
  let sum = 0;
  for (const block of message.content) sum += estimateBlock(block) + BLOCK_OVERHEAD;
  return sum;
}

function estimateBlock(block: UserBlock | AssistantBlock): number {
  switch (block.type) {
    case 'text':
      return estimateText(block.text);
    case 'thinking':
      return estimateText(block.thinking);
    case 'redacted_thinking':
      return estimateText(block.data);
    case 'tool_use':
      return estimateJson(block.name) + estimateJson(block.input);
    case 'tool_result':
      return typeof block.content === 'string'
        ? estimateText(block.content)
        : block.content.reduce((sum, inner) => sum + estimateResult(inner), 0);
    case 'image':
    case 'document':
      return estimateResult(block);
    default:
      // Kinds that another writer stored and that we pass on as they are.
      return estimateJson(block);
  }
}

function estimateResult(block: ResultBlock): number {
  if (block.type === 'text') return estimateText(block.text);
  if (block.type === 'image') return IMAGE_TOKENS;
  if (block.type !== 'document') return estimateJson(block);
  if (block.source.type === 'text') return estimateText(block.source.data);
  if (block.source.type === 'url') return IMAGE_TOKENS;
  return Math.max(IMAGE_TOKENS, Math.ceil(block.source.data.length / DOCUMENT_BYTES_PER_TOKEN));
}

function estimateJson(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value) ?? '') / JSON_BYTES_PER_TOKEN);
}
