/** Messages about the session itself: its state, its tasks and hooks, and what it has to report. */
import { z } from 'zod';
import { type Declaration, flag, handWritten, list, text, words } from './declare.schema.js';
import {
  CONVERSATION_MESSAGES,
  command,
  count,
  may,
  messagesInto,
  modelError,
  ours,
  part,
} from './messages.schema.js';
import { permissionMode as mode, policyReport, uuid } from './permission-types.schema.js';

export const SESSION_MESSAGES: Declaration[] = [];
const { message, system } = messagesInto(SESSION_MESSAGES);

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

/** Every message that a session sends to its host. */
export const MESSAGE_TYPES = [...CONVERSATION_MESSAGES, ...SESSION_MESSAGES];
