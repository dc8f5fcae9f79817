import { createModelChoices } from '../agents/core/model-choice.js';
import { type ModelLayer, openModelLayer } from '../agents/core/model-layer.js';
import type { Parts } from '../agents/core/session-parts.js';
import { asMainAgent } from '../agents/definitions/main-agent.js';
import { openParts } from '../app.js';
import type { SessionConfig } from '../config/session-config.js';
import { openSessionEnvironment, type SessionEnvironment } from '../config/session-environment.js';
import { PortcullisError } from '../errors.js';
import { chooseProvider } from '../model/catalog/provider.js';
import { withStoredModel } from '../model/catalog/stored.js';
import { dirname } from '../platform/fs/paths.js';
import type { ProjectOptions, ProjectPlaces } from './places.js';

/** What a session without a conversation is opened with, besides the options of the project. */
export interface SessionPartsOptions
  extends Partial<Omit<SessionConfig, FixedOption | 'entrypoint' | 'emit'>>,
    Pick<SessionConfig, 'entrypoint' | 'emit'> {
  /** Whether hooks and tools may ask a model. */
  readonly asksModel: boolean;
  /** Whether the agent of `--agent` or of the settings sets tools, model and limits. */
  readonly asAgent?: boolean;
}

type FixedOption = 'cwd' | 'env' | 'start' | 'fork' | 'startServers';

/** The tools of a session with the gate before them, and no conversation. */
export interface SessionParts {
  readonly config: SessionConfig;
  readonly environment: SessionEnvironment;
  readonly parts: Parts;
  close(): Promise<void>;
}

/** Opens what a session here would open. Starts no server and throws where no session would start. */
export async function openSessionParts(
  places: ProjectPlaces,
  project: ProjectOptions,
  { asksModel, asAgent = false, ...options }: SessionPartsOptions,
): Promise<SessionParts> {
  const asked: SessionConfig = {
    ...given({
      settings: project.settings,
      managedSettings: project.managedSettings,
      settingSources: project.sources,
      projectTrust: project.projectTrust,
      addDirs: project.addDirs,
      allowedTools: project.allowedTools,
      disallowedTools: project.disallowedTools,
      mcpConfig: project.mcpConfig,
      strictMcpConfig: project.strictMcpConfig,
    }),
    trust: project.trust === 'given',
    persist: false,
    ...options,
    cwd: places.cwd,
    env: places.env,
    start: { kind: 'new', id: undefined },
    fork: false,
    startServers: false,
  };
  const environment = await openSessionEnvironment(asked);
  const config = asAgent ? await asMainAgent(asked, environment, undefined) : asked;
  const model = asksModel
    ? await modelOrFailure(config, environment)
    : await modelStub(config, environment);
  const parts = await openParts(config, environment, model);
  parts.mcp?.onTools((tools) => void parts.toolRuntime.lateTools.add(tools));
  const { store, history } = parts.log;
  return {
    config,
    environment,
    parts,
    async close() {
      await parts.close();
      if (config.persist || config.store !== undefined) return;
      // The log of a session that is not kept has a temporary directory of its own.
      const directory = dirname(store.transcriptPath(history.sessionId));
      await environment.fs.remove(directory, { recursive: true });
    },
  };
}

/** Leaves out what is not given, because a session tells the two apart. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The name and the limits of the model that would be asked. Asking it is a mistake. */
async function modelStub(
  config: SessionConfig,
  environment: SessionEnvironment,
): Promise<ModelLayer> {
  const asked = config.model ?? environment.settings.model?.value;
  const env = withStoredModel(environment.env, asked);
  const choice = chooseProvider(env, { model: asked });
  const provider = choice.kind === 'openai' ? 'openai-compatible' : choice.kind;
  const named = choice.kind === 'none' ? config.model : choice.model;
  const name = named ?? (choice.kind === 'openai' ? env.OPENAI_MODEL : undefined);
  return await openModelLayer(config, environment, {
    client: {
      provider,
      // biome-ignore lint/correctness/useYield: it is never asked.
      async *stream() {
        throw new PortcullisError('usage', 'no model is asked here');
      },
    },
    choices: createModelChoices({ ...config, name, env, provider, maxBudgetUsd: undefined }),
  });
}

/** The configured model. Without one every request fails and says so. */
async function modelOrFailure(
  config: SessionConfig,
  environment: SessionEnvironment,
): Promise<ModelLayer> {
  const fromSettings = environment.settings.model?.value;
  const env = withStoredModel(environment.env, fromSettings);
  if (chooseProvider(env, { model: fromSettings }).kind !== 'none') {
    return await openModelLayer(config, environment);
  }
  const stub = await modelStub(config, environment);
  return {
    ...stub,
    client: {
      ...stub.client,
      async *stream() {
        const message = 'no model is configured';
        yield { type: 'failure', failure: { kind: 'bad_response', message, retryable: false } };
      },
    },
  };
}
