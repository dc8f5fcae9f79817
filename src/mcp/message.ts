import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { parseJson } from '../util/json.js';
import { isRecord } from '../util/own.js';
import { UNREADABLE } from './thrown.js';

/**
 * What a server sent as text. An answer that cannot be taken (`__proto__`, nesting without end, neither
 * result nor error) fails the request that it is for: nobody must wait for what has come already.
 * Undefined for what is no message.
 */
export function messageIn(text: string): JSONRPCMessage | undefined {
  const parsed = parseJson(text);
  if (parsed.ok) return messageOf(parsed.value);
  const id = answeredId(text);
  return id === undefined ? undefined : unreadable(id);
}

/** The same for what came as a value. */
export function messageOf(value: unknown): JSONRPCMessage | undefined {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return undefined;
  const isAnswer = value.method === undefined && isId(value.id);
  if (!isAnswer || isSound(value)) return value as unknown as JSONRPCMessage;
  return unreadable(value.id as string | number);
}

function isSound({ result, error }: Readonly<Record<string, unknown>>): boolean {
  if (error === undefined) return isRecord(result);
  return isRecord(error) && Number.isInteger(error.code) && typeof error.message === 'string';
}

/** Of an answer that is refused for what is in it: only its id is taken from there. */
function answeredId(text: string): string | number | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || value.jsonrpc !== '2.0' || value.method !== undefined) return undefined;
    return isId(value.id) ? value.id : undefined;
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
