import { type Finding, type Guard, NOTHING } from '../../permissions/gate/guard.js';
import { type CallView, viewOf } from '../../permissions/gate/view.js';
import type { PathFileSystem } from '../../permissions/paths/paths.js';
import { findRestriction, mayRestrict } from '../../permissions/rules/match.js';
import type { RuleSet } from '../../permissions/rules/rules.js';
import { type AgentRef, DEFAULT_AGENT, DEFAULT_AGENT_ALIAS } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { AnyTool, Workspace } from '../../tools/tool.js';
import type { AgentDefinition } from '../definitions/definition.js';
import type { AgentBook } from '../definitions/types.js';
import type { ToolRestrictions } from './tool-restrictions.js';

export interface TypeRuleParts {
  readonly book: Pick<AgentBook, 'resolve'>;
  /** The tool that rules of the form `Agent(type)` are about. */
  tool(): AnyTool;
  /** What holds agents to the types that their definitions leave them. */
  readonly fences: Pick<ToolRestrictions, 'guard' | 'holds'>;
  readonly fs: PathFileSystem;
  readonly home: string;
  readonly workspace: Workspace;
  rules(agent: AgentRef): RuleSet;
  mode(agent: AgentRef): PermissionMode;
}

/** Rules of the form `Agent(type)`, wherever an agent is started and by whatever name. */
export interface TypeRules {
  /** Holds calls back that name a type by another name than a rule does. */
  readonly guard: Guard;
  /** Why this agent may start none of this kind, whoever would allow it; undefined: nothing forbids it. */
  forbids(agent: AgentRef, definition: AgentDefinition): Promise<string | undefined>;
  /** The rule that wants somebody asked before this agent starts one of this kind; undefined: none does. */
  asks(agent: AgentRef, definition: AgentDefinition): Promise<string | undefined>;
  /** Whether nothing can forbid this agent a type, whichever there are. */
  leavesAll(agent: AgentRef): boolean;
  /** Those of them that nothing forbids. */
  allowed(
    agent: AgentRef,
    definitions: readonly AgentDefinition[],
  ): Promise<readonly AgentDefinition[]>;
}

export function createTypeRules(parts: TypeRuleParts): TypeRules {
  const { book, fences } = parts;
  const callFor = virtualCalls(parts);
  return {
    guard: {
      name: 'agent types',
      onFailure: 'deny',
      async decide(view) {
        const type = view.call.input.subagent_type;
        const isMeant = view.call.tool.name === parts.tool().name && typeof type === 'string';
        // Mostly no rule is about any type, and none has to be looked up.
        return isMeant && !isFree(view) ? heldByType(book, view, type) : NOTHING;
      },
    },
    forbids,
    async asks(agent, definition) {
      for (const name of await namesOf(book, definition)) {
        const { decision, reason } = await restriction(named(callFor(agent), name));
        if (decision === 'ask') return reason;
      }
      return undefined;
    },
    leavesAll,
    async allowed(agent, definitions) {
      // There may be hundreds, and mostly nothing is about any of them.
      if (leavesAll(agent)) return definitions;
      const found: AgentDefinition[] = [];
      for (const definition of definitions) {
        if ((await forbids(agent, definition)) === undefined) found.push(definition);
      }
      return found;
    },
  };

  function leavesAll(agent: AgentRef): boolean {
    return isFree(callFor(agent)) && !fences.holds(agent);
  }

  async function forbids(
    agent: AgentRef,
    definition: AgentDefinition,
  ): Promise<string | undefined> {
    for (const name of await namesOf(book, definition)) {
      const view = named(callFor(agent), name);
      const finding = await restriction(view);
      if (finding.decision === 'deny') return `the rule ${finding.source} forbids it`;
      const held = await fences.guard.decide(view);
      if (held.decision === 'deny') return held.reason;
    }
    return undefined;
  }
}

async function heldByType(
  book: Pick<AgentBook, 'resolve'>,
  view: CallView,
  type: string,
): Promise<Finding> {
  const found = await book.resolve(type);
  // What cannot be started is told by the call itself.
  if (!found.ok) return NOTHING;
  for (const name of await namesOf(book, found.value)) {
    const finding = await restriction(named(view, name));
    if (finding !== NOTHING) return finding;
  }
  return NOTHING;
}

/** Whether no rule can be about a call like this one, whichever type it names. */
export function isFree(view: CallView): boolean {
  return !mayRestrict(view.rules.deny, view) && !mayRestrict(view.rules.ask, view);
}

/** What a deny or ask rule says about a call. */
export async function restriction(view: CallView): Promise<Finding> {
  const denied = await findRestriction(view.rules.deny, view);
  if (denied?.sure === 'yes') {
    const { text, label } = denied.rule;
    return { decision: 'deny', refusal: 'rule', reason: text, source: label };
  }
  const asked = await findRestriction(view.rules.ask, view);
  if (asked?.sure !== 'yes') return NOTHING;
  const { text, label, origin } = asked.rule;
  const reason = `the rule ${label} asks about this`;
  return { decision: 'ask', reason, source: label, rule: { text, source: origin.source } };
}

/** A rule for one name of the default agent is about that agent, unless a file has taken the name. */
export async function namesOf(
  book: Pick<AgentBook, 'resolve'>,
  { name, source }: AgentDefinition,
): Promise<readonly string[]> {
  const both = [DEFAULT_AGENT, DEFAULT_AGENT_ALIAS];
  if (source !== 'builtin' || !both.includes(name)) return [name];
  const names = [name];
  for (const other of both.filter((one) => one !== name)) {
    const found = await book.resolve(other);
    if (found.ok && found.value.source === 'builtin') names.push(other);
  }
  return names;
}

/** The same call, for another type. */
export function named(view: CallView, type: string): CallView {
  const input = { ...view.call.input, subagent_type: type };
  return { ...view, call: { ...view.call, input } };
}

/** The call that would start an agent, were it started by one; which type is said by `named`. */
export function virtualCalls(parts: TypeRuleParts): (agent: AgentRef) => CallView {
  let last: CallView | undefined;
  return (agent) => {
    const rules = parts.rules(agent);
    const mode = parts.mode(agent);
    const isSame = last?.call.agent === agent && last.rules === rules && last.mode === mode;
    if (last === undefined || !isSame) last = virtualCall(parts, agent);
    return last;
  };
}

function virtualCall(parts: TypeRuleParts, agent: AgentRef): CallView {
  const { fs, home, workspace } = parts;
  const tool = parts.tool();
  const input = { subagent_type: DEFAULT_AGENT, description: '', prompt: '' };
  const { signal } = new AbortController();
  const call = {
    toolUseId: '',
    tool,
    input,
    subject: tool.subject(input, workspace),
    agent,
    workspace,
    signal,
  };
  return viewOf(call, { fs, home, mode: parts.mode(agent), rules: parts.rules(agent) });
}
