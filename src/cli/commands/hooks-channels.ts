import { COMMON_HOOK_OUTPUT, HOOK_OUTPUTS } from '../../generated/hook-outputs.js';
import type { HookEventName, HookReport } from '../../hooks/hook.js';
import { hookEventFacts } from '../../protocol/hook-events.js';
import { parseJson } from '../../util/json.js';
import { isRecord, own } from '../../util/own.js';

/** Who gets a text of a hook, and as what. */
export interface Channel {
  readonly to: 'the model' | 'the person' | 'nobody';
  readonly how: string;
}

/** A text of a hook on its way. */
export interface Passage extends Channel {
  /** What the hook calls it: `reason`, `additionalContext`, `standard output` … */
  readonly what: string;
  readonly text: string;
}

const model = (how: string): Channel => ({ to: 'the model', how });
const person = (how: string): Channel => ({ to: 'the person', how });
const nobody = (how: string): Channel => ({ to: 'nobody', how });

const REFUSED = model('as why the call was refused');
const AFTER_RESULT = model('after the result of the call');
const NEXT = model('as its next instruction');
const TASK = model('as the result of its call');
const WITH_NO = person('with the news that it was refused');
const IGNORED = person('as a warning: at this event a no holds nothing up');

/** Where the reason of a no goes. Events that are not here have nobody who reads it. */
const NO_GOES: Readonly<Partial<Record<HookEventName, Channel>>> = {
  SessionStart: IGNORED,
  Setup: IGNORED,
  UserPromptSubmit: person('with the prompt, which is dropped'),
  UserPromptExpansion: person('with the prompt, which is dropped'),
  PreToolUse: REFUSED,
  PermissionRequest: REFUSED,
  PostToolUse: AFTER_RESULT,
  PostToolUseFailure: AFTER_RESULT,
  PostToolBatch: person('as why the turn ended'),
  SubagentStart: IGNORED,
  SubagentStop: NEXT,
  Stop: NEXT,
  TaskCreated: TASK,
  TaskCompleted: TASK,
  TeammateIdle: NEXT,
  ConfigChange: WITH_NO,
  CwdChanged: IGNORED,
  FileChanged: IGNORED,
  WorktreeCreate: model('as why there is no working tree'),
  PreCompact: WITH_NO,
  PreModelSwitch: WITH_NO,
  PostModelSwitch: IGNORED,
  Elicitation: WITH_NO,
  ElicitationResult: WITH_NO,
  SessionEnd: IGNORED,
};

/** Where context goes that is not simply read by the model as a note. */
const CONTEXT_GOES: Readonly<Partial<Record<HookEventName, Channel>>> = {
  Notification: nobody('no turn waits for this event'),
  PreCompact: model('among the instructions for the summary'),
  Stop: model('and the agent goes on'),
  SubagentStart: model('of the subagent, before its first request'),
  SubagentStop: model('of the subagent, which goes on'),
  PostModelSwitch: model('that takes over'),
};

const AS_NOTE = model('as a note');

/** Texts among the event's own fields. */
const FIELDS_GO: Readonly<Record<string, Channel>> = {
  initialUserMessage: model('as a prompt before the first one'),
  sessionTitle: person('as the title of the session'),
  updatedPrompt: model('in place of the prompt'),
  displayContent: person('in place of the text, which the model keeps'),
  preserve: model('word for word beside the summary'),
  updatedToolOutput: model('in place of the output'),
  updatedMCPToolOutput: model('in place of the output, of MCP tools only'),
  classifierContext: nobody('this version has no classifier'),
};

/** Every text that a hook gave, and the way it would take in a session. */
export function passagesOf(report: HookReport, tool?: string): readonly Passage[] {
  const { hook, answer, complaint, exitCode, stderr } = report;
  const { event } = hook;
  const found: Passage[] = [];
  const add = (what: string, value: unknown, channel: Channel): void => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (text !== undefined && text.trim() !== '') found.push({ what, text, ...channel });
  };
  add('reason', answer.reason, reasonGoes(report));
  if (answer.context !== undefined) {
    const isOutput = answer.context === answer.text;
    add(isOutput ? 'standard output' : 'additionalContext', answer.context, contextGoes(report));
  }
  if (answer.text !== answer.context && answer.text !== answer.reason) {
    add('standard output', answer.text, outputGoes(report));
  }
  add('stopReason', answer.stop, stopGoes(event));
  add('systemMessage', answer.systemMessage, person('as a notice'));
  add('error', complaint, person('its first line, as a warning; exit code 1 blocks nothing'));
  for (const [name, channel] of Object.entries(FIELDS_GO)) {
    add(name, own(answer.fields, name), channel);
  }
  add('agentContext', own(answer.fields, 'agentContext'), agentContextGoes(tool));
  if (exitCode === 0) {
    add(
      'standard error',
      stderr,
      nobody('a hook that ends with 0 is not asked what it wrote there'),
    );
  }
  return found;
}

function reasonGoes({ hook, answer }: HookReport): Channel {
  switch (answer.decision) {
    case 'deny':
      return NO_GOES[hook.event] ?? nobody('at this event a no holds nothing up');
    case 'ask':
      return person('with the question');
    case 'defer':
      return person('with the call that is put off');
    case 'allow':
      return nobody('it is kept in the receipt of the call');
    case 'none':
      return nobody('there is no decision that it is the reason of');
  }
}

function contextGoes({ hook, answer }: HookReport): Channel {
  const { event } = hook;
  const isHeld = answer.decision === 'deny' || answer.stop !== undefined;
  const lost = isHeld ? LOST[event] : undefined;
  return lost === undefined ? (CONTEXT_GOES[event] ?? AS_NOTE) : nobody(lost);
}

/** At these a no also takes away what the hook adds. */
const LOST: Readonly<Partial<Record<HookEventName, string>>> = {
  UserPromptSubmit: 'the prompt goes no further, and neither does what was added to it',
  UserPromptExpansion: 'the prompt goes no further, and neither does what was added to it',
  PreCompact: 'there is no summary that it could be about',
};

function outputGoes(report: HookReport): Channel {
  const { event } = report.hook;
  if (event === 'PreCompact') return contextGoes(report);
  if (event === 'WorktreeCreate') return nobody('its last line is the path of the tree');
  if (hookEventFacts(event).textIsContext === true) {
    return nobody('only that of a hook that ends well and says nothing else is context');
  }
  const takesContext = Object.hasOwn(HOOK_OUTPUTS[event].own.fields, 'additionalContext');
  return nobody(
    takesContext
      ? 'to reach the model, print JSON with hookSpecificOutput.additionalContext'
      : 'this event has no place for it',
  );
}

function stopGoes(event: HookEventName): Channel {
  return hookEventFacts(event).role === 'observe' ? IGNORED : person('as why everything stops');
}

function agentContextGoes(tool: string | undefined): Channel {
  const starts = tool === undefined || tool === 'Agent' || tool === 'Task';
  return starts
    ? model('of the agent that the call starts')
    : nobody(`${tool} starts no agent that could read it`);
}

/** Keys that are read and change nothing. */
const WITHOUT_EFFECT: readonly string[] = ['suppressOutput', 'terminalSequence'];

/** Keys of a printed answer that nobody looks at: misspelt, or of another event. */
export function ignoredKeys({ hook, stdout = '' }: HookReport): readonly string[] {
  const parsed = stdout.trim().startsWith('{') ? parseJson(stdout.trim()) : undefined;
  if (parsed?.ok !== true || !isRecord(parsed.value)) return [];
  const { top = {}, own: shape } = HOOK_OUTPUTS[hook.event];
  const known = { ...COMMON_HOOK_OUTPUT, ...top };
  const { hookSpecificOutput, ...common } = parsed.value;
  const specific = isRecord(hookSpecificOutput) ? hookSpecificOutput : {};
  return [
    ...Object.keys(common).filter(
      (name) => !Object.hasOwn(known, name) || WITHOUT_EFFECT.includes(name),
    ),
    ...Object.keys(specific)
      .filter((name) => name !== 'hookEventName' && !Object.hasOwn(shape.fields, name))
      .map((name) => `hookSpecificOutput.${name}`),
  ];
}
