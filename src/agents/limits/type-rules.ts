import { err, ok } from '../../lib/result.js';
import { type Finding, type Guard, NOTHING } from '../../permissions/gate/guard.js';
import type { GateCall } from '../../permissions/gate/types.js';
import { type CallView, viewOf } from '../../permissions/gate/view.js';
import type { PathFileSystem } from '../../permissions/paths/paths.js';
import { findRestriction, mayRestrict } from '../../permissions/rules/match.js';
import type { RuleSet } from '../../permissions/rules/rule.js';
import { type AgentRef, DEFAULT_AGENT, DEFAULT_AGENT_ALIAS } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { AnyTool, Workspace } from '../../tools/tool.js';
import type { AgentDefinition } from '../definitions/definition.js';
import type { AgentBook } from '../definitions/definitions.js';
import { typeKey } from '../definitions/names.js';
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
  /** Those of them that nothing forbids. */
  allowed(
    agent: AgentRef,
    definitions: readonly AgentDefinition[],
  ): Promise<readonly AgentDefinition[]>;
}

export function createTypeRules(parts: TypeRuleParts): TypeRules {
  const { book, fences } = parts;
  const callFor = (agent: AgentRef): CallView => virtualCall(parts, agent);
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
function isFree(view: CallView): boolean {
  return !mayRestrict(view.rules.deny, view) && !mayRestrict(view.rules.ask, view);
}

/** What a deny or ask rule says about a call. */
async function restriction(view: CallView): Promise<Finding> {
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
async function namesOf(
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
export function virtualCall(parts: TypeRuleParts, agent: AgentRef): CallView {
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

/** The tool that makes an ended agent go on. */
export const SEND_MESSAGE = 'SendMessage';

/** Rules of the form `Agent(type)`, for an agent that has ended and is to go on. */
export interface ResumeRules {
  /**
   * Why `from` may not make one of this kind go on; undefined: nothing forbids it. `find`: the kinds of
   * now.
   */
  forbidsResume(
    wish: ResumeRequest,
    definition: AgentDefinition,
    find: (type: string) => Promise<AgentDefinition | undefined>,
  ): Promise<string | undefined>;
}

/** Who makes an agent go on, and by which call. */
export interface ResumeRequest {
  readonly from: AgentRef;
  readonly toolUseId: string;
}

/** Rules that ask about a start ask about a message that makes an ended agent go on, too. */
export interface ResumeAsks {
  readonly guard: Guard;
  /** Whether a call that runs now was asked about for this type. Said once. */
  takeAsked(wish: ResumeRequest, type: string): boolean;
}

type Parts = Omit<TypeRuleParts, 'tool'> & {
  /** What starts agents. */
  tool(): AnyTool;
  /** The type of the ended agent that a message would make go on; undefined: it would make none. */
  wakes(to: string): Promise<string | undefined>;
};

/** Calls that were refused leave their mark behind; more than this are not kept. */
const MOST_KEPT = 256;

export function createResumeAsks(parts: Parts): ResumeAsks {
  const callFor = (agent: AgentRef): CallView => virtualCall(parts, agent);
  const asked = new Map<string, string>();
  const decideMessage = async ({ agent, toolUseId }: GateCall, to: string): Promise<Finding> => {
    const view = callFor(agent);
    if (isFree(view)) return NOTHING;
    const type = await parts.wakes(to);
    if (type === undefined) return NOTHING;
    const kind = await parts.book.resolve(type);
    const names = kind.ok ? await namesOf(parts.book, kind.value) : [type];
    for (const name of names) {
      const finding = await restriction(named(view, name));
      // What forbids it is said by whoever goes on with it.
      if (finding.decision !== 'ask') continue;
      if (asked.size >= MOST_KEPT) asked.clear();
      asked.set(keyOf({ from: agent, toolUseId }), typeKey(type));
      return finding;
    }
    return NOTHING;
  };
  return {
    guard: {
      name: 'agents that go on',
      onFailure: 'deny',
      async decide({ call }) {
        const { to } = call.input;
        if (call.tool.name !== SEND_MESSAGE || typeof to !== 'string') return NOTHING;
        return decideMessage(call, to.trim());
      },
    },
    takeAsked(wish, type) {
      const key = keyOf(wish);
      const about = asked.get(key);
      asked.delete(key);
      return about === typeKey(type);
    },
  };
}

function keyOf({ from, toolUseId }: ResumeRequest): string {
  return `${from.id}\n${toolUseId}`;
}

/** `toolOf`: what this agent starts others with; undefined: it may start none. */
export function createResumeRules(
  parts: Omit<TypeRuleParts, 'book' | 'tool'> & {
    toolOf(agent: AgentRef): AnyTool | undefined;
    readonly asks: Pick<ResumeAsks, 'takeAsked'>;
  },
): ResumeRules {
  return {
    async forbidsResume(wish, definition, find) {
      const { from } = wish;
      const wasAsked = parts.asks.takeAsked(wish, definition.name);
      const tool = parts.toolOf(from);
      // fail-closed: who may start no agent makes none work by speaking to it either.
      if (tool === undefined) {
        return 'the tool Agent is taken from it, by a rule Agent, a flag or a definition';
      }
      const resolve: AgentBook['resolve'] = async (name) => {
        const found = await find(name);
        return found === undefined ? err(name) : ok(found);
      };
      const rules = createTypeRules({ ...parts, book: { resolve }, tool: () => tool });
      const forbidden = await rules.forbids(from, definition);
      if (forbidden !== undefined || wasAsked) return forbidden;
      const asking = await rules.asks(from, definition);
      // fail-closed: it ended after the message was judged, so that nobody has said yes to this.
      return asking === undefined
        ? undefined
        : `${asking}, and it ended only now. Send the message again, so that somebody is asked`;
    },
  };
}
