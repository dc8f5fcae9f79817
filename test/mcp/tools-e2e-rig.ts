import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type AgentSession, openSession, type SessionConfig } from '../../src/app.js';
import { isRecord } from '../../src/lib/own.js';
import type { Reply, ReplyFunction } from '../../src/model/scripted/format.js';
import type { Receipt } from '../../src/protocol/permissions.js';
import {
  type FakeModelServer,
  type RecordedRequest,
  startFakeModelServer,
} from '../../src/testing/fake-model-server.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';

const FIXTURE = path.join(import.meta.dirname, 'tools-e2e.fixture.mjs');
const PACKAGES = path.resolve(import.meta.dirname, '../../node_modules/@modelcontextprotocol');

/** A tool of the scripted server: `do` says what it does. */
export interface ScriptedTool {
  readonly name: string;
  readonly do?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export interface ServerSpec {
  readonly tools?: readonly ScriptedTool[];
  readonly instructions?: string;
  readonly resources?: readonly Readonly<Record<string, string>>[];
  readonly prompts?: readonly string[];
  readonly startMs?: number;
  readonly stubborn?: boolean;
}

/** An entry that starts a program of an npm package of ours for tests. */
export function publicServer(name: string, ...args: string[]) {
  return { command: process.execPath, args: [path.join(PACKAGES, name, 'dist/index.js'), ...args] };
}

/** A project and a home whose servers can be changed between and during sessions. */
export class World {
  readonly project: TempProject;
  readonly #open = new Set<McpSession>();

  constructor(settings: unknown = {}) {
    this.project = makeTempProject({
      files: { '.claude/settings.json': { json: settings } },
      home: { '.claude.json': { json: {} } },
    });
  }

  /** What the scripted server of this name is from now on; returns its entry. */
  server(name: string, spec: ServerSpec) {
    const file = this.#file(name);
    writeFileSync(file, JSON.stringify(spec));
    return { command: process.execPath, args: [FIXTURE, file] };
  }

  /** The servers of the user. */
  servers(mcpServers: Readonly<Record<string, unknown>>): void {
    writeFileSync(path.join(this.project.home, '.claude.json'), JSON.stringify({ mcpServers }));
  }

  /** What the scripted server has seen so far, a line for each. */
  log(name: string): readonly string[] {
    const file = `${this.#file(name)}.log`;
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  starts(name: string): number {
    return this.log(name).filter((line) => line.startsWith('start')).length;
  }

  async session(options: SessionOptions): Promise<McpSession> {
    const session = await McpSession.open(this.project, options);
    this.#open.add(session);
    return session;
  }

  async remove(): Promise<void> {
    for (const session of this.#open) await session.close();
    this.project.remove();
  }

  #file(name: string): string {
    return path.join(this.project.root, `server-${name}.json`);
  }
}

export interface SessionOptions {
  readonly script: readonly (Reply | ReplyFunction)[];
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: Partial<SessionConfig>;
}

/** A whole session over a model server on this machine. */
export class McpSession {
  readonly receipts: Receipt[] = [];
  readonly notices: string[] = [];
  readonly #model: FakeModelServer;
  #session: AgentSession | undefined;
  #count = 0;

  private constructor(model: FakeModelServer) {
    this.#model = model;
  }

  static async open(project: TempProject, options: SessionOptions): Promise<McpSession> {
    const model = await startFakeModelServer({ script: options.script });
    const made = new McpSession(model);
    made.#session = await openSession({
      cwd: project.directory,
      env: {
        PATH: process.env.PATH,
        HOME: project.home,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'sk-ant-secret-of-ours',
        ENABLE_TOOL_SEARCH: 'false',
        ...options.env,
      },
      entrypoint: 'test',
      start: { kind: 'new', id: undefined },
      fork: false,
      persist: true,
      trust: true,
      emit(event) {
        if (event.type === 'decision') made.receipts.push(event.receipt);
        if (event.type === 'notice') made.notices.push(event.text);
      },
      ...options.config,
    });
    return made;
  }

  get session(): AgentSession {
    if (this.#session === undefined) throw new Error('the session is not open');
    return this.#session;
  }

  async say(text: string): Promise<string> {
    const uuid = `00000000-0000-4000-8000-${String(++this.#count).padStart(12, '0')}`;
    return (await this.session.run([{ uuid, content: [{ type: 'text', text }] }])).outcome.text;
  }

  get requests(): readonly RecordedRequest[] {
    return this.#model.requests;
  }

  body(index: number): Readonly<Record<string, unknown>> {
    const body = this.#model.requests.at(index)?.body;
    return isRecord(body) ? body : {};
  }

  /** All that the model was shown in a request, as JSON. */
  shown(index = -1): string {
    return JSON.stringify(this.body(index));
  }

  /** Names of the tools of a request, in its order. */
  tools(index = -1): readonly string[] {
    const { tools } = this.body(index);
    return Array.isArray(tools)
      ? tools.flatMap((tool: unknown) => (isRecord(tool) ? [String(tool.name)] : []))
      : [];
  }

  served(index = -1): readonly string[] {
    return this.tools(index).filter((name) => name.startsWith('mcp__'));
  }

  /** The blocks of the n-th tool result. */
  result(index: number): { readonly text: string; readonly isError: boolean; blocks: unknown[] } {
    const { messages } = this.body(-1);
    const results = (Array.isArray(messages) ? messages : [])
      .flatMap((message: unknown) =>
        isRecord(message) && Array.isArray(message.content) ? message.content : [],
      )
      .filter((block: unknown) => isRecord(block) && block.type === 'tool_result');
    const found: unknown = results[index];
    const content = isRecord(found) ? found.content : undefined;
    const blocks = Array.isArray(content) ? content : [{ type: 'text', text: String(content) }];
    const texts = blocks.map((block: unknown) =>
      isRecord(block) && typeof block.text === 'string' ? block.text : '',
    );
    return {
      text: texts.join('\n'),
      isError: isRecord(found) && found.is_error === true,
      blocks,
    };
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.close();
    await this.#model.close();
  }
}

export const call = (tool: string, input: Readonly<Record<string, unknown>> = {}): Reply => ({
  tool,
  input,
});
