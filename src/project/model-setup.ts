import { PortcullisError } from '../errors.js';
import { err, ok, type Result } from '../lib/result.js';
import { MODEL_ALIASES, resolveModel } from '../model/catalog/aliases.js';
import { discoverLocalServers, listModels } from '../model/catalog/discover.js';
import { modelName, openModel } from '../model/catalog/open.js';
import { chooseProvider } from '../model/catalog/provider.js';
import {
  type StoredModel,
  storedModelFile,
  variablesOf,
  withStoredModel,
} from '../model/catalog/stored.js';
import { VERSION } from '../version.js';

export { forgetModel, type StoredModel, storeModel } from '../model/catalog/stored.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A model that could be used from here on. */
export interface ModelCandidate {
  /** `ANTHROPIC_API_KEY of the environment`, `Ollama at http://…`. */
  readonly label: string;
  readonly choice: StoredModel;
  /** What a server offers; empty where it does not say. */
  readonly models: readonly string[];
}

/** What the environment names and which model servers run on this machine. */
export async function findModels(env: Environment): Promise<readonly ModelCandidate[]> {
  const found: ModelCandidate[] = [];
  const provider = chooseProvider(env);
  if (provider.kind === 'anthropic' && provider.apiKey !== undefined) {
    const { apiKey, baseUrl } = provider;
    const address = env.ANTHROPIC_BASE_URL === undefined ? undefined : baseUrl;
    const choice = { provider: 'anthropic', apiKey, baseUrl: address } as const;
    found.push({ label: 'ANTHROPIC_API_KEY of the environment', choice, models: [] });
  }
  const other = chooseProvider({ ...env, ANTHROPIC_API_KEY: '', ANTHROPIC_BASE_URL: '' });
  if (other.kind === 'openai') {
    const { apiKey, baseUrl } = other;
    found.push({
      label: `${baseUrl} of the environment`,
      choice: { provider: 'openai', apiKey, baseUrl, model: env.OPENAI_MODEL },
      models: await listModels(other),
    });
  }
  const local = (await discoverLocalServers()).map(({ name, baseUrl, models }) => ({
    label: `${name} at ${baseUrl}`,
    choice: { provider: 'openai', baseUrl } as const,
    models,
  }));
  return [
    ...found,
    ...local.filter(({ choice }) => found.every((one) => one.choice.baseUrl !== choice.baseUrl)),
  ];
}

/** Asks the model for one word, so that a wrong key or address shows now. Never tells the key. */
export function tryModel(
  choice: StoredModel,
  signal: AbortSignal,
): Promise<Result<{ readonly model: string }, string>> {
  return tryVariables(variablesOf(choice), signal);
}

/** As `tryModel`, with the model that a session of this environment would use. */
export function tryConfiguredModel(
  env: Environment,
  signal: AbortSignal,
  asked?: string,
): Promise<Result<{ readonly model: string }, string>> {
  return tryVariables(withStoredModel(env, asked), signal, asked);
}

async function tryVariables(
  env: Environment,
  signal: AbortSignal,
  asked?: string,
): Promise<Result<{ readonly model: string }, string>> {
  const provider = chooseProvider(env, { model: asked });
  if (provider.kind === 'none') return err(`${provider.reason} · ${provider.remedy}`);
  try {
    const model = resolveModel(await modelName(provider, env), env).id;
    const client = await openModel(provider, {
      version: VERSION,
      retry: { maxRetries: 0 },
      readText: async () => '',
    });
    const request = {
      model,
      system: [],
      tools: [],
      maxTokens: 16,
      messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Say: ok' }] }],
    };
    for await (const event of client.stream(request, signal)) {
      if (event.type !== 'failure') continue;
      const { message, remedy } = event.failure;
      return err(remedy === undefined ? message : `${message} · ${remedy}`);
    }
    return ok({ model });
  } catch (thrown) {
    if (!(thrown instanceof PortcullisError)) throw thrown;
    return err(
      thrown.remedy === undefined ? thrown.message : `${thrown.message} · ${thrown.remedy}`,
    );
  }
}

/** Which model a session of this environment would use, without any secret. */
export interface ModelStatus {
  readonly configured: boolean;
  readonly provider: 'anthropic' | 'openai' | 'scripted' | 'none';
  readonly method: 'api_key' | 'auth_token' | 'none';
  /** `environment` includes the settings' `env`. */
  readonly source: 'environment' | 'stored' | 'none';
  readonly baseUrl?: string;
  readonly model?: string | undefined;
  /** Where the stored choice is kept. */
  readonly file: string;
  /** What to do where nothing is configured. */
  readonly remedy?: string;
}

export function modelStatus(env: Environment, asked?: string): ModelStatus {
  const file = storedModelFile(env);
  const complete = withStoredModel(env, asked);
  const provider = chooseProvider(complete, { model: asked });
  const source = complete === env ? 'environment' : 'stored';
  switch (provider.kind) {
    case 'none':
      return {
        configured: false,
        provider: 'none',
        method: 'none',
        source: 'none',
        file,
        remedy: provider.remedy,
      };
    case 'scripted':
      return { configured: true, provider: 'scripted', method: 'none', source, file };
    case 'anthropic':
    case 'openai': {
      const { kind, apiKey, baseUrl } = provider;
      const hasToken = kind === 'anthropic' && provider.authToken !== undefined;
      const method = apiKey !== undefined ? 'api_key' : hasToken ? 'auth_token' : 'none';
      const variable = kind === 'openai' ? complete.OPENAI_MODEL : complete.ANTHROPIC_MODEL;
      const model = provider.model ?? variable;
      return { configured: true, provider: kind, method, source, baseUrl, model, file };
    }
  }
}

/** Names that `--model` takes here, as far as they are known without a request. */
export function knownModels(env: Environment, asked?: string): readonly string[] {
  const { provider, model } = modelStatus(env, asked);
  const names = provider === 'openai' ? [] : MODEL_ALIASES;
  return [...new Set([...(model === undefined ? [] : [model]), ...names])];
}
