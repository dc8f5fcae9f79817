import { PortcullisError } from '../errors.js';
import type { ProviderChoice } from './provider.js';

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
