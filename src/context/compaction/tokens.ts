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
function tokensInContext(usage: Usage): number {
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
  let scale = 1;
  /** The provider's last count, and our estimate for the same messages. */
  let counted: { tokens: number; estimated: number; messages: readonly Message[] } | undefined;
  /** Estimates only what came after the messages that were counted, where the conversation goes on from those. */
  const sizeOf = (messages: readonly Message[]): { estimated: number; continues: boolean } => {
    const continues = counted?.messages.every((message, at) => messages[at] === message) === true;
    const before = continues && counted !== undefined ? counted : { estimated: 0, messages: [] };
    const added = estimateMessages(messages.slice(before.messages.length));
    return { estimated: before.estimated + added, continues };
  };
  return {
    reported(usage, messages) {
      const tokens = tokensInContext(usage);
      // Some servers count nothing.
      if (tokens === 0) return;
      const { estimated } = sizeOf(messages);
      counted = { tokens, estimated, messages: [...messages] };
      const expected = fixedTokens + estimated;
      if (expected > 0) scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, tokens / expected));
    },
    used(messages) {
      const { estimated, continues } = sizeOf(messages);
      return counted === undefined || !continues
        ? Math.ceil((fixedTokens + estimated) * scale)
        : counted.tokens + Math.ceil((estimated - counted.estimated) * scale);
    },
  };
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
