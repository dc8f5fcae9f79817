/**
 * Every message that a session sends to its host, once. From here come the SDK's message types, the types
 * of the frames on the wire and the reference page. Nothing that ships imports this file for its values.
 */
import { z } from 'zod';
import { type Declaration, declare, handWritten, printedAs } from './declare.schema.js';
import {
  assistantContent,
  messageParam,
  streamEvent,
  summedUsage,
} from './message-content.schema.js';
import { permissionMode as mode, policyReport, uuid } from './permission-types.schema.js';

/** Types that messages are made of. */
export const PART_TYPES: Declaration[] = [];
/** One for each kind of message. */
export const MESSAGE_TYPES: Declaration[] = [];

const text = z.string();
const flag = z.boolean();
const count = z.number();
const open = z.record(z.string(), z.unknown());
const list = z.array(text);
const may = <T extends z.ZodType>(schema: T) => schema.optional();
const ours = <T extends z.ZodType>(schema: T, about: string) =>
  schema.describe(`Ours: ${about}`).optional();
/** One of these words. */
const words = (text: string) => z.enum(text.trim().split(/\s+/));
const part = <T extends z.ZodType>(name: string, about: string, schema: T): T =>
  declare(PART_TYPES, name, about, schema);

const agent = ours(
  handWritten('AgentRef'),
  'the agent it belongs to; absent where it belongs to none.',
);
const ids = { uuid, session_id: text, agent };

const message = <F extends z.ZodRawShape>(name: string, about: string, type: string, fields: F) =>
  declare(MESSAGE_TYPES, name, about, z.object({ type: z.literal(type), ...fields, ...ids }));
const system = <F extends z.ZodRawShape>(name: string, about: string, subtype: string, fields: F) =>
  message(name, about, 'system', { subtype: z.literal(subtype), ...fields });

const modelError = part(
  'SDKAssistantMessageError',
  'What went wrong with a model call.',
  words(
    `authentication_failed oauth_org_not_allowed account_on_hold verification_required
     billing_error rate_limit overloaded invalid_request model_not_found server_error unknown
     max_output_tokens cloud_credential_error`,
  ),
);
export const command = part(
  'SlashCommand',
  'Something that a prompt may call by `/name`.',
  z.object({
    name: text,
    description: text,
    argumentHint: text,
    aliases: may(list),
    builtin: may(flag),
  }),
);
const origin = part(
  'SDKMessageOrigin',
  'Where a prompt comes from.',
  z.union([
    z.object({ kind: z.literal('human') }),
    z.object({ kind: z.literal('channel'), server: text }),
    z.object({
      kind: z.literal('peer'),
      from: text,
      fromMode: may(words('bypass prompting')),
      name: may(text),
      fromSession: may(text),
      senderTaskId: may(text),
      body: may(text),
      verifiedPeerPid: may(count),
    }),
    z.object({
      kind: z.literal('task-notification'),
      subkind: may(words('scheduled-trigger peer-send-message projects-relay session-inbox')),
      fireReason: may(text),
      runId: may(text),
    }),
    z.object({ kind: z.literal('coordinator') }),
    z.object({ kind: z.literal('unclassified') }),
    z.object({ kind: z.literal('observer'), from: text, senderTaskId: text }),
    z.object({ kind: z.literal('auto-continuation') }),
    z.object({ kind: z.literal('observer-activity') }),
  ]),
);
const modelUsage = part(
  'ModelUsage',
  'What one model was used for and cost.',
  z.object({
    inputTokens: count,
    outputTokens: count,
    thinkingTokens: may(count),
    cacheReadInputTokens: count,
    cacheCreationInputTokens: count,
    cacheCreationEphemeral5mInputTokens: may(count),
    cacheCreationEphemeral1hInputTokens: may(count),
    webSearchRequests: count,
    costUSD: count,
    contextWindow: count,
    maxOutputTokens: count,
    canonicalModel: may(text),
    provider: may(text),
    costBasis: may(words('list managed unknown')),
  }),
);
const denial = part(
  'SDKPermissionDenial',
  'A call that was refused.',
  z.object({ tool_name: text, tool_use_id: text, tool_input: open }),
);
const terminalReason = part(
  'TerminalReason',
  'Why a turn ended.',
  words(
    `blocking_limit rapid_refill_breaker prompt_too_long image_error model_error api_error
     malformed_tool_use_exhausted aborted_streaming aborted_tools stop_hook_prevented
     hook_stopped tool_deferred max_turns background_requested completed budget_exhausted
     structured_output_retry_exhausted tool_deferred_unavailable turn_setup_failed`,
  ),
);
const deferred = part(
  'SDKDeferredToolUse',
  'A call that a hook put off.',
  z.object({ id: text, name: text, input: open }),
);
const keySource = part(
  'ApiKeySource',
  'Where the key of the model comes from.',
  z.enum([
    'ANTHROPIC_API_KEY',
    'apiKeyHelper',
    '/login managed key',
    'none',
    'user',
    'project',
    'org',
    'temporary',
    'oauth',
  ]),
);
export const effort = part(
  'EffortLevel',
  'How hard a model thinks.',
  words('low medium high xhigh max'),
);

const promptIds = { user_message_uuid: may(text), user_message_uuids: may(list) };
const subagent = { agent_id: may(text), subagent_type: may(text), task_description: may(text) };

message(
  'SDKAssistantMessage',
  'One finished block of an answer; the blocks of one answer share `message.id`.',
  'assistant',
  {
    message: assistantContent,
    parent_tool_use_id: text.nullable(),
    error: may(modelError),
    request_id: may(text),
    ...promptIds,
    supersedes: may(z.array(uuid)),
    aborted: may(z.literal(true)),
    ...subagent,
    timestamp: may(text),
  },
);

const user = {
  type: z.literal('user'),
  message: messageParam,
  parent_tool_use_id: text.nullable(),
  isSynthetic: may(flag),
  tool_use_result: may(z.unknown()),
  priority: may(words('now next later')),
  origin: may(origin),
  shouldQuery: may(flag),
  timestamp: may(text),
  client_composed: may(z.literal(true)),
};
declare(
  MESSAGE_TYPES,
  'SDKUserMessage',
  'A prompt, or the result of a tool.',
  z.object({
    ...user,
    pasted_content: may(z.array(messageParam.shape.content)),
    inline_pastes: may(list),
    ...subagent,
    uuid: may(uuid),
    session_id: may(text),
    agent,
  }),
);
declare(
  MESSAGE_TYPES,
  'SDKUserMessageReplay',
  'An accepted prompt, repeated for the host.',
  z.object({
    ...user,
    isReplay: z.literal(true),
    file_attachments: may(z.array(z.unknown())),
    ...ids,
  }),
);

const result = {
  duration_ms: count,
  duration_api_ms: count,
  is_error: flag,
  num_turns: count,
  stop_reason: text.nullable(),
  total_cost_usd: count,
  usage: summedUsage,
  modelUsage: z.record(text, modelUsage),
  permission_denials: z.array(denial),
  queued_turn_count: may(count),
  ...promptIds,
  // The type leaves out our word for a prompt that a hook blocked: programs switch over the official ones.
  terminal_reason: may(
    printedAs('TerminalReason', z.union([terminalReason, z.literal('prompt_blocked')])),
  ),
  result_index: may(count),
  origin: may(origin),
  cost_unknown_models: ours(list, 'models whose price is not known; their cost is not in the sum.'),
  agents: ours(z.unknown(), 'what each agent used.'),
};
message(
  'SDKResultSuccess',
  'The end of a turn. A failed model call is a success with `is_error` and its words as the result.',
  'result',
  {
    subtype: z.literal('success'),
    ...result,
    ttft_ms: may(count),
    ttft_stream_ms: may(count),
    time_to_request_ms: may(count),
    local_command: may(text),
    api_error_status: may(count.nullable()),
    result: text,
    structured_output: may(z.unknown()),
    deferred_tool_use: may(deferred),
    stop_message: ours(text, 'what the hook said that stopped the turn.'),
    error_kind: ours(text, 'the kind of a failed model call.'),
  },
);
message('SDKResultError', 'The end of a turn that could not be finished.', 'result', {
  subtype: words(
    `error_during_execution error_max_turns error_max_budget_usd
     error_max_structured_output_retries`,
  ),
  ...result,
  errors: list,
});

system('SDKSystemMessage', 'The start of a turn.', 'init', {
  agents: may(list),
  apiKeySource: keySource,
  betas: may(list),
  claude_code_version: text,
  portcullis_version: ours(text, 'the version of this program.'),
  cwd: text,
  tools: list,
  mcp_servers: z.array(z.object({ name: text, status: text, source: may(text) })),
  model: text,
  permissionMode: mode,
  slash_commands: list,
  terminal_slash_commands: may(list),
  output_style: text,
  skills: list,
  plugins: z.array(z.object({ name: text, path: text, version: may(text) })),
  effort: may(effort.nullable()),
  capabilities: may(list),
  additional_directories: ours(list, 'directories that count as inside.'),
  memory_paths: ours(z.unknown(), 'instruction files.'),
});
message(
  'SDKPartialAssistantMessage',
  "A piece of the model's own stream, with `includePartialMessages`.",
  'stream_event',
  {
    event: streamEvent,
    parent_tool_use_id: text.nullable(),
    ttft_ms: may(count),
    ...promptIds,
  },
);
system('SDKCompactBoundaryMessage', 'The conversation was compacted here.', 'compact_boundary', {
  compact_metadata: z.object({
    trigger: words('manual auto'),
    pre_tokens: count,
    post_tokens: may(count),
    duration_ms: may(count),
  }),
});
system('SDKStatusMessage', 'What the session does now, or its new permission mode.', 'status', {
  status: part('SDKStatus', 'What a session does.', words('compacting requesting').nullable()),
  permissionMode: may(mode),
  compact_result: may(words('success failed')),
  compact_error: may(text),
});
system('SDKAPIRetryMessage', 'A model call failed and is tried again.', 'api_retry', {
  attempt: count,
  max_retries: count,
  retry_delay_ms: count,
  error_status: count.nullable(),
  error: modelError,
  no_response: may(z.object({ waited_ms: count, retry_wait_ms: count })),
});
system(
  'SDKControlRequestProgressMessage',
  'How a control request goes on that calls a model.',
  'control_request_progress',
  {
    request_id: text,
    status: words('started api_retry'),
    attempt: may(count),
    max_retries: may(count),
    retry_delay_ms: may(count),
    error_status: may(count.nullable()),
  },
);
const refusal = { original_model: text, request_id: text.nullable(), content: text };
system(
  'SDKModelRefusalFallbackMessage',
  'A model refused, and another one goes on.',
  'model_refusal_fallback',
  {
    trigger: z.literal('refusal'),
    direction: words('retry revert sticky'),
    scope: may(words('session local')),
    fallback_model: text,
    ...refusal,
  },
);
system(
  'SDKModelRefusalNoFallbackMessage',
  'A model refused, and there is no other one.',
  'model_refusal_no_fallback',
  refusal,
);
system('SDKLocalCommandOutputMessage', 'What a slash command printed.', 'local_command_output', {
  content: text,
});
const hook = { hook_id: text, hook_name: text, hook_event: text };
const streams = { stdout: text, stderr: text, output: text };
system('SDKHookStartedMessage', 'A hook began.', 'hook_started', hook);
system('SDKHookProgressMessage', 'A hook printed something.', 'hook_progress', {
  ...hook,
  ...streams,
});
system('SDKHookResponseMessage', 'A hook ended.', 'hook_response', {
  ...hook,
  ...streams,
  exit_code: may(count),
  outcome: words('success error cancelled'),
});
system('SDKPluginInstallMessage', 'A plugin is being installed.', 'plugin_install', {
  status: words('started installed failed completed'),
  name: may(text),
  error: may(text),
});
message('SDKToolProgressMessage', 'A call still runs.', 'tool_progress', {
  tool_use_id: text,
  tool_name: text,
  parent_tool_use_id: text.nullable(),
  elapsed_time_seconds: count,
  task_id: may(text),
  heartbeat: may(flag),
  subagent_type: may(text),
});
message('SDKAuthStatusMessage', 'How a login goes on.', 'auth_status', {
  isAuthenticating: flag,
  output: list,
  error: may(text),
});
const taskUsage = z.object({ total_tokens: count, tool_uses: count, duration_ms: count });
const task = { task_id: text, run_id: may(text) };
const quiet = { skip_transcript: may(flag), ambient: may(flag) };
system('SDKTaskNotificationMessage', 'A background task ended.', 'task_notification', {
  ...task,
  tool_use_id: may(text),
  status: words('completed failed stopped'),
  reason: may(z.literal('worker_restart')),
  output_file: text,
  summary: text,
  usage: may(taskUsage),
  end: ours(z.unknown(), 'how the agent ended.'),
  ...quiet,
});
system(
  'SDKTaskStartedMessage',
  'A task began: a subagent, a shell in the background.',
  'task_started',
  {
    ...task,
    tool_use_id: may(text),
    description: text,
    subagent_type: may(text),
    is_backgrounded: may(flag),
    spawn_depth: may(count),
    parent_task_id: may(text),
    task_type: may(text),
    workflow_name: may(text),
    prompt: may(text),
    ...quiet,
  },
);
system('SDKTaskUpdatedMessage', 'Facts of a task changed.', 'task_updated', {
  ...task,
  patch: z.object({
    status: may(words('pending running completed failed killed paused')),
    description: may(text),
    end_time: may(count),
    total_paused_ms: may(count),
    error: may(text),
    is_backgrounded: may(flag),
  }),
});
system('SDKTaskProgressMessage', 'What a task has done so far.', 'task_progress', {
  ...task,
  tool_use_id: may(text),
  description: text,
  subagent_type: may(text),
  usage: taskUsage,
  last_tool_name: may(text),
  summary: may(text),
});
system(
  'SDKBackgroundTasksChangedMessage',
  'The tasks that run in the background now.',
  'background_tasks_changed',
  {
    tasks: z.array(
      z.object({
        ...task,
        task_type: text,
        subagent_type: may(text),
        description: text,
        parent_task_id: may(text),
        ambient: may(flag),
      }),
    ),
  },
);
system('SDKThinkingTokensMessage', 'How much the model has thought.', 'thinking_tokens', {
  estimated_tokens: count,
  estimated_tokens_delta: count,
  user_message_uuid: may(text),
});
system(
  'SDKSessionStateChangedMessage',
  'The session runs, waits for an answer, or is idle.',
  'session_state_changed',
  { state: words('idle running requires_action'), sdk_host_only: may(flag) },
);
system('SDKWorkerShuttingDownMessage', 'The process is about to end.', 'worker_shutting_down', {
  reason: text,
});
system('SDKCommandsChangedMessage', 'The slash commands are others now.', 'commands_changed', {
  commands: z.array(command),
});
system('SDKNotificationMessage', 'A note for the person.', 'notification', {
  key: text,
  text,
  priority: words('low medium high immediate'),
  color: may(text),
  timeout_ms: may(count),
});
system('SDKFilesPersistedEvent', 'Files were stored.', 'files_persisted', {
  files: z.array(z.object({ filename: text, file_id: text })),
  failed: z.array(z.object({ filename: text, error: text })),
  processed_at: text,
});
message('SDKToolUseSummaryMessage', 'What a number of calls did.', 'tool_use_summary', {
  summary: text,
  preceding_tool_use_ids: list,
});
system('SDKMemoryRecallMessage', 'Memories that were read.', 'memory_recall', {
  mode: words('select synthesize'),
  memories: z.array(
    z.object({
      path: text,
      scope: words('personal team organization'),
      content: may(text),
    }),
  ),
});
message('SDKRateLimitEvent', 'How much of a rate limit is used.', 'rate_limit_event', {
  rate_limit_info: part(
    'SDKRateLimitInfo',
    'The state of a rate limit.',
    z.object({
      status: words('allowed allowed_warning rejected'),
      resetsAt: may(count),
      utilization: may(count),
    }),
  ),
});
system(
  'SDKElicitationCompleteMessage',
  'A page that an MCP server asked for was finished.',
  'elicitation_complete',
  { mcp_server_name: text, elicitation_id: text },
);
system('SDKPermissionDeniedMessage', 'A call was refused.', 'permission_denied', {
  tool_name: text,
  tool_use_id: text,
  agent_id: may(text),
  decision_reason_type: may(text),
  decision_reason: may(text),
  message: text,
});
message('SDKPromptSuggestionMessage', 'A prompt that may come next.', 'prompt_suggestion', {
  suggestion: text,
});
system('SDKMirrorErrorMessage', 'A session store did not take a line.', 'mirror_error', {
  error: text,
  key: z.object({ projectKey: text, sessionId: text, subpath: may(text) }),
});
system('SDKInformationalMessage', 'A line for the person.', 'informational', {
  content: text,
  level: words('info notice suggestion warning'),
  tool_use_id: may(text),
  prevent_continuation: may(flag),
  tag: may(text),
});
message('SDKConversationResetMessage', 'The conversation begins anew.', 'conversation_reset', {
  new_conversation_id: uuid,
  trigger: may(words('clear plan_mode_exit fresh_session onboarding')),
  user_message_uuid: may(text),
  timestamp: may(text),
});
system('SDKSessionWritesLostMessage', 'The disk is full: lines are lost.', 'session_writes_lost', {
  error_code: text.describe('`ENOSPC` or `EDQUOT`; other reasons in words.'),
  lines: ours(count, 'how many lines.'),
  lost: z.array(words('transcript global_config')),
  transcript_session_ids: may(list),
});
system(
  'SDKDecisionMessage',
  'Ours, with `receipts: true`: why a call was let through or refused.',
  'decision',
  { receipt: handWritten('Receipt') },
);
system(
  'SDKPolicyMessage',
  'Ours, with `policyReport: true`: every rule in force and where it was written.',
  'policy',
  { policy: policyReport },
);
system(
  'SDKInboxMessage',
  'Ours: a background agent waits for an answer, or has got one.',
  'inbox',
  {
    state: words('asked answered expired withdrawn'),
    question_id: text,
    agent_id: text,
    agent_path: text,
    subagent_type: text,
    tool_use_id: text,
    tool_name: text,
    summary: text,
    reason: text,
    expires_at: text,
    answered_by: may(text),
  },
);
