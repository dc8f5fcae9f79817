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
export class TypeRules {
  readonly #parts: TypeRuleParts;

  constructor(parts: TypeRuleParts) {
    this.#parts = parts;
  }

  /** Holds calls back that name a type by another name than a rule does. */
  readonly guard: Guard = {
    name: 'agent types',
    onFailure: 'deny',
    decide: async (view) => {
      const { book, tool } = this.#parts;
      const type = view.call.input.subagent_type;
      const isMeant = view.call.tool.name === tool().name && typeof type === 'string';
      // Mostly no rule is about any type, and none has to be looked up.
      if (!isMeant || isFree(view)) return NOTHING;
      const found = await book.resolve(type);
      // The call itself reports what cannot be started.
      return found.ok ? await restrictionByName(view, await namesOf(book, found.value)) : NOTHING;
    },
  };

  /** Why this agent may start none of this type, whatever a rule allows; undefined: nothing forbids it. */
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

  /** The rule that asks a person before this agent starts one of this type; undefined: there is none. */
  async asks(agent: AgentRef, definition: AgentDefinition): Promise<string | undefined> {
    const view = virtualCall(this.#parts, agent);
    const names = await namesOf(this.#parts.book, definition);
    const finding = await restrictionByName(view, names, 'ask');
    return finding.decision === 'ask' ? finding.reason : undefined;
  }

  /** Those of them that nothing forbids. */
  async allowed(
    agent: AgentRef,
    definitions: readonly AgentDefinition[],
  ): Promise<readonly AgentDefinition[]> {
    // There may be hundreds, and mostly nothing is about any of them.
    const isHeld = this.#parts.fences.holds(agent);
    if (!isHeld && isFree(virtualCall(this.#parts, agent))) return definitions;
    const found: AgentDefinition[] = [];
    for (const definition of definitions) {
      if ((await this.forbids(agent, definition)) === undefined) found.push(definition);
    }
    return found;
  }
}

/** Whether no rule can be about a call like this one, whichever type it names. */
function isFree(view: CallView): boolean {
  return !mayRestrict(view.rules.deny, view) && !mayRestrict(view.rules.ask, view);
}

/** What the first deny or ask rule says about a call under any of these names. */
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
  const other = name === DEFAULT_AGENT ? DEFAULT_AGENT_ALIAS : DEFAULT_AGENT;
  const found = await book.resolve(other);
  return found.ok && found.value.source === 'builtin' ? [name, other] : [name];
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
  const subject = tool.subject(input, workspace);
  const call = { toolUseId: '', tool, input, subject, agent, workspace, signal };
  return viewOf(call, { fs, home, mode: parts.mode(agent), rules: parts.rules(agent) });
}

/** The tool that makes an ended agent go on. */
export const SEND_MESSAGE = 'SendMessage';

/** Who resumes an agent, and by which call. */
export interface ResumeRequest {
  readonly from: AgentRef;
  readonly toolUseId: string;
}

/** Calls that were refused leave their mark behind; more than this are not kept. */
const MOST_KEPT = 256;

/** Rules that ask about a start ask about a message that resumes an ended agent, too. */
export class ResumeAsks {
  readonly #parts: TypeRuleParts;
  readonly #resumes: (to: string) => Promise<string | undefined>;
  /** The type that each call was asked about. */
  readonly #asked = new Map<string, string>();

  /** `resumes`: the type of the ended agent that a message would resume; undefined: it would resume none. */
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

  /** Whether a call that runs now was asked about for this type. Said once. */
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
    // What forbids it is said by the call itself.
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

/** Rules of the form `Agent(type)`, for an agent that has ended and is to be resumed. */
export interface ResumeRules {
  /**
   * Why `from` may not resume one of this kind; undefined: nothing forbids it. `find`: the kinds of now.
   */
  forbidsResume(
    wish: ResumeRequest,
    definition: AgentDefinition,
    find: (type: string) => Promise<AgentDefinition | undefined>,
  ): Promise<string | undefined>;
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
      const rules = new TypeRules({ ...parts, book: { resolve }, tool: () => tool });
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
