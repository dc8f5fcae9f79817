import { isRecord, own } from '../../lib/own.js';
import { redact } from '../../lib/redact.js';
import { err, ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/truncate.js';
import { visible } from '../../lib/visible.js';
import {
  HOOK_KINDS,
  type HookEventName,
  type HookKind,
  hookEventFacts,
} from '../../protocol/hook-events.js';
import { frozen } from '../dispatch/frozen.js';
import type { HookHandler } from './hook.js';

/** A handler as written, checked, and what it says about its own limits. */
export interface ReadHandler {
  /** Frozen, and nobody else's. */
  readonly handler: HookHandler;
  readonly timeoutMs?: number;
  readonly onFailure?: 'block' | 'continue';
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFilled: Check = (value) => typeof value === 'string' && value.trim() !== '';
const isFlag: Check = (value) => typeof value === 'boolean';
const areTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isTable: Check = (value) => isRecord(value) && Object.values(value).every(isText);
const isOneOf =
  (...words: readonly unknown[]): Check =>
  (value) =>
    words.includes(value);
const isDuration: Check = (value) =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;

const checks: Readonly<Record<string, Check>> = {
  if: isText,
  timeout: isDuration,
  statusMessage: isText,
  once: isFlag,
  onFailure: isOneOf('block', 'continue'),
  command: isFilled,
  args: areTexts,
  shell: isOneOf('bash', 'powershell'),
  async: isFlag,
  asyncRewake: isFlag,
  persistent: isFlag,
  allowedEnvVars: areTexts,
  url: isFilled,
  headers: isTable,
  server: isFilled,
  tool: isFilled,
  input: isRecord,
  prompt: isFilled,
  model: isText,
  continueOnBlock: isFlag,
};

const REQUIRED: Readonly<Record<HookKind, readonly string[]>> = {
  command: ['command'],
  http: ['url'],
  mcp_tool: ['server', 'tool'],
  prompt: ['prompt'],
  agent: ['prompt'],
};

/** Reads a handler. What the check of the settings should have refused is refused here once more. */
export function readHandler(event: HookEventName, raw: unknown): Result<ReadHandler, string> {
  if (!isRecord(raw)) return err('it is no object');
  const kind = HOOK_KINDS.find((known) => known === raw.type);
  if (kind === undefined) return err(`there are no hooks of type ${shown(raw.type)}`);
  if (!hookEventFacts(event).kinds.includes(kind)) return err(`${event} takes no ${kind} hooks`);
  const missing = REQUIRED[kind].find((name) => !Object.hasOwn(raw, name));
  if (missing !== undefined) return err(`${missing} is missing`);
  const wrong = Object.keys(raw).find((name) => own(checks, name)?.(raw[name]) === false);
  if (wrong !== undefined) return err(`${wrong} cannot be ${shown(raw[wrong])}`);
  const { timeout, onFailure, ...rest } = structuredClone(raw);
  // Of a wrong type they describe nothing, which is no reason to lose the hook.
  for (const name of ['name', 'description']) if (!isText(rest[name])) delete rest[name];
  return ok({
    // Every field that the kinds know was looked at above.
    handler: frozen(rest) as unknown as HookHandler,
    ...(typeof timeout === 'number' ? { timeoutMs: timeout * 1000 } : {}),
    ...(onFailure === 'block' || onFailure === 'continue' ? { onFailure } : {}),
  });
}

/** Whether a group or handler is switched off. Only the very word does that. */
export function isSwitchedOff(raw: unknown): boolean {
  return isRecord(raw) && raw.enabled === false;
}

/** What a handler itself says about its failure, however broken the rest of it is. */
export function failureWish(raw: unknown): 'block' | 'continue' | undefined {
  const wish = isRecord(raw) ? raw.onFailure : undefined;
  return wish === 'block' || wish === 'continue' ? wish : undefined;
}

/** Runs beside the session: nobody waits for it, so it decides nothing. */
export function runsBeside(handler: HookHandler): boolean {
  return handler.type === 'command' && (handler.async === true || handler.asyncRewake === true);
}

/** The same text for handlers that do the same, whatever the order of their keys. */
export function handlerText(raw: unknown): string {
  return JSON.stringify(raw, (_key, inner: unknown) =>
    isRecord(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
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

function shown(value: unknown): string {
  return short(JSON.stringify(value) ?? 'absent');
}
