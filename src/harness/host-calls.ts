import type { FileAnswer, HostRequests, ToolAnswer } from '../agents/host-requests.js';
import type { SessionConfig } from '../agents/session-config.js';
import { resourceTools } from '../mcp/resources.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import { type ToolUseBlock, textOf } from '../protocol/content.js';
import { targetPath } from '../tools/file-target.js';
import { createInvoke } from '../tools/invoke.js';
import { createPool } from '../tools/pool.js';
import { createReadState } from '../tools/read-state.js';
import type { AnyTool } from '../tools/tool.js';
import { err, ok, type Result } from '../util/result.js';
import type { Ground } from './ground.js';
import type { Hands } from './hands.js';
import type { OpenServersOfSession } from './mcp-servers.js';

export interface HostCallParts {
  readonly hands: Hands;
  readonly mcp: Pick<OpenServersOfSession, 'connections'> | undefined;
}

type HostCalls = Pick<HostRequests, 'readFile' | 'readResource' | 'callTool'>;

/** Calls that the host makes itself. They go the one way in, past the same rules as the agent's. */
export function hostCalls(config: SessionConfig, ground: Ground, parts: HostCallParts): HostCalls {
  const { hands, mcp } = parts;
  const invoke = hostInvoke(config, ground, hands);
  return {
    readFile: fileReader(ground, hands, invoke),
    readResource: resourceReader(ground, mcp, invoke),
    async callTool({ tool: name, input }, signal) {
      const tool = hands.builtins.pool.resolve(name);
      if (tool?.origin === undefined) return err(`no MCP server offers a tool named ${name}`);
      return await invoke(tool, input, { signal, unattended: false });
    },
  };
}

type HostInvoke = (
  tool: AnyTool,
  input: Readonly<Record<string, unknown>>,
  how: { readonly signal: AbortSignal; readonly unattended: boolean },
) => Promise<Result<ToolAnswer, string>>;

function hostInvoke(config: SessionConfig, { workspace }: Ground, hands: Hands): HostInvoke {
  return async (tool, input, how) => {
    const run = createInvoke({
      ...hands.around,
      pool: createPool([tool]),
      agent: MAIN_AGENT,
      workspace,
      ...(how.unattended ? { unattended: true } : {}),
      // What the host has seen, the agent has not.
      contextFor: hands.contextOf(MAIN_AGENT, workspace, createReadState()),
      onVerdict: (_call, _tool, verdict) =>
        config.emit({ type: 'decision', receipt: hands.journal.note(verdict.receipt, 'now') }),
      onInvalidInput: () => undefined,
      onRan: () => undefined,
    });
    const id = `host_${hands.around.uuid()}`;
    const call: ToolUseBlock = { type: 'tool_use', id, name: tool.name, input };
    const { block, structured } = await run(call, undefined, how.signal);
    if (block.is_error === true) {
      return err(typeof block.content === 'string' ? block.content : textOf(block.content));
    }
    return ok({ content: block.content, ...(structured === undefined ? {} : { structured }) });
  };
}

function fileReader({ fs }: Ground, hands: Hands, invoke: HostInvoke): HostCalls['readFile'] {
  return async ({ path, maxBytes }, signal) => {
    const read = hands.builtins.pool.resolve('Read');
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
        const bytes = await fs.readHead(file, maxBytes);
        found = { absolutePath: file, bytes, truncated: stat.size > bytes.length };
        return output;
      },
    };
    const answer = await invoke(tool, { file_path: path }, { signal, unattended: true });
    if (!answer.ok) return answer;
    return found !== undefined && isOwn(answer.value, output) ? ok(found) : err(REPLACED);
  };
}

function resourceReader(
  { fs }: Ground,
  mcp: HostCallParts['mcp'],
  invoke: HostInvoke,
): HostCalls['readResource'] {
  const connections = () => mcp?.connections() ?? [];
  const connectionOf = (name: unknown) =>
    connections().find(({ declaration }) => declaration.name === name);
  return async ({ server, uri }, signal) => {
    if (connectionOf(server) === undefined) return err(`Server not found: ${server}`);
    let found: readonly unknown[] | undefined;
    const output = { content: '', structured: { contents: [] } };
    const tool: AnyTool = {
      ...resourceTools({ connections, fs }).read,
      // The host chooses the address, and no model: nothing is carried out by it.
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

const REPLACED = 'a hook has replaced what was read';

/** fail-closed: a hook that shows something else to the agent keeps what was read from its host too. */
function isOwn({ structured }: ToolAnswer, output: { readonly structured: unknown }): boolean {
  return structured === output.structured;
}
