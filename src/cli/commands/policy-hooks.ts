import type { Output } from '../output.js';
import { openPolicyJudge, type PolicyJudge } from './policy-judge.js';
import type { HereOptions } from './settings-here.js';

/** A judge by the settings here. With `asks` the hooks in force here are really run, as in a session. */
export async function withJudge<T>(
  { cwd, env, trust, settings }: HereOptions,
  { asks, output }: { readonly asks: boolean; readonly output: Output },
  use: (judge: PolicyJudge) => Promise<T>,
): Promise<T> {
  if (!asks) return await use(await openPolicyJudge(env));
  const { openBench } = await import('./hooks-bench.js');
  const bench = await openBench({ cwd, env, trust: trust === 'given', settings }, output);
  try {
    return await use(await openPolicyJudge(env, { precheck: bench.hooks.precheck }));
  } finally {
    await bench.close();
  }
}
