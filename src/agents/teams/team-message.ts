import { err, ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/truncate.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../../tools/define-tool.js';
import { failure } from '../../tools/output.js';
import type { Tool, ToolOutput } from '../../tools/tool.js';
import { type SendMessageDeps, sendPlain } from '../tools/send-message.js';
import { EVERYBODY, LEAD } from './records.js';
import { sameName } from './team.js';
import type { TeamClient } from './team-client.js';
import description from './team-message.md';

type Input = ToolInputs['TeamMessage'];
type Request = Exclude<Input['message'], string>;

export interface TeamMessageDeps {
  /** Undefined: nobody has been started yet. */
  desk(): TeamClient | undefined;
  /** For everybody who is not in the team, and everything that is not for it. */
  readonly plain: SendMessageDeps;
}

/** SendMessage where there may be a team. */
export function teamMessageTool({ desk, plain }: TeamMessageDeps): Tool<Input> {
  const tool = defineTool<Input>({
    name: 'TeamMessage',
    // Whatever the other one does then is a call of its own, and judged as such.
    kind: 'control',
    description,
    subject: ({ to, summary, message }) => ({
      paths: [],
      summary: sliceWhole(`message to ${to}: ${summary ?? wordsOf(message)}`, 0, 120),
    }),
    async run(input, context) {
      const now = desk();
      const me = now?.nameOf(context.agent);
      const { to, message } = input;
      if (now !== undefined && me !== undefined) {
        const said = await toTeam(now, { me, mode: context.mode }, input);
        if (said !== undefined) return said;
      }
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

/** Undefined: it is for somebody outside the team. */
async function toTeam(
  desk: TeamClient,
  { me, mode }: Pick<Asked, 'me' | 'mode'>,
  input: Input,
): Promise<ToolOutput | undefined> {
  const { to, message } = input;
  const record = desk.record();
  // fail-closed: nobody can tell who is in the team, so nobody gets it in their stead.
  if (!record.ok) return failure(`Nothing was sent: ${record.error}.`);
  if (typeof message === 'string' && message.trim() === '') {
    return failure('The message is empty: nothing was sent.');
  }
  const names = desk.living().map(({ name }) => name);
  if (to === EVERYBODY) return await toAll(desk, { me, names: [LEAD, ...names], message });
  const isLead = sameName(to, LEAD) || to === 'main';
  const member = record.value.members.find(
    ({ name, agentId }) => sameName(name, to) || agentId === to,
  );
  const name = isLead ? LEAD : member?.name;
  if (name === undefined) return undefined;
  if (name === me) return failure('That is you: nothing was sent.');
  const sent =
    typeof message === 'string'
      ? await desk.send({ from: me, to: name, kind: 'message', text: message })
      : await request(desk, { me, mode, to: name, message });
  if (!sent.ok) return failure(`Nothing was sent: ${sent.error}. ${whoIsThere(names)}`);
  const text = `Sent to ${name}, who reads it between two turns.`;
  return { content: text, structured: { success: true, recipients: [name], message: text } };
}

function whoIsThere(names: readonly string[]): string {
  return `There are: ${[LEAD, ...names].join(', ')}.`;
}

async function toAll(
  desk: TeamClient,
  { me, names, message }: { me: string; names: readonly string[]; message: Input['message'] },
): Promise<ToolOutput> {
  if (typeof message !== 'string') {
    return failure('A request has one addressee: nothing was sent.');
  }
  const sent: string[] = [];
  const failed: string[] = [];
  for (const to of names.filter((name) => name !== me)) {
    const done = await desk.send({ from: me, to, kind: 'message', text: message });
    if (done.ok) sent.push(to);
    else failed.push(`${to}: ${done.error}`);
  }
  if (sent.length === 0 && failed.length === 0) return failure('Nobody else is in the team.');
  const text = [
    ...(sent.length === 0 ? [] : [`Sent to ${sent.join(', ')}.`]),
    ...failed.map((one) => `Not sent to ${one}.`),
  ].join('\n');
  const structured = { success: failed.length === 0, recipients: sent, message: text };
  return { content: text, structured, ...(sent.length === 0 ? { isError: true } : {}) };
}

interface Asked {
  readonly me: string;
  /** In which whoever asks works now. */
  readonly mode: PermissionMode;
  readonly to: string;
  readonly message: Request;
}

/** fail-closed: who may ask what, and answer what, is not the model's to say. */
async function request(desk: TeamClient, asked: Asked): Promise<Result<unknown, string>> {
  switch (asked.message.type) {
    case 'shutdown_request':
      return await shutdown(desk, asked);
    case 'shutdown_response':
      return await shutdownAnswer(desk, asked);
    case 'plan_approval_request':
      return await plan(desk, asked);
    case 'plan_approval_response':
      return await planAnswer(desk, asked);
  }
}

async function shutdown(desk: TeamClient, { me, to, message }: Asked) {
  if (me !== LEAD) return err('only the lead asks others to stop');
  const text = message.reason ?? 'Please finish.';
  const requestId = desk.newRequest();
  return await desk.send({ from: me, to, kind: 'shutdown_request', text, requestId });
}

async function shutdownAnswer(desk: TeamClient, { me, to, message }: Asked) {
  const { request_id: requestId, approve } = message;
  const duty = desk.duties.get(me);
  if (to !== LEAD || duty === undefined) return err('only the lead has asked you to stop');
  if (requestId === undefined || requestId !== duty.shutdownRequest) {
    return err('you were not asked to stop by this request');
  }
  if (approve === undefined) return err('`approve` says whether you stop');
  if (!approve && (message.reason ?? '').trim() === '') return err('say in `reason` why not');
  const text = message.reason ?? 'I stop.';
  const sent = await desk.send({
    from: me,
    to,
    kind: 'shutdown_response',
    text,
    requestId,
    approve,
  });
  if (!sent.ok) return sent;
  duty.shutdownRequest = undefined;
  duty.isOver = approve;
  return ok(undefined);
}

async function plan(desk: TeamClient, { me, to, message }: Asked) {
  const duty = desk.duties.get(me);
  if (to !== LEAD || duty === undefined) return err('plans go to the lead');
  if (!duty.planRequired || duty.mode() !== 'plan') {
    return err('no plan is wanted of you: go on with the work');
  }
  const text = (message.plan ?? '').trim();
  if (text === '') return err('the whole plan belongs in `plan`');
  const requestId = desk.newRequest();
  const before = duty.planRequest;
  // Before it is sent: the answer may be faster than this call.
  duty.planRequest = requestId;
  const sent = await desk.send({ from: me, to, kind: 'plan_approval_request', text, requestId });
  if (!sent.ok) duty.planRequest = before;
  return sent;
}

async function planAnswer(desk: TeamClient, { me, mode, to, message }: Asked) {
  const { request_id: requestId, approve } = message;
  if (me !== LEAD) return err('only the lead approves plans');
  if (requestId === undefined || desk.plans.get(to) !== requestId) {
    return err(`${to} has no plan that waits for an answer by this request`);
  }
  if (approve === undefined) return err('`approve` says whether the plan is approved');
  const text = message.feedback ?? message.reason ?? (approve ? 'Approved.' : 'Not approved.');
  const kind = 'plan_approval_response';
  const sent = await desk.send({ from: me, to, kind, text, requestId, approve, mode });
  if (sent.ok) desk.plans.delete(to);
  return sent;
}
