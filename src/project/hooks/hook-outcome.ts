import { contextsOf, tellIgnored, textsIn } from '../../hooks/answers/round.js';
import { taskCompleted, taskCreated, teammateIdle } from '../../hooks/events/agent.js';
import { beforeCompact } from '../../hooks/events/compact.js';
import { type ConfigChange, configObjections } from '../../hooks/events/config.js';
import {
  createElicitationHooks,
  type Elicitation,
  type ElicitationResult,
} from '../../hooks/events/elicitation.js';
import { displayText, type ShownText } from '../../hooks/events/message-display.js';
import { beforeModelSwitch, type ModelSwitch } from '../../hooks/events/model.js';
import { createPostToolHooks } from '../../hooks/events/post-tool-use.js';
import { type ExpandedPrompt, promptExpanded, promptSubmitted } from '../../hooks/events/prompt.js';
import { type SessionStarting, sessionStart } from '../../hooks/events/session.js';
import { createStopHooks } from '../../hooks/events/stop.js';
import { createWorktreeHooks } from '../../hooks/events/worktree.js';
import type { HookEventName } from '../../hooks/registry/hook.js';
import {
  askAfterTool,
  askBeforeTool,
  askPermission,
  type HookEffect,
  type HookTestContext,
} from './hook-outcome-calls.js';

/** Who reads a text of a hook, and as what. */
export interface Destination {
  readonly to: 'model' | 'user' | 'none';
  readonly how: string;
}

export const toModel = (how: string): Destination => ({ to: 'model', how });
export const toUser = (how: string): Destination => ({ to: 'user', how });
export const toNone = (how: string): Destination => ({ to: 'none', how });

interface EventRow {
  /** What follows when no hook objects. */
  readonly proceeds?: string;
  /** What a refusal does. */
  readonly refused?: string;
  /** Where the reason of a refusal goes. */
  readonly reasonTo?: Destination;
  readonly contextTo?: Destination;
  /** Why a refusal discards the context as well. */
  readonly contextLost?: string;
  /** Asks the hooks through the part of a session that decides what their answers mean. */
  ask?(context: HookTestContext): Promise<HookEffect>;
}

const IGNORED = toUser('as a warning: a refusal has no effect at this event');
const WITH_REFUSAL = toUser('with the refusal');
const REFUSED_CALL = toModel('as why the call was refused');
const AFTER_RESULT = toModel('after the result of the call');
const NEXT = toModel('as its next instruction');
const TASK_RESULT = toModel('as the result of its call');
const PROMPT: EventRow = {
  proceeds: 'the prompt passes',
  reasonTo: toUser('with the prompt, which is dropped'),
  contextLost: 'the prompt is dropped, and with it what hooks added',
  ask: askPrompt,
};

/** One row per event: what a refusal does, and who reads the texts of its hooks. */
const ROWS: Readonly<Partial<Record<HookEventName, EventRow>>> = {
  SessionStart: { reasonTo: IGNORED, ask: askStart },
  Setup: { reasonTo: IGNORED },
  UserPromptSubmit: PROMPT,
  UserPromptExpansion: PROMPT,
  MessageDisplay: { proceeds: 'the text is shown as it is', ask: askDisplay },
  PreToolUse: { reasonTo: REFUSED_CALL, ask: askBeforeTool },
  PermissionRequest: {
    proceeds: 'no hook decides; the user is asked',
    reasonTo: REFUSED_CALL,
    ask: askPermission,
  },
  PostToolUse: { reasonTo: AFTER_RESULT, ask: askAfterTool },
  PostToolUseFailure: { reasonTo: AFTER_RESULT, ask: askAfterTool },
  PostToolBatch: {
    proceeds: 'the turn goes on',
    refused: 'the turn would end',
    reasonTo: toUser('as why the turn ended'),
    async ask({ dispatch, occasion }) {
      const call = { tool_name: '', tool_input: {}, tool_use_id: '', tool_response: '' };
      const { contexts, stop } = await createPostToolHooks(dispatch).batch(occasion, [call]);
      return { refusal: stop, model: contexts };
    },
  },
  Notification: { contextTo: toNone('no turn waits for this event') },
  SubagentStart: {
    reasonTo: IGNORED,
    contextTo: toModel('of the subagent, before its first request'),
  },
  SubagentStop: {
    reasonTo: NEXT,
    contextTo: toModel('of the subagent, which goes on'),
    ask: askStop,
  },
  Stop: { reasonTo: NEXT, contextTo: toModel('and the agent goes on'), ask: askStop },
  TaskCreated: {
    proceeds: 'no hook objects',
    refused: 'the task would be removed again',
    reasonTo: TASK_RESULT,
    ask: async (context) => forModel(await taskCreated(context, TASK, context.occasion)),
  },
  TaskCompleted: {
    proceeds: 'no hook objects',
    refused: 'the task would stay open',
    reasonTo: TASK_RESULT,
    ask: async (context) => forModel(await taskCompleted(context, TASK, context.occasion)),
  },
  TeammateIdle: {
    proceeds: 'the teammate may rest',
    refused: 'the teammate would go on',
    reasonTo: NEXT,
    async ask(context) {
      const idle = await teammateIdle(context, { teammate_name: '' }, context.occasion);
      const { keepWorking, stop } = idle;
      return stop === undefined
        ? forModel(keepWorking)
        : { text: `the teammate would end: ${stop}` };
    },
  },
  ConfigChange: {
    proceeds: 'the change would be applied',
    reasonTo: WITH_REFUSAL,
    async ask(context) {
      const change = payload<ConfigChange>(context);
      const refusal = await configObjections(context, [change], context.occasion);
      if (change.source !== 'policy_settings') return { refusal };
      return { text: 'a change of managed settings is applied whatever hooks answer' };
    },
  },
  CwdChanged: { reasonTo: IGNORED },
  FileChanged: { reasonTo: IGNORED },
  WorktreeCreate: {
    proceeds: 'no hook creates one; git would',
    reasonTo: toModel('as why there is no worktree'),
    async ask(context) {
      const wanted = payload<{ readonly name: string }>(context);
      const made = await createWorktreeHooks(context).create(wanted, context.occasion);
      if (made.kind === 'refused') return { refusal: made.reason };
      return made.kind === 'none' ? {} : { text: `the worktree would be ${made.path}` };
    },
  },
  PreCompact: {
    proceeds: 'the conversation would be summarised',
    reasonTo: WITH_REFUSAL,
    contextTo: toModel('among the instructions for the summary'),
    contextLost: 'there is no summary that it could be about',
    async ask({ dispatch, occasion }) {
      const ahead = { ...occasion, trigger: 'auto', customInstructions: undefined } as const;
      const { blocked, instructions, preserve } = await beforeCompact(dispatch, ahead);
      return { refusal: blocked, model: [...instructions, ...preserve] };
    },
  },
  PreModelSwitch: {
    proceeds: 'the model would be switched',
    reasonTo: WITH_REFUSAL,
    ask: askModelSwitch,
  },
  PostModelSwitch: { reasonTo: IGNORED, contextTo: toModel('that takes over') },
  Elicitation: {
    proceeds: 'no hook answers; the user is asked',
    reasonTo: WITH_REFUSAL,
    async ask(context) {
      const question = payload<Elicitation>(context);
      const answer = await createElicitationHooks(context).ask(question, context.occasion);
      if (answer.kind === 'refused') return { refusal: answer.reason };
      return answer.kind === 'none' ? {} : { text: replyText(answer) };
    },
  },
  ElicitationResult: {
    reasonTo: WITH_REFUSAL,
    async ask(context) {
      const given = payload<ElicitationResult>(context);
      const reply = await createElicitationHooks(context).result(given, context.occasion);
      return { refusal: reply.reason, text: replyText(reply) };
    },
  },
  SessionEnd: { reasonTo: IGNORED },
};

/** What holds for an event unless its row says otherwise: its hooks only observe. */
const OBSERVES = {
  proceeds: 'hooks of this event only observe; nothing is blocked',
  refused: 'would be refused',
  reasonTo: toNone('a refusal has no effect at this event'),
  contextTo: toModel('as a note'),
  ask: askObservers,
} satisfies EventRow;

export function eventRow(event: HookEventName): EventRow & typeof OBSERVES {
  return { ...OBSERVES, ...ROWS[event] };
}

/** What the hooks of an event together would bring about. */
export interface HookOutcome extends Pick<HookEffect, 'input' | 'permissions'> {
  readonly text: string;
  readonly refused: boolean;
  readonly forModel: readonly string[];
}

/** Asks the hooks of an event as a session does, and says what would follow. */
export async function hookOutcome(context: HookTestContext): Promise<HookOutcome> {
  const { ask, proceeds, refused } = eventRow(context.event);
  const { refusal, text, model = [], ...effect } = await ask(context);
  const follows = refusal === undefined ? proceeds : `${refused}: ${refusal}`;
  return { ...effect, text: text ?? follows, refused: refusal !== undefined, forModel: model };
}

async function askObservers(context: HookTestContext): Promise<HookEffect> {
  const { event, dispatch, occasion } = context;
  const round = await dispatch.fire(event, occasion);
  const { proceeds, reasonTo, contextTo } = eventRow(event);
  if (reasonTo === IGNORED) tellIgnored(context, event, round);
  const model = contextTo.to === 'none' ? [] : contextsOf(round);
  const answers = round.reports.map(({ answer }) => answer.fields);
  if (event === 'PermissionDenied' && answers.some(({ retry }) => retry === true)) {
    return { text: 'the model would be told that it may try again; it is judged anew', model };
  }
  const paths = answers.flatMap((one) => textsIn(one, 'watchPaths') ?? []);
  if (paths.length === 0) return { model };
  return { text: `${proceeds}; files watched from now on: ${paths.join(', ')}`, model };
}

async function askStart(context: HookTestContext): Promise<HookEffect> {
  const starting = payload<SessionStarting>(context);
  const started = await sessionStart(context, starting, context.occasion);
  const { contexts, initialUserMessage, sessionTitle, watchPaths } = started;
  const parts = [
    'the session starts',
    ...(initialUserMessage === undefined ? [] : ['a prompt of the hooks comes first']),
    ...(sessionTitle === undefined ? [] : [`its title would be "${sessionTitle}"`]),
    ...(watchPaths.length === 0 ? [] : [`files watched: ${watchPaths.join(', ')}`]),
  ];
  return { text: parts.join('; '), model: [...contexts, initialUserMessage ?? []].flat() };
}

async function askPrompt(context: HookTestContext): Promise<HookEffect> {
  const given = { ...payload<ExpandedPrompt>(context), ...context.occasion };
  const outcome = await (context.event === 'UserPromptSubmit'
    ? promptSubmitted(context.dispatch, { ...context.occasion, prompt: given.prompt })
    : promptExpanded(context.dispatch, given));
  if (outcome.kind === 'blocked') return { refusal: outcome.reason };
  if (outcome.kind === 'stopped') {
    return { refusal: outcome.reason, text: `no turn would follow: ${outcome.reason}` };
  }
  const { updatedPrompt, contexts } = outcome;
  if (updatedPrompt === undefined) return { model: contexts };
  return { text: 'the model would read another prompt', model: [updatedPrompt, ...contexts] };
}

async function askDisplay(context: HookTestContext): Promise<HookEffect> {
  const given = payload<ShownText>(context);
  const { text, notice } = await displayText(context.dispatch, given, context.occasion);
  if (notice !== undefined) return { text: notice };
  return text === given.delta ? {} : { text: `the screen shows: ${text}` };
}

async function askStop({ event, dispatch, occasion }: HookTestContext): Promise<HookEffect> {
  const move = await createStopHooks(dispatch, { changes: () => 0 }).beforeLeaving({
    ...occasion,
    event: event === 'SubagentStop' ? 'SubagentStop' : 'Stop',
    backgroundTasks: [],
    crons: [],
  });
  if (move.kind === 'end') return { text: `the run would end here: ${move.stop}` };
  if (move.kind === 'leave') return { text: move.notice ?? 'the agent may stop' };
  return { ...forModel(move.message), text: 'the agent would go on' };
}

async function askModelSwitch(context: HookTestContext): Promise<HookEffect> {
  const change = payload<ModelSwitch>(context);
  let question: string | undefined;
  const refusal = await beforeModelSwitch(context, change, context.occasion, async (text) => {
    question = text;
    return true;
  });
  if (refusal !== undefined || question === undefined) return { refusal };
  return { text: `the user would be asked; without a user it is refused: ${question}` };
}

function replyText({ action, content, reason }: Partial<ElicitationResult> & { reason?: string }) {
  const what = content === undefined ? '' : ` with ${JSON.stringify(content)}`;
  const why = reason === undefined ? '' : `: ${reason}`;
  return `the server would be told "${action}"${what}${why}`;
}

/** A refusal that the model reads. */
function forModel(refusal: string | undefined): HookEffect {
  return { refusal, model: refusal === undefined ? undefined : [refusal] };
}

const TASK = { id: '', subject: '' };

/** The input of the test as the session holds it. Hooks read it unchanged, so it is not checked. */
function payload<T>({ occasion }: HookTestContext): T {
  return occasion.fields as T;
}
