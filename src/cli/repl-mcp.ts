import type { AgentSession } from '../harness.js';
import type { McpServerStatusRow } from '../protocol/mcp-status.js';
import { visible } from '../util/visible.js';

const USAGE = '/mcp [reconnect|enable|disable <name>]';

/** `/mcp` of a conversation: the servers and how they stand, or one of them changed. */
export async function mcpCommand(
  session: Pick<AgentSession, 'mcp'>,
  words: readonly string[],
): Promise<string> {
  const [what, ...names] = words;
  const name = names.join(' ');
  const { mcp } = session;
  if (what === undefined) return listText(mcp.status());
  if (name === '') return `usage: ${USAGE}`;
  switch (what) {
    case 'reconnect':
      await mcp.reconnect(name);
      break;
    case 'enable':
      await mcp.toggle(name, true);
      break;
    case 'disable':
      await mcp.toggle(name, false);
      break;
    default:
      return `usage: ${USAGE}`;
  }
  return listText(mcp.status().filter((row) => row.name === name));
}

function listText(rows: readonly McpServerStatusRow[]): string {
  if (rows.length === 0) return 'no MCP servers; portcullis mcp add <name> -- <command> adds one';
  return rows.map(rowText).join('\n');
}

function rowText(row: McpServerStatusRow): string {
  const { name, status, transport, source, serverInfo, error, tools, problems = [] } = row;
  const who = serverInfo === undefined ? '' : `, ${serverInfo.name} ${serverInfo.version}`;
  const count = tools === undefined ? '' : `, ${tools.length} tools`;
  const head = `${name}: ${STATES[status]} (${transport}, ${source}${who}${count})`;
  const lines = [...(error === undefined ? [] : [error]), ...problems];
  return [visible(head), ...lines.map((line) => `  ${visible(line)}`)].join('\n');
}

/** A server that was not needed yet is no problem. */
const STATES: Readonly<Record<McpServerStatusRow['status'], string>> = {
  connected: 'connected',
  failed: 'failed',
  'needs-auth': 'needs a sign-in',
  pending: 'not connected yet',
  disabled: 'off',
};
