import { type AgentSession, openSession, type SessionConfig } from '../../src/app.js';
import { isRecord } from '../../src/lib/own.js';
import type { Reply, ReplyFunction } from '../../src/model/scripted/format.js';
import type { Receipt } from '../../src/protocol/permissions.js';
import { type FakeModelServer, startFakeModelServer } from '../../src/testing/fake-model-server.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';

export interface SkillSession {
  readonly project: TempProject;
  readonly session: AgentSession;
  readonly receipts: readonly Receipt[];
  readonly notices: readonly string[];
  /** One prompt and all that the model does about it. */
  say(text: string): Promise<string>;
  /** Model and effort of each request. */
  asked(): readonly string[];
  /** All that the model was shown in its last request, as JSON. */
  shown(): string;
  close(): Promise<void>;
}

export interface SkillSessionOptions {
  readonly files?: ProjectFiles;
  readonly home?: ProjectFiles;
  /** Where it is started, below the project. */
  readonly start?: string;
  readonly script: readonly (Reply | ReplyFunction)[];
  readonly config?: Partial<SessionConfig>;
  readonly env?: Readonly<Record<string, string>>;
}

/** A whole session over a model server on this machine, in a temporary project that is trusted. */
export async function openSkillSession(options: SkillSessionOptions): Promise<SkillSession> {
  const project = makeTempProject({
    ...(options.files === undefined ? {} : { files: options.files }),
    ...(options.home === undefined ? {} : { home: options.home }),
  });
  const server = await startFakeModelServer({ script: options.script });
  const receipts: Receipt[] = [];
  const notices: string[] = [];
  const session = await openSession({
    cwd: options.start === undefined ? project.directory : project.at(options.start),
    env: {
      PATH: process.env.PATH,
      HOME: project.home,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: 'k',
      ...options.env,
    },
    entrypoint: 'test',
    start: { kind: 'new', id: undefined },
    fork: false,
    persist: false,
    trust: true,
    emit(event) {
      if (event.type === 'decision') receipts.push(event.receipt);
      if (event.type === 'notice') notices.push(event.text);
    },
    ...options.config,
  });
  let count = 0;
  return {
    project,
    session,
    receipts,
    notices,
    async say(text) {
      const uuid = `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`;
      return (await session.run([{ uuid, content: [{ type: 'text', text }] }])).outcome.text;
    },
    asked: () => bodiesOf(server).map((body) => `${body.model} ${effortOf(body)}`),
    shown: () => JSON.stringify(bodiesOf(server).at(-1)),
    async close() {
      await session.close();
      await server.close();
      project.remove();
    },
  };
}

function bodiesOf(server: FakeModelServer): readonly Record<string, unknown>[] {
  return server.requests.flatMap(({ body }) => (isRecord(body) ? [body] : []));
}

function effortOf({ output_config }: Record<string, unknown>): unknown {
  return isRecord(output_config) ? output_config.effort : undefined;
}

/** A call of the model. */
export const skill = (name: string, args?: string): Reply => ({
  tool: 'Skill',
  input: { skill: name, ...(args === undefined ? {} : { args }) },
});
