import type { InputMessage } from '../../loop/types.js';
import { escapeReport } from '../runtime/escape-tags.js';
import type { Mail } from './mail.js';

/** What somebody merely quotes has a backslash in front. */
const MARK = /(?<!\\)<teammate-message id=\\?"(m[\da-f]{16})\\?" /g;

/** What the reader is shown of a message: neither a person's word nor the program's. */
export function mailText(mail: Mail): string {
  const { id, from, kind, requestId, approve } = mail;
  const about = [
    `id="${id}"`,
    `from="${from}"`,
    ...(kind === 'message' ? [] : [`kind="${kind}"`]),
    ...(requestId === undefined ? [] : [`request_id="${requestId}"`]),
    ...(approve === undefined ? [] : [`approve="${approve}"`]),
  ].join(' ');
  const note = noteOf(mail);
  const said = `<teammate-message ${about}>\n${escapeReport(mail.text)}\n</teammate-message>`;
  return note === undefined ? said : `${said}\n${note}`;
}

/** What is expected of the reader; the program's own word. */
function noteOf({ kind, from, requestId, approve }: Mail): string | undefined {
  switch (kind) {
    case 'shutdown_request':
      return `You are asked to stop. Answer with SendMessage to "${from}", message {"type":"shutdown_response","request_id":"${requestId}","approve":true}, or false and a reason if your work must not be left as it is.`;
    case 'plan_approval_request':
      return `${from} may change nothing before you agree to its plan. Answer with SendMessage to "${from}", message {"type":"plan_approval_response","request_id":"${requestId}","approve":true}, or false and feedback.`;
    case 'plan_approval_response':
      return approve === true
        ? 'The lead has approved your plan: you can make changes now.'
        : 'The lead has not approved your plan: you are still in plan mode. Improve it and present it again.';
    case 'idle':
      return `${from} has nothing to do now and waits for messages. What it said last is above.`;
    case 'ended':
      return `${from} has ended. What it said last is above; tasks that it had begun are open again.`;
    case 'message':
    case 'shutdown_response':
      return undefined;
  }
}

export function inputOf(mail: Mail, uuid: string): InputMessage {
  return { uuid, content: [{ type: 'text', text: mailText(mail) }], meta: true };
}

/** Ids of the messages that a text shows, as it stands in a conversation or, as JSON, in a transcript. */
export function mailIn(text: string): readonly string[] {
  return [...text.matchAll(MARK)].map(([, id = '']) => id);
}
