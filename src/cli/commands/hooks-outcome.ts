import { createAgentHooks } from '../../hooks/agent-hooks.js';
import { createCompactHooks } from '../../hooks/compact-hooks.js';
import { type ConfigChange, createConfigHooks } from '../../hooks/config-hooks.js';
import { createElicitationHooks, type ElicitationAction } from '../../hooks/elicitation-hooks.js';
import { contextsFor, tellIgnored, textsIn } from '../../hooks/event-answers.js';
import type { HookEventName } from '../../hooks/hook.js';
import { createDisplayHooks } from '../../hooks/message-display.js';
import { createModelHooks, type ModelSwitch } from '../../hooks/model-hooks.js';
import { createPromptHooks, type PromptOutcome } from '../../hooks/prompt-submit.js';
import { EVERY_HOOK, occasionOf } from '../../hooks/scene.js';
import { createSessionHooks, type SessionStarting } from '../../hooks/session-hooks.js';
import { createStopHooks } from '../../hooks/stop-hooks.js';
import { createTaskHooks } from '../../hooks/task-hooks.js';
import { createWorktreeHooks } from '../../hooks/worktree-hooks.js';
import { isRecord } from '../../util/own.js';
import { afterBatch, afterTool, beforeTool, onQuestion } from './hooks-outcome-calls.js';
import { nothingHeld, type Outcome, type Stage } from './hooks-stage.js';

/** Asks the hooks as a session does and says what would follow. `tell`: what a person would hear. */
export async function outcomeOf(stage: Stage, tell: (text: string) => void): Promise<Outcome> {
  const { call } = stage;
  const ofCall = CALL_OUTCOMES[stage.event];
  if (call !== undefined && ofCall !== undefined) return await ofCall({ ...stage, call });
  const known = OUTCOMES[stage.event];
  return known === undefined ? await watched(stage, tell) : await known(stage, tell);
}

type OfCall = typeof beforeTool;
type OfEvent = (stage: Stage, tell: (text: string) => void) => Promise<Outcome>;

const CALL_OUTCOMES: Readonly<Partial<Record<HookEventName, OfCall>>> = {
  PreToolUse: beforeTool,
  PermissionRequest: onQuestion,
  PostToolUse: afterTool,
  PostToolUseFailure: afterTool,
};

const OUTCOMES: Readonly<Partial<Record<HookEventName, OfEvent>>> = {
  SessionStart: onStart,
  UserPromptSubmit: onPrompt,
  UserPromptExpansion: onPrompt,
  PostToolBatch: afterBatch,
  MessageDisplay: onDisplay,
  Stop: onStop,
  SubagentStop: onStop,
  TaskCreated: onTask,
  TaskCompleted: onTask,
  TeammateIdle: onIdle,
  PreCompact: onCompaction,
  ConfigChange: onConfigChange,
  PreModelSwitch: onModelSwitch,
  WorktreeCreate: onWorktree,
  Elicitation: onElicitation,
  ElicitationResult: onElicitationResult,
};

/** Nobody reads what these add. */
const UNHEARD: readonly HookEventName[] = ['Notification'];

/** Events at which a person hears of a no that holds nothing up. */
const TELL_IGNORED: readonly HookEventName[] = [
  'Setup',
  'SubagentStart',
  'CwdChanged',
  'FileChanged',
  'PostModelSwitch',
  'SessionEnd',
];

/** Hooks that hold nothing up. What they add is for the model where the event takes it. */
async function watched(stage: Stage, tell: (text: string) => void): Promise<Outcome> {
  const { event, scene, fields, ask } = stage;
  const round = await ask.fire(event, occasionOf(scene, EVERY_HOOK, fields));
  if (TELL_IGNORED.includes(event)) tellIgnored({ dispatch: ask, tell }, event, round);
  const forModel = UNHEARD.includes(event) ? [] : contextsFor(event, round);
  const again = round.reports.some(({ answer }) => answer.fields.retry === true);
  if (event === 'PermissionDenied' && again) {
    return nothingHeld('the model would be told that it may try again; it is judged anew');
  }
  const paths = round.reports.flatMap(({ answer }) => textsIn(answer.fields, 'watchPaths') ?? []);
  const watches = paths.length === 0 ? '' : `; files watched from now on: ${paths.join(', ')}`;
  return nothingHeld(`these hooks only watch: nothing is held up${watches}`, forModel);
}

async function onStart({ scene, fields, ask }: Stage, tell: (text: string) => void) {
  const sources: readonly SessionStarting['source'][] = [
    'startup',
    'resume',
    'clear',
    'compact',
    'fork',
  ];
  const source = sources.find((one) => one === fields.source) ?? 'startup';
  const started = await createSessionHooks({ dispatch: ask, tell }).start({ source }, scene);
  const { contexts, initialUserMessage, sessionTitle, watchPaths } = started;
  const wishes = [
    ...(initialUserMessage === undefined ? [] : ['a prompt of the hooks comes first']),
    ...(sessionTitle === undefined ? [] : [`its title would be "${sessionTitle}"`]),
    ...(watchPaths.length === 0 ? [] : [`files watched: ${watchPaths.join(', ')}`]),
  ];
  return nothingHeld(['the session starts', ...wishes].join('; '), [
    ...contexts,
    ...(initialUserMessage === undefined ? [] : [initialUserMessage]),
  ]);
}

async function onPrompt({ event, scene, fields, ask }: Stage): Promise<Outcome> {
  const hooks = createPromptHooks(ask);
  const prompt = textOf(fields.prompt);
  const command = textOf(fields.command_name);
  const outcome: PromptOutcome =
    event === 'UserPromptSubmit'
      ? await hooks.submit({ ...scene, prompt })
      : await hooks.expand({ ...scene, prompt, command, args: '', type: 'slash_command' });
  if (outcome.kind === 'blocked') return refused(outcome.reason);
  if (outcome.kind === 'stopped') {
    return { text: `no turn would follow: ${outcome.reason}`, refused: true, forModel: [] };
  }
  const { updatedPrompt, contexts } = outcome;
  if (updatedPrompt === undefined) return nothingHeld('the prompt passes', contexts);
  return nothingHeld('the model would read another prompt', [updatedPrompt, ...contexts]);
}

async function onDisplay({ scene, fields, ask }: Stage): Promise<Outcome> {
  const delta = textOf(fields.delta);
  const where = { turnId: '', messageId: '', index: 0, final: true };
  const { text, notice } = await createDisplayHooks(ask).display({ ...scene, ...where, delta });
  if (notice !== undefined) return nothingHeld(notice);
  return nothingHeld(text === delta ? 'the text is shown as it is' : `the screen shows: ${text}`);
}

async function onStop({ event, scene, ask }: Stage): Promise<Outcome> {
  const move = await createStopHooks(ask, { changes: () => 0 }).beforeLeaving({
    ...scene,
    event: event === 'SubagentStop' ? 'SubagentStop' : 'Stop',
    backgroundTasks: [],
    crons: [],
  });
  switch (move.kind) {
    case 'end':
      return nothingHeld(`the run would end here: ${move.stop}`);
    case 'go-on':
      return { text: 'the agent would go on', refused: true, forModel: [move.message] };
    case 'leave':
      return nothingHeld(move.notice ?? 'the agent may leave');
  }
}

async function onTask({ event, scene, fields, ask }: Stage, tell: (text: string) => void) {
  const tasks = createTaskHooks({ dispatch: ask, tell });
  const task = { id: textOf(fields.task_id), subject: textOf(fields.task_subject) };
  const isNew = event === 'TaskCreated';
  const objection = isNew ? await tasks.created(task, scene) : await tasks.completed(task, scene);
  if (objection === undefined) return nothingHeld('no hook objects');
  const text = isNew ? 'the task would be taken off again' : 'the task would stay open';
  return { text: `${text}: ${objection}`, refused: true, forModel: [objection] };
}

async function onIdle({ scene, fields, ask }: Stage, tell: (text: string) => void) {
  const { keepWorking, stop } = await createAgentHooks({ dispatch: ask, tell }).teammateIdle(
    { teammate_name: textOf(fields.teammate_name) },
    scene,
  );
  if (stop !== undefined) return nothingHeld(`the teammate would end: ${stop}`);
  if (keepWorking === undefined) return nothingHeld('the teammate may rest');
  return { text: 'the teammate would go on', refused: true, forModel: [keepWorking] };
}

async function onCompaction({ scene, fields, ask }: Stage): Promise<Outcome> {
  const { blocked, instructions, preserve } = await createCompactHooks(ask).before({
    ...scene,
    trigger: fields.trigger === 'manual' ? 'manual' : 'auto',
    customInstructions: undefined,
  });
  if (blocked !== undefined) return refused(blocked);
  return nothingHeld('the conversation would be summarised', [...instructions, ...preserve]);
}

const CONFIG_SOURCES: readonly ConfigChange['source'][] = [
  'user_settings',
  'project_settings',
  'local_settings',
  'policy_settings',
  'skills',
];

async function onConfigChange({ scene, fields, ask }: Stage, tell: (text: string) => void) {
  const source = CONFIG_SOURCES.find((one) => one === fields.source) ?? 'user_settings';
  const objection = await createConfigHooks({ dispatch: ask, tell }).configChange(
    [{ source }],
    scene,
  );
  if (objection !== undefined) return refused(objection);
  if (source !== 'policy_settings') return nothingHeld('the change would be taken over');
  return nothingHeld("an administrator's change is taken over, whatever hooks say");
}

/** Only the hooks look at it, and they are shown the payload. */
const SWITCH: ModelSwitch = {
  from_model: '',
  to_model: '',
  requested_model: null,
  source: 'command',
  context_tokens: 0,
  prompt_cache_warm: false,
  cache_ttl: '5m',
  estimated_cache_write_usd: 0,
  pricing: 'default',
};

async function onModelSwitch({ scene, ask }: Stage, tell: (text: string) => void) {
  let question: string | undefined;
  const { refusal } = await createModelHooks({ dispatch: ask, tell }).before(SWITCH, scene, {
    confirm: async (text) => {
      question = text;
      return true;
    },
  });
  if (refusal !== undefined) return refused(refusal);
  if (question === undefined) return nothingHeld('the model would be changed');
  return nothingHeld(`a person would be asked, and where nobody is it is refused: ${question}`);
}

async function onWorktree(stage: Stage, tell: (text: string) => void): Promise<Outcome> {
  const { scene, fields, ask, fs, projectDir } = stage;
  const hooks = createWorktreeHooks({ dispatch: ask, tell, fs, projectDir });
  const made = await hooks.create({ name: textOf(fields.name) }, scene);
  if (made.kind === 'refused') return refused(made.reason);
  if (made.kind === 'path') return nothingHeld(`the working tree would be ${made.path}`);
  return nothingHeld('no hook makes one; git would');
}

async function onElicitation({ scene, fields, ask }: Stage, tell: (text: string) => void) {
  const answer = await createElicitationHooks({ dispatch: ask, tell }).ask(
    { mcp_server_name: textOf(fields.mcp_server_name), message: textOf(fields.message) },
    scene,
  );
  if (answer.kind === 'refused') return refused(answer.reason);
  if (answer.kind === 'none') return nothingHeld('no hook answers; whoever is there is asked');
  return nothingHeld(`the server would be told "${answer.action}"${contentText(answer.content)}`);
}

const ACTIONS: readonly ElicitationAction[] = ['accept', 'decline', 'cancel'];

async function onElicitationResult({ scene, fields, ask }: Stage, tell: (text: string) => void) {
  const action = ACTIONS.find((one) => one === fields.action) ?? 'accept';
  const given = isRecord(fields.content) ? { content: fields.content } : {};
  const outcome = await createElicitationHooks({ dispatch: ask, tell }).result(
    { mcp_server_name: textOf(fields.mcp_server_name), action, ...given },
    scene,
  );
  const why = outcome.reason === undefined ? '' : `: ${outcome.reason}`;
  return {
    text: `the server would be told "${outcome.action}"${contentText(outcome.content)}${why}`,
    refused: outcome.reason !== undefined,
    forModel: [],
  };
}

function contentText(content: unknown): string {
  return content === undefined ? '' : ` with ${JSON.stringify(content)}`;
}

function refused(reason: string): Outcome {
  return { text: `would be refused: ${reason}`, refused: true, forModel: [] };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
