import { sliceWhole } from '../../lib/text/truncate.js';
import type { InputMessage } from '../../loop/types.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../../tools/define-tool.js';
import { failure } from '../../tools/output.js';
import type { Tool, ToolContext, ToolOutput } from '../../tools/tool.js';
import type { Deliveries } from '../delivery/deliveries.js';
import { SEND_MESSAGE } from '../limits/type-rules.js';
import { escapeReport } from '../runtime/escape-tags.js';
import type { AgentEnd } from '../runtime/report.js';
import { type AgentRun, agentMessage } from '../runtime/run.js';
import type { AgentRuntime } from '../runtime/runtime.js';
import listDescription from './list-agents.md';
import description from './send-message.md';

export interface SendMessageDeps {
  runtime(): Pick<AgentRuntime, 'roster' | 'resume' | 'tell'>;
  readonly deliveries: Pick<Deliveries, 'endOf'>;
  uuid(): string;
}

type Input = ToolInputs['SendMessage'];

export function sendMessageTool(deps: SendMessageDeps): Tool<Input> {
  return defineTool({
    name: SEND_MESSAGE,
    // The receiver's actions are calls of its own and judged as such.
    kind: 'control',
    description,
    subject: ({ to, summary, message }) => ({
      paths: [],
      summary: sliceWhole(`message to ${to}: ${summary ?? message}`, 0, 120),
    }),
    run: (input, context) => sendPlain(deps, input, context),
  });
}

export async function sendPlain(
  deps: SendMessageDeps,
  input: Input,
  { agent, toolUseId }: Pick<ToolContext, 'agent' | 'toolUseId'>,
): Promise<ToolOutput> {
  const { message } = input;
  const to = input.to.trim();
  if (message.trim() === '') return failure('The message is empty: nothing was sent.');
  if (to === agent.id || to === agent.path) return failure(ONESELF);
  if (to === MAIN_AGENT.id) return toMain(deps, message, agent);
  const { roster } = deps.runtime();
  const namesakes = roster.list().filter(({ ref }) => ref.name === to);
  const [first, ...others] = namesakes;
  // fail-closed: the name's current owner may not be the agent that the sender meant.
  if (first !== undefined && others.length > 0 && roster.find(to)?.id !== to) {
    return failure(ambiguous(to, namesakes, roster.find(to)));
  }
  const task = roster.find(to);
  if (task?.id === agent.id) return failure(ONESELF);
  if (task?.report() === undefined && task?.hear(inputOf(deps, message, agent)) === true) {
    return sent(task.id, `${label(task)} is told between two of its turns.`);
  }
  return await goOn(deps, { id: task?.id ?? to, message, agent, toolUseId });
}

interface Message extends Pick<ToolContext, 'agent' | 'toolUseId'> {
  readonly id: string;
  readonly message: string;
}

async function goOn(
  { runtime, deliveries }: SendMessageDeps,
  { id, message, agent, toolUseId }: Message,
): Promise<ToolOutput> {
  const known = runtime().roster.find(id);
  // It is about to end and can be resumed right after.
  await known?.ended;
  const end = known?.report()?.end ?? deliveries.endOf(id);
  const refusal = whyNot(id, end, known);
  if (refusal !== undefined) return failure(refusal);
  const text = agentMessage(message, agent);
  const resumed = await runtime().resume(id, text, { from: agent, toolUseId });
  if (!resumed.ok) return failure(`Nothing was sent: ${resumed.error}. ${WHO}`);
  return sent(
    resumed.value.id,
    `${label(resumed.value)} had ended and goes on in the background with this message. You will be told when it has ended again.`,
  );
}

const ONESELF = 'That is you: nothing was sent.';
const WHO = 'ListAgents shows who is there.';

function whyNot(
  id: string,
  end: AgentEnd | undefined,
  task: AgentRun | undefined,
): string | undefined {
  // fail-closed: an agent does not restart what a person stopped.
  if (end?.kind === 'cancelled' && end.by === 'person') {
    return `${id} was stopped by a person. Only that person can go on with it: nothing was sent. Do not start the same work in another way; tell the user.`;
  }
  if (task?.definition.oneShot === true) {
    return `${label(task)} cannot be gone on with: agents of the type ${task.definition.name} end for good. Start a new one with all that it needs to know.`;
  }
  return undefined;
}

function inputOf({ uuid }: SendMessageDeps, message: string, from: AgentRef): InputMessage {
  const content = [{ type: 'text' as const, text: agentMessage(message, from) }];
  return { uuid: uuid(), content, meta: true };
}

function toMain(deps: SendMessageDeps, message: string, agent: AgentRef): ToolOutput {
  if (agent.id === MAIN_AGENT.id) return failure(ONESELF);
  const told = deps.runtime().tell(MAIN_AGENT.id, inputOf(deps, message, agent));
  return told
    ? sent(MAIN_AGENT.id, 'The main agent is told between two of its turns.')
    : failure('The main agent takes no messages now.');
}

function ambiguous(
  name: string,
  namesakes: readonly AgentRun[],
  newest: AgentRun | undefined,
): string {
  const all = namesakes.map((task) => `${task.id} (${label(task)}, ${stateOf(task)})`).join(', ');
  const target = newest === undefined ? '' : ` The one that has it now is ${newest.id}.`;
  return `Several agents have had the name "${name}": ${all}.${target} Nothing was sent: address the one that you mean by its id.`;
}

function sent(id: string, text: string): ToolOutput {
  return { content: text, structured: { success: true, agentId: id, message: text } };
}

/** An agent's name for people and models. */
export function label({ ref, description }: Pick<AgentRun, 'ref' | 'description'>): string {
  const name = ref.name === undefined ? ref.path : `${oneLine(ref.name)}, ${ref.path}`;
  return `${name} ("${oneLine(description)}")`;
}

/** Text of a model in a line of the program. */
function oneLine(text: string): string {
  return escapeReport(text).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** `running`, or how it ended. */
export function stateOf(task: Pick<AgentRun, 'report'>): string {
  const end = task.report()?.end;
  if (end === undefined) return 'running';
  return end.kind === 'done' ? 'done' : `${end.kind}: ${oneLine(end.reason)}`;
}

export interface ListAgentsDeps {
  runtime(): Pick<AgentRuntime, 'roster'>;
  /** Milliseconds since 1970. */
  now(): number;
}

export function listAgentsTool(deps: ListAgentsDeps): Tool<ToolInputs['ListAgents']> {
  return defineTool({
    name: 'ListAgents',
    aliases: ['ListPeers'],
    kind: 'control',
    description: listDescription,
    subject: () => ({ paths: [], summary: 'list the agents' }),
    concurrencySafe: () => true,
    run: async (input, { agent }) => list(deps, input, agent),
  });
}

function list(
  { runtime, now }: ListAgentsDeps,
  { q }: ToolInputs['ListAgents'],
  agent: AgentRef,
): ToolOutput {
  const wanted = q?.toLowerCase();
  const found = runtime()
    .roster.list()
    .filter((task) => task.id !== agent.id && (wanted === undefined || fits(task, wanted)));
  const agents = found.map((task) => ({
    id: task.id,
    name: task.ref.name,
    type: task.ref.type,
    path: task.ref.path,
    description: task.description,
    state: stateOf(task),
    background: task.ref.background,
    seconds: Math.round((now() - task.plan.startedAt) / 1_000),
  }));
  const lines = found.map((task, index) => {
    const since = agents[index]?.seconds ?? 0;
    return `${task.id}  ${label(task)}  ${stateOf(task)}, started ${since} s ago`;
  });
  const none = wanted === undefined ? 'There are no other agents.' : 'No agent fits.';
  return { content: lines.length === 0 ? none : lines.join('\n'), structured: { agents } };
}

function fits({ id, ref, description: task }: AgentRun, wanted: string): boolean {
  return [id, ref.name ?? '', ref.path, task].some((text) => text.toLowerCase().includes(wanted));
}
