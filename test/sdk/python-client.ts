import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isRecord } from '../../src/lib/own.js';
import { PROGRAM } from './official.js';
import { RawClient } from './raw-client.js';
import type { Frame } from './suite/play.js';
import type { World } from './suite/world.js';

/**
 * What the Python library does on the wire, where it differs from the TypeScript one: flags in two
 * words, the system prompt as a flag, every server in `--mcp-config`, `hooks: null`, an answer to
 * `initialize` that is waited for, prompts as plain text, input kept open until the first result,
 * no manifests, an allow that always repeats the input.
 */
export interface PythonOptions {
  readonly flags?: readonly string[];
  readonly hooks?: Readonly<Record<string, readonly PythonMatcher[]>>;
  readonly callbacks?: Readonly<Record<string, (input: Frame) => unknown>>;
  readonly canUseTool?: (tool: string, input: Frame, context: Frame) => unknown;
  readonly servers?: Readonly<Record<string, PythonServer>>;
  readonly agents?: Readonly<Record<string, object>>;
}

export interface PythonMatcher {
  readonly matcher: string | null;
  readonly hookCallbackIds: readonly string[];
  readonly timeout?: number;
}

export interface PythonServer {
  readonly tools: Readonly<Record<string, (args: Frame) => unknown>>;
}

let probed: Promise<void> | undefined;

/** The library does it before every start; here once is enough. */
async function probe(env: Readonly<Record<string, string>>): Promise<void> {
  const { stdout } = await promisify(execFile)(PROGRAM, ['-v'], { env, timeout: 10_000 });
  if (!/^\d+\.\d+\.\d+/.test(stdout)) throw new Error(`no version: ${stdout}`);
}

/** Starts a session as the Python library does, up to the answer to `initialize`. */
export async function startPython(
  world: World,
  options: PythonOptions = {},
): Promise<{ client: RawClient; initialized: Frame; asked: Frame[] }> {
  const asked: Frame[] = [];
  const env = {
    ...world.env,
    CLAUDE_CODE_ENTRYPOINT: 'sdk-py',
    CLAUDE_AGENT_SDK_VERSION: '0.2.143',
  };
  probed ??= probe(env);
  await probed;
  const client = new RawClient({
    argv: [
      ...['--output-format', 'stream-json', '--verbose', '--system-prompt', ''],
      ...serverFlags(options.servers ?? {}),
      ...(options.canUseTool === undefined ? [] : ['--permission-prompt-tool', 'stdio']),
      ...(options.flags ?? []),
      ...['--input-format', 'stream-json'],
    ],
    cwd: world.project.directory,
    env: { ...env, PWD: world.project.directory },
    answer: (request) => {
      asked.push(request);
      return answerTo(request, options);
    },
  });
  const initialized = await client.request({
    subtype: 'initialize',
    hooks: options.hooks ?? null,
    ...(options.agents === undefined ? {} : { agents: options.agents }),
  });
  return { client, initialized, asked };
}

/** One prompt as `query()` of the Python library sends it. */
export function promptOf(text: string, session = ''): Frame {
  return {
    type: 'user',
    message: { role: 'user', content: text },
    parent_tool_use_id: null,
    session_id: session,
  };
}

/** One whole query: input stays open until the first result. */
export async function queryPython(
  world: World,
  text: string,
  options: PythonOptions = {},
): Promise<{ client: RawClient; code: number | null; asked: Frame[] }> {
  const { client, asked } = await startPython(world, options);
  client.send(promptOf(text));
  await client.result();
  return { client, code: await client.end(), asked };
}

function serverFlags(servers: NonNullable<PythonOptions['servers']>): readonly string[] {
  const entries = Object.keys(servers).map((name) => [name, { type: 'sdk', name }]);
  if (entries.length === 0) return [];
  return ['--mcp-config', JSON.stringify({ mcpServers: Object.fromEntries(entries) })];
}

async function answerTo(request: Frame, options: PythonOptions): Promise<unknown> {
  const input = isRecord(request.input) ? request.input : {};
  switch (request.subtype) {
    case 'hook_callback': {
      const callback = options.callbacks?.[String(request.callback_id)];
      if (callback === undefined) throw new Error(`No hook callback found: ${request.callback_id}`);
      return await callback(input);
    }
    case 'can_use_tool': {
      const made = await options.canUseTool?.(String(request.tool_name), input, request);
      if (!isRecord(made)) throw new Error('Tool permission callback must return a result');
      return made.behavior === 'allow' ? { updatedInput: input, ...made } : made;
    }
    case 'mcp_message':
      return { mcp_response: await serve(request, options.servers ?? {}) };
    default:
      throw new Error(`Unsupported control request subtype: ${request.subtype}`);
  }
}

/** The library's own little server: it knows four methods and never speaks unasked. */
async function serve(
  request: Frame,
  servers: NonNullable<PythonOptions['servers']>,
): Promise<object> {
  const message = isRecord(request.message) ? request.message : {};
  const params = isRecord(message.params) ? message.params : {};
  const reply = (result: object): object => ({ jsonrpc: '2.0', id: message.id, result });
  const fail = (code: number, text: string): object => ({
    jsonrpc: '2.0',
    id: message.id,
    error: { code, message: text },
  });
  const name = String(request.server_name);
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server === undefined) return fail(-32601, `Server '${name}' not found`);
  switch (message.method) {
    case 'initialize':
      return reply({
        protocolVersion: '2024-11-05',
        capabilities: { tools: {} },
        serverInfo: { name, version: '1.0.0' },
      });
    case 'tools/list':
      return reply({
        tools: Object.keys(server.tools).map((tool) => ({
          name: tool,
          description: tool,
          inputSchema: { type: 'object', properties: {} },
        })),
      });
    case 'tools/call': {
      const tool = server.tools[String(params.name)];
      if (tool === undefined) return fail(-32602, `Tool '${params.name}' not found`);
      try {
        const made = await tool(isRecord(params.arguments) ? params.arguments : {});
        return reply({ content: [{ type: 'text', text: String(made) }] });
      } catch (thrown) {
        const words = thrown instanceof Error ? thrown.message : 'failed';
        return reply({ content: [{ type: 'text', text: words }], isError: true });
      }
    }
    case 'notifications/initialized':
      return { jsonrpc: '2.0', result: {} };
    default:
      return fail(-32601, `Method '${message.method}' not found`);
  }
}
