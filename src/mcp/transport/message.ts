import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { UNREADABLE } from '../connection/thrown.js';

/** All of a text, which some revisions of the protocol let servers make a list of messages. */
export function messagesIn(
  text: string,
  named: (value: unknown) => unknown = (value) => value,
): readonly JSONRPCMessage[] {
  // Some programs begin what they write with a byte order mark.
  const bare = text.startsWith('\ufeff') ? text.slice(1) : text;
  const parsed = parseJson(bare);
  if (!parsed.ok) {
    const failure = messageIn(bare);
    return failure === undefined ? [] : [failure];
  }
  const values: readonly unknown[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value];
  return values.flatMap((value) => messageOf(named(value)) ?? []);
}

/** An error for a request whose id the server could not read. */
export function isNamelessError(value: unknown): value is Given {
  return isRecord(value) && !isGiven(value.id) && isRecord(value.error);
}

/**
 * What a server sent as text. An answer that cannot be taken (`__proto__`, nesting without end, neither
 * result nor error, or both) fails the request that it is for: nobody must wait for what has come already.
 * Undefined for what is no message.
 */
export function messageIn(text: string): JSONRPCMessage | undefined {
  const parsed = parseJson(text);
  if (parsed.ok) return messageOf(parsed.value);
  const id = answeredId(text);
  return id === undefined ? undefined : unreadable(id);
}

/**
 * The same for what came as a value. Only the members that the protocol knows are taken: the library drops
 * a message with any other one without a word, and whoever waits for it would wait until his time is up.
 */
export function messageOf(value: unknown): JSONRPCMessage | undefined {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return undefined;
  const { id, method, params } = value;
  if (isAnswer(value)) return isGiven(method) ? unreadable(value.id) : answerOf(value);
  if (typeof method !== 'string') return undefined;
  const message = {
    jsonrpc: '2.0',
    ...(isGiven(id) ? { id } : {}),
    method,
    ...(isGiven(params) ? { params } : {}),
  };
  return message as unknown as JSONRPCMessage;
}

type Given = Readonly<Record<string, unknown>>;

function isAnswer(value: Given): value is Given & { readonly id: string | number } {
  if (!isId(value.id)) return false;
  return !isGiven(value.method) || isGiven(value.result) || isGiven(value.error);
}

function answerOf({ id, result, error }: Given & { readonly id: string | number }): JSONRPCMessage {
  if (isGiven(result)) {
    const isSound = isRecord(result) && (result._meta === undefined || isRecord(result._meta));
    // fail-closed: what says that it failed as well has not succeeded.
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

/** Of an answer that is refused for what is in it: only its id is taken from there. */
function answeredId(text: string): string | number | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || value.jsonrpc !== '2.0') return undefined;
    return isAnswer(value) ? value.id : undefined;
  } catch {
    // Noise, and no answer.
    return undefined;
  }
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function unreadable(id: string | number): JSONRPCMessage {
  return {
    jsonrpc: '2.0',
    id,
    error: { code: -32603, message: 'an answer that is none', data: UNREADABLE },
  };
}
