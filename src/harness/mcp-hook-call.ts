import type { McpRunnerDeps } from '../hooks/mcp-runner.js';
import type { McpConnection } from '../mcp/server.js';
import { toolNames } from '../mcp/tool-names.js';
import { err, ok } from '../util/result.js';
import { visible } from '../util/visible.js';

/** Calls that hooks have made by tools of servers. Settings chose the tool; a deny still holds. */
export function hookCall(
  find: (server: string) => McpConnection | undefined,
  isBanned: (names: readonly string[]) => boolean,
): NonNullable<McpRunnerDeps['call']> {
  return async (server, tool, input, signal) => {
    const connection = find(server);
    if (connection === undefined) return err(`no MCP server "${visible(server)}" is connected`);
    const { name } = toolNames(connection.declaration.key, tool);
    // fail-closed: a tool that nobody may use is not used by a hook either.
    if (isBanned([name])) return err(`${name} is denied`);
    const called = await connection.call({ tool, arguments: input }, signal);
    if (!called.ok) return err(called.error.message);
    const { content, structuredContent, isError } = called.value;
    const texts = content.flatMap((block) => (typeof block.text === 'string' ? [block.text] : []));
    return ok({
      text: texts.join('\n'),
      isError: isError === true,
      ...(structuredContent === undefined ? {} : { structured: structuredContent }),
    });
  };
}
