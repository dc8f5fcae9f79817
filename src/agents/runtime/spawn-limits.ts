import { PortcullisError } from '../../errors.js';
import type { EffectiveSettings } from '../../settings/types.js';

/** How deep agents may nest, with the main agent at 0, and how many may run at once. */
export interface SpawnLimits {
  readonly depth: number;
  readonly concurrency: number;
}

interface Source {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly settings: Pick<EffectiveSettings, 'values'>;
}

const DEFAULT_LIMITS: SpawnLimits = { depth: 3, concurrency: 20 };

/** The lower of environment and settings; throws when the environment's value is invalid. */
export function limitsOf({ env, settings }: Source): SpawnLimits {
  const said = (name: string): number | undefined => {
    const value = settings.values.get(`portcullis.limits.${name}`)?.value;
    return typeof value === 'number' ? value : undefined;
  };
  const lower = (...values: readonly (number | undefined)[]): number | undefined => {
    const given = values.filter((value) => value !== undefined);
    return given.length === 0 ? undefined : Math.min(...given);
  };
  const depth = lower(said('agentDepth'), limitIn(env, 'CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH'));
  const most = lower(
    said('agentConcurrency'),
    limitIn(env, 'CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS'),
  );
  return {
    depth: depth ?? DEFAULT_LIMITS.depth,
    concurrency: most ?? DEFAULT_LIMITS.concurrency,
  };
}

function limitIn(env: Source['env'], name: string): number | undefined {
  const text = env[name]?.trim() ?? '';
  if (text === '') return undefined;
  const limit = positive(text);
  if (limit !== undefined) return limit;
  // fail-closed: an invalid limit is not replaced by the default.
  throw new PortcullisError('config', `${name} is ${JSON.stringify(text)}, which is no limit`, {
    remedy: 'give it a whole number above 0, or unset it',
  });
}

/** Whether forks are offered: the environment overrides the setting; off by default. */
export function offersForks({ env, settings }: Source): boolean {
  const said = env.CLAUDE_CODE_FORK_SUBAGENT?.trim();
  if (said !== undefined && said !== '') return said === '1' || said.toLowerCase() === 'true';
  return settings.values.get('portcullis.forks')?.value === true;
}

/** A whole number above 0 from an environment variable. */
export function positive(text: string | undefined): number | undefined {
  const value = Number(text);
  return text !== undefined && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
