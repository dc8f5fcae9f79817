import { err, ok, type Result } from '../lib/result.js';
import { resourceTools } from '../mcp/resources/resources.js';
import type { McpConnection, RawResourceContent } from '../mcp/server.js';
import type { AnyTool } from '../tools/tool.js';
import { isOwn, type OutsideInvoke, REPLACED } from './host-tool-calls.js';
import type { SessionEnvironment } from './session-environment.js';

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
