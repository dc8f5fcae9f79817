import { isRecord, own } from '../../lib/own.js';
import type { Result } from '../../lib/result.js';
import { restraintAnywhere } from '../answers/restraint.js';
import { mayHoldVerdict } from '../answers/search.js';
import { attempt, failed } from '../dispatch/timeout.js';
import type { HookRaw, HookRunner, McpToolHandler } from '../registry/hook.js';

type Fields = Readonly<Record<string, unknown>>;

export interface McpAnswer {
  readonly text: string;
  readonly structured?: unknown;
  readonly isError: boolean;
}

export interface McpRunnerDeps {
  /** Calls a tool of a connected server. Absent: there are none now. The error says why not. */
  readonly call?: (
    server: string,
    tool: string,
    input: Fields,
    signal: AbortSignal,
  ) => Promise<Result<McpAnswer, string>>;
}

/** Has a tool of an MCP server answer. */
export function createMcpRunner(deps: McpRunnerDeps): HookRunner<McpToolHandler> {
  return async ({ handler }, request) => {
    const { call } = deps;
    const { server, tool } = handler;
    // fail-closed: a guard that is not there has not agreed.
    if (call === undefined) return failed('unavailable', `no MCP server "${server}" is connected`);
    return attempt(request, 'unavailable', async () => {
      const input = filled(handler.input ?? {}, request.input);
      const answer = await call(server, tool, input, request.signal);
      if (!answer.ok) return failed('unavailable', answer.error);
      const { text, structured, isError } = answer.value;
      if (isError) return failed('unavailable', `${tool} of "${server}" failed: ${text}`);
      return spoken(text, structured);
    });
  };
}

/** Many libraries wrap a text as `{"result": text}`, so that the verdict stands in the text alone. */
function spoken(text: string, structured: unknown): HookRaw {
  // fail-closed: a no counts in whichever of the two it stands.
  const isHeld = restraintAnywhere(structured) !== 'none';
  if (isHeld || (isRecord(structured) && !mayHoldVerdict(text))) {
    return { kind: 'value', value: structured };
  }
  return { kind: 'text', text };
}

/** Deeper nesting of a hook's input is a mistake. */
const MAX_DEPTH = 32;

function filled(template: Fields, input: Fields): Fields {
  const fill = (value: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH)
      throw new Error(`its input is nested more than ${MAX_DEPTH} levels deep`);
    if (typeof value === 'string') return interpolated(value, input);
    if (Array.isArray(value)) return value.map((one) => fill(one, depth + 1));
    return isRecord(value) ? fillFields(value, depth) : value;
  };
  const fillFields = (fields: Fields, depth: number): Fields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, fill(value, depth + 1)]),
    );
  return fillFields(template, 0);
}

/** `${tool_input.file_path}` becomes that field of the hook's input, or nothing where it is absent. */
function interpolated(text: string, input: Fields): string {
  return text.replace(/\$\{([^{}]*)\}/g, (_whole, path: string) => textAt(path, input));
}

function textAt(path: string, input: Fields): string {
  const names = path.split('.');
  let value: unknown = names.length > MAX_DEPTH ? undefined : input;
  for (const name of names) value = fieldOf(value, name.trim());
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function fieldOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return /^\d{1,9}$/.test(name) ? value[Number(name)] : undefined;
  return isRecord(value) ? own(value, name) : undefined;
}
