import { type AgentRef, DEFAULT_AGENT, DEFAULT_AGENT_ALIAS } from '../../protocol/agent-ref.js';
import { fatalOf, withStrictness } from '../../settings/files/load.js';
import type {
  AgentRules,
  ConfigProblem,
  PermissionSettings,
  SourcedRule,
  Strictness,
} from '../../settings/types.js';
import { ANY_DEPTH, reaches, type Segment, segmentOf } from './path-pattern.js';
import { joinRules, NO_RULES, type ParseRulesOptions, type RuleSet } from './rule.js';
import { parseRules, placeOf, splitRuleList } from './rules.js';

/** The rules of an agent: those for all agents, and those that name it. */
export type RulesOf = (agent: AgentRef) => RuleSet;

/**
 * Compiles `portcullis.agents`. Denies are looked at first wherever they come from, so what is
 * granted to an agent never beats a ban. What binds an agent binds all that it starts.
 */
export function createAgentRules(
  forAll: RuleSet,
  scoped: readonly AgentRules[],
  options: ParseRulesOptions,
): { readonly rulesOf: RulesOf; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const compiled = scoped.flatMap((entry) => {
    const parsed = parseRules(entry, options);
    problems.push(...parsed.problems);
    const why = patternProblem(entry.pattern);
    if (why === undefined) return [{ ...whoFits(entry.pattern), rules: parsed.rules }];
    problems.push(...deadPattern(entry, why));
    return [];
  });
  return {
    problems,
    rulesOf(agent) {
      const mine = compiled.flatMap(({ names, binds, rules }) => {
        if (!binds(agent)) return [];
        // fail-closed: an untrusted folder could give its agent a name that has grants.
        const grants = agent.untrusted !== true && names(agent);
        return [grants ? rules : { ...rules, allow: [] }];
      });
      return joinRules([forAll, ...mine]);
    },
  };
}

// `reviewer` is a type, `main` the root, everything with `/` or `#` a path: `main/*`, `**/reviewer#*`.
// What names an agent names its forks too.
export function agentPattern(pattern: string): (agent: AgentRef) => boolean {
  return whoFits(pattern).covers;
}

type Named = Pick<AgentRef, 'type' | 'path'>;

/** Whether the pattern means an agent only through one that it was started by, however far above. */
export function inheritedPattern(pattern: string): (agent: AgentRef) => boolean {
  const { covers, binds } = whoFits(pattern);
  return (agent) => binds(agent) && !covers(agent);
}

/**
 * `names`: by what it is called itself. `covers`: also by its original, for a fork is that one again.
 * `binds`: also by the agents above it, but for the main agent, which delegates what it may not do.
 */
function whoFits(pattern: string): {
  readonly names: (agent: Named) => boolean;
  readonly covers: (agent: Named) => boolean;
  readonly binds: (agent: Named) => boolean;
} {
  const segments = segmentsOf(pattern);
  const names = isPath(pattern)
    ? ({ path }: Named) => fits(segments, folded(path).split('/'))
    : ({ type, path }: Named) => fits(segments, [folded(type)]) || folded(path) === folded(pattern);
  const covers = (agent: Named): boolean =>
    names(agent) || [agent, ...originalsOf(agent)].some((one) => otherNamed(one).some(names));
  return { names, covers, binds: (agent) => covers(agent) || agentsAbove(agent).some(covers) };
}

/** The agents by which this one was started, without the main agent and forks of it. */
function agentsAbove({ path }: Named): readonly Named[] {
  const parts = path.split('/');
  const isBelowMain = (count: number): boolean =>
    parts.slice(1, count).some((part) => !FORK.test(part));
  return parts.flatMap((_part, count) =>
    count > 1 && isBelowMain(count) ? [namedBy(parts.slice(0, count))] : [],
  );
}

/** fail-closed: the default agent is not free of its rules under its second name. */
function otherNamed(agent: Named): readonly Named[] {
  const { type, path } = agent;
  const both = [DEFAULT_AGENT, DEFAULT_AGENT_ALIAS];
  if (!both.includes(folded(type))) return [agent];
  return both.map((name) => ({ type: name, path: path.replace(/[^/#]+(?=#\d+$)/, name) }));
}

const FORK = /^fork#\d+$/i;

/** Whom a fork stands for, and where the agents below a fork would be had it not been made. */
function originalsOf({ type, path }: Named): readonly Named[] {
  const parts = path.split('/');
  if (!parts.some((part) => FORK.test(part))) return [];
  const found: Named[] = [];
  const above = [...parts];
  while (FORK.test(above.at(-1) ?? '')) {
    above.pop();
    found.push(namedBy(above));
  }
  const original = found.at(-1)?.type ?? type;
  const straight = parts.filter((part) => !FORK.test(part)).join('/');
  return [...found, { type: original, path: straight }];
}

function namedBy(parts: readonly string[]): Named {
  return { type: (parts.at(-1) ?? '').replace(/#\d+$/, ''), path: parts.join('/') };
}

function fits(segments: readonly Segment[], names: readonly string[]): boolean {
  return reaches(segments, names, { whole: true });
}

function isPath(pattern: string): boolean {
  return /[/#]/.test(pattern);
}

/** The same name may be typed in several Unicode forms. */
function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

function segmentsOf(pattern: string): readonly Segment[] {
  return folded(pattern)
    .split('/')
    .map((name) => segmentOf(name, { ignoreCase: true }));
}

/** Signs of lists and of regular expressions. */
const NOT_IN_NAMES = /[|,;()^$!{}<>"'`+\\]|\.[*+?]/;
const MISSPELT_MAIN = /^(amin|mian|mani|mainn|maain|miain|mmain)$/i;
const EVERY = /^(all|any|every|everyone|everybody)$/i;

/** Why a pattern names no agent there could be. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.trim() === '') return 'it is empty';
  if (pattern !== pattern.trim() || /\s/.test(pattern)) return 'it holds blanks';
  const sign = NOT_IN_NAMES.exec(pattern)?.[0];
  if (sign !== undefined) return `${sign} is in the name of no agent, and * alone is a pattern`;
  if (MISSPELT_MAIN.test(pattern)) return 'main is misspelt';
  if (EVERY.test(pattern)) return 'every agent is written *';
  const names = pattern.split('/');
  if (names.some((name) => name === '')) return 'it has an empty part';
  if (!isPath(pattern)) return undefined;
  const segments = segmentsOf(pattern);
  const [first] = segments;
  const beginsAtMain = first === ANY_DEPTH || (first !== undefined && fits([first], ['main']));
  if (!beginsAtMain) return 'every path begins with main';
  const below = segments.slice(segments.findIndex((segment) => segment !== ANY_DEPTH));
  const isNumbered = below.every(
    (segment, at) =>
      typeof segment !== 'string' || /#\d+$/.test(segment) || (at === 0 && segment === 'main'),
  );
  return isNumbered ? undefined : 'below main a path names agents by type and number';
}

function deadPattern(entry: AgentRules, why: string): readonly ConfigProblem[] {
  const restricts = [...entry.deny, ...entry.ask];
  const [at] = [...restricts, ...entry.allow];
  if (at === undefined) return [];
  return [
    {
      severity: restricts.length > 0 ? 'fatal' : 'warning',
      ...placeOf(at),
      message: `\`portcullis.agents\` has rules for "${entry.pattern}", which names no agent: ${why}.`,
      remedy: 'Name a type (reviewer) or a path (main, main/*, main/reviewer#1, **/reviewer#*).',
    },
  ];
}

interface LiveRulesParts {
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
