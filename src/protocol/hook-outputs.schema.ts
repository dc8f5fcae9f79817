/**
 * What hooks may answer, event by event, written once. From here come `schema/hooks/*.output.json`,
 * the reference page and the table that answers are checked by. Nothing that ships imports this file
 * for its values.
 */
import { z } from 'zod';
import type { HookEventName } from './hook-events.js';

const is = <T extends z.ZodType>(schema: T, description: string) => schema.describe(description);
const may = <T extends z.ZodType>(schema: T, description: string) =>
  schema.describe(description).optional();

const text = () => z.string();
const flag = () => z.boolean();
const list = () => z.array(z.string());
const object = () => z.looseObject({});

/** May stand at the top of every event's output. */
export const COMMON_OUTPUT = {
  continue: may(flag(), 'false: the turn ends after this step.'),
  stopReason: may(text(), 'Why it ends; for the person.'),
  suppressOutput: may(flag(), 'Accepted, without effect.'),
  systemMessage: may(text(), 'For the person, never for the model.'),
  terminalSequence: may(
    text(),
    'A title, a notification or a bell for the terminal of an interactive session.',
  ),
  decision: may(
    z.enum(['approve', 'block']),
    '`block`: no. `approve` is an old word for the yes of PreToolUse.',
  ),
  reason: may(text(), 'Why.'),
  async: may(flag(), 'true: it goes on by itself and decides nothing.'),
  asyncTimeout: may(z.number().min(0), 'Milliseconds that it may then take; default 15000.'),
} satisfies z.ZodRawShape;

const context = { additionalContext: may(text(), 'For the model.') };
const watchPaths = may(list(), 'Absolute paths whose changes fire FileChanged from now on.');
const sessionTitle = may(text(), 'A new title for the session.');
const suppressPrompt = may(
  flag(),
  'With a block: the prompt is not repeated in what the person is shown.',
);
const decided = (words: readonly [string, ...string[]]) => ({
  permissionDecision: may(z.enum(words), 'What is to become of it.'),
  permissionDecisionReason: may(text(), 'Why.'),
});
const answered = {
  action: may(z.enum(['accept', 'decline', 'cancel']), 'The answer in place of a person.'),
  content: may(object(), 'What is accepted.'),
};
const replaced = {
  updatedToolOutput: may(z.unknown(), "Any value in place of the tool's output."),
  updatedMCPToolOutput: may(z.unknown(), 'The same, for tools of MCP only.'),
};
const NOTHING = {};

const decision = z.looseObject({
  behavior: is(z.enum(['allow', 'deny']), 'Yes or no.'),
  updatedInput: may(object(), 'With allow: the whole new input; it is judged again.'),
  updatedPermissions: may(
    z.array(z.looseObject({ type: is(text(), 'What it changes.') })),
    'With allow: changes of rules, mode or directories.',
  ),
  scope: may(object(), 'With allow: how far the yes reaches, `{what, until, expiresAt?}`. Ours.'),
  message: may(text(), 'With deny: why; the model reads it.'),
  interrupt: may(flag(), 'With deny: the turn ends too.'),
});

/** What stands inside `hookSpecificOutput` beside `hookEventName`. */
export const OUTPUT_FIELDS = {
  SessionStart: {
    ...context,
    initialUserMessage: may(text(), 'A prompt that is run before the first one of a person.'),
    sessionTitle,
    watchPaths,
    reloadSkills: may(flag(), 'Skills are read again.'),
  },
  Setup: context,
  InstructionsLoaded: NOTHING,
  UserPromptSubmit: {
    ...context,
    updatedPrompt: may(
      text(),
      'What the model reads in its place; the transcript keeps both. Ours.',
    ),
    sessionTitle,
    suppressOriginalPrompt: suppressPrompt,
  },
  UserPromptExpansion: { ...context, suppressOriginalPrompt: suppressPrompt },
  MessageDisplay: {
    displayContent: may(text(), 'What the screen shows in its place; the model does not see it.'),
  },
  PreToolUse: {
    ...decided(['allow', 'deny', 'ask', 'defer']),
    updatedInput: may(object(), 'The whole new input; it is judged again.'),
    ...context,
    agentContext: may(text(), 'For the agent that a call of Agent starts. Ours.'),
  },
  PermissionRequest: { decision: may(decision, 'The answer in place of a person.') },
  PermissionDenied: { retry: may(flag(), 'true: the model may try again, and is told so.') },
  PostToolUse: {
    ...context,
    ...replaced,
    classifierContext: may(text(), 'For a classifier of calls; at most 2000 characters count.'),
  },
  PostToolUseFailure: { ...context, ...replaced },
  PostToolBatch: context,
  ToolInputInvalid: context,
  Notification: context,
  SubagentStart: { additionalContext: may(text(), 'For the subagent.') },
  SubagentStop: { additionalContext: may(text(), 'For the subagent, which then goes on.') },
  Stop: { additionalContext: may(text(), 'For the model, which then goes on.') },
  StopFailure: NOTHING,
  TaskCreated: NOTHING,
  TaskCompleted: NOTHING,
  TeammateIdle: NOTHING,
  ConfigChange: NOTHING,
  CwdChanged: { watchPaths },
  DirectoryAdded: NOTHING,
  FileChanged: { watchPaths },
  WorktreeCreate: {
    worktreePath: is(text(), 'The tree that was made. A command may print it as its last line.'),
  },
  WorktreeRemove: NOTHING,
  PreCompact: {
    additionalContext: may(text(), 'Joins the instructions for the summary. Ours.'),
    preserve: may(
      z.union([text(), list()]),
      'Texts that stay word for word beside the summary. Ours.',
    ),
  },
  PostCompact: NOTHING,
  PreModelSwitch: decided(['allow', 'deny', 'ask']),
  PostModelSwitch: context,
  Elicitation: answered,
  ElicitationResult: answered,
  SessionEnd: NOTHING,
} satisfies Record<HookEventName, z.ZodRawShape>;

/** What stands at the top for one event alone. */
export const TOP_FIELDS = {
  PreToolUse: {
    tool_input: may(object(), 'Another name for `updatedInput`, where that is absent. Ours.'),
  },
} satisfies Partial<Record<HookEventName, z.ZodRawShape>>;

/** The whole output of an event. Unknown keys are fine: other programs read the same answer. */
export function hookOutputSchema(event: HookEventName): z.ZodType {
  const top: Partial<Record<HookEventName, z.ZodRawShape>> = TOP_FIELDS;
  const specific = z.looseObject({
    hookEventName: z.literal(event).describe('The event that this answers.'),
    ...OUTPUT_FIELDS[event],
  });
  return z.looseObject({
    ...COMMON_OUTPUT,
    ...top[event],
    hookSpecificOutput: may(specific, 'What only this event understands.'),
  });
}
