import type { AssistantBlock, Message, ResultBlock, UserBlock } from '../protocol/content.js';
import type { ModelRequest } from './client.js';
import { ConversationBytes, type EncodedMessage } from './conversation-bytes.js';
import { HeadCache } from './head-cache.js';
import { jsonText, needsCare } from './json-text.js';
import { acceptedEffort, acceptedThinking, acceptsForcedTool } from './model-facts.js';
import { toolText } from './tool-text.js';

export interface AnthropicBodyOptions {
  /** Prompt-cache marks; on unless switched off. */
  readonly promptCaching?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Fields of the user's own that go into every request. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
}

const MARK_TEXT = ',"cache_control":{"type":"ephemeral"}';
/** What is behind the place for a mark in a message whose last block may carry one. */
const BLOCK_END = '}]}';
const MARK = new TextEncoder().encode(MARK_TEXT);
const TAIL = new TextEncoder().encode(']}');
/** All that is behind such a place in the last message. */
const MARKED_TAIL = new TextEncoder().encode(`${MARK_TEXT}${BLOCK_END}]}`);

/**
 * Request bodies of the Messages API as lists of byte chunks: head, messages, tail. Nothing that was
 * serialised for an earlier request is serialised again, and the bytes of one request, cache marks
 * left out, are a prefix of the next one's.
 */
export class AnthropicBody {
  readonly #options: AnthropicBodyOptions;
  readonly #heads = new HeadCache();
  readonly #conversations = new ConversationBytes(encodeMessage);
  #lastSettings: { readonly of: ModelRequest; readonly text: SettingsText } | undefined;

  constructor(options: AnthropicBodyOptions = {}) {
    this.#options = options;
  }

  chunks(request: ModelRequest): Uint8Array[] {
    const settings = this.#settingsOf(request);
    const head = this.#heads.bytes(
      { system: request.system, tools: request.tools, settings: settings.whole },
      () => this.#head(request, settings),
    );
    const { bytes, size, mark, previousMark } = this.#conversations.view(request.messages);
    if (this.#options.promptCaching === false || mark === -1) {
      return [head, bytes.subarray(0, size), TAIL];
    }
    const chunks = [head];
    let from = 0;
    // The mark of the request before is kept: the provider looks back only a limited number of
    // blocks, and a turn with many tool results would otherwise miss the cached prefix.
    if (previousMark !== -1 && previousMark < mark) {
      chunks.push(bytes.subarray(0, previousMark), MARK);
      from = previousMark;
    }
    chunks.push(bytes.subarray(from, mark));
    if (size - mark === BLOCK_END.length) chunks.push(MARKED_TAIL);
    else chunks.push(MARK, bytes.subarray(mark, size), TAIL);
    return chunks;
  }

  /** Turn after turn they are the same. */
  #settingsOf(request: ModelRequest): SettingsText {
    const last = this.#lastSettings;
    if (last !== undefined && hasSameSettings(last.of, request)) return last.text;
    const text = this.#settings(request);
    this.#lastSettings = { of: { ...request, messages: [] }, text };
    return text;
  }

  #settings(request: ModelRequest): SettingsText {
    const { thinking, effort, toolChoice } = request;
    const fields: Record<string, unknown> = {
      thinking: acceptedThinking(request.model, thinking, request.maxTokens),
      output_config: fieldOf('effort', acceptedEffort(request.model, effort)),
      tool_choice: acceptsForcedTool(request.model) ? toolChoice : undefined,
      metadata: this.#options.metadata,
      ...this.#options.extraBody,
    };
    const after = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${jsonText(name)}:${jsonText(value)},`)
      .join('');
    const before = `{"model":${jsonText(request.model)},"max_tokens":${request.maxTokens},"stream":true,`;
    return { before, after, whole: before + after };
  }

  #head(request: ModelRequest, settings: SettingsText): string {
    const marked = this.#options.promptCaching !== false;
    const system = request.system.filter((block) => block.text.trim() !== '');
    const systemText =
      system.length === 0 ? '' : `"system":${markedList(system.map(jsonText), marked)},`;
    const tools = request.tools.map(toolText);
    const toolsText = tools.length === 0 ? '' : `"tools":${markedList(tools, marked)},`;
    return `${settings.before}${systemText}${toolsText}${settings.after}"messages":[`;
  }
}

/** Everything in the head but system prompt and tools: what stands before them, and behind. */
interface SettingsText {
  readonly before: string;
  readonly after: string;
  readonly whole: string;
}

function hasSameSettings(a: ModelRequest, b: ModelRequest): boolean {
  return (
    a.model === b.model &&
    a.maxTokens === b.maxTokens &&
    a.thinking === b.thinking &&
    a.effort === b.effort &&
    a.toolChoice === b.toolChoice
  );
}

function fieldOf(name: string, value: unknown): Record<string, unknown> | undefined {
  return value === undefined ? undefined : { [name]: value };
}

function markedList(objects: readonly string[], marked: boolean): string {
  const text = objects.join(',');
  return marked ? `[${text.slice(0, -1)}${MARK_TEXT}}]` : `[${text}]`;
}

/** Undefined: nothing of the message may be sent. */
export function encodeMessage(message: Message): EncodedMessage | undefined {
  // One look at the whole, which may be long, instead of one at each block.
  const encoded = encodedWith(JSON.stringify, message);
  const isPlain = encoded === undefined || !needsCare(encoded.text);
  return isPlain ? encoded : encodedWith(jsonText, message);
}

function encodedWith(
  write: (block: unknown) => string,
  message: Message,
): EncodedMessage | undefined {
  // Added up and not joined: what was read may be long, and to join it would copy it once more.
  let text = `{"role":"${message.role}","content":[`;
  /** From the last brace on of the last block that may carry a mark. */
  let behind = '';
  let comma = '';
  for (const block of message.content) {
    const sendable = sendableBlock(block);
    if (sendable === undefined) continue;
    const written = write(sendable);
    text = `${text}${comma}${written}`;
    if (!THINKING.has(block.type)) behind = '}';
    else if (behind !== '') behind = `${behind}${comma}${written}`;
    comma = ',';
  }
  if (comma === '') return undefined;
  return { text: `${text}]}`, behindMark: bytesBehind(behind) };
}

function bytesBehind(behind: string): number | undefined {
  if (behind === '') return undefined;
  return behind === '}' ? BLOCK_END.length : Buffer.byteLength(`${behind}]}`);
}

const THINKING: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking']);

/** The API refuses empty text, thinking that it did not sign and ids of a foreign shape. */
function sendableBlock(block: UserBlock | AssistantBlock): unknown {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? undefined : block;
    case 'thinking':
      return block.signature === '' ? undefined : block;
    case 'tool_use':
      return ID.test(block.id) ? block : { ...block, id: plainId(block.id) };
    case 'tool_result': {
      const id = plainId(block.tool_use_id);
      const content = sendableResult(block.content);
      return id === block.tool_use_id && content === block.content
        ? block
        : { ...block, tool_use_id: id, content };
    }
    default:
      return block;
  }
}

const ID = /^[a-zA-Z0-9_-]+$/;

function plainId(id: string): string {
  return ID.test(id) ? id : id.replace(/[^a-zA-Z0-9_-]/g, '_') || '_';
}

function sendableResult(content: string | readonly ResultBlock[]): string | readonly ResultBlock[] {
  if (typeof content === 'string') return content;
  const kept = content.filter((block) => block.type !== 'text' || block.text !== '');
  if (kept.length === content.length) return content;
  return kept.length === 0 ? '' : kept;
}
