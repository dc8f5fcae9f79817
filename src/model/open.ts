import { PortcullisError } from '../errors.js';
import type { ModelClient } from './client.js';
import type { ProviderChoice } from './provider.js';
import { type RetryOptions, withRetry } from './retry.js';
import { withoutSecrets } from './without-secrets.js';

export interface OpenModelOptions {
  /** Of the program, for the user agent. */
  readonly version: string;
  /** The program that drives us, for the user agent: `app/1.0`. */
  readonly clientApp?: string | undefined;
  readonly retry?: RetryOptions;
  /** Reads the file of a scripted model. */
  readonly readText: (file: string) => Promise<string>;
}

/** fail-closed: what cannot stand in a header is left out of it. */
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
      const { anthropicClient } = await import('./anthropic.js');
      const secrets = [choice.apiKey, choice.authToken, ...secretHeaders(choice.customHeaders)];
      return withRetry(anthropicClient({ userAgent, ...choice }), {
        ...options.retry,
        clean: withoutSecrets(secrets),
      });
    }
    case 'openai': {
      const { openAiClient } = await import('./openai.js');
      return withRetry(openAiClient({ ...choice, userAgent }), {
        ...options.retry,
        clean: withoutSecrets([choice.apiKey]),
      });
    }
    case 'scripted': {
      const { loadScript, scriptedClient } = await import('./scripted.js');
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
