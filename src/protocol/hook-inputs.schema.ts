/**
 * What hooks are told, event by event, written once. From here come `schema/hooks/*.input.json` and
 * the reference page. Nothing that ships imports this file for its values.
 */
import { z } from 'zod';
import { type Declaration, declare, printedAs } from './declare.schema.js';
import type { HookEventName } from './hook-events.js';
import { PERMISSION_MODES } from './permissions.js';

const is = <T extends z.ZodType>(schema: T, description: string) => schema.describe(description);
const may = <T extends z.ZodType>(schema: T, description: string) =>
  schema.describe(description).optional();

const text = () => z.string();
const flag = () => z.boolean();
const count = () => z.int().min(0);
const list = () => z.array(z.string());
const object = () => z.looseObject({});

/** Types that inputs are made of. */
export const HOOK_INPUT_TYPES: Declaration[] = [];
const part = <T extends z.ZodType>(name: string, about: string, schema: T): T =>
  declare(HOOK_INPUT_TYPES, name, about, schema);

const agent = part(
  'HookAgent',
  'The agent that acts.',
  z.looseObject({
    id: is(text(), 'Unique within the session; `main` for the root.'),
    type: is(text(), 'Agent type, `main` for the root.'),
    name: may(text(), 'The name it was given.'),
    path: is(text(), 'Address by lineage, `main/planner#2/reviewer#1`.'),
    parent_id: may(text(), 'The agent that started it.'),
    depth: is(count(), '0 for the root.'),
    spawned_by_tool_use_id: may(text(), 'The tool call that started it.'),
    background: is(flag(), 'It runs beside the agent that started it.'),
    isolation: may(z.enum(['worktree', 'scratch']), 'It works in a tree of its own.'),
    workspace: may(text(), "The directory it works in, where that is not the session's."),
  }),
);

/** Stands in the input of every event, beside `hook_event_name`. */
export const COMMON_INPUT = {
  session_id: is(text(), 'The session.'),
  transcript_path: is(text(), "The session's transcript, also for what a subagent does."),
  cwd: is(text(), 'The working directory.'),
  permission_mode: may(
    z.enum(PERMISSION_MODES),
    'The permission mode; with events about tools, prompts and ends of turns.',
  ),
  prompt_id: may(text(), 'The prompt that is being worked on.'),
  effort: may(z.looseObject({ level: is(text(), 'Its name.') }), "The model's reasoning effort."),
  agent_id: may(text(), 'Present inside a subagent only: which one.'),
  agent_type: may(text(), 'The type of the subagent, or of a session that runs as an agent.'),
  agent: is(agent, 'Who acts. Ours.'),
  agent_transcript_path: may(text(), "The subagent's own transcript."),
} satisfies z.ZodRawShape;

const mcpServer = may(
  printedAs(
    'McpServerProvenance',
    z.looseObject({
      name: is(text(), 'Its name.'),
      source: may(text(), 'Where it is declared.'),
    }),
  ),
  'The server that a tool of MCP belongs to.',
);
const call = {
  tool_name: is(text(), 'The tool.'),
  tool_input: is(printedAs('unknown', object()), 'Its input; paths of files are absolute.'),
};
const toolUseId = is(text(), 'The tool call.');
const duration = may(z.number().min(0), 'Milliseconds that the tool took.');

const backgroundTasks = may(
  z.array(
    part(
      'BackgroundTaskSummary',
      'Work that still runs.',
      z.looseObject({
        id: is(text(), 'The task.'),
        type: is(text(), 'What kind of work it is.'),
        status: is(text(), 'Its status.'),
        description: is(text(), 'What it is for.'),
        command: may(text(), 'The shell command.'),
        agent_type: may(text(), 'The type of the agent.'),
        server: may(text(), 'The MCP server.'),
        tool: may(text(), 'The tool.'),
        name: may(text(), 'The name it was given.'),
      }),
    ),
  ),
  'Work that still runs.',
);
const sessionCrons = may(
  z.array(
    part(
      'SessionCronSummary',
      'A prompt that waits for its time.',
      z.looseObject({
        id: is(text(), 'The entry.'),
        schedule: is(text(), 'When it is due.'),
        recurring: is(flag(), 'More than once.'),
        prompt: is(text(), 'What is then asked.'),
      }),
    ),
  ),
  'Prompts that wait for their time.',
);
const stop = {
  stop_hook_active: is(flag(), 'The agent goes on already because a hook said so.'),
  stop_hook_feedback: may(text(), 'What hooks said when they last sent the agent on.'),
  last_assistant_message: may(text(), 'The text of the last answer.'),
  background_tasks: backgroundTasks,
  session_crons: sessionCrons,
};
const task = {
  task_id: is(text(), 'The task.'),
  task_subject: is(text(), 'Its title.'),
  task_description: may(text(), 'What is to be done.'),
  teammate_name: may(text(), 'The teammate that has it.'),
  team_name: may(text(), 'Its team.'),
};
const modelSwitch = {
  from_model: is(text(), 'The model until now.'),
  to_model: is(text(), 'The model from now on.'),
  requested_model: is(z.string().nullable(), 'As it was asked for; null: the default.'),
  context_tokens: is(count(), 'Tokens that the new model has to read.'),
  prompt_cache_warm: is(flag(), 'The old model has the conversation in its cache.'),
  cache_ttl: is(z.enum(['5m', '1h']), 'How long a cache lasts.'),
  estimated_cache_write_usd: is(z.number().min(0), 'What reading it anew may cost.'),
  pricing: is(z.enum(['configured', 'catalog', 'default']), 'Where that price comes from.'),
};
const elicitation = {
  mcp_server_name: is(text(), 'The server.'),
  elicitation_id: may(text(), 'The question.'),
  mode: may(z.enum(['form', 'url']), 'A form, or a page to open.'),
};

const toolInputs = {
  PreToolUse: { ...call, tool_use_id: toolUseId, mcp_server: mcpServer },
  PermissionRequest: {
    ...call,
    permission_suggestions: may(
      z.array(
        printedAs('PermissionUpdate', z.looseObject({ type: is(text(), 'What it changes.') })),
      ),
      'Changes that would let such calls through, in the form of `updatedPermissions`.',
    ),
    mcp_server: mcpServer,
  },
  PermissionDenied: {
    ...call,
    tool_use_id: toolUseId,
    reason: is(text(), 'Why it was refused.'),
    mcp_server: mcpServer,
  },
  PostToolUse: {
    ...call,
    tool_use_id: toolUseId,
    tool_response: is(z.unknown(), "The tool's structured output; for MCP its content blocks."),
    duration_ms: duration,
    mcp_server: mcpServer,
  },
  PostToolUseFailure: {
    ...call,
    tool_use_id: toolUseId,
    error: is(text(), 'What went wrong.'),
    is_interrupt: may(flag(), 'The user or the host interrupted it.'),
    duration_ms: duration,
    mcp_server: mcpServer,
  },
  PostToolBatch: {
    tool_calls: is(
      z.array(
        part(
          'PostToolBatchToolCall',
          'One call of a batch.',
          z.looseObject({
            ...call,
            tool_use_id: toolUseId,
            tool_response: may(z.unknown(), 'What the model reads of it.'),
          }),
        ),
      ),
      'The calls of the answer, in their order.',
    ),
  },
  ToolInputInvalid: {
    tool_name: call.tool_name,
    tool_input: may(object(), 'What could be read of the input.'),
    tool_use_id: toolUseId,
    raw: may(text(), 'What arrived, where it was not a whole object.'),
    cause: is(
      z.enum(['output_limit', 'cut_stream', 'invalid_json', 'not_an_object', 'schema']),
      'The answer hit its limit, the stream broke off, no JSON, no object, or not what the tool takes.',
    ),
    problems: is(
      z.array(
        z.looseObject({
          path: is(text(), 'The place inside the input, `/edits/0/old_string`.'),
          message: is(text(), 'What is wrong there.'),
        }),
      ),
      'With `schema`: what is wrong.',
    ),
    error: may(text(), 'The error that the model sees.'),
  },
} satisfies Partial<Record<HookEventName, z.ZodRawShape>>;

const sessionInputs = {
  SessionStart: {
    source: is(
      z.enum(['startup', 'resume', 'clear', 'compact', 'fork']),
      'What made the session begin.',
    ),
    model: may(text(), 'The model.'),
    session_title: may(text(), 'The title of the session.'),
    seconds_since_last_response: may(z.number().min(0), 'On resume: how long it lay still.'),
    context_tokens: may(count(), 'On resume: tokens of the conversation.'),
    prompt_cache_likely_expired: may(flag(), 'On resume: the next request reads it all anew.'),
    estimated_cache_write_usd: may(z.number().min(0), 'On resume: what that may cost.'),
  },
  Setup: { trigger: is(z.enum(['init', 'maintenance']), 'Which of the two was asked for.') },
  InstructionsLoaded: {
    file_path: is(text(), 'The file.'),
    memory_type: is(z.enum(['User', 'Project', 'Local', 'Managed']), 'Whose file it is.'),
    load_reason: is(
      z.enum(['session_start', 'nested_traversal', 'path_glob_match', 'include', 'compact']),
      'Why it was loaded.',
    ),
    globs: may(list(), 'The patterns of a rule file.'),
    trigger_file_path: may(text(), 'The file whose use made it load.'),
    parent_file_path: may(text(), 'The file that includes it.'),
  },
  UserPromptSubmit: {
    prompt: is(text(), 'The prompt.'),
    source: may(
      z.enum(['user', 'sdk', 'system', 'loop_wakeup', 'schedule_wakeup', 'poll_event']),
      'Who sent it.',
    ),
    session_title: may(text(), 'The title of the session.'),
  },
  UserPromptExpansion: {
    expansion_type: is(z.enum(['slash_command', 'mcp_prompt']), 'What expands.'),
    command_name: is(text(), 'Its name.'),
    command_args: is(text(), 'What stood after the name.'),
    command_source: may(text(), 'Where it is declared.'),
    prompt: is(text(), 'The prompt as typed.'),
  },
  MessageDisplay: {
    turn_id: is(text(), 'The turn.'),
    message_id: is(text(), 'The message.'),
    index: is(count(), 'Which batch of the message, from 0.'),
    final: is(flag(), 'It is the last batch.'),
    delta: is(text(), 'The text that is about to be shown.'),
  },
  Notification: {
    message: is(text(), 'What is said.'),
    title: may(text(), 'Its title.'),
    notification_type: is(
      text(),
      '`permission_prompt`: a question is open for 6 seconds. `idle_prompt`: the terminal has waited 60 seconds for a prompt. `elicitation_dialog`, `elicitation_url_dialog`, `elicitation_response`: an MCP server asks, and is answered.',
    ),
  },
  SessionEnd: {
    reason: is(
      part(
        'ExitReason',
        'Why a session ends.',
        z.enum(['clear', 'resume', 'logout', 'prompt_input_exit', 'other']),
      ),
      'Why it ends.',
    ),
  },
} satisfies Partial<Record<HookEventName, z.ZodRawShape>>;

const agentInputs = {
  SubagentStart: {
    agent_id: is(text(), 'The subagent.'),
    agent_type: is(text(), 'Its type.'),
  },
  SubagentStop: {
    ...stop,
    agent_id: is(text(), 'The subagent.'),
    agent_type: is(text(), 'Its type.'),
    agent_transcript_path: is(text(), 'Its own transcript.'),
  },
  Stop: stop,
  StopFailure: {
    error: is(
      printedAs('SDKAssistantMessageError', text()),
      '`rate_limit`, `overloaded`, `authentication_failed`, `server_error` …',
    ),
    error_details: may(text(), 'What the provider said.'),
    last_assistant_message: may(text(), 'The text of the last answer.'),
  },
  TaskCreated: task,
  TaskCompleted: task,
  TeammateIdle: {
    teammate_name: is(text(), 'The teammate.'),
    team_name: is(text(), 'Its team.'),
  },
} satisfies Partial<Record<HookEventName, z.ZodRawShape>>;

const surroundings = {
  ConfigChange: {
    source: is(
      z.enum(['user_settings', 'project_settings', 'local_settings', 'policy_settings', 'skills']),
      'What changed.',
    ),
    file_path: may(text(), 'The file.'),
  },
  CwdChanged: {
    old_cwd: is(text(), 'The directory before.'),
    new_cwd: is(text(), 'The directory now.'),
  },
  DirectoryAdded: {
    directory: is(text(), 'The directory.'),
    source: is(z.enum(['slash_command', 'register_repo_root']), 'Who added it.'),
  },
  FileChanged: {
    file_path: is(text(), 'The file; matchers are compared with its last part.'),
    event: is(z.enum(['change', 'add', 'unlink']), 'What happened to it.'),
  },
  WorktreeCreate: { name: is(text(), 'What the tree is to be called.') },
  WorktreeRemove: { worktree_path: is(text(), 'The tree that goes.') },
  PreCompact: {
    trigger: is(z.enum(['manual', 'auto']), 'Who wants it.'),
    custom_instructions: is(z.string().nullable(), 'What a person asked the summary to keep.'),
  },
  PostCompact: {
    trigger: is(z.enum(['manual', 'auto']), 'Who wanted it.'),
    compact_summary: is(text(), 'The summary.'),
  },
  PreModelSwitch: {
    ...modelSwitch,
    source: is(z.enum(['command', 'picker', 'sdk']), 'Who asked for it.'),
  },
  PostModelSwitch: {
    ...modelSwitch,
    source: is(z.enum(['command', 'picker', 'sdk', 'auto', 'resume']), 'What brought it about.'),
  },
  Elicitation: {
    ...elicitation,
    message: is(text(), 'What the server asks.'),
    url: may(text(), 'The page it wants to be opened.'),
    requested_schema: may(object(), 'The JSON schema of the answer.'),
  },
  ElicitationResult: {
    ...elicitation,
    action: is(z.enum(['accept', 'decline', 'cancel']), 'What was answered.'),
    content: may(object(), 'The answer.'),
  },
} satisfies Partial<Record<HookEventName, z.ZodRawShape>>;

/** What an event's input has beside the common fields. */
export const INPUT_FIELDS = {
  ...sessionInputs,
  ...toolInputs,
  ...agentInputs,
  ...surroundings,
} satisfies Record<HookEventName, z.ZodRawShape>;

/** The whole input of an event. Unknown keys are fine: later versions add some. */
export function hookInputSchema(event: HookEventName): z.ZodType {
  const fields: z.ZodRawShape = INPUT_FIELDS[event];
  const { session_id, transcript_path, cwd, ...rest } = COMMON_INPUT;
  return z.looseObject({
    session_id,
    transcript_path,
    cwd,
    hook_event_name: z.literal(event).describe('The event.'),
    ...rest,
    ...fields,
  });
}
