import { type AgentSession, openSession, type SessionConfig } from '../../src/app.js';
import { isRecord } from '../../src/lib/own.js';
import type { LoopEvent } from '../../src/loop/types.js';
import type { Actor, Reply, ReplyFunction } from '../../src/model/scripted/format.js';
import type { Receipt } from '../../src/protocol/permissions.js';
import type { SessionNews } from '../../src/protocol/session-events.js';
import { type FakeModelServer, startFakeModelServer } from '../../src/testing/fake-model-server.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';

type Told = LoopEvent | SessionNews;

export interface AgentsSession {
  readonly project: TempProject;
  readonly session: AgentSession;
  readonly server: FakeModelServer;
  readonly events: readonly Told[];
  readonly receipts: readonly Receipt[];
  readonly notices: readonly string[];
  say(text: string): ReturnType<AgentSession['run']>;
  /** What requests held whose text has this, as JSON. */
  requests(word: string): readonly string[];
  news<T extends Told['type']>(type: T): readonly Extract<Told, { type: T }>[];
  /** The result of the last call of a tool that the main agent made. */
  result(): { readonly text: string; readonly isError: boolean; readonly structured: unknown };
  close(): Promise<void>;
}

export interface AgentsOptions {
  readonly files?: ProjectFiles;
  readonly home?: ProjectFiles;
  readonly main: readonly (Reply | ReplyFunction)[];
  /** Replies by a word of the task or of the definition. */
  readonly agents?: Readonly<Record<string, readonly (Reply | ReplyFunction)[]>>;
  readonly config?: Partial<SessionConfig>;
  readonly env?: Readonly<Record<string, string>>;
}

/** A whole session over a model server on this machine, in a temporary project that is trusted. */
export async function openAgentsSession(options: AgentsOptions): Promise<AgentsSession> {
  const project = makeTempProject({
    ...(options.files === undefined ? {} : { files: options.files }),
    ...(options.home === undefined ? {} : { home: options.home }),
  });
  const children = Object.entries(options.agents ?? {}).map(
    ([word, replies]): Actor => ({ name: word, match: { firstUser: word }, replies }),
  );
  const server = await startFakeModelServer({
    actors: [...children, { name: 'main', replies: options.main }],
  });
  const events: Told[] = [];
  const session = await openSession({
    cwd: project.directory,
    env: {
      PATH: process.env.PATH,
      HOME: project.home,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: 'k',
      CLAUDE_CODE_MAX_RETRIES: '0',
      ...options.env,
    },
    entrypoint: 'test',
    start: { kind: 'new', id: undefined },
    fork: false,
    persist: true,
    trust: true,
    emit: (event) => void events.push(event),
    ...options.config,
  });
  const of = <T extends Told['type']>(type: T) =>
    events.filter((event): event is Extract<Told, { type: T }> => event.type === type);
  let count = 0;
  return {
    project,
    session,
    server,
    events,
    get receipts() {
      return of('decision').map(({ receipt }) => receipt);
    },
    get notices() {
      return of('notice').map(({ text }) => text);
    },
    say(text) {
      const uuid = `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`;
      return session.run([{ uuid, content: [{ type: 'text', text }] }]);
    },
    requests: (word) =>
      server.requests
        .flatMap(({ body }) => (isRecord(body) ? [JSON.stringify(body)] : []))
        .filter((text) => text.includes(word)),
    news: of,
    result() {
      const last = of('tool_result').at(-1);
      if (last === undefined) throw new Error('no call was made');
      const { content, is_error } = last.result.block;
      const text = typeof content === 'string' ? content : JSON.stringify(content);
      return { text, isError: is_error === true, structured: last.result.structured };
    },
    async close() {
      await session.close();
      await server.close();
      project.remove();
    },
  };
}

/** A call that starts an agent. */
export const agent = (prompt: string, more: Readonly<Record<string, unknown>> = {}): Reply => ({
  tool: 'Agent',
  input: { description: `the ${prompt}`, prompt, ...more },
});

export const bash = (command: string): Reply => ({ tool: 'Bash', input: { command } });

/** An agent file. */
export const definition = (head: string, body = 'Do it.'): string => `---\n${head}\n---\n${body}\n`;
