import type { AgentRef } from '../protocol/agent-ref.js';
import { fatalOf, withStrictness } from '../settings/files/refuse.js';
import type {
  ConfigProblem,
  PermissionSettings,
  SourcedRule,
  Strictness,
} from '../settings/types.js';
import { createAgentRules, type RulesOf } from './agent-rules.js';
import { splitRuleList } from './rule-list.js';
import { NO_RULES, parseRules, type RuleSet } from './rules.js';

export interface LiveRulesParts {
  readonly cwd: string;
  readonly home: string;
  /** Values of `--allowedTools`: allow rules. */
  readonly allowedTools: readonly string[];
  /** Values of `--disallowedTools`. */
  readonly disallowedTools: readonly string[];
}

/** The rules that calls are judged by now. */
export interface LiveRules {
  settings(): PermissionSettings;
  rules(agent: AgentRef): RuleSet;
  /**
   * Takes over other settings for the calls to come. fail-closed: with a restriction among them that
   * cannot be honoured nothing changes.
   */
  replace(settings: PermissionSettings, strictness?: Strictness): readonly ConfigProblem[];
  /** The texts in force, those of flags included. */
  texts(): Readonly<Record<'allow' | 'ask' | 'deny', readonly SourcedRule[]>>;
}

export function createLiveRules(parts: LiveRulesParts): LiveRules {
  const fromFlag = (text: string): SourcedRule => ({
    value: { text, root: parts.cwd },
    source: 'cli',
    trusted: true,
  });
  const flagDeny = splitRuleList(parts.disallowedTools).map(fromFlag);
  const flagAllow = splitRuleList(parts.allowedTools).map(fromFlag);
  let current: PermissionSettings = { allow: [], ask: [], deny: [], additionalDirectories: [] };
  let rulesOf: RulesOf = () => NO_RULES;
  const textsOf = (settings: PermissionSettings) => ({
    // Not spread: there may be hundreds.
    deny: flagDeny.concat(settings.deny),
    ask: settings.ask,
    // An administrator who keeps granting to himself keeps it from flags too.
    allow: (settings.managedRulesOnly === undefined ? flagAllow : []).concat(settings.allow),
  });
  return {
    settings: () => current,
    rules: (agent) => rulesOf(agent),
    replace(settings, strictness = {}) {
      const parsed = parseRules(textsOf(settings), parts);
      const scoped = createAgentRules(parsed.rules, settings.agents ?? [], parts);
      const problems = withStrictness([...parsed.problems, ...scoped.problems], strictness);
      if (fatalOf(problems).length > 0) return problems;
      current = settings;
      rulesOf = scoped.rulesOf;
      return problems;
    },
    texts: () => textsOf(current),
  };
}
