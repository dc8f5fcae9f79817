import { COMMON_HOOK_OUTPUT, HOOK_OUTPUTS } from '../../../build/generated/hook-events.js';
import type { HookReport } from '../../hooks/registry/hook.js';
import { parseJson } from '../../lib/json.js';
import { isRecord, own } from '../../lib/own.js';
import { hookEventFacts } from '../../protocol/hooks/hook-events.js';
import { type Destination, eventRow, toModel, toNone, toUser } from './hook-outcome.js';

/** A text of a hook, and who reads it. */
export interface HookText extends Destination {
  /** As the hook calls it: `reason`, `additionalContext`, `stdout` … */
  readonly what: string;
  readonly text: string;
}

/** Who reads the event's own fields. */
const FIELD_TO: Readonly<Record<string, Destination>> = {
  initialUserMessage: toModel('as a prompt before the first one'),
  sessionTitle: toUser('as the title of the session'),
  updatedPrompt: toModel('in place of the prompt'),
  displayContent: toUser('in place of the text, which the model keeps'),
  preserve: toModel('word for word beside the summary'),
  updatedToolOutput: toModel('in place of the output'),
  updatedMCPToolOutput: toModel('in place of the output, of MCP tools only'),
  classifierContext: toNone('this version has no classifier'),
};

const REASON_TO = {
  ask: toUser('with the question'),
  defer: toUser('with the call that is deferred'),
  allow: toNone('it is kept in the receipt of the call'),
  none: toNone('there is no decision that it is the reason of'),
};

/** Every text that a hook gave, and who would read it in a session. */
export function hookTexts(report: HookReport, tool?: string): readonly HookText[] {
  const { hook, answer, complaint, exitCode, stderr } = report;
  const { reasonTo } = eventRow(hook.event);
  const isContext = answer.context === answer.text;
  const startsAgent = tool === undefined || tool === 'Agent' || tool === 'Task';
  const observes = hookEventFacts(hook.event).role === 'observe';
  const texts: readonly (readonly [string, unknown, Destination])[] = [
    ['reason', answer.reason, answer.decision === 'deny' ? reasonTo : REASON_TO[answer.decision]],
    [isContext ? 'stdout' : 'additionalContext', answer.context, contextTo(report)],
    ...(isContext || answer.text === answer.reason
      ? []
      : [['stdout', answer.text, outputTo(report)] as const]),
    ['stopReason', answer.stop, observes ? reasonTo : toUser('as why everything stops')],
    ['systemMessage', answer.systemMessage, toUser('as a notice')],
    ['error', complaint, toUser('its first line, as a warning; exit code 1 blocks nothing')],
    ...Object.entries(FIELD_TO).map(
      ([name, destination]) => [name, own(answer.fields, name), destination] as const,
    ),
    [
      'agentContext',
      own(answer.fields, 'agentContext'),
      startsAgent
        ? toModel('of the agent that the call starts')
        : toNone(`${tool} starts no agent`),
    ],
    ...(exitCode === 0
      ? [['stderr', stderr, toNone('stderr is ignored when a hook exits with 0')] as const]
      : []),
  ];
  return texts
    .map(([what, value, destination]) => ({
      what,
      text: typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
      ...destination,
    }))
    .filter(({ text }) => text.trim() !== '');
}

function contextTo({ hook, answer }: HookReport): Destination {
  const row = eventRow(hook.event);
  const isRefused = answer.decision === 'deny' || answer.stop !== undefined;
  return isRefused && row.contextLost !== undefined ? toNone(row.contextLost) : row.contextTo;
}

function outputTo(report: HookReport): Destination {
  const { event } = report.hook;
  if (event === 'PreCompact') return contextTo(report);
  if (event === 'WorktreeCreate') return toNone('its last line is the path of the worktree');
  if (hookEventFacts(event).textIsContext === true) {
    return toNone('stdout is context only when a hook exits with 0 and prints no JSON');
  }
  return toNone(
    Object.hasOwn(HOOK_OUTPUTS[event].own.keys, 'additionalContext')
      ? 'to reach the model, print JSON with hookSpecificOutput.additionalContext'
      : 'this event takes no context',
  );
}

/** Keys that are read and change nothing. */
const WITHOUT_EFFECT: readonly string[] = ['suppressOutput', 'terminalSequence'];

/** Keys of a printed answer that have no effect: misspelt, or of another event. */
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
      .filter((name) => name !== 'hookEventName' && !Object.hasOwn(shape.keys, name))
      .map((name) => `hookSpecificOutput.${name}`),
  ];
}
