import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ProxyEnvironment } from '../../platform/http/http-proxy.js';
import { openTextSocket, type TextSocket } from '../../platform/http/web-socket.js';
import { NotSent } from '../connection/thrown.js';
import { ChannelTransport } from './messages.js';
import type { RateLimitParts } from './rate-limit.js';

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

interface WebSocketParts extends RateLimitParts {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly environment: ProxyEnvironment;
  readonly connectMs: number;
  readonly closeMs: number;
}

/** One WebSocket, a message in each frame. The library has no such client any more (typescript-sdk#142). */
export class WebSocketTransport extends ChannelTransport {
  readonly #parts: WebSocketParts;
  #socket: TextSocket | undefined;

  constructor(parts: WebSocketParts) {
    super(parts);
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const { url, headers, environment, connectMs } = this.#parts;
    const socket = await openTextSocket({
      url,
      headers,
      environment,
      connectTimeoutMs: connectMs,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      subprotocol: 'mcp',
      onText: (text) => this.receive(text),
      onClose: () => this.over(),
    });
    this.#socket = socket;
    // It was given up while it was being opened.
    if (this.isOver) await socket.close(0);
  }

  protected async transmit(message: JSONRPCMessage): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined || this.isOver) throw new NotSent();
    await socket.send(JSON.stringify(message));
  }

  async close(): Promise<void> {
    const socket = this.#socket;
    this.over();
    await socket?.close(this.#parts.closeMs);
  }
}
