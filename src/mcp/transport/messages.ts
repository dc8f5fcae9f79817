import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { breach, Failed } from '../connection/classify.js';

export type MessageId = string | number;
type Members = Readonly<Record<string, unknown>>;

/**
 * Parses one message or a batch. The library silently drops a response with unknown members and lets its
 * caller time out, so only protocol members are kept, and an unusable response (`__proto__`, deep nesting,
 * neither or both of result and error) becomes an error with a `Failed`. `asked` is the request that an error
 * without id belongs to.
 */
export function messagesIn(text: string, asked?: MessageId): readonly JSONRPCMessage[] {
  // Some programs start their output with a byte order mark.
  const bare = text.startsWith('\ufeff') ? text.slice(1) : text;
  const parsed = parseJson(bare);
  if (!parsed.ok) {
    const id = idOfRefused(bare);
    return id === undefined ? [] : [unreadable(id)];
  }
  return messagesOf(parsed.value, asked);
}

/** The messages of a parsed value. */
export function messagesOf(value: unknown, asked?: MessageId): readonly JSONRPCMessage[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.flatMap((one) => messageOf(one, asked) ?? []);
}

export function messageOf(value: unknown, asked?: MessageId): JSONRPCMessage | undefined {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return undefined;
  const { method, params } = value;
  // A server that could not read a request's id answers without one.
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

/** Whether the message replaces an unusable response. */
export function isUnreadable(message: JSONRPCMessage): boolean {
  return 'error' in message && message.error.data instanceof Failed;
}

function answerOf(id: MessageId, { result, error }: Members): JSONRPCMessage {
  if (isGiven(result)) {
    const isSound = isRecord(result) && (result._meta === undefined || isRecord(result._meta));
    // fail-closed: a response with both result and error is not a success.
    return isSound && !isGiven(error) ? { jsonrpc: '2.0', id, result } : unreadable(id);
  }
  if (!isRecord(error) || typeof error.message !== 'string') return unreadable(id);
  const { code, message, data } = error;
  if (typeof code !== 'number' || !Number.isSafeInteger(code)) return unreadable(id);
  return { jsonrpc: '2.0', id, error: { code, message, data } };
}

/** Some servers write `null` for an absent member. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Takes the id of a response whose content `parseJson` rejects. */
function idOfRefused(text: string): MessageId | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) && value.jsonrpc === '2.0' && isId(value.id) && !isGiven(value.method)
      ? value.id
      : undefined;
  } catch {
    // Not a response.
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
