import { own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { SettingSource } from '../../lib/sourced.js';
import { TOOL_ALIASES } from '../../lib/tool-names.js';
import { type Finding, type Guard, NOTHING } from '../../permissions/gate/guard.js';
import { nearestAbove } from '../../permissions/gate/modes.js';
import type { CallView } from '../../permissions/gate/view.js';
import {
  NO_RULES,
  parseRule,
  type Rule,
  type RuleKind,
  type RuleSet,
} from '../../permissions/rules/rules.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import { isCovered } from '../../skills/grants/rules.js';
import { createToolMatcher, type ToolMatcher } from '../../tools/pool-patterns.js';
import type { AgentDefinition, DefinitionSource } from '../definitions/definition.js';
import { bareName } from '../definitions/tools.js';

/**
 * What definitions hold agents to: `Bash(git *)` among the tools leaves of Bash only that, and what is
 * disallowed, a tool or a part of one, is taken away. Holds for the agent and for all that it starts,
 * who also get no tool that the list of an agent above them leaves out.
 */
export interface ToolRestrictions {
  readonly guard: Guard;
  /** Whether the agent is held to anything. */
  holds(agent: AgentRef): boolean;
  rules(agent: AgentRef): RuleSet;
  /** Whether a tool with these names is taken from the agent altogether. */
  bans(agent: AgentRef, names: readonly string[]): boolean;
  /**
   * `above`: what those on the way down are held to; the main agent's own fence holds anyway. An
   * error: a restriction cannot be read. Returns what takes the fence away.
   */
  raise(
    ref: AgentRef,
    definition: FenceText,
    above?: readonly FenceText[],
  ): Result<() => void, string>;
}

interface Fences {
  readonly all: readonly Fence[];
  /** The lists of tools of the agents above. The agent's own is its pool. */
  readonly given: readonly GivenTools[];
  readonly rules: RuleSet;
}

interface GivenTools {
  readonly name: string;
  readonly allows: ToolMatcher;
}

interface Fence {
  readonly name: string;
  /** Of each tool that is named here only what is named. */
  readonly only: readonly Rule[];
  /** What is taken away of tools that stay. */
  readonly denied: RuleSet;
  /** Tools that are taken away altogether. */
  readonly banned: ToolMatcher;
}

type FenceText = Pick<AgentDefinition, 'name' | 'tools' | 'disallowedTools' | 'source' | 'file'>;

export function createToolRestrictions(parts: {
  readonly cwd: string;
  readonly home: string;
}): ToolRestrictions {
  /** With those of the agents above it, which may end before it does. */
  const fences = new Map<string, Fences>();
  const of = (agent: AgentRef): Fences | undefined => nearestAbove(fences, agent.path);
  return {
    guard: {
      name: 'agent fence',
      onFailure: 'deny',
      async decide(view) {
        const mine = of(view.call.agent);
        return mine === undefined ? NOTHING : held(mine, view);
      },
    },
    holds: (agent) => of(agent) !== undefined,
    rules: (agent) => of(agent)?.rules ?? NO_RULES,
    bans: (agent, names) => of(agent)?.all.some(({ banned }) => banned(names)) === true,
    raise(ref, definition, above = []) {
      const all = ref.depth === 0 ? [] : [...(fences.get(MAIN_AGENT.path)?.all ?? [])];
      for (const text of [...above, definition]) {
        const made = readFence(text, parts);
        if (!made.ok) return made;
        if (made.value !== undefined) all.push(made.value);
      }
      const given = above.flatMap(({ name, tools }) =>
        tools === undefined ? [] : [{ name, allows: createToolMatcher(tools) }],
      );
      if (all.length + given.length === 0) return ok(() => undefined);
      const raised: Fences = { all, given, rules: rulesOf(all) };
      fences.set(ref.path, raised);
      return ok(() => {
        if (fences.get(ref.path) === raised) fences.delete(ref.path);
      });
    },
  };
}

/** The same object for agents that are held to one fence alone: whoever indexes it does so once. */
function rulesOf(fences: readonly Fence[]): RuleSet {
  const [only, ...more] = fences.filter(({ denied }) => denied.deny.length > 0);
  if (only === undefined) return NO_RULES;
  if (more.length === 0) return only.denied;
  return { ...NO_RULES, deny: [only, ...more].flatMap(({ denied }) => denied.deny) };
}

async function held({ all, given }: Fences, view: CallView): Promise<Finding> {
  const without = given.find(({ allows }) => !allows(view.names));
  if (without !== undefined) {
    return {
      decision: 'deny',
      reason: `the agent ${without.name} has no ${view.call.tool.name}, so none that it starts has it either`,
      source: `tools of the agent ${without.name}`,
      refusal: 'rule',
    };
  }
  for (const { name, only, banned } of all) {
    if (banned(view.names)) {
      return {
        decision: 'deny',
        reason: `${view.call.tool.name} is taken from the agent ${name} and from all that it starts`,
        source: `disallowedTools of the agent ${name}`,
        refusal: 'rule',
      };
    }
    const about = only.filter((rule) => rule.matchesTool(view.names));
    if (about.length === 0 || (await isCovered(about, view))) continue;
    const inside = about.map(({ text }) => text).join(', ');
    return {
      decision: 'deny',
      reason: `the agent ${name} may use ${view.call.tool.name} only as ${inside}`,
      source: `tools of the agent ${name}`,
      refusal: 'rule',
    };
  }
  return NOTHING;
}

/** Why an agent of this definition can never be started; undefined when its limits can be kept. */
export function fenceProblem(
  definition: FenceText,
  place: { readonly cwd: string; readonly home: string },
): string | undefined {
  const read = readFence(definition, place);
  return read.ok ? undefined : read.error;
}

function readFence(
  definition: FenceText,
  place: { readonly cwd: string; readonly home: string },
): Result<Fence | undefined, string> {
  const { name, tools = [], disallowedTools } = definition;
  const bare = new Set(tools.filter((entry) => bareName(entry) === entry).map(toolOf));
  // Who gets the whole of a tool gets its parts.
  const scoped = tools.filter((entry) => bareName(entry) !== entry && !bare.has(toolOf(entry)));
  const only = readAll('allow', scoped.flatMap(eachOf), { definition, place });
  const scopedBans = disallowedTools.filter((entry) => bareName(entry) !== entry);
  const deny = readAll('deny', scopedBans.flatMap(eachOf), { definition, place });
  // fail-closed: a fence with a part that nobody understands is not put up with a hole.
  const [problem] = [...deny.problems, ...only.problems];
  if (problem !== undefined) return err(problem);
  const bans = disallowedTools.filter((entry) => bareName(entry) === entry);
  if (only.rules.length + deny.rules.length + bans.length === 0) return ok(undefined);
  return ok({
    name,
    only: only.rules,
    denied: { ...NO_RULES, deny: deny.rules },
    banned: createToolMatcher(bans),
  });
}

function readAll(
  kind: RuleKind,
  texts: readonly string[],
  {
    definition,
    place,
  }: { definition: FenceText; place: { readonly cwd: string; readonly home: string } },
): { readonly rules: readonly Rule[]; readonly problems: readonly string[] } {
  const rules: Rule[] = [];
  const problems: string[] = [];
  for (const text of texts) {
    const origin = {
      value: { text, root: place.cwd },
      source: SETTING_SOURCES[definition.source],
      trusted: true,
      file: definition.file,
    };
    const parsed = parseRule(kind, origin, place);
    if ('rule' in parsed)
      rules.push(parsed.rule, ...(parsed.below === undefined ? [] : [parsed.below]));
    else problems.push(`"${text}" of the agent ${definition.name} cannot be kept: ${parsed.why}`);
  }
  return { rules, problems };
}

/** Where the settings would say that a definition comes from. */
export const SETTING_SOURCES: Readonly<Record<DefinitionSource, SettingSource>> = {
  managed: 'managed',
  flag: 'cli',
  project: 'project',
  user: 'user',
  plugin: 'plugin',
  builtin: 'user',
};

/** `Agent(a, b)` names two types. */
function eachOf(entry: string): readonly string[] {
  if (toolOf(entry) !== 'Agent') return [entry];
  const inside = entry.slice(entry.indexOf('(') + 1, entry.lastIndexOf(')'));
  return inside.split(',').map((type) => `Agent(${type.trim()})`);
}

/** The tool that an entry is about, by the name that it has today. */
function toolOf(entry: string): string {
  const name = bareName(entry);
  return own(TOOL_ALIASES, name) ?? name;
}
