import { existsSync } from 'node:fs';
import { delimiter } from 'node:path';
import { displayPath, join } from '../../env/paths.js';
import type { OpenServersOfSession } from '../../harness/mcp-servers.js';
import type { ServerDeclaration } from '../../mcp/server.js';
import { stdioRequest } from '../../mcp/transport-stdio.js';
import type { McpServerStatusRow } from '../../protocol/mcp-status.js';
import { shellWord } from '../../util/shell-word.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { connectionNamed } from './mcp-reach.js';
import { openToolsHere, type ToolsHere } from './tools-here.js';

export const USAGE = 'portcullis mcp status [name] [--mcp-config F] [--settings F] [--json]';

interface Row extends McpServerStatusRow {
  /** Full names of tools that are not as they were approved. */
  readonly changed: readonly string[];
  /** What it says about the use of its tools is not what was accepted. */
  readonly saysOther: boolean;
  /** Where its standard error goes. */
  readonly log?: string;
  /** The PATH in which its program is not. */
  readonly searched?: string;
}

/** Connects the servers that may be used here, one or all, and shows how they stand. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json'],
    values: ['settings', 'mcp-config'],
  });
  const json = switches.has('json');
  const config = values.get('mcp-config');
  const here = await openToolsHere({
    entrypoint: 'portcullis-mcp',
    persist: false,
    asksModel: false,
    settings: values.get('settings'),
    mcpConfig: config === undefined ? [] : [config],
    emit: (news) => {
      if (!json && news.type === 'notice' && news.level === 'warning') output.warn(news.text);
    },
  });
  try {
    const rows = await look(here, words);
    if (json) output.out(`${JSON.stringify(rows, null, 2)}\n`);
    else if (rows.length === 0) output.out('There are no MCP servers here.\n');
    else output.out(rows.map((row) => rowText(row)).join('\n'));
    const isWell = ({ status }: Row): boolean =>
      status === 'connected' || (words.length === 0 && status !== 'failed');
    return rows.every(isWell) ? EXIT.done : EXIT.error;
  } finally {
    await here.close();
  }
}

async function look(here: ToolsHere, names: readonly string[]): Promise<readonly Row[]> {
  const { mcp } = here.parts;
  for (const name of names) connectionNamed(here, name);
  if (mcp === undefined) return [];
  const isWanted = (name: string): boolean => names.length === 0 || names.includes(name);
  const connections = mcp.servers
    .connections()
    .filter(({ declaration }) => isWanted(declaration.name));
  await mcp.servers.connect(connections);
  const connected = connections.filter((one) => one.status().state === 'connected');
  // All lists, as each may hold something that is not offered.
  await Promise.all(
    connected.flatMap((one) => [mcp.ask(one), one.listResources(), one.listPrompts()]),
  );
  return mcp.control
    .status()
    .filter(({ name }) => isWanted(name))
    .map((row) => withChanges(here, mcp, row));
}

function withChanges(here: ToolsHere, mcp: OpenServersOfSession, row: McpServerStatusRow): Row {
  const declaration = mcp.servers.find(row.name)?.declaration;
  const key = declaration?.key;
  const log =
    key === undefined || row.transport !== 'stdio'
      ? undefined
      : join(here.ground.stateDirectory, 'mcp-logs', `${key}.log`);
  const { changed, saysOther } = mcp.changed(row.name);
  // It is made at the first word, so a server that wrote nothing has none.
  return {
    ...row,
    changed,
    saysOther,
    ...(log === undefined || !existsSync(log) ? {} : { log }),
    ...searchedFor(here, declaration, row),
  };
}

/** For people alone: what the model reads of a failure names no directories. */
function searchedFor(
  { ground }: ToolsHere,
  declaration: ServerDeclaration | undefined,
  { name, status }: McpServerStatusRow,
): Pick<Row, 'searched'> {
  const entry = declaration?.entry;
  if (status !== 'failed' || entry?.type !== 'stdio' || /[/\\]/.test(entry.command)) return {};
  const { PATH = '' } = stdioRequest(name, entry, {
    env: ground.env,
    cwd: ground.workspace.cwd,
  }).env;
  const isThere = PATH.split(delimiter).some((one) => existsSync(join(one, entry.command)));
  return isThere ? {} : { searched: PATH };
}

const SHOWN_TOOLS = 40;

function rowText(row: Row): string {
  const { name, status, scope, transport, serverInfo, protocolVersion, tools, changed } = row;
  const lines = [`${name}  (${scope}, ${transport})  ${status}`];
  if (row.error !== undefined) lines.push(`  ${row.error}`);
  if (row.searched !== undefined) lines.push(`  PATH that was searched: ${row.searched}`);
  if (serverInfo !== undefined) {
    const spoken = protocolVersion === undefined ? '' : `, protocol ${protocolVersion}`;
    lines.push(`  server: ${serverInfo.name} ${serverInfo.version}${spoken}`);
  }
  if (tools !== undefined) {
    const names = tools.slice(0, SHOWN_TOOLS).map((tool) => tool.name);
    const more = tools.length > names.length ? ` and ${tools.length - names.length} more` : '';
    lines.push(
      `  tools: ${tools.length}${names.length === 0 ? '' : ` (${names.join(', ')}${more})`}`,
    );
  }
  for (const problem of row.problems ?? []) lines.push(`  ${problem}`);
  if (changed.length > 0) {
    lines.push(`  changed since they were approved: ${changed.join(', ')}`);
  }
  if (row.saysOther) {
    lines.push('  what it says about the use of its tools has changed, and is not passed on');
  }
  if (changed.length > 0 || row.saysOther) {
    lines.push(`  to look and accept: portcullis mcp approve ${shellWord(name)} --tools`);
  }
  if (row.log !== undefined) lines.push(`  log: ${displayPath(row.log, process.cwd())}`);
  return `${lines.map(visible).join('\n')}\n`;
}
