import { HostNotAsked, wireSource } from '../app.js';
import type { LocalClient } from '../client/local-client.js';
import type {
  AnyAnswer,
  FormQuestion,
  Question,
  QuestionCall,
  UrlQuestion,
} from '../client/questions.js';
import { messageOf } from '../errors.js';
import { isRecord } from '../lib/own.js';
import { sliceWhole } from '../lib/text/truncate.js';
import type { ElicitReply } from '../protocol/elicitation.js';
import type { HostChannel } from './host-channel.js';

/** Puts the questions of the session to the host: `can_use_tool` and `elicitation`. */
export function putQuestionsToHost(client: LocalClient, channel: HostChannel): void {
  const asked = new Map<string, AbortController>();
  client.subscribe(({ event }) => {
    if (event.type === 'question_closed') {
      asked.get(event.id)?.abort(new Error('the question is closed'));
      asked.delete(event.id);
    }
    if (event.type !== 'question' || event.question.kind === 'confirm') return;
    // Another client is asked.
    if (!client.respondent.answers.includes(event.question.kind)) return;
    const controller = new AbortController();
    asked.set(event.question.id, controller);
    void ask(event.question, { client, channel, signal: controller.signal });
  });
}

interface Asking {
  readonly client: LocalClient;
  readonly channel: HostChannel;
  readonly signal: AbortSignal;
}

type HostQuestion = Exclude<Question, { kind: 'confirm' }>;

async function ask(question: HostQuestion, { client, channel, signal }: Asking): Promise<void> {
  const { id } = question;
  try {
    if (!('call' in question)) {
      const given = await channel.request(elicitBody(question), signal);
      await client.answer(id, elicitReply(given));
      return;
    }
    const given = await channel.request(callBody(question), signal);
    // The client checks it: anything but a well-formed yes or no is refused there.
    await client.answer(id, given as AnyAnswer);
  } catch (thrown) {
    if (signal.aborted) return;
    const why = messageOf(thrown);
    if (thrown instanceof HostNotAsked) {
      client.decline(id, { message: `Nobody could be asked: ${why}.`, silent: true });
    } else if (!channel.isOpen() || !('call' in question)) {
      // Another client may still answer; clients without a callback for forms answer with an error.
      client.decline(id, { message: `The permission callback failed: ${why}`, silent: false });
    } else {
      // fail-closed: a callback that fails, or whose answer cannot be read, has said no.
      const message = `The permission callback failed: ${why}`;
      await client.answer(id, { behavior: 'deny', message });
    }
  }
}

type CallQuestion = Extract<Question, { call: QuestionCall }>;

function callBody({ call, reason, agent }: CallQuestion): Readonly<Record<string, unknown>> {
  const { tool, input, heldBy, rule, server } = call;
  const { description } = input;
  return {
    subtype: 'can_use_tool',
    tool_name: tool,
    display_name: tool,
    title: sliceWhole(`${tool}: ${call.summary}`, 0, MAX_TITLE),
    ...(typeof description === 'string' && { description }),
    input,
    tool_use_id: call.toolUseId,
    decision_reason: reason,
    decision_reason_type: reasonType(heldBy),
    // What a guard holds back is asked about every time; an earlier answer does not cover it.
    ...(heldBy !== undefined && { held_by: heldBy }),
    ...(call.blockedPath !== undefined && { blocked_path: call.blockedPath }),
    ...(rule !== undefined && { matched_ask_rule: matchedRule(rule) }),
    ...(agent.depth > 0 && { agent_id: agent.id }),
    ...(server !== undefined && { mcp_server: server }),
    ...(call.needsPerson === true && { requires_user_interaction: true }),
    permission_suggestions: call.suggestedUpdates,
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
    ...(content !== undefined && { rule_content: content }),
  };
}

function elicitBody(question: FormQuestion | UrlQuestion): Readonly<Record<string, unknown>> {
  const { kind, server, message, warnings } = question;
  return {
    subtype: 'elicitation',
    mcp_server_name: server,
    message,
    mode: kind,
    ...(kind === 'form'
      ? {
          ...(question.requestedSchema && { requested_schema: question.requestedSchema }),
          property_order: question.fields.map(({ name }) => name),
        }
      : {
          url: question.url,
          ...(question.elicitationId !== undefined && { elicitation_id: question.elicitationId }),
        }),
    display_name: server,
    ...(warnings.length > 0 && { description: warnings.join('\n') }),
  };
}

/** fail-closed: what is no clear answer is a no. */
function elicitReply(answer: unknown): ElicitReply {
  if (!isRecord(answer)) return { action: 'decline' };
  const { action, content } = answer;
  if (action === 'cancel') return { action };
  if (action !== 'accept') return { action: 'decline' };
  if (content === undefined || content === null) return { action };
  return isRecord(content) ? { action, content } : { action: 'decline' };
}
