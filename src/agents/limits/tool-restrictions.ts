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
  /** The tool lists of the ancestors; the agent's own list is its pool. */
  readonly given: readonly { readonly name: string; readonly allows: ToolMatcher }[];
  readonly rules: RuleSet;
}

interface Fence {
  readonly name: string;
  /** For each tool named here, only calls that match are allowed. */
  readonly only: readonly Rule[];
  /** Parts taken away of tools that stay. */
  readonly denied: RuleSet;
  /** Tools that are taken away altogether. */
  readonly banned: ToolMatcher;
}

/**
 * Enforces the tool restrictions of definitions: `Bash(git *)` in `tools` allows only those calls of Bash,
 * and `disallowedTools` takes away tools or parts of them. They hold for the agent and its descendants,
 * which also get no tool that an ancestor's list leaves out.
 */
export class ToolRestrictions {
  readonly #place: Place;
  /** Includes the restrictions of ancestors, which may end before the agent does. */
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

  holds(agent: AgentRef): boolean {
    return this.#of(agent) !== undefined;
  }

  readonly rules = (agent: AgentRef): RuleSet => this.#of(agent)?.rules ?? NO_RULES;

  /** Whether a tool with these names is taken from the agent altogether. */
  bans(agent: AgentRef, names: readonly string[]): boolean {
    return this.#of(agent)?.all.some(({ banned }) => banned(names)) === true;
  }

  /**
   * Registers an agent's restrictions. `above` are those of its ancestors below the main agent, whose own
   * always hold. An error when one cannot be read; otherwise a function that removes them.
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

/** Agents with the same single restriction share one object, so that it is indexed once. */
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

/** Why an agent of this definition cannot be started; undefined when its restrictions can be enforced. */
export function fenceProblem(definition: FenceText, place: Place): string | undefined {
  const read = readFence(definition, place);
  return read.ok ? undefined : read.error;
}

const isScoped = (entry: string): boolean => bareName(entry) !== entry;

/** fail-closed: a restriction with an unreadable part refuses the whole definition. */
function readFence(definition: FenceText, place: Place): Result<Fence | undefined, string> {
  const { name, tools = [], disallowedTools } = definition;
  const whole = new Set(tools.filter((entry) => !isScoped(entry)).map(toolOf));
  // A tool named as a whole covers its scoped entries.
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
