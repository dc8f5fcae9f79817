import { PortcullisError } from '../../errors.js';
import { nearest } from '../../lib/text/nearest.js';
import { shellWord } from '../../lib/text/shell-word.js';
import { visible } from '../../lib/text/visible.js';
import { approvedName, openToolApprovals } from '../../mcp/approval/tool-approvals.js';
import type { ClientConnection } from '../../mcp/connection/connection.js';
import type { OpenServersOfSession } from '../../mcp/session/session-servers.js';
import { describeChange, describeWordsChange } from '../../mcp/tools/change.js';
import { shownInstructions } from '../../mcp/tools/definition-check.js';
import { definingParts, wordsFingerprint } from '../../mcp/tools/fingerprint.js';
import { stdioRequest } from '../../mcp/transport/stdio.js';
import { systemClock } from '../../platform/clock.js';
import { join } from '../../platform/fs/paths.js';
import { hostFacts } from '../../platform/host.js';
import type { ToolUseBlock } from '../../protocol/content.js';
import type { McpServerStatusRow } from '../../protocol/mcp-status.js';
import type { ToolCallResult } from '../../protocol/tool-call.js';
import { findProgram } from '../find-program.js';
import type { SessionParts } from '../session-parts.js';
import { unknownServer } from './mcp.js';

interface Connected {
  readonly mcp: OpenServersOfSession;
  readonly connection: ClientConnection;
}

/** The connection of a server that may be used, or an error that says why there is none. */
function connectionNamed({ parts }: SessionParts, name: string): Connected {
  const { mcp } = parts;
  const connection = mcp?.servers.find(name);
  if (mcp !== undefined && connection !== undefined) return { mcp, connection };
  const statuses = mcp?.statuses() ?? [];
  const status = statuses.find((one) => one.name === name);
  if (status === undefined) {
    throw unknownServer(
      name,
      statuses.map((one) => one.name),
    );
  }
  const reason = status.error ?? status.state;
  throw new PortcullisError('config', `"${visible(name)}" cannot be used: ${visible(reason)}`, {
    remedy: `portcullis mcp get ${visible(shellWord(name))} shows it`,
  });
}

/** Connects a server and adds its tools to those of the session. */
async function connect(opened: SessionParts, name: string): Promise<Connected> {
  const found = connectionNamed(opened, name);
  const connected = await found.connection.connect();
  if (!connected.ok) throw new PortcullisError('network', connected.error.message);
  opened.parts.toolRuntime.lateTools.add(await found.mcp.ask(found.connection));
  return found;
}

/** The state of one server after an attempt to connect it. */
export interface ServerStatus extends McpServerStatusRow {
  /** Full names of tools that differ from what was approved. */
  readonly changed: readonly string[];
  /** Its instructions differ from what was approved. */
  readonly saysOther: boolean;
  /** The file of its standard error. */
  readonly log?: string | undefined;
  /** The PATH in which its program was not found. */
  readonly searched?: string | undefined;
}

/** Connects the named servers, or all that may be used, and reads their state. */
export async function serverStatuses(
  opened: SessionParts,
  names: readonly string[],
): Promise<readonly ServerStatus[]> {
  const { mcp } = opened.parts;
  for (const name of names) connectionNamed(opened, name);
  if (mcp === undefined) return [];
  const isWanted = (name: string): boolean => names.length === 0 || names.includes(name);
  const connections = mcp.servers
    .connections()
    .filter(({ declaration }) => isWanted(declaration.name));
  await mcp.servers.connect(connections);
  const connected = connections.filter((one) => one.status().state === 'connected');
  // All lists, as each may contain something that is not offered.
  await Promise.all(
    connected.flatMap((one) => [mcp.ask(one), one.listResources(), one.listPrompts()]),
  );
  const rows = mcp.control.status().filter(({ name }) => isWanted(name));
  return await Promise.all(rows.map((row) => statusOf(opened, mcp, row)));
}

async function statusOf(
  { environment }: SessionParts,
  mcp: OpenServersOfSession,
  row: McpServerStatusRow,
): Promise<ServerStatus> {
  const declaration = mcp.servers.find(row.name)?.declaration;
  const { changed, saysOther } = mcp.changed(row.name);
  const log =
    declaration === undefined || row.transport !== 'stdio'
      ? undefined
      : join(environment.stateDirectory, 'mcp-logs', `${declaration.key}.log`);
  const entry = declaration?.entry;
  let searched: string | undefined;
  // For people only: what the model reads of a failure names no directories.
  if (row.status === 'failed' && entry?.type === 'stdio' && !/[/\\]/.test(entry.command)) {
    const { env, workspace } = environment;
    const { cwd } = workspace;
    const { PATH: path = '' } = stdioRequest(row.name, entry, { env, cwd }).env;
    const host = { fs: environment.fs, isWindows: hostFacts().os === 'win32' };
    const found = await findProgram(host, entry.command, { path, cwd });
    if (found.kind === 'missing') searched = path;
  }
  // A server that wrote nothing has no log.
  const hasLog =
    log !== undefined && (await environment.fs.stat(log).catch(() => undefined)) !== undefined;
  return { ...row, changed, saysOther, log: hasLog ? log : undefined, searched };
}

export interface ServerCall {
  readonly server: string;
  readonly tool: string;
  readonly input: ToolUseBlock['input'];
}

/** Calls one tool of a server through the gate; the receipt is journalled as in a session. */
export async function callServerTool(
  opened: SessionParts,
  call: ServerCall,
  signal: AbortSignal,
): Promise<ToolCallResult> {
  const { server, tool, input } = call;
  await connect(opened, server);
  const tools = opened.parts.toolRuntime.builtins.pool.tools.filter(
    ({ origin }) => origin?.server === server,
  );
  const found = tools.find(({ origin, name }) => origin?.tool === tool || name === tool);
  if (found === undefined) {
    const names = tools.flatMap(({ origin }) => origin?.tool ?? []);
    const meant = nearest(tool, names);
    const offers = names.length === 0 ? 'no tool that may be used' : visible(names.join(', '));
    const message = `the server "${visible(server)}" offers no tool "${visible(tool)}"`;
    throw new PortcullisError('usage', message, {
      remedy: meant === undefined ? `it offers ${offers}` : `did you mean "${visible(meant)}"?`,
    });
  }
  const id = `call_${systemClock.uuid()}`;
  const block: ToolUseBlock = { type: 'tool_use', id, name: found.name, input };
  return await opened.parts.toolRuntime.invoke(block, undefined, signal);
}

/** Definitions of a server that differ from those that a person approved. */
export interface PendingDefinitions {
  /** How many tools the server has. */
  readonly tools: number;
  /** Name, what changed, and the whole definition or instructions. */
  readonly changes: readonly { readonly title: string; readonly text: string }[];
  /** How many of them are tools. */
  readonly changedTools: number;
  readonly isDamaged: boolean;
  /** Approves exactly these definitions, until they change. */
  approve(): Promise<void>;
}

/** Connects a server and compares its definitions with what was approved. */
export async function pendingDefinitions(
  opened: SessionParts,
  name: string,
): Promise<PendingDefinitions> {
  const { mcp, connection } = await connect(opened, name);
  const { declaration } = connection;
  const tools = mcp.listing(name)?.tools ?? [];
  const approvals = openToolApprovals(opened.environment);
  const before = approvals.read(declaration);
  const open = tools.filter(
    (tool) => before.tools.get(tool.name)?.fingerprint !== tool.fingerprint,
  );
  const words = shownInstructions(connection.status().instructions) ?? '';
  const noted = before.words?.fingerprint;
  const changes = open.map((tool) => {
    const earlier = before.tools.get(approvedName(declaration, before.tools, tool.name) ?? '');
    const what =
      earlier === undefined ? 'new' : `changed: ${describeChange(earlier.definition, tool.raw)}`;
    const text = JSON.stringify(definingParts(tool.raw), null, 2);
    return { title: `${tool.name} (${what})`, text };
  });
  if ((noted ?? wordsFingerprint('')) !== wordsFingerprint(words)) {
    const what =
      noted === undefined ? 'new' : `changed: ${describeWordsChange(before.words?.text, words)}`;
    const text = words === '' ? '(nothing)' : words;
    changes.push({ title: `What it says about the use of its tools (${what})`, text });
  }
  return {
    tools: tools.length,
    changes,
    changedTools: open.length,
    isDamaged: before.damaged,
    async approve() {
      if (before.damaged) await approvals.forget(declaration);
      await approvals.record(declaration, before.damaged ? tools : open);
      await approvals.recordWords(declaration, words);
      mcp.wordsAccepted(connection, words);
    },
  };
}
