import { err, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../../tools/define-tool.js';
import { failure } from '../../tools/output.js';
import type { Tool, ToolOutput } from '../../tools/tool.js';
import { type SendMessageDeps, sendPlain } from '../tools/send-message.js';
import type { Duty } from './duty.js';
import type { Mail } from './mail.js';
import { ALL_MEMBERS, LEAD } from './records.js';
import { sameName } from './team.js';
import type { TeamClient } from './team-client.js';
import description from './team-message.md';

type Input = ToolInputs['TeamMessage'];
type Request = Exclude<Input['message'], string>;

/**
 * SendMessage for sessions that may have a team. `client` is undefined before the first teammate; `plain`
 * handles receivers outside the team.
 */
export function teamMessageTool(
  client: () => TeamClient | undefined,
  plain: SendMessageDeps,
): Tool<Input> {
  const tool = defineTool<Input>({
    name: 'TeamMessage',
    // The receiver's actions are calls of its own and judged as such.
    kind: 'control',
    description,
    subject: ({ to, summary, message }) => ({
      paths: [],
      summary: sliceWhole(`message to ${to}: ${summary ?? wordsOf(message)}`, 0, 120),
    }),
    async run(input, context) {
      const { to, message } = input;
      const team = client();
      const me = team?.nameOf(context.agent);
      const said =
        team === undefined || me === undefined
          ? undefined
          : await toTeam(team, { me, mode: context.mode }, input);
      if (said !== undefined) return said;
      if (typeof message !== 'string') {
        return failure(`"${to}" is not in a team with you: nothing was sent.`);
      }
      return await sendPlain(plain, { ...input, message }, context);
    },
  });
  const name = 'SendMessage';
  return { ...tool, name, definition: { ...tool.definition, name } };
}

function wordsOf(message: Input['message']): string {
  return typeof message === 'string' ? message : message.type;
}

/** Undefined: the receiver is outside the team. */
async function toTeam(
  client: TeamClient,
  { me, mode }: Pick<Asked, 'me' | 'mode'>,
  { to, message }: Input,
): Promise<ToolOutput | undefined> {
  const record = client.record();
  // fail-closed: with an unreadable team record the message goes to no one else instead.
  if (!record.ok) return failure(`Nothing was sent: ${record.error}.`);
  if (typeof message === 'string' && message.trim() === '') {
    return failure('The message is empty: nothing was sent.');
  }
  const names = [LEAD, ...client.living().map(({ name }) => name)];
  if (to === ALL_MEMBERS) {
    if (typeof message === 'string') return await toAll(client, { me, names, text: message });
    return failure('A request has one addressee: nothing was sent.');
  }
  const isLead = sameName(to, LEAD) || to === 'main';
  const name = isLead
    ? LEAD
    : record.value.members.find((one) => sameName(one.name, to) || one.agentId === to)?.name;
  if (name === undefined) return undefined;
  if (name === me) return failure('That is you: nothing was sent.');
  const sent =
    typeof message === 'string'
      ? await client.send({ from: me, to: name, kind: 'message', text: message })
      : await request(client, { me, mode, to: name, message });
  if (!sent.ok) return failure(`Nothing was sent: ${sent.error}. There are: ${names.join(', ')}.`);
  const text = `Sent to ${name}, who reads it between two turns.`;
  return { content: text, structured: { success: true, recipients: [name], message: text } };
}

async function toAll(
  client: TeamClient,
  { me, names, text }: { me: string; names: readonly string[]; text: string },
): Promise<ToolOutput> {
  const sent: string[] = [];
  const failed: string[] = [];
  for (const to of names.filter((name) => name !== me)) {
    const done = await client.send({ from: me, to, kind: 'message', text });
    if (done.ok) sent.push(to);
    else failed.push(`Not sent to ${to}: ${done.error}.`);
  }
  if (sent.length + failed.length === 0) return failure('The team has no other members.');
  const told = sent.length === 0 ? [] : [`Sent to ${sent.join(', ')}.`];
  const message = [...told, ...failed].join('\n');
  const structured = { success: failed.length === 0, recipients: sent, message };
  return { content: message, structured, isError: sent.length === 0 ? true : undefined };
}

interface Asked {
  readonly me: string;
  /** The sender's current mode. */
  readonly mode: PermissionMode;
  readonly to: string;
  readonly message: Request;
}

/** fail-closed: the program, not the model, decides which requests and answers are allowed. */
async function request(client: TeamClient, asked: Asked): Promise<Result<unknown, string>> {
  const { me, mode, to, message } = asked;
  const { type: kind, request_id: requestId, approve, reason } = message;
  const duty = client.duties.get(me);
  const send = (mail: Pick<Mail, 'text' | 'requestId' | 'approve' | 'mode'>) =>
    client.send({ from: me, to, kind, ...mail });
  switch (kind) {
    case 'shutdown_request':
      if (me !== LEAD) return err('only the lead asks others to stop');
      return await send({ text: reason ?? 'Please finish.', requestId: client.newRequest() });
    case 'shutdown_response': {
      if (to !== LEAD || duty === undefined) return err('only the lead has asked you to stop');
      if (requestId === undefined || requestId !== duty.shutdownRequest) {
        return err('you were not asked to stop by this request');
      }
      if (approve === undefined) return err('`approve` says whether you stop');
      if (!approve && (reason ?? '').trim() === '') return err('say in `reason` why not');
      const sent = await send({ text: reason ?? 'I stop.', requestId, approve });
      if (!sent.ok) return sent;
      duty.shutdownRequest = undefined;
      duty.isOver = approve;
      return sent;
    }
    case 'plan_approval_request':
      if (to !== LEAD || duty === undefined) return err('plans go to the lead');
      return await presentPlan(duty, (message.plan ?? '').trim(), (text) => {
        // Set before sending, because the answer may come first.
        duty.planRequest = client.newRequest();
        return send({ text, requestId: duty.planRequest });
      });
    case 'plan_approval_response': {
      if (me !== LEAD) return err('only the lead approves plans');
      if (requestId === undefined || client.plans.get(to) !== requestId) {
        return err(`${to} has no plan that waits for an answer by this request`);
      }
      if (approve === undefined) return err('`approve` says whether the plan is approved');
      const text = message.feedback ?? reason ?? (approve ? 'Approved.' : 'Not approved.');
      const sent = await send({ text, requestId, approve, mode });
      if (sent.ok) client.plans.delete(to);
      return sent;
    }
  }
}

async function presentPlan(
  duty: Duty,
  plan: string,
  send: (plan: string) => Promise<Result<unknown, string>>,
): Promise<Result<unknown, string>> {
  if (!duty.planRequired || duty.mode() !== 'plan') {
    return err('no plan is wanted of you: go on with the work');
  }
  if (plan === '') return err('the whole plan belongs in `plan`');
  const before = duty.planRequest;
  const sent = await send(plan);
  if (!sent.ok) duty.planRequest = before;
  return sent;
}
