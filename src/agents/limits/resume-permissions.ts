import { err, ok } from '../../lib/result.js';
import { type Finding, type Guard, NOTHING } from '../../permissions/gate/guard.js';
import type { GateCall } from '../../permissions/gate/types.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AnyTool } from '../../tools/tool.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { typeKey } from '../definitions/names.js';
import type { AgentBook } from '../definitions/types.js';
import {
  createTypeRules,
  isFree,
  named,
  namesOf,
  restriction,
  type TypeRuleParts,
  virtualCalls,
} from './type-rules.js';

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
  const callFor = virtualCalls(parts);
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
