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
  /** The tool that rules of the form `Agent(type)` apply to. */
  tool(): AnyTool;
  /** The restrictions of definitions, which may limit types, too. */
  readonly fences: Pick<ToolRestrictions, 'guard' | 'holds'>;
  readonly fs: PathFileSystem;
  readonly home: string;
  readonly workspace: Workspace;
  rules(agent: AgentRef): RuleSet;
  mode(agent: AgentRef): PermissionMode;
}

/** Applies rules of the form `Agent(type)` wherever an agent is started, under any of the type's names. */
export class TypeRules {
  readonly #parts: TypeRuleParts;

  constructor(parts: TypeRuleParts) {
    this.#parts = parts;
  }

  /** Checks calls that name a type by another name than the rule. */
  readonly guard: Guard = {
    name: 'agent types',
    onFailure: 'deny',
    decide: async (view) => {
      const { book, tool } = this.#parts;
      const type = view.call.input.subagent_type;
      const isMeant = view.call.tool.name === tool().name && typeof type === 'string';
      // Usually no rule names a type, so nothing has to be looked up.
      if (!isMeant || isFree(view)) return NOTHING;
      const found = await book.resolve(type);
      // The call itself reports a type that cannot be started.
      return found.ok ? await restrictionByName(view, await namesOf(book, found.value)) : NOTHING;
    },
  };

  /** Why this agent may not start this type, even with an allow rule; undefined when nothing forbids it. */
  readonly forbids = async (
    agent: AgentRef,
    definition: AgentDefinition,
  ): Promise<string | undefined> => {
    const { book, fences } = this.#parts;
    for (const name of await namesOf(book, definition)) {
      const view = named(virtualCall(this.#parts, agent), name);
      const finding = await restriction(view);
      if (finding.decision === 'deny') return `the rule ${finding.source} forbids it`;
      const held = await fences.guard.decide(view);
      if (held.decision === 'deny') return held.reason;
    }
    return undefined;
  };

  /** The rule that asks before this agent starts this type; undefined when there is none. */
  async asks(agent: AgentRef, definition: AgentDefinition): Promise<string | undefined> {
    const view = virtualCall(this.#parts, agent);
    const names = await namesOf(this.#parts.book, definition);
    const finding = await restrictionByName(view, names, 'ask');
    return finding.decision === 'ask' ? finding.reason : undefined;
  }

  /** The definitions that nothing forbids. */
  async allowed(
    agent: AgentRef,
    definitions: readonly AgentDefinition[],
  ): Promise<readonly AgentDefinition[]> {
    // Checked first, because there may be hundreds of types and usually no rule for any.
    const isHeld = this.#parts.fences.holds(agent);
    if (!isHeld && isFree(virtualCall(this.#parts, agent))) return definitions;
    const found: AgentDefinition[] = [];
    for (const definition of definitions) {
      if ((await this.forbids(agent, definition)) === undefined) found.push(definition);
    }
    return found;
  }
}

/** Whether no rule can apply to a call like this one, for any type. */
function isFree(view: CallView): boolean {
  return !mayRestrict(view.rules.deny, view) && !mayRestrict(view.rules.ask, view);
}

/** The first deny or ask rule that applies to a call under any of these names. */
async function restrictionByName(
  view: CallView,
  names: readonly string[],
  wanted?: 'ask',
): Promise<Finding> {
  for (const name of names) {
    const finding = await restriction(named(view, name));
    if (finding !== NOTHING && finding.decision === (wanted ?? finding.decision)) return finding;
  }
  return NOTHING;
}

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

/** Both names of the built-in default agent, unless a file has taken one of them. */
async function namesOf(
  book: Pick<AgentBook, 'resolve'>,
  { name, source }: AgentDefinition,
): Promise<readonly string[]> {
  const both = [DEFAULT_AGENT, DEFAULT_AGENT_ALIAS];
  if (source !== 'builtin' || !both.includes(name)) return [name];
  const other = name === DEFAULT_AGENT ? DEFAULT_AGENT_ALIAS : DEFAULT_AGENT;
  const found = await book.resolve(other);
  return found.ok && found.value.source === 'builtin' ? [name, other] : [name];
}

/** The same call for another type. */
export function named(view: CallView, type: string): CallView {
  const input = { ...view.call.input, subagent_type: type };
  return { ...view, call: { ...view.call, input } };
}

/** A hypothetical call that starts an agent, whose type `named` sets. */
export function virtualCall(parts: TypeRuleParts, agent: AgentRef): CallView {
  const { fs, home, workspace } = parts;
  const tool = parts.tool();
  const input = { subagent_type: DEFAULT_AGENT, description: '', prompt: '' };
  const { signal } = new AbortController();
  const subject = tool.subject(input, workspace);
  const call = { toolUseId: '', tool, input, subject, agent, workspace, signal };
  return viewOf(call, { fs, home, mode: parts.mode(agent), rules: parts.rules(agent) });
}

/** The tool that resumes an ended agent. */
export const SEND_MESSAGE = 'SendMessage';

/** The agent that resumes another one, and its call. */
export interface ResumeRequest {
  readonly from: AgentRef;
  readonly toolUseId: string;
}

/** Limits the entries that refused calls leave behind. */
const MOST_KEPT = 256;

/** Applies ask rules for starting a type to messages that resume an ended agent of it. */
export class ResumeAsks {
  readonly #parts: TypeRuleParts;
  readonly #resumes: (to: string) => Promise<string | undefined>;
  /** The type that each call was asked about. */
  readonly #asked = new Map<string, string>();

  /** `resumes`: the type of the ended agent that a message would resume; undefined when it resumes none. */
  constructor(parts: TypeRuleParts, resumes: (to: string) => Promise<string | undefined>) {
    this.#parts = parts;
    this.#resumes = resumes;
  }

  readonly guard: Guard = {
    name: 'agents that go on',
    onFailure: 'deny',
    decide: async ({ call }) => {
      const { to } = call.input;
      if (call.tool.name !== SEND_MESSAGE || typeof to !== 'string') return NOTHING;
      return await this.#decide(call, to.trim());
    },
  };

  /** Whether the running call was asked about for this type; true only once per call. */
  takeAsked(wish: ResumeRequest, type: string): boolean {
    const about = this.#asked.get(keyOf(wish));
    this.#asked.delete(keyOf(wish));
    return about === typeKey(type);
  }

  async #decide({ agent: from, toolUseId }: GateCall, to: string): Promise<Finding> {
    const { book } = this.#parts;
    const view = virtualCall(this.#parts, from);
    const type = isFree(view) ? undefined : await this.#resumes(to);
    if (type === undefined) return NOTHING;
    const kind = await book.resolve(type);
    const names = kind.ok ? await namesOf(book, kind.value) : [type];
    // A rule that forbids it is reported by the call itself.
    const finding = await restrictionByName(view, names, 'ask');
    if (finding === NOTHING) return NOTHING;
    if (this.#asked.size >= MOST_KEPT) this.#asked.clear();
    this.#asked.set(keyOf({ from, toolUseId }), typeKey(type));
    return finding;
  }
}

function keyOf({ from, toolUseId }: ResumeRequest): string {
  return `${from.id}\n${toolUseId}`;
}

/** Rules of the form `Agent(type)` for resuming an ended agent. */
export interface ResumeRules {
  /**
   * Why `from` may not resume an agent of this type; undefined when nothing forbids it. `find` looks up
   * current types.
   */
  forbidsResume(
    wish: ResumeRequest,
    definition: AgentDefinition,
    find: (type: string) => Promise<AgentDefinition | undefined>,
  ): Promise<string | undefined>;
}

/** `toolOf`: the Agent tool of this agent; undefined when it may start none. */
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
      // fail-closed: an agent without the Agent tool cannot resume one by a message either.
      if (tool === undefined) {
        return 'the tool Agent is taken from it, by a rule Agent, a flag or a definition';
      }
      const resolve: AgentBook['resolve'] = async (name) => {
        const found = await find(name);
        return found === undefined ? err(name) : ok(found);
      };
      const rules = new TypeRules({ ...parts, book: { resolve }, tool: () => tool });
      const forbidden = await rules.forbids(from, definition);
      if (forbidden !== undefined || wasAsked) return forbidden;
      const asking = await rules.asks(from, definition);
      // fail-closed: the agent ended after the message was judged, so no person has approved resuming it.
      return asking === undefined
        ? undefined
        : `${asking}, and it ended only now. Send the message again, so that a person is asked`;
    },
  };
}
