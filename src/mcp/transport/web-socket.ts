import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ProxyEnvironment } from '../../platform/http/http-proxy.js';
import { openTextSocket, type TextSocket } from '../../platform/http/web-socket.js';
import { Failed } from '../connection/classify.js';
import { BoundedTransport } from './bounded-transport.js';

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

interface WebSocketParts {
  readonly monotonic: () => number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly environment: ProxyEnvironment;
  readonly connectMs: number;
  readonly closeMs: number;
}

/** A WebSocket with one message per frame; the library has no such client any more (typescript-sdk#142). */
export class WebSocketTransport extends BoundedTransport {
  readonly #parts: WebSocketParts;
  #socket: TextSocket | undefined;

  constructor(parts: WebSocketParts) {
    super(parts.monotonic);
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
    // The transport was closed while the socket was opening.
    if (this.isOver) await socket.close(0);
  }

  protected async transmit(message: JSONRPCMessage): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined || this.isOver) throw new Failed({ kind: 'not-sent' });
    await socket.send(JSON.stringify(message));
  }

  async close(): Promise<void> {
    const socket = this.#socket;
    this.over();
    await socket?.close(this.#parts.closeMs);
  }
}
