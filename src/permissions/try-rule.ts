import type { Clock } from '../platform/clock.js';
import { runPipeline } from './evaluate.js';
import type { PathFileSystem } from './paths.js';
import { STANDARD_RESOLVERS } from './resolvers.js';
import type { Rule } from './rules.js';
import { type CallView, viewOf } from './view.js';

/** Whether a rule would have let a call through that no guard held back and nothing allowed. */
export async function opensCall(
  rule: Rule,
  view: CallView,
  deps: { readonly fs: PathFileSystem; readonly clock: Pick<Clock, 'monotonic'> },
): Promise<boolean> {
  const { call, mode, home, rules, facts } = view;
  const tried = viewOf(call, {
    fs: deps.fs,
    home,
    mode,
    facts,
    rules: { ...rules, allow: [rule, ...rules.allow] },
  });
  const { outcome } = await runPipeline(tried, {
    guards: [],
    resolvers: STANDARD_RESOLVERS,
    clock: deps.clock,
  });
  return outcome.kind === 'allowed';
}
