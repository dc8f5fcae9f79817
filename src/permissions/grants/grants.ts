import type { AgentRef } from '../../protocol/agent-ref.js';
import type { Resolver } from '../gate/guard.js';
import type { GateCall } from '../gate/types.js';
import type { Rule, RuleKind, RuleSet } from '../rules/rule.js';

/** How long and for whom a grant holds. */
export interface Reach {
  readonly until: 'turn' | 'session';
  /** Milliseconds since 1970. */
  readonly expiresAt?: number;
  /** Path of the one agent it is for, those below included; absent: all agents. */
  readonly agent?: string;
}

/**
 * What was answered before and holds beyond its call: rules, and single calls. Lives in memory. Opens
 * only what no guard holds back, so no deny rule, ask rule or protected path gives way to it.
 */
export interface Grants {
  addRule(rule: Rule, reach: Reach): void;
  /** Takes the place of the rules of this kind that were added before. */
  replaceRules(kind: RuleKind, rules: readonly Rule[], reach: Reach): void;
  removeRules(kind: RuleKind, texts: readonly string[]): void;
  addCall(call: GateCall, reach: Reach): void;
  rules(agent: AgentRef): RuleSet;
  covers(call: GateCall): boolean;
  /** A new prompt: what held for one turn is over. */
  beginTurn(): void;
  /** An agent has ended: what was answered for it alone is over. */
  forget(agentPath: string): void;
}

interface Entry<T> {
  readonly what: T;
  readonly reach: Reach;
}

export function createGrants(
  now: () => number,
  contentOf: (toolUseId: string) => string | undefined = () => undefined,
): Grants {
  let rules: Entry<Rule>[] = [];
  let calls: Entry<string>[] = [];

  const holds = ({ reach }: Entry<unknown>, agent: AgentRef): boolean =>
    (reach.expiresAt === undefined || reach.expiresAt > now()) &&
    (reach.agent === undefined ||
      agent.path === reach.agent ||
      agent.path.startsWith(`${reach.agent}/`));

  return {
    addRule(rule, reach) {
      rules = [...rules.filter((entry) => !isSame(entry, rule, reach)), { what: rule, reach }];
    },
    replaceRules(kind, added, reach) {
      const others = rules.filter(({ what }) => what.kind !== kind);
      rules = [...others, ...added.map((what) => ({ what, reach }))];
    },
    removeRules(kind, texts) {
      rules = rules.filter(({ what }) => what.kind !== kind || !texts.includes(what.text));
    },
    addCall(call, reach) {
      calls = [...calls, { what: keyOf(call, contentOf(call.toolUseId)), reach }];
    },
    rules(agent) {
      const active = rules.filter((entry) => holds(entry, agent)).map(({ what }) => what);
      const of = (kind: RuleKind) => active.filter((rule) => rule.kind === kind);
      return { allow: of('allow'), ask: of('ask'), deny: of('deny') };
    },
    covers(call) {
      if (calls.length === 0) return false;
      const key = keyOf(call, contentOf(call.toolUseId));
      return calls.some((entry) => entry.what === key && holds(entry, call.agent));
    },
    beginTurn() {
      rules = rules.filter(({ reach }) => reach.until !== 'turn');
      calls = calls.filter(({ reach }) => reach.until !== 'turn');
    },
    forget(agentPath) {
      const isOthers = ({ reach }: Entry<unknown>): boolean => reach.agent !== agentPath;
      rules = rules.filter(isOthers);
      calls = calls.filter(isOthers);
    },
  };
}

/** Opens a call that was answered with "this very call, from now on". */
export function answeredBefore(grants: Grants): Resolver {
  return {
    name: 'earlier answer',
    decide: async ({ call }) =>
      grants.covers(call)
        ? { decision: 'allow', reason: 'the same call was allowed before', source: 'answer' }
        : undefined,
  };
}

function isSame(entry: Entry<Rule>, rule: Rule, reach: Reach): boolean {
  const { what } = entry;
  return (
    what.kind === rule.kind &&
    what.text === rule.text &&
    // A restriction `Edit(**)` is two rules of one text.
    what.spec.kind === rule.spec.kind &&
    what.origin.value.root === rule.origin.value.root &&
    entry.reach.until === reach.until &&
    entry.reach.agent === reach.agent
  );
}

/** Inputs that only tell about a call; a model words them anew every time. */
const ABOUT = new Set(['description', 'timeout']);

/** The same words in another directory are another call. */
function keyOf({ tool, input, workspace, subject }: GateCall, content: string | undefined): string {
  const said = Object.entries(input)
    .filter(([name]) => subject.command === undefined || !ABOUT.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([tool.name, workspace.cwd, said, content]);
}
