import type { ModelRequest } from './client.js';
import { ConversationBytes } from './conversation-bytes.js';
import { HeadCache } from './head-cache.js';
import { jsonText } from './json-text.js';
import { encodeChatMessage } from './openai-messages.js';

export interface ChatBodyOptions {
  readonly baseUrl: string;
  /** Fields of the user's own that go into every request. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
}

const TAIL = new TextEncoder().encode(']}');
const COMMA = new TextEncoder().encode(',');

/** Bodies whose messages are serialised once, like those of the Messages API. */
export class ChatBody {
  readonly #options: ChatBodyOptions;
  readonly #heads = new HeadCache();
  readonly #conversations = new ConversationBytes(encodeChatMessage);

  constructor(options: ChatBodyOptions) {
    this.#options = options;
  }

  chunks(request: ModelRequest): Uint8Array[] {
    const settings = this.#settings(request);
    const system = request.system.map((block) => block.text).filter((text) => text.trim() !== '');
    const head = this.#heads.bytes(
      { system: request.system, tools: request.tools, settings },
      () => {
        const tools = request.tools.map((tool) => ({
          type: 'function',
          function: {
            name: tool.name,
            description: tool.description,
            parameters: tool.input_schema,
          },
        }));
        const toolsText = tools.length === 0 ? '' : `"tools":${jsonText(tools)},`;
        const first =
          system.length === 0 ? '' : jsonText({ role: 'system', content: system.join('\n\n') });
        return `${settings}${toolsText}"messages":[${first}`;
      },
    );
    const { bytes, size } = this.#conversations.view(request.messages);
    const messages = bytes.subarray(0, size);
    return system.length === 0 || size === 0
      ? [head, messages, TAIL]
      : [head, COMMA, messages, TAIL];
  }

  #settings(request: ModelRequest): string {
    // OpenAI itself refuses the old name for newer models; most other servers know only the old one.
    const limit = /^https:\/\/api\.openai\.com\//.test(`${this.#options.baseUrl}/`)
      ? 'max_completion_tokens'
      : 'max_tokens';
    const { toolChoice } = request;
    const fields = {
      model: request.model,
      [limit]: request.maxTokens,
      stream: true,
      stream_options: { include_usage: true },
      reasoning_effort: request.effort,
      tool_choice: toolChoice && { type: 'function', function: { name: toolChoice.name } },
      ...this.#options.extraBody,
    };
    return `${jsonText(fields).slice(0, -1)},`;
  }
}
