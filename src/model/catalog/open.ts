import { PortcullisError } from '../../errors.js';
import type { ModelClient, ModelFailure } from '../client.js';
import { type RetryOptions, withRetry } from '../stream/retry.js';
import type { ProviderChoice } from './provider.js';

export interface OpenModelOptions {
  /** Of the program, for the user agent. */
  readonly version: string;
  /** The program that drives us, for the user agent: `app/1.0`. */
  readonly clientApp?: string | undefined;
  readonly retry?: RetryOptions;
  /** Reads the file of a scripted model. */
  readonly readText: (file: string) => Promise<string>;
}

/** fail-closed: a name that is not valid in a header is left out. */
function userAgentOf({ version, clientApp = '' }: OpenModelOptions): string {
  const app = /^[\x21-\x7e]{1,200}$/.test(clientApp) ? ` (client-app/${clientApp})` : '';
  return `portcullis/${version}${app}`;
}

/** The client for a choice, with retries. Each provider's code is loaded only when it is used. */
export async function openModel(
  choice: ProviderChoice,
  options: OpenModelOptions,
): Promise<ModelClient> {
  const userAgent = userAgentOf(options);
  switch (choice.kind) {
    case 'anthropic': {
      const { anthropicClient } = await import('../anthropic/client.js');
      const secrets = [choice.apiKey, choice.authToken, ...secretHeaders(choice.customHeaders)];
      return withRetry(anthropicClient({ userAgent, ...choice }), {
        ...options.retry,
        clean: withoutSecrets(secrets),
      });
    }
    case 'openai': {
      const { openAiClient } = await import('../openai/client.js');
      return withRetry(openAiClient({ ...choice, userAgent }), {
        ...options.retry,
        clean: withoutSecrets([choice.apiKey]),
      });
    }
    case 'scripted': {
      const { loadScript, scriptedClient } = await import('../scripted/client.js');
      const script = await loadScript(choice.file, options.readText);
      if (script.ok) return withRetry(scriptedClient(script.value), options.retry);
      throw new PortcullisError('config', script.error, {
        remedy: 'Correct the script that --script or PORTCULLIS_SCRIPT names.',
      });
    }
    case 'none':
      throw new PortcullisError('no_model', choice.reason, { remedy: choice.remedy });
  }
}

function secretHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => /auth|key|token|secret|cookie|password/i.test(name))
    .map(([, value]) => value.replace(/^(bearer|basic)\s+/i, ''));
}

/**
 * The model that was asked for. A server of another kind has its own models, so without a name it is
 * asked for its list: one model is taken, several are a question for the user.
 */
export async function modelName(
  provider: ProviderChoice,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (provider.kind === 'none') return undefined;
  const named = provider.model ?? (provider.kind === 'openai' ? env.OPENAI_MODEL : undefined);
  if (named !== undefined || provider.kind !== 'openai') return named;
  const { listModels } = await import('./discover.js');
  const models = await listModels(provider);
  const [only, ...others] = models;
  if (only !== undefined && others.length === 0) return only;
  throw new PortcullisError('config', `no model is named for ${provider.baseUrl}`, {
    remedy:
      only === undefined
        ? 'give one with --model or OPENAI_MODEL'
        : `give one with --model or OPENAI_MODEL: ${models.slice(0, 20).join(', ')}`,
  });
}

/**
 * Takes secrets out of the words of a failure. Servers and proxies like to quote what they were
 * sent, and a failure's text goes to the terminal, to logs and to hosts.
 */
export function withoutSecrets(
  secrets: readonly (string | undefined)[],
): (failure: ModelFailure) => ModelFailure {
  const known = secrets.flatMap((secret) =>
    // A short one is no real secret, and taking it out would garble ordinary words.
    secret !== undefined && secret.length >= SHORTEST ? [secret] : [],
  );
  const clean = (text: string): string => known.reduce(withoutSecret, text);
  return (failure) => ({
    ...failure,
    message: clean(failure.message),
    remedy: failure.remedy && clean(failure.remedy),
  });
}

const SHORTEST = 8;
const SHOWN = '[the key]';

function withoutSecret(text: string, secret: string): string {
  let left = text.replaceAll(secret, SHOWN);
  // A long text is shown in part, and the cut may fall inside the secret.
  for (let length = secret.length - 1; length >= SHORTEST; length--) {
    left = left.replaceAll(`${secret.slice(0, length)}…`, `${SHOWN}…`);
  }
  return left;
}
