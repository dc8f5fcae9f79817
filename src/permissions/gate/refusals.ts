import type { Clock } from '../../platform/clock.js';
import type { Receipt } from '../../protocol/permissions.js';
import { hostOf } from '../rules/domain.js';
import type { Gate, GateCall, GateVerdict } from './types.js';

/** From this refusal of the same need on, the model is told to stop and report. */
const TOLD_AFTER = 3;
/** With this one the agent has got stuck. */
const STUCK_AFTER = 6;

/**
 * Counts how often the same need is refused, so that an agent does not spend its turns at a closed
 * door. Calls of one model answer count once: their results had not been seen yet.
 */
interface Refusals {
  /** The gate with the count in what the model is told, and the time in the receipt. */
  watch(gate: Gate): Gate;
  /** Set once an agent keeps asking for what it cannot have. */
  stuck(agentPath: string): string | undefined;
  /** The model of this agent has seen its results and answered. */
  nextAnswer(agentPath: string): void;
  /** A new prompt for this agent: what was refused may be welcome now. */
  beginTurn(agentPath: string): void;
}

/** What is counted for one agent, by need; `answer`: the answer of the model that was counted last. */
interface Agent {
  readonly needs: Map<string, { readonly count: number; readonly answer: number }>;
  answer: number;
  stuck?: string;
}

/** A receipt to which the time is still to be added. */
type Timed = Omit<Receipt, 'ms'> & { ms?: number };

export function createRefusals(clock: Pick<Clock, 'monotonic'>): Refusals {
  const agents = new Map<string, Agent>();
  const agentOf = (path: string): Agent => {
    const agent = agents.get(path) ?? { needs: new Map(), answer: 0 };
    agents.set(path, agent);
    return agent;
  };

  const counted = (call: GateCall, verdict: GateVerdict): GateVerdict => {
    const key = needOf(call, verdict.receipt.command);
    const agent = agentOf(call.agent.path);
    if (verdict.kind === 'allowed') {
      agent.needs.delete(key);
      return verdict;
    }
    // A person who answers no can end the turn, so such refusals do not count.
    if (verdict.receipt.decidedBy === 'asker' || verdict.interrupt) return verdict;
    const before = agent.needs.get(key) ?? { count: 0, answer: -1 };
    const count = before.count + (before.answer === agent.answer ? 0 : 1);
    agent.needs.set(key, { count, answer: agent.answer });
    if (count < TOLD_AFTER) return verdict;
    if (count >= STUCK_AFTER) {
      // The agent above reads it, which is a model.
      const reason = verdict.reasonForModel ?? verdict.receipt.reason;
      agent.stuck = `${call.tool.name} was refused ${count} times for the same need (${reason})`;
    }
    const advice = `This is refusal ${count} of the same need. Stop trying: end your turn and report what you could not do and what is missing.`;
    return { ...verdict, message: `${verdict.message} ${advice}` };
  };

  return {
    watch: (gate) => async (call) => {
      const started = clock.monotonic();
      const verdict = await gate(call);
      // Put in, not copied: the gate has made this receipt for this call alone.
      const receipt: Timed = verdict.receipt;
      receipt.ms = Math.round((clock.monotonic() - started) * 1000) / 1000;
      return counted(call, verdict);
    },
    stuck: (agentPath) => agents.get(agentPath)?.stuck,
    nextAnswer(agentPath) {
      agentOf(agentPath).answer++;
    },
    // Also the end of an agent: nothing of it is kept.
    beginTurn: (agentPath) => void agents.delete(agentPath),
  };
}

/**
 * Tool, and what it is for: the command in its normal form, file, host, else its whole input. Another
 * command is another need: it may be the way that is allowed.
 */
function needOf({ tool, subject, input }: GateCall, normalised: string | undefined): string {
  const { command, paths, url } = subject;
  const text = command === undefined ? undefined : (normalised ?? command).replace(/\s+/g, ' ');
  const host = url === undefined ? undefined : (hostOf(url) ?? url);
  return JSON.stringify([tool.name, text?.trim() ?? paths[0]?.path ?? host ?? input]);
}
