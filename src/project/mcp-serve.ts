import type {
  CallToolResult,
  InputRequiredResult,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { SessionConfig } from '../agents/session-config.js';
import { systemClock } from '../env/clock.js';
import { PortcullisError } from '../errors.js';
import type { ToolCallResult } from '../protocol/tool-call.js';
import type { AnyTool } from '../tools/tool.js';
import { isRecord } from '../util/own.js';
import { visible } from '../util/visible.js';
import { VERSION } from '../version.js';
import { createServedCalls, type ServedCall, type ServedCalls } from './mcp-serve-calls.js';
import type { Project } from './project.js';

export interface ServeOptions {
  /** The tools to offer; all that can be without it. */
  readonly names: readonly string[] | undefined;
  readonly emit: SessionConfig['emit'];
  /** Resolves when the client is gone. */
  readonly gone: Promise<void>;
  debug(text: string): void;
}

/** Of the tools that only steer a session, those that go with shell commands. */
const SHELL_CONTROLS: ReadonlySet<string> = new Set(['BashOutput', 'TaskStop']);
/** They put text into a conversation, or speak of other servers. */
const NOT_SERVED: ReadonlySet<string> = new Set([
  'Skill',
  'ListMcpResourcesTool',
  'ReadMcpResourceTool',
]);

/** Offers the built-in tools to an MCP client on standard input and output, each call through the gate. */
export async function serveProject(project: Project, options: ServeOptions): Promise<void> {
  const { names, emit } = options;
  const calls = createServedCalls(systemClock.uuid);
  const opened = await project.sessionParts({
    entrypoint: 'portcullis-mcp-serve',
    persist: true,
    asksModel: true,
    asker: calls.asker,
    strictMcpConfig: true,
    ...(names === undefined ? {} : { tools: names }),
    emit,
  });
  const { hands } = opened.parts;
  const { pool } = hands.builtins;
  const tools = pool.tools.filter(isServed);
  refuseMissing(names ?? [], tools);
  calls.lend(hands.invoke, ({ name, input }) => isShared(pool.resolve(name), input));
  await serveTools(calls, tools, options);
}

/** Parts of a conversation mean nothing to a client that has one of its own. */
function isServed({ name, origin, kind, needsPerson }: AnyTool): boolean {
  if (origin !== undefined || needsPerson === true || NOT_SERVED.has(name)) return false;
  return kind !== 'control' || SHELL_CONTROLS.has(name);
}

/** fail-closed: what the tool cannot say of this input is a no. */
function isShared(tool: AnyTool | undefined, input: ServedCall['input']): boolean {
  try {
    return tool?.concurrencySafe?.(input) === true;
  } catch {
    return false;
  }
}

function refuseMissing(names: readonly string[], tools: readonly AnyTool[]): void {
  const missing = names.find((name) => !tools.some((tool) => tool.name === name));
  if (missing === undefined) return;
  throw new PortcullisError('usage', `--tools: "${visible(missing)}" cannot be served`, {
    remedy: 'portcullis mcp serve without --tools offers all that can be',
  });
}

/** Serves until the client is gone. */
async function serveTools(
  calls: ServedCalls,
  tools: readonly AnyTool[],
  { gone, debug }: Pick<ServeOptions, 'gone' | 'debug'>,
): Promise<void> {
  const [library, { serveStdio }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/stdio'),
  ]);
  const make = (): Server => {
    const server = new library.Server(
      { name: 'portcullis', version: VERSION },
      { capabilities: { tools: {} } },
    );
    server.setRequestHandler('tools/list', () => ({ tools: tools.map(describe) as never }));
    server.setRequestHandler('tools/call', (request, context) =>
      answer(calls, tools, {
        name: request.params.name,
        input: request.params.arguments ?? {},
        canAsk: canAsk(server, context),
        context,
        required: library.inputRequired,
      }),
    );
    return server;
  };
  const serving = serveStdio(make, {
    onerror: (error) => debug(`mcp serve: ${error.message}`),
  });
  await gone;
  calls.close();
  await serving.close();
}

type Library = typeof import('@modelcontextprotocol/server');

interface Asked {
  readonly name: string;
  readonly input: ServedCall['input'];
  readonly canAsk: boolean;
  readonly context: ServerContext;
  readonly required: Library['inputRequired'];
}

const ANSWER = 'permission';

async function answer(
  calls: ServedCalls,
  tools: readonly AnyTool[],
  { name, input, canAsk: asks, context, required }: Asked,
): Promise<CallToolResult | InputRequiredResult> {
  // fail-closed: exact names of what is listed, and nothing else that the pool may hold.
  if (!tools.some((tool) => tool.name === name)) {
    return failed(`there is no tool ${JSON.stringify(visible(name))}`);
  }
  const { signal, inputResponses } = context.mcpReq;
  const state: unknown = context.mcpReq.requestState();
  const call: ServedCall = { name, input, canAsk: asks, signal };
  const given = inputResponses?.[ANSWER];
  const round = await (typeof state === 'string'
    ? calls.resume(state, call, given)
    : calls.begin(call));
  if (round === undefined) return failed('no call waits for this answer; call it again');
  if (round.kind === 'done') return resultOf(round.result);
  return required({
    requestState: round.token,
    inputRequests: {
      [ANSWER]: required.elicit({
        message: round.message,
        requestedSchema: {
          type: 'object',
          properties: { allow: { type: 'boolean', title: 'Allow this call', default: false } },
          required: ['allow'],
        },
      }),
    },
  });
}

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** Each request of the new protocol says for itself what its client can do. */
function canAsk(server: Server, { mcpReq }: ServerContext): boolean {
  const envelope: unknown = mcpReq.envelope;
  const said = isRecord(envelope) ? envelope[CAPABILITIES] : server.getClientCapabilities();
  const elicitation = isRecord(said) ? said.elicitation : undefined;
  if (!isRecord(elicitation)) return false;
  // Clients from before there were two kinds say nothing more; it was a form then.
  return elicitation.form !== undefined || elicitation.url === undefined;
}

function describe(tool: AnyTool): Readonly<Record<string, unknown>> {
  const { definition, kind } = tool;
  return {
    name: tool.name,
    description: definition.description,
    inputSchema: definition.input_schema,
    annotations: {
      readOnlyHint: kind === 'read',
      destructiveHint: kind === 'edit' || kind === 'execute',
      openWorldHint: kind === 'network' || kind === 'execute',
    },
  };
}

function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

function resultOf({ block, contexts, followUp }: ToolCallResult): CallToolResult {
  const content: CallToolResult['content'] =
    typeof block.content === 'string'
      ? [{ type: 'text', text: block.content }]
      : (block.content ?? []).map(contentOf);
  const beside = [...(contexts ?? []), ...(followUp ?? [])].map((text) => ({
    type: 'text' as const,
    text,
  }));
  return {
    content: [...content, ...beside],
    ...(block.is_error === true ? { isError: true } : {}),
  };
}

function contentOf(
  block: Exclude<ToolCallResult['block']['content'], string | undefined>[number],
): CallToolResult['content'][number] {
  if (block.type === 'text') return { type: 'text', text: block.text };
  if (block.type === 'image' && block.source.type === 'base64') {
    return { type: 'image', data: block.source.data, mimeType: block.source.media_type };
  }
  return { type: 'text', text: `[${block.type}]` };
}
