/**
 * How a hook event is defined: when it fires, what its hooks are told and may answer, what their failure
 * means. From the definitions come the table that ships, `schema/hooks/*.json`, the types of the SDK and
 * the reference page. Nothing that ships imports this file for its values.
 */
import { z } from 'zod';
import { type Declaration, declare, flag, list, text, words } from '../declare.schema.js';
import { PERMISSION_MODES } from '../permissions.js';
import {
  HOOK_KINDS,
  type HookEventFacts,
  type HookKind,
  type HookRole,
} from './hook-event-facts.js';

export interface HookEventDefinition extends HookEventFacts {
  /** When it fires, as the end of "It fires …". */
  readonly when: string;
  /** What a no does: `decision: "block"`, `deny`, exit code 2. Absent: nothing. */
  readonly no?: string;
  /** What is worth knowing besides. */
  readonly note?: string;
  /** What its input has beside the common fields. */
  readonly input: z.ZodRawShape;
  /** The fields of `hookSpecificOutput` beside `hookEventName`. Absent: none. */
  readonly output?: z.ZodRawShape;
  /** Fields at the top of the output that only this event has. */
  readonly topOutput?: z.ZodRawShape;
  /** An example of the event's own input, for trying hooks out. */
  readonly sample: Readonly<Record<string, unknown>>;
}

const samples = z.registry<{ value: unknown }>();

/** The fields of an input that have an example. */
export function sampleOf(input: z.ZodRawShape): Readonly<Record<string, unknown>> {
  const entries = Object.entries(input).map(([name, field]) => [name, samples.get(field)?.value]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

export function defineHookEvent(
  definition: Omit<HookEventDefinition, 'matches' | 'sample'>,
): HookEventDefinition {
  const { matcherField } = definition;
  const matches = matcherField === undefined ? 'nothing' : 'value';
  const sample = sampleOf(definition.input);
  return { ...definition, sample, matches: matcherField === 'tool_name' ? 'tool' : matches };
}

const withRole =
  (role: HookRole) =>
  (definition: Omit<HookEventDefinition, 'matches' | 'sample' | 'role'>): HookEventDefinition =>
    defineHookEvent({ role, ...definition });
export const gate = withRole('gate');
export const block = withRole('block');
export const observe = withRole('observe');

export const ALL = HOOK_KINDS;
/** No model is asked. */
export const PLAIN: readonly HookKind[] = ['command', 'http', 'mcp_tool'];
/** Before the network may be used. */
export const LOCAL: readonly HookKind[] = ['command', 'mcp_tool'];

/** A field with its description and, for inputs, an example. */
export const is = <T extends z.ZodType>(schema: T, description: string, sample?: unknown) =>
  withSample(schema.describe(description), sample);
export const may = <T extends z.ZodType>(schema: T, description: string, sample?: unknown) =>
  withSample(schema.describe(description).optional(), sample);

function withSample<T extends z.ZodType>(schema: T, value: unknown): T {
  samples.add(schema, { value });
  return schema;
}

export const count = z.int().min(0);
export const object = z.looseObject({});

/** Types that inputs are made of. */
export const HOOK_INPUT_TYPES: Declaration[] = [];
export const part = <T extends z.ZodType>(name: string, about: string, schema: T): T =>
  declare(HOOK_INPUT_TYPES, name, about, schema);

const agent = part(
  'HookAgent',
  'The agent that acts.',
  z.looseObject({
    id: is(text, 'Unique within the session; `main` for the root.'),
    type: is(text, 'Agent type, `main` for the root.'),
    name: may(text, 'The name it was given.'),
    path: is(text, 'Address by lineage, `main/planner#2/reviewer#1`.'),
    parent_id: may(text, 'The agent that started it.'),
    depth: is(count, '0 for the root.'),
    spawned_by_tool_use_id: may(text, 'The tool call that started it.'),
    background: is(flag, 'It runs beside the agent that started it.'),
    isolation: may(words('worktree scratch'), 'It works in a tree of its own.'),
    workspace: may(text, "The directory it works in, where that is not the session's."),
  }),
);

/** Fields in the input of every event, beside `hook_event_name`. */
export const COMMON_INPUT = {
  session_id: is(text, 'The session.'),
  transcript_path: is(text, "The session's transcript, also for what a subagent does."),
  cwd: is(text, 'The working directory.'),
  permission_mode: may(
    z.enum(PERMISSION_MODES),
    'The permission mode; with events about tools, prompts and ends of turns.',
  ),
  prompt_id: may(text, 'The prompt that is being worked on.'),
  effort: may(z.looseObject({ level: is(text, 'Its name.') }), "The model's reasoning effort."),
  agent_id: may(text, 'Present inside a subagent only: which one.'),
  agent_type: may(text, 'The type of the subagent, or of a session that runs as an agent.'),
  agent: is(agent, 'Who acts. Ours.'),
  agent_transcript_path: may(text, "The subagent's own transcript."),
} satisfies z.ZodRawShape;

/** May stand at the top of every event's output. */
export const COMMON_OUTPUT = {
  continue: may(flag, 'false: the turn ends after this step.'),
  stopReason: may(text, 'Why it ends; for the person.'),
  suppressOutput: may(flag, 'Accepted, without effect.'),
  systemMessage: may(text, 'For the person, never for the model.'),
  terminalSequence: may(
    text,
    'A title, a notification or a bell for the terminal of an interactive session.',
  ),
  decision: may(
    words('approve block'),
    '`block`: no. `approve` is an old word for the yes of PreToolUse.',
  ),
  reason: may(text, 'Why.'),
  async: may(flag, 'true: it goes on by itself and decides nothing.'),
  asyncTimeout: may(z.number().min(0), 'Milliseconds that it may then take; default 15000.'),
} satisfies z.ZodRawShape;

export const context = { additionalContext: may(text, 'For the model.') };
export const watchPaths = may(list, 'Absolute paths whose changes fire FileChanged from now on.');

export const decided = (decisions: string) => ({
  permissionDecision: may(words(decisions), 'What is to become of it.'),
  permissionDecisionReason: may(text, 'Why.'),
});
