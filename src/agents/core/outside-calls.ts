import type { SessionEnvironment } from '../../config/session-environment.js';
import type { ShownIn } from '../../context/instructions/session-instructions.js';
import { err, ok, type Result } from '../../lib/result.js';
import { resourceTools } from '../../mcp/resources/resources.js';
import type { McpConnection, RawResourceContent } from '../../mcp/server.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { type ToolUseBlock, textOf } from '../../protocol/content.js';
import type { ToolCallResult } from '../../protocol/tool-call.js';
import { judgedNames, targetPath } from '../../tools/files/file-target.js';
import { createPool } from '../../tools/pool.js';
import type { AnyTool, FileVersion, ReadState, ToolContext } from '../../tools/tool.js';
import type { HostRequests, ToolAnswer } from './host-requests.js';
import type { Parts } from './session-parts.js';
import type { ToolRuntime } from './tool-runtime.js';

export interface OutsideAnswer extends ToolAnswer {
  /** Further texts for the agent: instructions near the files. */
  readonly followUp: readonly string[];
  /** What hooks said about the call, for the agent. */
  readonly contexts: readonly string[];
  /** The final input: a hook may have changed it. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Files that the call read; they count as read for an agent that is shown the answer. */
  readonly seen: SeenFiles;
}

export type SeenFiles = readonly (readonly [path: string, version: FileVersion])[];

export type OutsideInvoke = (
  tool: AnyTool,
  input: Readonly<Record<string, unknown>>,
  how: { readonly signal: AbortSignal; readonly unattended: boolean },
) => Promise<Result<OutsideAnswer, string>>;

interface OutsideParts extends Pick<Parts, 'toolRuntime' | 'instructions'> {
  /** Where instructions near the files are shown. */
  readonly shownIn: ShownIn;
}

/**
 * Calls that no model makes: a host requests them, or a person's prompt names what to read. They pass
 * the same gate as the agent's calls, each with its receipt. `onStop` receives the reason when a hook
 * or a person wants to end the turn.
 */
export function outsideInvoke(
  environment: SessionEnvironment,
  parts: OutsideParts & { readonly as: 'host' | 'mention'; onStop?(why: string): void },
): OutsideInvoke {
  return async (tool, input, how) => {
    const id = `${parts.as}_${environment.clock.uuid()}`;
    const made = await outsideCall(environment, parts, { ...how, tool, id, input });
    const { structured, followUp = [], contexts = [], stop, interrupt } = made.result;
    const { content, is_error: failed } = made.result.block;
    const words = typeof content === 'string' ? content : textOf(content);
    if (stop !== undefined) parts.onStop?.(`Stopped by a hook: ${stop}`);
    else if (interrupt === true) parts.onStop?.(`Stopped: ${words}`);
    if (failed === true) return err(words);
    // fail-closed: after a hook's stop the content is not passed on.
    if (stop !== undefined) return err(`a hook stopped it: ${stop}`);
    return ok({ content, structured, followUp, contexts, input: made.input, seen: made.seen });
  };
}

/** Makes one call that no model makes and returns its result, refused or not. */
export async function outsideCall(
  { workspace }: SessionEnvironment,
  { toolRuntime, instructions, shownIn }: OutsideParts,
  how: {
    readonly tool: AnyTool;
    readonly id: string;
    readonly input: Readonly<Record<string, unknown>>;
    readonly signal: AbortSignal;
    readonly unattended: boolean;
    /** A person typed this very call. */
    readonly isTyped?: boolean;
  },
): Promise<Pick<OutsideAnswer, 'input' | 'seen'> & { readonly result: ToolCallResult }> {
  const { tool, id, input, signal, unattended, isTyped } = how;
  const seen: (readonly [string, FileVersion])[] = [];
  const readState: ReadState = {
    note: (path, version) => void seen.push([path, version]),
    get: () => undefined,
  };
  let judged = input;
  const caller = { agent: MAIN_AGENT, pool: createPool([tool]), workspace, readState, unattended };
  const run = toolRuntime.calls.of(caller, {
    typed: isTyped === true ? input : undefined,
    onVerdict(_call, _tool, verdict) {
      if (verdict.kind === 'allowed') judged = verdict.input;
    },
  });
  const call: ToolUseBlock = { type: 'tool_use', id, name: tool.name, input };
  const done = instructions.countIn(id, shownIn);
  const result = await run(call, undefined, signal).finally(done);
  return { result, input: judged, seen };
}

/**
 * Sends a call through the gate but runs `read` in place of the tool. fail-closed: when a hook replaces
 * the result, the original is withheld from the host as well.
 */
async function readJudged<T>(
  invoke: OutsideInvoke,
  call: { tool: AnyTool; input: Readonly<Record<string, unknown>>; structured: unknown },
  read: (
    input: Readonly<Record<string, unknown>>,
    context: ToolContext,
  ) => Promise<Result<T, string>>,
  signal: AbortSignal,
): Promise<Result<T, string>> {
  const { tool, structured } = call;
  let found: Result<T, string> = err('a hook has replaced what was read');
  const run: AnyTool['run'] = async (input, context) => {
    const made = await read(input, context);
    if (!made.ok) return { content: made.error, isError: true };
    found = made;
    return { content: '', structured };
  };
  const answer = await invoke({ ...tool, run }, call.input, { signal, unattended: true });
  if (!answer.ok) return answer;
  return answer.value.structured === structured ? found : err('a hook has replaced what was read');
}

/** Reads the beginning of a file for a host, judged as a call of Read. */
export function fileReader(
  { fs }: SessionEnvironment,
  toolRuntime: ToolRuntime,
  invoke: OutsideInvoke,
): HostRequests['readFile'] {
  return async ({ path, maxBytes }, signal) => {
    const tool = toolRuntime.builtins.pool.resolve('Read');
    // fail-closed: a session that cannot read files does not read them for its host either.
    if (tool === undefined) return err('there is no Read tool here');
    const structured = { type: 'text', file: { filePath: path } };
    const readHead = async (input: Readonly<Record<string, unknown>>, context: ToolContext) => {
      const file = targetPath(String(input.file_path), context.workspace);
      const stat = await fs.stat(file);
      if (stat?.kind !== 'file') return err(`${file} is no file`);
      const realPath = judgedNames(context, file)?.real;
      const bytes = await fs.readHead(file, maxBytes, { realPath });
      return ok({ absolutePath: file, bytes, truncated: stat.size > bytes.length });
    };
    return await readJudged(
      invoke,
      { tool, input: { file_path: path }, structured },
      readHead,
      signal,
    );
  };
}

export type ResourceReader = (
  resource: { readonly server: string; readonly uri: string },
  signal: AbortSignal,
) => Promise<Result<readonly RawResourceContent[], string>>;

/**
 * Reads a resource for a host or a person, judged as a call of ReadMcpResourceTool, and returns it as
 * the server sent it.
 */
export function resourceReader(
  { fs }: Pick<SessionEnvironment, 'fs'>,
  connections: () => readonly McpConnection[],
  invoke: OutsideInvoke,
): ResourceReader {
  const connectionOf = (name: unknown) =>
    connections().find(({ declaration }) => declaration.name === name);
  return async ({ server, uri }, signal) => {
    if (connectionOf(server) === undefined) return err(`Server not found: ${server}`);
    // A host or a person chose the address instead of a model, so the call counts as reading.
    const tool: AnyTool = { ...resourceTools({ connections, fs }).read, kind: 'read' };
    return await readJudged(
      invoke,
      { tool, input: { server, uri }, structured: { contents: [] } },
      async (input, context) => {
        const connection = connectionOf(input.server);
        const answer = await connection?.readResource(String(input.uri), context.signal);
        if (answer === undefined) return err('the server is gone');
        return answer.ok ? answer : err(answer.error.message);
      },
      signal,
    );
  };
}
