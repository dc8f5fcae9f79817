import type {
  CallToolResult,
  InputRequiredResult,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { SessionConfig } from '../../config/session-config.js';
import { PortcullisError } from '../../errors.js';
import { isRecord } from '../../lib/own.js';
import { visible } from '../../lib/text/visible.js';
import { systemClock } from '../../platform/clock.js';
import type { ToolCallResult } from '../../protocol/tool-call.js';
import type { Invoke } from '../../tools/invocation.js';
import type { AnyTool } from '../../tools/tool.js';
import { VERSION } from '../../version.js';
import type { Project } from '../project.js';
import { type ServedCall, ServedCalls } from './served-calls.js';

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
/** Tools that need a conversation or other servers. */
const NOT_SERVED: ReadonlySet<string> = new Set([
  'Skill',
  'ListMcpResourcesTool',
  'ReadMcpResourceTool',
]);

/** Offers the built-in tools to an MCP client on standard input and output, each call through the gate. */
export async function serveProject(project: Project, options: ServeOptions): Promise<void> {
  const { names, emit } = options;
  const calls = new ServedCalls(systemClock.uuid);
  const opened = await project.sessionParts({
    entrypoint: 'portcullis-mcp-serve',
    persist: true,
    asksModel: true,
    asker: calls.ask,
    strictMcpConfig: true,
    tools: names,
    emit,
  });
  const { toolRuntime } = opened.parts;
  const tools = toolRuntime.builtins.pool.tools.filter(isServed);
  refuseMissing(names ?? [], tools);
  await serveTools({ calls, tools, invoke: toolRuntime.invoke }, options);
}

interface Served {
  readonly calls: ServedCalls;
  readonly tools: readonly AnyTool[];
  readonly invoke: Invoke;
}

/** A client has a conversation of its own, so tools that steer ours are left out. */
function isServed({ name, origin, kind, needsPerson }: AnyTool): boolean {
  if (origin !== undefined || needsPerson === true || NOT_SERVED.has(name)) return false;
  return kind !== 'control' || SHELL_CONTROLS.has(name);
}

/** fail-closed: a call runs alone unless its tool clearly says otherwise. */
function isShared(tool: AnyTool, input: ServedCall['input']): boolean {
  try {
    return tool.concurrencySafe?.(input) === true;
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
  served: Served,
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
    server.setRequestHandler('tools/list', () => ({ tools: served.tools.map(describe) as never }));
    server.setRequestHandler('tools/call', (request, context) =>
      answer(
        served,
        {
          name: request.params.name,
          input: request.params.arguments ?? {},
          canAsk: canAsk(server, context),
          signal: context.mcpReq.signal,
        },
        { request: context.mcpReq, required: library.inputRequired },
      ),
    );
    return server;
  };
  const serving = serveStdio(make, {
    onerror: (error) => debug(`mcp serve: ${error.message}`),
  });
  await gone;
  served.calls.close();
  await serving.close();
}

const ANSWER = 'permission';

async function answer(
  { calls, tools, invoke }: Served,
  call: ServedCall,
  {
    request,
    required,
  }: {
    readonly request: ServerContext['mcpReq'];
    readonly required: typeof import('@modelcontextprotocol/server')['inputRequired'];
  },
): Promise<CallToolResult | InputRequiredResult> {
  const tool = tools.find(({ name }) => name === call.name);
  // fail-closed: exact names of what is listed, and nothing else that the session has.
  if (tool === undefined) return failed(`there is no tool ${JSON.stringify(visible(call.name))}`);
  const state: unknown = request.requestState();
  const round = await (typeof state === 'string'
    ? calls.resume(state, call, request.inputResponses?.[ANSWER])
    : calls.begin(call, { invoke, shared: isShared(tool, call.input) }));
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

/** In the new protocol each request carries the capabilities of its client. */
function canAsk(server: Server, { mcpReq }: ServerContext): boolean {
  const envelope: unknown = mcpReq.envelope;
  const said = isRecord(envelope) ? envelope[CAPABILITIES] : server.getClientCapabilities();
  const elicitation = isRecord(said) ? said.elicitation : undefined;
  if (!isRecord(elicitation)) return false;
  // Older clients know one kind only, the form, and do not name it.
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
