import type { Socket } from 'node:net';
import { parseJson } from '../lib/json.js';
import { isRecord } from '../lib/own.js';

type Message = Readonly<Record<string, unknown>>;

/** No message of the protocol is longer; events are shortened before they are sent. */
const LONGEST_LINE = 32 * 1024 * 1024;
/** Unread bytes after which a reader is disconnected; it can reconnect and replay what it missed. */
const MOST_UNREAD = 64 * 1024 * 1024;

/** Calls `receive` with every JSON object that arrives, one a line. Anything else ends the connection. */
export function readMessages(socket: Socket, receive: (message: Message) => void): void {
  let parts: string[] = [];
  let length = 0;
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const lines = chunk.split('\n');
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      const text = parts.join('') + line;
      parts = [];
      length = 0;
      const parsed = parseJson(text);
      if (!parsed.ok || !isRecord(parsed.value)) {
        socket.destroy();
        return;
      }
      receive(parsed.value);
    }
    parts.push(rest);
    length += rest.length;
    if (length > LONGEST_LINE) socket.destroy();
  });
}

export function writeMessage(socket: Socket, message: Message): boolean {
  if (!canWrite(socket)) return false;
  writeLine(socket, JSON.stringify(message));
  return true;
}

/** False: the connection is over, or its reader has fallen too far behind and is disconnected. */
export function canWrite(socket: Socket): boolean {
  if (socket.writableLength > MOST_UNREAD) socket.destroy();
  return !socket.destroyed;
}

/** Lines of one tick are sent together. */
export function writeLine(socket: Socket, line: string): void {
  if (socket.writableCorked === 0) {
    socket.cork();
    setImmediate(() => socket.uncork());
  }
  socket.write(`${line}\n`);
}
