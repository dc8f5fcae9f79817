import { type AgentSession, openSession, type RunResult } from '../../src/app.js';
import type { SessionConfig } from '../../src/config/session-config.js';
import type { Actor } from '../../src/model/scripted/format.js';
import { type FakeModelServer, startFakeModelServer } from '../../src/testing/fake-model-server.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';

export interface BudgetSession {
  readonly project: TempProject;
  readonly session: AgentSession;
  readonly server: FakeModelServer;
  say(text: string): Promise<RunResult>;
  /** Ends the process, as far as the session can tell, and takes the session up again. */
  again(config?: Partial<SessionConfig>): Promise<void>;
  close(): Promise<void>;
}

/** A definition with a budget of its own. */
export const agentFile = (name: string, budget: string, more = ''): string =>
  `---\nname: ${name}\ndescription: works\nportcullis:\n  budget: ${budget}\n${more}---\nYou work.\n`;

/** A session over a model server on this machine. Actors are told apart by a word in their prompt. */
export async function openBudgetSession(options: {
  readonly agents?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly main: Actor['replies'];
  readonly others?: Readonly<Record<string, Actor['replies']>>;
  readonly config?: Partial<SessionConfig>;
}): Promise<BudgetSession> {
  const files = Object.entries(options.agents ?? {}).map(
    ([name, text]) => [`.claude/agents/${name}.md`, text] as const,
  );
  const project = makeTempProject({
    files: Object.fromEntries(files),
    home: { '.claude/settings.json': JSON.stringify(options.settings ?? {}) },
  });
  const server = await startFakeModelServer({
    actors: [
      ...Object.entries(options.others ?? {}).map(([match, replies]) => ({
        name: match,
        match: { firstUser: match },
        replies,
      })),
      { name: 'main', replies: options.main },
    ],
  });
  const config = {
    cwd: project.directory,
    env: {
      PATH: process.env.PATH,
      HOME: project.home,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: 'k',
    },
    entrypoint: 'test',
    start: { kind: 'new', id: undefined } as SessionConfig['start'],
    fork: false,
    persist: true,
    trust: true,
    allowedTools: ['Bash(echo:*)', 'Bash(sleep:*)'],
    waitForBackground: true,
    emit: () => undefined,
    ...options.config,
  };
  let session = await openSession(config);
  let count = 0;
  return {
    project,
    get session() {
      return session;
    },
    server,
    async again(more = {}) {
      const { sessionId: id } = session.info();
      await session.close();
      const start = { kind: 'resume', id, newId: undefined, at: undefined } as const;
      session = await openSession({ ...config, start, ...more });
    },
    async say(text) {
      const uuid = `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`;
      return await session.run([{ uuid, content: [{ type: 'text', text }] }]);
    },
    async close() {
      await session.close();
      await server.close();
      project.remove();
    },
  };
}
