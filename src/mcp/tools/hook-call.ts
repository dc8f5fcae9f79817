import { orAbort } from '../../lib/abort.js';
import { err, ok, type Result } from '../../lib/result.js';
import { visible } from '../../lib/text/visible.js';
import { meantNames } from '../../lib/tool-names.js';
import type { McpConnection } from '../server.js';
import { toolNames } from './names.js';
import type { ToolBook } from './registry.js';

export interface HookCallParts {
  find(server: string): McpConnection | undefined;
  isBanned(names: readonly string[]): boolean;
  /** Checks that the definition matches the approved one. */
  vouch: ToolBook['vouch'];
}

export interface HookCallResult {
  readonly text: string;
  readonly isError: boolean;
  readonly structured: unknown;
}

/** Calls an MCP tool for a hook. The settings chose the tool, but denials and changed definitions still stop it. */
export function hookCall({ find, isBanned, vouch }: HookCallParts) {
  return async (
    server: string,
    tool: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Result<HookCallResult, string>> => {
    const connection = find(server);
    if (connection === undefined) return err(`no MCP server "${visible(server)}" is connected`);
    const { key } = connection.declaration;
    const { name, long } = toolNames(key, tool);
    const aliases = long === undefined ? [] : [long];
    // fail-closed: a tool denied under any of its names is denied to hooks too.
    if (isBanned(meantNames({ name, aliases, origin: { key } }))) return err(`${name} is denied`);
    // fail-closed: the settings chose the tool with its approved definition.
    const vouched = await orAbort(vouch(connection, tool), signal);
    if (!vouched.ok) return vouched;
    const called = await connection.call({ tool, arguments: input }, signal);
    if (!called.ok) return err(called.error.message);
    const { content, structuredContent, isError } = called.value;
    const texts = content.flatMap((block) => (typeof block.text === 'string' ? [block.text] : []));
    return ok({
      text: texts.join('\n'),
      isError: isError === true,
      structured: structuredContent,
    });
  };
}
