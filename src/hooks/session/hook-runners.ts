import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { resolveModel } from '../../model/catalog/aliases.js';
import type { ModelClient } from '../../model/client.js';
import type { Environment } from '../../platform/environment.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { hookSwitches } from '../../settings/merge/switches.js';
import type { EffectiveSettings } from '../../settings/types.js';
import { type HookVariables, readEnvFile } from '../dispatch/env-file.js';
import type { HookRunners } from '../registry/hook.js';
import { createCallbackRunner } from '../registry/host-callbacks.js';
import { createCommandRunner } from '../runners/command.js';
import { createHttpRunner } from '../runners/http.js';
import { createMcpRunner, type McpRunnerDeps } from '../runners/mcp.js';
import {
  type AgentJudge,
  createAgentRunner,
  createPromptRunner,
  modelAsker,
} from '../runners/model.js';
import { createPersistentHooks } from '../runners/persistent.js';

export interface HookRunnerParts {
  readonly config: SessionConfig;
  readonly environment: SessionEnvironment;
  readonly model: { readonly client: ModelClient; readonly choices: { small(): string } };
  readonly processes: ProcessSupervisor;
  readonly sessionId: string;
  settings(): EffectiveSettings;
  judge(): AgentJudge | undefined;
  /** A hook that may write is going to run; returns its end. */
  watch(name: string, agent: AgentRef): Promise<() => void>;
  callServer(): McpRunnerDeps['call'];
}

export interface OpenRunners {
  readonly runners: HookRunners;
  close(): Promise<void>;
}

/** Everything that can run a hook. Loaded when the first one is asked. */
export function openHookRunners(parts: HookRunnerParts): OpenRunners {
  const { config, environment, model, processes } = parts;
  const { env } = environment;
  const place = {
    processes,
    env,
    projectDir: config.cwd,
    sessionId: parts.sessionId,
    platform: environment.host.os,
    effort: config.effort,
  };
  const persistent = createPersistentHooks({
    ...place,
    log: (text) => config.emit({ type: 'notice', level: 'info', text }),
  });
  const choose = (name?: string): string =>
    name === undefined ? model.choices.small() : resolveModel(name, env).id;
  return {
    runners: {
      command: createCommandRunner({
        ...place,
        persistent,
        changedScript: environment.folders.changedScript,
        watch: parts.watch,
      }),
      http: createHttpRunner({
        fetch: async () => {
          const { fetchPublic } = await import('../../platform/http/public-fetch.js');
          return (request) => fetchPublic(request, { environment: env });
        },
        env,
        allowedUrls: () => hookSwitches(parts.settings()).httpUrls,
        allowedEnvVars: () => hookSwitches(parts.settings()).httpEnvVars,
      }),
      // Both may come and go while the session is open.
      mcp_tool: createMcpRunner({
        get call() {
          return parts.callServer();
        },
      }),
      prompt: createPromptRunner({ ask: modelAsker(model.client, choose) }),
      agent: createAgentRunner({
        get judge() {
          return parts.judge();
        },
      }),
      callback: createCallbackRunner(config.callbacks ?? NO_HOST),
    },
    close: () => persistent.close(),
  };
}

const NO_HOST: NonNullable<SessionConfig['callbacks']> = {
  registered: () => [],
  call: () => Promise.reject(new Error('there is no host')),
};

/** Takes over what hooks left for later shell commands, and says what was not taken. */
export async function takeVariables(parts: {
  readonly file: string;
  readonly fs: FileSystem;
  readonly processes: ProcessSupervisor;
  readonly env: Environment;
  readonly cwd: string;
  readonly variables: HookVariables;
  tell(text: string): void;
}): Promise<void> {
  const { file, fs, processes, env, variables, tell } = parts;
  if ((await fs.stat(file)) === undefined) return;
  const read = await readEnvFile(file, { fs, processes, env, cwd: parts.cwd });
  if (!read.ok) {
    tell(`the variables that hooks left cannot be read: ${read.error}`);
    return;
  }
  const refused = variables.merge(read.value);
  if (refused.length > 0) {
    tell(`hooks may not set these variables for shell commands: ${refused.join(', ')}`);
  }
}
