import { isRecord } from '../../lib/own.js';
import type { Draft } from './types.js';

/** The servers of a `.mcp.json`. */
export function serverDrafts(value: unknown): readonly Draft[] {
  if (!isRecord(value)) return [];
  const { mcpServers, ...rest } = value;
  const others = Object.entries(rest).filter(([, inner]) => isRecord(inner));
  return [
    ...Object.entries(isRecord(mcpServers) ? mcpServers : {}).map(([name, server]) =>
      draft(name, server, ['mcpServers', name]),
    ),
    // fail-closed: some programs also take servers that stand outside of `mcpServers`.
    ...others.map(([name, server]) => draft(name, server, [name])),
  ];
}

function draft(name: string, server: unknown, way: readonly string[]): Draft {
  const runs = isRecord(server)
    ? stringsIn([server.command, server.args, server.headersHelper])
    : [];
  return { kind: 'MCP server', name, text: textOf(server), way, value: server, runs };
}

function textOf(server: unknown): string {
  if (!isRecord(server)) return JSON.stringify(server) ?? '';
  const { command, args, url, headersHelper, env } = server;
  const words = stringsIn([command, args]).map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word),
  );
  const parts = [
    words.join(' '),
    typeof url === 'string' ? url : '',
    typeof headersHelper === 'string' ? `headersHelper: ${headersHelper}` : '',
    isRecord(env) ? `env: ${Object.keys(env).join(', ')}` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? JSON.stringify(server) : parts.join(' · ');
}

function stringsIn(values: readonly unknown[]): readonly string[] {
  return values.flat(2).filter((value): value is string => typeof value === 'string');
}
