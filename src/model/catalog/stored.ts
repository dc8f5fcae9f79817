import { messageOf, PortcullisError, systemCodeOf } from '../../errors.js';
import { object, oneOf, optional, parseShape, type Shaped, text } from '../../lib/shape.js';
import { learnSecrets } from '../../lib/text/redact.js';
import { nodeFileSystem, readTextSync } from '../../platform/fs/node-fs.js';
import { join, makeStateDirectory, stateDirectory } from '../../platform/fs/paths.js';
import { hostFacts } from '../../platform/host.js';
import { chooseProvider } from './provider.js';

type Environment = Readonly<Record<string, string | undefined>>;

const storedShape = object({
  provider: oneOf('anthropic', 'openai'),
  baseUrl: optional(text),
  apiKey: optional(text),
  model: optional(text),
});

/** The model that `portcullis setup` stored: what its variables would say. */
export type StoredModel = Shaped<typeof storedShape>;

const MAX_BYTES = 64 * 1024;
const VARIABLES = {
  anthropic: {
    apiKey: 'ANTHROPIC_API_KEY',
    baseUrl: 'ANTHROPIC_BASE_URL',
    model: 'ANTHROPIC_MODEL',
    others: ['ANTHROPIC_AUTH_TOKEN'],
  },
  openai: {
    apiKey: 'OPENAI_API_KEY',
    baseUrl: 'OPENAI_BASE_URL',
    model: 'OPENAI_MODEL',
    others: ['PORTCULLIS_OPENAI_BASE_URL'],
  },
} as const;

export function storedModelFile(env: Environment): string {
  return join(stateDirectory(env), 'model.json');
}

/** The environment variables that select a stored model. */
export function variablesOf({ provider, apiKey, baseUrl, model }: StoredModel): Environment {
  const names = VARIABLES[provider];
  return { [names.apiKey]: apiKey, [names.baseUrl]: baseUrl, [names.model]: model };
}

/**
 * The environment with the stored model in it, where nothing else chooses one. The variables count as a whole:
 * a stored key never goes to an address of the environment.
 */
export function withStoredModel(env: Environment, asked: string | undefined): Environment {
  if (chooseProvider(env, { model: asked }).kind !== 'none') return env;
  const stored = readStoredModel(env);
  if (stored === undefined) return env;
  const { apiKey, baseUrl, model, others } = VARIABLES[stored.provider];
  const isSet = [apiKey, baseUrl, ...others].some((name) => (env[name] ?? '').trim() !== '');
  if (isSet) return env;
  // Its value is taken out of what is written down, as those of the environment are.
  if (stored.apiKey !== undefined) learnSecrets([stored.apiKey]);
  const named = env[model] ?? stored.model;
  return { ...env, ...variablesOf({ ...stored, model: named }) };
}

export function readStoredModel(env: Environment): StoredModel | undefined {
  const file = storedModelFile(env);
  const read = readPrivate(file);
  if (read === undefined) return undefined;
  const stored = parseShape(read, storedShape);
  if (stored !== undefined) return stored;
  throw broken(file, 'it is not what portcullis setup writes');
}

function readPrivate(file: string): string | undefined {
  try {
    const read = readTextSync(file, { maxBytes: MAX_BYTES, noLink: true });
    const isShared = hostFacts().os !== 'win32' && ((read.stat.mode ?? 0) & 0o077) !== 0;
    // fail-closed: a key that others may read or replace is not used.
    if (isShared || read.stat.foreign === true)
      throw new PortcullisError('config', `${file} is open to other users`, {
        remedy: `chmod 600 ${file}, or run portcullis setup again`,
      });
    return read.text;
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return undefined;
    throw thrown instanceof PortcullisError ? thrown : broken(file, messageOf(thrown));
  }
}

function broken(file: string, why: string): PortcullisError {
  return new PortcullisError('config', `${file} cannot be read: ${why}`, {
    remedy: 'run portcullis setup again, or remove the file',
  });
}

/** Stores the choice for its owner alone (0600) and returns the file. */
export async function storeModel(env: Environment, stored: StoredModel): Promise<string> {
  makeStateDirectory(env);
  const file = storedModelFile(env);
  // A file that is there would keep its mode.
  await nodeFileSystem.remove(file);
  await nodeFileSystem.writeAtomic(file, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600 });
  return file;
}

export async function forgetModel(env: Environment): Promise<void> {
  await nodeFileSystem.remove(storedModelFile(env));
}
