import { isRecord } from '../../lib/own.js';
import { redact } from '../../lib/redact.js';
import { sliceWhole } from '../../lib/truncate.js';
import { visible } from '../../lib/visible.js';
import type { ParsedHandler } from '../../settings/schema/handler.js';
import type { HookHandler } from './hook.js';

/** The handler of checked fields, frozen. */
export function handlerOf({ fields }: Pick<ParsedHandler, 'fields'>): HookHandler {
  // Every field was checked against the table of its kind.
  return deepFreeze(fields) as unknown as HookHandler;
}

/** The value itself, frozen to its depths. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

/** Whether a group or handler is switched off. Only the very word does that. */
export function isSwitchedOff(raw: unknown): boolean {
  return isRecord(raw) && raw.enabled === false;
}

/** Runs beside the session: nobody waits for it, so it decides nothing. */
export function runsBeside(handler: HookHandler): boolean {
  return handler.type === 'command' && (handler.async === true || handler.asyncRewake === true);
}

/** What a handler does, in a few words of one line. */
export function describeHandler(handler: HookHandler): string {
  switch (handler.type) {
    case 'command':
      return `command ${quoted([handler.command, ...(handler.args ?? [])].join(' '))}`;
    case 'http':
      // What follows the path may be a secret.
      return `http ${quoted(handler.url.replace(/[?#].*$/s, '').replace(/\/\/[^/@]*@/, '//'))}`;
    case 'mcp_tool':
      return `mcp_tool ${quoted(`${handler.server}/${handler.tool}`)}`;
    case 'prompt':
    case 'agent':
      return `${handler.type} ${quoted(handler.prompt)}`;
    case 'callback':
      return `callback ${short(handler.id)}`;
  }
}

const LONGEST_TEXT = 80;

function quoted(text: string): string {
  return `"${short(text)}"`;
}

function short(text: string): string {
  const line = visible(redact(text.trim()));
  return line.length <= LONGEST_TEXT ? line : `${sliceWhole(line, 0, LONGEST_TEXT - 1)}…`;
}
