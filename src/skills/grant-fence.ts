import { STANDARD_RESOLVERS } from '../permissions/resolvers.js';
import { NO_RULES, type Rule } from '../permissions/rules.js';
import type { CallView } from '../permissions/view.js';

/** What rules open by themselves, without what a mode lets through. */
const BY_RULE = STANDARD_RESOLVERS.filter(({ name }) => name !== 'mode');

/**
 * Whether these rules cover the call: judged as if nothing else were open, no file of the working
 * directories and no command that only looks.
 */
export async function isCovered(rules: readonly Rule[], view: CallView): Promise<boolean> {
  const bare: CallView = {
    ...view,
    mode: 'bypassPermissions',
    rules: { ...NO_RULES, allow: rules },
    facts: { ...view.facts, askReadOnly: () => true },
  };
  for (const resolver of BY_RULE) {
    if ((await resolver.decide(bare))?.decision === 'allow') return true;
  }
  return false;
}
