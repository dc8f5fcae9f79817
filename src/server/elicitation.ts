import type { ElicitQuestion, ElicitReply } from '../protocol/elicitation.js';
import { isRecord } from '../util/own.js';
import type { HostChannel } from './host-channel.js';

/**
 * Puts a server's question to the host's callback. Undefined when the host cannot answer, be it that it
 * knows no such request or that it is gone. Never rejects.
 */
export async function elicitHost(
  channel: Pick<HostChannel, 'request'>,
  question: ElicitQuestion,
  signal: AbortSignal,
): Promise<ElicitReply | undefined> {
  try {
    return replyOf(await channel.request(bodyOf(question), signal));
  } catch {
    // fail-closed: no answer. Clients without a callback for it answer with an error.
    return signal.aborted ? { action: 'cancel' } : undefined;
  }
}

function bodyOf(question: ElicitQuestion): Readonly<Record<string, unknown>> {
  const { server, message, mode, url, elicitationId, requestedSchema, warnings, fields } = question;
  return {
    subtype: 'elicitation',
    mcp_server_name: server,
    message,
    mode,
    ...(url === undefined ? {} : { url }),
    ...(elicitationId === undefined ? {} : { elicitation_id: elicitationId }),
    ...(requestedSchema === undefined ? {} : { requested_schema: requestedSchema }),
    ...(mode === 'form' ? { property_order: fields.map(({ name }) => name) } : {}),
    display_name: server,
    ...(warnings.length === 0 ? {} : { description: warnings.join('\n') }),
  };
}

/** fail-closed: what is no clear answer is a no. */
function replyOf(answer: unknown): ElicitReply {
  if (!isRecord(answer)) return { action: 'decline' };
  const { action, content } = answer;
  if (action === 'cancel') return { action };
  if (action !== 'accept') return { action: 'decline' };
  if (content === undefined || content === null) return { action };
  return isRecord(content) ? { action, content } : { action: 'decline' };
}
