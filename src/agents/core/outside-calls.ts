import type { SessionEnvironment } from '../../config/session-environment.js';
import type { OpenInstructions, ShownIn } from '../../context/instructions/session-instructions.js';
import { err, ok, type Result } from '../../lib/result.js';
import { resourceTools } from '../../mcp/resources/resources.js';
import type { McpConnection, RawResourceContent } from '../../mcp/server.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { type ToolUseBlock, textOf } from '../../protocol/content.js';
import type { ToolCallResult } from '../../protocol/tool-call.js';
import { judgedNames, targetPath } from '../../tools/files/file-target.js';
import { createPool } from '../../tools/pool.js';
import type { AnyTool, FileVersion, ReadState } from '../../tools/tool.js';
import type { FileAnswer, HostRequests, ToolAnswer } from './host-requests.js';
import type { Parts } from './session-parts.js';
import type { ToolRuntime } from './tool-runtime.js';

export interface OutsideAnswer extends ToolAnswer {
  /** What the call brings with it, for the agent: instructions near its files. */
  readonly followUp: readonly string[];
  /** What hooks said about it, for the agent. */
  readonly contexts: readonly string[];
  /** What the tool was called with in the end: a hook may have changed it. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Files that it read. They count as read by whoever is shown the answer. */
  readonly seen: SeenFiles;
}

export type SeenFiles = readonly (readonly [path: string, version: FileVersion])[];

export type OutsideInvoke = (
  tool: AnyTool,
  input: Readonly<Record<string, unknown>>,
  how: { readonly signal: AbortSignal; readonly unattended: boolean },
) => Promise<Result<OutsideAnswer, string>>;

/**
 * Calls that no model makes: a host asks for them, or a person's prompt names what is to be read. They
 * go the one way in, past the same rules as the agent's, each with its receipt.
 */
export function outsideInvoke(environment: SessionEnvironment, parts: OutsideParts): OutsideInvoke {
  const { as, onStop } = parts;
  return async (tool, input, how) => {
    const id = `${as}_${environment.clock.uuid()}`;
    const made = await outsideCall(environment, { ...parts, ...how, tool, id, input });
    const { structured, followUp = [], contexts = [], stop, interrupt } = made.result;
    const { content, is_error: failed } = made.result.block;
    const words = typeof content === 'string' ? content : textOf(content);
    if (stop !== undefined) onStop?.(`Stopped by a hook: ${stop}`);
    else if (interrupt === true) onStop?.(`Stopped: ${words}`);
    if (failed === true) return err(words);
    // fail-closed: who wants to stop does not want what was read to go further.
    if (stop !== undefined) return err(`a hook stopped it: ${stop}`);
    return ok({ content, structured, followUp, contexts, input: made.input, seen: made.seen });
  };
}

/** One call that no model makes. */
export interface OutsideCall
  extends Pick<OutsideParts, 'toolRuntime' | 'instructions' | 'shownIn'> {
  readonly tool: AnyTool;
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly unattended: boolean;
  /** A person typed this very call. */
  readonly isTyped?: boolean;
}

export interface OutsideResult {
  readonly result: ToolCallResult;
  /** What the tool was called with in the end: a hook may have changed it. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly seen: SeenFiles;
}

/** Makes one such call and gives the whole result back, refused or not. */
export async function outsideCall(
  { workspace }: SessionEnvironment,
  { toolRuntime, instructions, shownIn, tool, id, input, signal, unattended, isTyped }: OutsideCall,
): Promise<OutsideResult> {
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

export interface OutsideParts {
  readonly toolRuntime: ToolRuntime;
  readonly instructions: Pick<OpenInstructions, 'countIn'>;
  readonly as: 'host' | 'mention';
  /** Where instructions near the files are shown. */
  readonly shownIn: ShownIn;
  /** A hook or whoever was asked wants the turn to end, and why. Absent: there is none. */
  onStop?(why: string): void;
}

export const REPLACED = 'a hook has replaced what was read';

/** fail-closed: a hook that shows something else to the agent keeps what was read from others too. */
export function isOwn(
  { structured }: ToolAnswer,
  output: { readonly structured: unknown },
): boolean {
  return structured === output.structured;
}

type HostCalls = Pick<HostRequests, 'readFile' | 'readResource' | 'callTool'>;

/** Calls that the host makes itself. They go the one way in, past the same rules as the agent's. */
export function hostCalls(
  environment: SessionEnvironment,
  parts: Parts & { readonly rules: { refreshForHost(): Promise<void> } },
): HostCalls {
  const { toolRuntime, instructions, mcp, rules } = parts;
  const judged = outsideInvoke(environment, {
    toolRuntime,
    instructions,
    as: 'host',
    shownIn: undefined,
  });
  const invoke: OutsideInvoke = async (...call) => {
    // No request to a model goes before it, beside which the rules would be looked at.
    await rules.refreshForHost();
    return await judged(...call);
  };
  return {
    readFile: fileReader(environment, toolRuntime, invoke),
    readResource: resourceReader(environment, () => mcp?.connections() ?? [], invoke),
    async callTool({ tool: name, input }, signal) {
      // A host may call before a server has said what it offers.
      if (toolRuntime.builtins.pool.resolve(name) === undefined) await mcp?.settle(signal);
      const tool = toolRuntime.builtins.pool.resolve(name);
      if (tool?.origin === undefined) return err(`no MCP server offers a tool named ${name}`);
      return await invoke(tool, input, { signal, unattended: false });
    },
  };
}

function fileReader(
  { fs }: SessionEnvironment,
  toolRuntime: ToolRuntime,
  invoke: OutsideInvoke,
): HostCalls['readFile'] {
  return async ({ path, maxBytes }, signal) => {
    const read = toolRuntime.builtins.pool.resolve('Read');
    // fail-closed: a session that cannot read files does not read them for its host either.
    if (read === undefined) return err('there is no Read tool here');
    let found: FileAnswer | undefined;
    const output = { content: '', structured: { type: 'text', file: { filePath: path } } };
    const tool: AnyTool = {
      ...read,
      async run(input, context) {
        const file = targetPath(String(input.file_path), context.workspace);
        const stat = await fs.stat(file);
        if (stat?.kind !== 'file') return { content: `${file} is no file`, isError: true };
        const bytes = await fs.readHead(file, maxBytes, {
          realPath: judgedNames(context, file)?.real,
        });
        found = { absolutePath: file, bytes, truncated: stat.size > bytes.length };
        return output;
      },
    };
    const answer = await invoke(tool, { file_path: path }, { signal, unattended: true });
    if (!answer.ok) return answer;
    return found !== undefined && isOwn(answer.value, output) ? ok(found) : err(REPLACED);
  };
}

export type ResourceReader = (
  resource: { readonly server: string; readonly uri: string },
  signal: AbortSignal,
) => Promise<Result<readonly RawResourceContent[], string>>;

/** Reads a resource as ReadMcpResourceTool would, for a host or a person, who get it as the server sent it. */
export function resourceReader(
  { fs }: Pick<SessionEnvironment, 'fs'>,
  connections: () => readonly McpConnection[],
  invoke: OutsideInvoke,
): ResourceReader {
  const connectionOf = (name: unknown) =>
    connections().find(({ declaration }) => declaration.name === name);
  return async ({ server, uri }, signal) => {
    if (connectionOf(server) === undefined) return err(`Server not found: ${server}`);
    let found: readonly RawResourceContent[] | undefined;
    const output = { content: '', structured: { contents: [] } };
    const tool: AnyTool = {
      ...resourceTools({ connections, fs }).read,
      // A host or a person chooses the address, and no model: nothing is carried out by it.
      kind: 'read',
      async run(input, context) {
        const connection = connectionOf(input.server);
        const answer = await connection?.readResource(String(input.uri), context.signal);
        if (answer === undefined) return { content: 'the server is gone', isError: true };
        if (!answer.ok) return { content: answer.error.message, isError: true };
        found = answer.value;
        return output;
      },
    };
    const answer = await invoke(tool, { server, uri }, { signal, unattended: true });
    if (!answer.ok) return answer;
    return found !== undefined && isOwn(answer.value, output) ? ok(found) : err(REPLACED);
  };
}
