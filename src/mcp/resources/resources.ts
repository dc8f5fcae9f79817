import { sliceWhole } from '../../lib/text/truncate.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { join } from '../../platform/fs/paths.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../../tools/define-tool.js';
import { boundText, failure, spillInto } from '../../tools/output.js';
import type { Tool, ToolContext, ToolOutput } from '../../tools/tool.js';
import type { McpConnection } from '../server.js';
import {
  findConnection,
  type ListedResource,
  listedResource,
  markedResource,
  type SaveBytes,
  shownContents,
  unknownServer,
} from './content.js';
import listDescription from './list-resources.md';
import readDescription from './read-resource.md';

export interface ResourceToolDeps {
  /** The connected servers that no rule denies. */
  connections(): readonly McpConnection[];
  readonly fs: FileSystem;
}

/** Characters of a resource that are saved in a file; the model sees fewer. */
const MOST_TEXT = 10_000_000;
/** Resources listed per server. */
const MOST_LISTED = 1000;

/** Creates the resource tools; offer them only when `offersResources`. */
export function resourceTools(deps: ResourceToolDeps) {
  return { list: listTool(deps), read: readTool(deps) };
}

/** Whether any reachable server has a resource. */
export async function offersResources(connections: readonly McpConnection[]): Promise<boolean> {
  const lists = await Promise.all(connections.map((one) => one.listResources()));
  return lists.some((list) => list.ok && list.value.length > 0);
}

function listTool(deps: ResourceToolDeps): Tool<ToolInputs['ListMcpResourcesTool']> {
  return defineTool({
    name: 'ListMcpResourcesTool',
    aliases: ['ListMcpResources'],
    // `read`, because no input of the model reaches the server.
    kind: 'read',
    description: listDescription,
    subject: ({ server }) => ({
      paths: [],
      summary: server === undefined ? 'list MCP resources' : `list resources of ${short(server)}`,
    }),
    concurrencySafe: () => true,
    run: (input, context) => list(deps, input.server, context),
  });
}

async function list(
  { connections, fs }: ResourceToolDeps,
  server: string | undefined,
  context: ToolContext,
): Promise<ToolOutput> {
  const all = connections();
  const named = server === undefined ? undefined : findConnection(all, server);
  if (server !== undefined && named === undefined) return failure(unknownServer(all, server));
  const asked = named === undefined ? all : [named];
  const notes: string[] = [];
  const lists = await Promise.all(
    asked.map(async (connection) => await listOf(connection, notes, named !== undefined)),
  );
  const resources = lists.flat();
  const lines = resources.map((one) => JSON.stringify(one));
  if (lines.length === 0) lines.push('No resources.');
  const text = [...lines, ...notes.map((note) => `[${note}]`)].join('\n');
  const isError = resources.length === 0 && notes.length > 0;
  return {
    content: await boundText(text, { spill: spilling(fs, context) }),
    structured: resources,
    ...(isError ? { isError } : {}),
  };
}

async function listOf(
  connection: McpConnection,
  notes: string[],
  isNamed: boolean,
): Promise<readonly ListedResource[]> {
  const { name } = connection.declaration;
  const listed = await connection.listResources();
  if (!listed.ok) {
    // A server without resources needs a note only when it was named.
    if (isNamed || listed.error.code !== 'not-supported') notes.push(listed.error.message);
    return [];
  }
  const more = listed.value.length - MOST_LISTED;
  if (more > 0) notes.push(`${more} further resources of ${name} are not listed`);
  return listed.value.slice(0, MOST_LISTED).map((one) => listedResource(name, one));
}

function readTool(deps: ResourceToolDeps): Tool<ToolInputs['ReadMcpResourceTool']> {
  return defineTool({
    name: 'ReadMcpResourceTool',
    aliases: ['ReadMcpResource'],
    // `network`, because the model's URI reaches the server and may carry data out.
    kind: 'network',
    description: readDescription,
    subject: ({ server, uri }) => ({
      paths: [],
      summary: `read ${short(uri)} of the MCP server ${short(server)}`,
    }),
    concurrencySafe: () => true,
    run: (input, context) => read(deps, input, context),
  });
}

async function read(
  { connections, fs }: ResourceToolDeps,
  { server, uri }: ToolInputs['ReadMcpResourceTool'],
  context: ToolContext,
): Promise<ToolOutput> {
  const all = connections();
  const connection = findConnection(all, server);
  if (connection === undefined) return refused(unknownServer(all, server));
  const answer = await connection.readResource(uri, context.signal);
  if (!answer.ok) return refused(answer.error.message);
  const files: string[] = [];
  const save: SaveBytes = async (name, bytes) => {
    const file = join(context.spillDirectory(), `${fileName(context.toolUseId)}-${name}`);
    await fs.writeAtomic(file, bytes, { mode: 0o600 });
    files.push(file);
    return file;
  };
  const shown = await shownContents(answer.value, { cap: MOST_TEXT, save });
  const { name } = connection.declaration;
  const spill = spilling(fs, context);
  const blocks = shown.map((one) => markedResource(name, one)).join('\n\n');
  const content = blocks === '' ? 'The resource is empty.' : await boundText(blocks, { spill });
  const contents = shown.map(({ problem: _problem, text, ...rest }) => ({
    ...rest,
    text: text === undefined ? undefined : sliceWhole(text, 0, STRUCTURED_TEXT),
  }));
  return { content, structured: { contents }, ...(files.length === 0 ? {} : { files }) };
}

/** Characters per part for hooks and hosts; a file has the whole. */
const STRUCTURED_TEXT = 100_000;
const SUMMARY_CHARS = 200;

function refused(message: string): ToolOutput {
  return { ...failure(message), structured: { contents: [], error: message } };
}

function spilling(fs: FileSystem, context: ToolContext): (text: string) => Promise<string> {
  return spillInto(fs, { directory: context.spillDirectory, name: context.toolUseId });
}

function fileName(text: string): string {
  return text.replace(/[^\w.-]/g, '_');
}

function short(text: string): string {
  return sliceWhole(text, 0, SUMMARY_CHARS);
}
