import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { HookDispatcher } from '../../src/hooks/dispatch/dispatcher.js';
import type { Scene } from '../../src/hooks/dispatch/scene.js';
import { createElicitationHooks } from '../../src/hooks/events/elicitation.js';
import { promptExpanded } from '../../src/hooks/events/prompt.js';
import { createWorktreeHooks } from '../../src/hooks/events/worktree.js';
import { captureHooks } from '../../src/hooks/registry/capture.js';
import type { HookEventName } from '../../src/hooks/registry/hook.js';
import {
  createCallbackRunner,
  type HostCallbacks,
} from '../../src/hooks/registry/host-callbacks.js';
import { createCommandRunner } from '../../src/hooks/runners/command.js';
import { createHttpRunner } from '../../src/hooks/runners/http.js';
import { createMcpRunner } from '../../src/hooks/runners/mcp.js';
import {
  createAgentRunner,
  createPromptRunner,
  modelAsker,
} from '../../src/hooks/runners/model.js';
import { createPersistentHooks } from '../../src/hooks/runners/persistent.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { fetchPublic } from '../../src/platform/http/public-fetch.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import { FakeModel } from '../../src/testing/fake-model.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { testSupervisor } from '../process/helpers.js';
import { settings, sourced } from '../support/dispatch-rig.js';
import {
  command,
  type FailureWorld,
  failureWorld,
  type Handler,
  modesFor,
  PROSE,
  says,
  specific,
} from './e2e-rig.js';

let failures: FailureWorld;
let project: TempProject;
beforeAll(async () => {
  failures = await failureWorld();
  project = makeTempProject({ home: failures.home });
  mkdirSync(path.join(project.root, 'tree'));
});
afterAll(async () => {
  await failures.close();
  project.remove();
});

type Callbacks = Pick<HostCallbacks, 'call'>;

/** One hook in force, with everything real that runs it. */
function hooksWith(
  event: HookEventName,
  handler: Handler | undefined,
  host?: Callbacks,
): HookDispatcher {
  const env = { PATH: process.env.PATH, HOME: project.home };
  const place = {
    processes: testSupervisor(),
    env,
    projectDir: project.directory,
    sessionId: 'session-1',
    platform: 'linux',
  };
  const persistent = createPersistentHooks(place);
  const groups = handler === undefined ? [] : [sourced({ hooks: [handler] }, 'user')];
  const callbacks = {
    registered: () => [{ ids: ['guard'], timeoutMs: 400, onFailure: 'block' as const }],
  };
  const dispatch = new HookDispatcher(
    {
      runners: async () => ({
        command: createCommandRunner({ ...place, persistent }),
        http: createHttpRunner({
          fetch: async () => (request) => fetchPublic(request, { environment: {} }),
          env,
          allowedUrls: () => undefined,
          allowedEnvVars: () => undefined,
        }),
        mcp_tool: createMcpRunner({}),
        prompt: createPromptRunner({ ask: modelAsker(FakeModel.script([PROSE]), () => 'small') }),
        agent: createAgentRunner({ judge: () => Promise.reject(new Error('not here')) }),
        callback: createCallbackRunner(host ?? { call: () => Promise.reject(new Error('none')) }),
      }),
      facts: () => ({ sessionId: 'session-1', transcriptPath: '/t.jsonl' }),
      clock: { monotonic: () => performance.now(), uuid: () => crypto.randomUUID() },
      emit: () => undefined,
    },
    captureHooks({
      values: settings({ [`hooks.${event}`]: groups }),
      ...(host === undefined
        ? {}
        : { callbacks: { registered: (name) => (name === event ? callbacks.registered() : []) } }),
    }),
  );
  onTestFinished(async () => {
    await dispatch.close();
    await persistent.close();
  });
  return dispatch;
}

const scene = (): Scene => ({
  agent: MAIN_AGENT,
  cwd: project.directory,
  signal: new AbortController().signal,
});
const tell = (): void => undefined;

/** Fires the event and gives the reason of a no; undefined when it passes. */
type Fires = (dispatch: HookDispatcher) => Promise<string | undefined>;

const GATES: Partial<Record<HookEventName, { readonly fires: Fires; yes(): Handler }>> = {
  Elicitation: {
    yes: () => says(specific('Elicitation', { action: 'accept', content: { name: 'x' } })),
    async fires(dispatch) {
      const question = { mcp_server_name: 'srv', message: 'Who are you?' };
      const answer = await createElicitationHooks({ dispatch, tell }).ask(question, scene());
      return answer.kind === 'refused' ? answer.reason : undefined;
    },
  },
  ElicitationResult: {
    yes: () => command('cat > /dev/null'),
    async fires(dispatch) {
      const given = { mcp_server_name: 'srv', action: 'accept', content: { name: 'x' } } as const;
      const sent = await createElicitationHooks({ dispatch, tell }).result(given, scene());
      if (sent.action === 'accept') return undefined;
      expect(sent).not.toHaveProperty('content');
      return sent.reason;
    },
  },
  WorktreeCreate: {
    yes: () => command(`echo ${path.join(project.root, 'tree')}`),
    async fires(dispatch) {
      const hooks = createWorktreeHooks({
        dispatch,
        tell,
        fs: nodeFileSystem,
        projectDir: project.directory,
      });
      const made = await hooks.create({ name: 'feature' }, scene());
      return made.kind === 'refused' ? made.reason : undefined;
    },
  },
  UserPromptExpansion: {
    yes: () => command('cat > /dev/null'),
    async fires(dispatch) {
      const outcome = await promptExpanded(dispatch, {
        ...scene(),
        type: 'slash_command',
        command: 'deploy',
        args: 'now',
        prompt: '/deploy now',
      });
      return outcome.kind === 'blocked' ? outcome.reason : undefined;
    },
  },
};

describe.each(Object.entries(GATES))('%s', (name, { fires, yes }) => {
  const event = name as HookEventName;

  it('refuses with every way in which its hook can fail, each in its own words', async () => {
    const reasons = new Set<string>();
    for (const mode of modesFor(event, failures.modes)) {
      const reason = await fires(hooksWith(event, mode.handler(event)));
      expect(reason, mode.name).toContain('guard failed: ');
      expect(reason, mode.name).toContain(mode.text);
      reasons.add(String(reason).replace(/\d+ ms/, ''));
    }
    expect(reasons.size).toBe(modesFor(event, failures.modes).length);
  });

  it('refuses when a callback of the host throws, hangs or answers nonsense', async () => {
    const answers: Readonly<Record<string, Callbacks['call']>> = {
      BOOM: () => Promise.reject(new Error('BOOM')),
      'no answer within 0.4 s': () => new Promise(() => undefined),
      'continue must be': async () => ({ continue: 'no' }),
    };
    for (const [words, call] of Object.entries(answers)) {
      const reason = await fires(hooksWith(event, undefined, { call }));
      expect(reason, words).toContain('guard failed: ');
      expect(reason, words).toContain(words);
    }
  });

  it('passes when its hook agrees', async () => {
    expect(await fires(hooksWith(event, yes()))).toBeUndefined();
  });
});
