import { err, ok, type Result } from '../../lib/result.js';
import type { SettingSource } from '../../lib/sourced.js';
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
import { AGENT_TOOL, bareName, toolOf } from '../definitions/tools.js';

type FenceText = Pick<AgentDefinition, 'name' | 'tools' | 'disallowedTools' | 'source' | 'file'>;

interface Place {
  readonly cwd: string;
  readonly home: string;
}

interface Fences {
  readonly all: readonly Fence[];
  /** The lists of tools of the agents above. The agent's own is its pool. */
  readonly given: readonly { readonly name: string; readonly allows: ToolMatcher }[];
  readonly rules: RuleSet;
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

/**
 * What definitions hold agents to: `Bash(git *)` among the tools leaves of Bash only that, and what is
 * disallowed, a tool or a part of one, is taken away. Holds for the agent and for all that it starts,
 * who also get no tool that the list of an agent above them leaves out.
 */
export class ToolRestrictions {
  readonly #place: Place;
  /** With those of the agents above it, which may end before it does. */
  readonly #fences = new Map<string, Fences>();

  constructor(place: Place) {
    this.#place = place;
  }

  readonly guard: Guard = {
    name: 'agent fence',
    onFailure: 'deny',
    decide: async (view) => {
      const mine = this.#of(view.call.agent);
      return mine === undefined ? NOTHING : held(mine, view);
    },
  };

  /** Whether the agent is held to anything. */
  holds(agent: AgentRef): boolean {
    return this.#of(agent) !== undefined;
  }

  readonly rules = (agent: AgentRef): RuleSet => this.#of(agent)?.rules ?? NO_RULES;

  /** Whether a tool with these names is taken from the agent altogether. */
  bans(agent: AgentRef, names: readonly string[]): boolean {
    return this.#of(agent)?.all.some(({ banned }) => banned(names)) === true;
  }

  /**
   * `above`: what those on the way down are held to; the main agent's own fence holds anyway. An
   * error: a restriction cannot be read. Returns what takes the fence away.
   */
  raise(
    ref: AgentRef,
    definition: FenceText,
    above: readonly FenceText[] = [],
  ): Result<() => void, string> {
    const fences = this.#fences;
    const all = ref.depth === 0 ? [] : [...(fences.get(MAIN_AGENT.path)?.all ?? [])];
    for (const text of [...above, definition]) {
      const made = readFence(text, this.#place);
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
  }

  #of(agent: AgentRef): Fences | undefined {
    return nearestAbove(this.#fences, agent.path);
  }
}

/** The same object for agents that are held to one fence alone: whoever indexes it does so once. */
function rulesOf(fences: readonly Fence[]): RuleSet {
  const [only, ...more] = fences.filter(({ denied }) => denied.deny.length > 0);
  if (only === undefined) return NO_RULES;
  if (more.length === 0) return only.denied;
  return { ...NO_RULES, deny: [only, ...more].flatMap(({ denied }) => denied.deny) };
}

async function held({ all, given }: Fences, view: CallView): Promise<Finding> {
  const tool = view.call.tool.name;
  const denied = (list: string, name: string, reason: string): Finding => ({
    decision: 'deny',
    reason,
    source: `${list} of the agent ${name}`,
    refusal: 'rule',
  });
  const without = given.find(({ allows }) => !allows(view.names))?.name;
  if (without !== undefined) {
    const reason = `the agent ${without} has no ${tool}, so none that it starts has it either`;
    return denied('tools', without, reason);
  }
  for (const { name, only, banned } of all) {
    if (banned(view.names)) {
      const reason = `${tool} is taken from the agent ${name} and from all that it starts`;
      return denied('disallowedTools', name, reason);
    }
    const about = only.filter((rule) => rule.matchesTool(view.names));
    if (about.length === 0 || (await isCovered(about, view))) continue;
    const inside = about.map(({ text }) => text).join(', ');
    return denied('tools', name, `the agent ${name} may use ${tool} only as ${inside}`);
  }
  return NOTHING;
}

/** Why an agent of this definition can never be started; undefined when its limits can be kept. */
export function fenceProblem(definition: FenceText, place: Place): string | undefined {
  const read = readFence(definition, place);
  return read.ok ? undefined : read.error;
}

const isScoped = (entry: string): boolean => bareName(entry) !== entry;

/** fail-closed: a fence with a part that nobody understands is not put up with a hole. */
function readFence(definition: FenceText, place: Place): Result<Fence | undefined, string> {
  const { name, tools = [], disallowedTools } = definition;
  const whole = new Set(tools.filter((entry) => !isScoped(entry)).map(toolOf));
  // Who gets the whole of a tool gets its parts.
  const scoped = tools.filter((entry) => isScoped(entry) && !whole.has(toolOf(entry)));
  const deny = readRules('deny', disallowedTools.filter(isScoped), { definition, place });
  if (!deny.ok) return deny;
  const only = readRules('allow', scoped, { definition, place });
  if (!only.ok) return only;
  const bans = disallowedTools.filter((entry) => !isScoped(entry));
  if (only.value.length + deny.value.length + bans.length === 0) return ok(undefined);
  return ok({
    name,
    only: only.value,
    denied: { ...NO_RULES, deny: deny.value },
    banned: createToolMatcher(bans),
  });
}

function readRules(
  kind: RuleKind,
  entries: readonly string[],
  { definition, place }: { definition: FenceText; place: Place },
): Result<readonly Rule[], string> {
  const rules: Rule[] = [];
  for (const text of entries.flatMap(eachOf)) {
    const origin = {
      value: { text, root: place.cwd },
      source: SETTING_SOURCES[definition.source],
      trusted: true,
      file: definition.file,
    };
    const parsed = parseRule(kind, origin, place);
    if (!('rule' in parsed)) {
      return err(`"${text}" of the agent ${definition.name} cannot be kept: ${parsed.why}`);
    }
    rules.push(parsed.rule, ...[parsed.below ?? []].flat());
  }
  return ok(rules);
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
  if (toolOf(entry) !== AGENT_TOOL) return [entry];
  const inside = entry.slice(entry.indexOf('(') + 1, entry.lastIndexOf(')'));
  return inside.split(',').map((type) => `${AGENT_TOOL}(${type.trim()})`);
}
