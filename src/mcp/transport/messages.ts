import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { breach, Failed } from '../connection/classify.js';

export type MessageId = string | number;
type Members = Readonly<Record<string, unknown>>;

/**
 * The messages of a text: one, or a list of them. The library drops an answer with any unknown member without a word
 * and its caller waits until the time is up: only the members of the protocol are kept, and an answer that cannot be
 * used (`__proto__`, endless nesting, neither result nor error, or both) becomes an error that carries a `Failed`.
 * `asked`: the request that an error without an id belongs to.
 */
export function messagesIn(text: string, asked?: MessageId): readonly JSONRPCMessage[] {
  // Some programs begin what they write with a byte order mark.
  const bare = text.startsWith('\ufeff') ? text.slice(1) : text;
  const parsed = parseJson(bare);
  if (!parsed.ok) {
    const id = idOfRefused(bare);
    return id === undefined ? [] : [unreadable(id)];
  }
  return messagesOf(parsed.value, asked);
}

/** The same for a value: one message, or a list of them. */
export function messagesOf(value: unknown, asked?: MessageId): readonly JSONRPCMessage[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.flatMap((one) => messageOf(one, asked) ?? []);
}

export function messageOf(value: unknown, asked?: MessageId): JSONRPCMessage | undefined {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return undefined;
  const { method, params } = value;
  // A server that could not read the id of a request answers without one.
  const isNameless = !isGiven(value.id) && isRecord(value.error);
  const id = isNameless ? asked : value.id;
  if (isId(id) && (!isGiven(method) || isGiven(value.result) || isGiven(value.error)))
    return isGiven(method) ? unreadable(id) : answerOf(id, value);
  if (typeof method !== 'string') return undefined;
  const message = {
    jsonrpc: '2.0',
    ...(isGiven(id) && { id }),
    method,
    ...(isGiven(params) && { params }),
  };
  return message as unknown as JSONRPCMessage;
}

/** Whether the message stands in for an answer that cannot be used. */
export function isUnreadable(message: JSONRPCMessage): boolean {
  return 'error' in message && message.error.data instanceof Failed;
}

function answerOf(id: MessageId, { result, error }: Members): JSONRPCMessage {
  if (isGiven(result)) {
    const isSound = isRecord(result) && (result._meta === undefined || isRecord(result._meta));
    // fail-closed: an answer that is also an error has not succeeded.
    return isSound && !isGiven(error) ? { jsonrpc: '2.0', id, result } : unreadable(id);
  }
  if (!isRecord(error) || typeof error.message !== 'string') return unreadable(id);
  const { code, message, data } = error;
  if (typeof code !== 'number' || !Number.isSafeInteger(code)) return unreadable(id);
  return { jsonrpc: '2.0', id, error: { code, message, data } };
}

/** Some servers write `null` for a member that they leave out. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Of an answer that `parseJson` refuses for its content, only the id is taken. */
function idOfRefused(text: string): MessageId | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) && value.jsonrpc === '2.0' && isId(value.id) && !isGiven(value.method)
      ? value.id
      : undefined;
  } catch {
    // Noise, and no answer.
    return undefined;
  }
}

export function isId(value: unknown): value is MessageId {
  return typeof value === 'string' || typeof value === 'number';
}

function unreadable(id: MessageId): JSONRPCMessage {
  const error = { code: -32603, message: 'the answer cannot be used', data: breach() };
  return { jsonrpc: '2.0', id, error };
}
