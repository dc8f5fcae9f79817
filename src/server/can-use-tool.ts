import { messageOf } from '../errors.js';
import {
  type AskAnswer,
  type AskRequest,
  HostNotAsked,
  readAskAnswer,
  suggestedUpdates,
  wireSource,
} from '../harness.js';
import { sliceWhole } from '../util/truncate.js';
import type { HostChannel } from './host-channel.js';

/** Puts a question to the host's `canUseTool`. Never throws: a question without an answer is answered no. */
export async function askHost(channel: HostChannel, ask: AskRequest): Promise<AskAnswer> {
  try {
    const answer = await channel.request(questionOf(ask), ask.call.signal);
    const read = readAskAnswer(answer);
    if (read.ok) return read.value;
    // fail-closed: anything but a well-formed yes is a no.
    return no(`The permission callback gave no valid answer: ${read.error}`);
  } catch (thrown) {
    if (thrown instanceof HostNotAsked) {
      return { ...no(`Nobody could be asked: ${thrown.message}.`), unanswered: true };
    }
    // fail-closed: a callback that fails or is withdrawn is a no.
    return no(`The permission callback failed: ${messageOf(thrown)}`);
  }
}

function no(message: string): Extract<AskAnswer, { behavior: 'deny' }> {
  return { behavior: 'deny', message };
}

function questionOf(ask: AskRequest): Readonly<Record<string, unknown>> {
  const { call, heldBy, rule } = ask;
  const { description } = call.input;
  return {
    subtype: 'can_use_tool',
    tool_name: call.tool.name,
    display_name: call.tool.name,
    title: sliceWhole(`${call.tool.name}: ${call.subject.summary}`, 0, MAX_TITLE),
    ...(typeof description === 'string' ? { description } : {}),
    input: call.input,
    tool_use_id: call.toolUseId,
    decision_reason: ask.reason,
    decision_reason_type: reasonType(heldBy),
    // What a guard holds back is asked about every time; an earlier answer does not cover it.
    ...(heldBy === undefined ? {} : { held_by: heldBy }),
    ...(ask.blockedPath === undefined ? {} : { blocked_path: ask.blockedPath }),
    ...(rule === undefined ? {} : { matched_ask_rule: matchedRule(rule) }),
    ...(call.agent.depth === 0 ? {} : { agent_id: call.agent.id }),
    ...(call.tool.origin === undefined
      ? {}
      : { mcp_server: { name: call.tool.origin.server, source: call.tool.origin.source } }),
    ...(call.tool.needsPerson === true ? { requires_user_interaction: true } : {}),
    permission_suggestions: suggestedUpdates(ask),
  };
}

const MAX_TITLE = 200;

/** The guards that ask, in the words that hosts know; all others watch over safety. */
const REASON_TYPES: ReadonlyMap<string, string> = new Map([
  ['ask rules', 'rule'],
  ['plan mode', 'mode'],
  ['PreToolUse hooks', 'hook'],
]);

function reasonType(heldBy: string | undefined): string {
  return heldBy === undefined ? 'other' : (REASON_TYPES.get(heldBy) ?? 'safetyCheck');
}

function matchedRule({ text, source }: { text: string; source: string }): unknown {
  const match = /^([^()]+)(?:\((.*)\))?$/s.exec(text);
  const [, name = text, content] = match ?? [];
  return {
    source: wireSource(source),
    tool_name: name.trim(),
    ...(content === undefined ? {} : { rule_content: content }),
  };
}
