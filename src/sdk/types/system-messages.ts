import type { AgentRef } from '../../protocol/agent-ref.js';
import type { Receipt } from '../../protocol/permissions.js';
import type { UUID } from './content.js';
import type { SDKAssistantMessageError, SlashCommand } from './facts.js';
import type { PermissionMode } from './permissions.js';
import type { PolicyReport } from './policy.js';

type Event<Subtype extends string, Fields = unknown> = {
  type: 'system';
  subtype: Subtype;
  uuid: UUID;
  session_id: string;
  /** Whose it is; absent on what belongs to no agent. Ours. */
  agent?: AgentRef;
} & Fields;

type Own<Type extends string, Fields = unknown> = {
  type: Type;
  uuid: UUID;
  session_id: string;
  agent?: AgentRef;
} & Fields;

export type SDKCompactBoundaryMessage = Event<
  'compact_boundary',
  {
    compact_metadata: {
      trigger: 'manual' | 'auto';
      pre_tokens: number;
      post_tokens?: number;
      duration_ms?: number;
    };
  }
>;

export type SDKStatus = 'compacting' | 'requesting' | null;

export type SDKStatusMessage = Event<
  'status',
  {
    status: SDKStatus;
    permissionMode?: PermissionMode;
    compact_result?: 'success' | 'failed';
    compact_error?: string;
  }
>;

export type SDKAPIRetryMessage = Event<
  'api_retry',
  {
    attempt: number;
    max_retries: number;
    retry_delay_ms: number;
    error_status: number | null;
    error: SDKAssistantMessageError;
    no_response?: { waited_ms: number; retry_wait_ms: number };
  }
>;

export type SDKControlRequestProgressMessage = Event<
  'control_request_progress',
  {
    request_id: string;
    status: 'started' | 'api_retry';
    attempt?: number;
    max_retries?: number;
    retry_delay_ms?: number;
    error_status?: number | null;
  }
>;

export type SDKModelRefusalFallbackMessage = Event<
  'model_refusal_fallback',
  {
    trigger: 'refusal';
    direction: 'retry' | 'revert' | 'sticky';
    scope?: 'session' | 'local';
    original_model: string;
    fallback_model: string;
    request_id: string | null;
    content: string;
  }
>;

export type SDKModelRefusalNoFallbackMessage = Event<
  'model_refusal_no_fallback',
  { original_model: string; request_id: string | null; content: string }
>;

export type SDKLocalCommandOutputMessage = Event<'local_command_output', { content: string }>;

interface HookRun {
  hook_id: string;
  hook_name: string;
  hook_event: string;
}

export type SDKHookStartedMessage = Event<'hook_started', HookRun>;
export type SDKHookProgressMessage = Event<
  'hook_progress',
  HookRun & { stdout: string; stderr: string; output: string }
>;
export type SDKHookResponseMessage = Event<
  'hook_response',
  HookRun & {
    output: string;
    stdout: string;
    stderr: string;
    exit_code?: number;
    outcome: 'success' | 'error' | 'cancelled';
  }
>;

export type SDKPluginInstallMessage = Event<
  'plugin_install',
  { status: 'started' | 'installed' | 'failed' | 'completed'; name?: string; error?: string }
>;

export type SDKToolProgressMessage = Own<
  'tool_progress',
  {
    tool_use_id: string;
    tool_name: string;
    parent_tool_use_id: string | null;
    elapsed_time_seconds: number;
    task_id?: string;
    heartbeat?: boolean;
    subagent_type?: string;
  }
>;

export type SDKAuthStatusMessage = Own<
  'auth_status',
  { isAuthenticating: boolean; output: string[]; error?: string }
>;

interface TaskUsage {
  total_tokens: number;
  tool_uses: number;
  duration_ms: number;
}

export type SDKTaskNotificationMessage = Event<
  'task_notification',
  {
    task_id: string;
    run_id?: string;
    tool_use_id?: string;
    status: 'completed' | 'failed' | 'stopped';
    reason?: 'worker_restart';
    output_file: string;
    summary: string;
    usage?: TaskUsage;
    skip_transcript?: boolean;
    ambient?: boolean;
  }
>;

export type SDKTaskStartedMessage = Event<
  'task_started',
  {
    task_id: string;
    run_id?: string;
    tool_use_id?: string;
    description: string;
    subagent_type?: string;
    is_backgrounded?: boolean;
    spawn_depth?: number;
    parent_task_id?: string;
    task_type?: string;
    workflow_name?: string;
    prompt?: string;
    skip_transcript?: boolean;
    ambient?: boolean;
  }
>;

export type SDKTaskUpdatedMessage = Event<
  'task_updated',
  {
    task_id: string;
    run_id?: string;
    patch: {
      status?: 'pending' | 'running' | 'completed' | 'failed' | 'killed' | 'paused';
      description?: string;
      end_time?: number;
      total_paused_ms?: number;
      error?: string;
      is_backgrounded?: boolean;
    };
  }
>;

export type SDKTaskProgressMessage = Event<
  'task_progress',
  {
    task_id: string;
    run_id?: string;
    tool_use_id?: string;
    description: string;
    subagent_type?: string;
    usage: TaskUsage;
    last_tool_name?: string;
    summary?: string;
  }
>;

export type SDKBackgroundTasksChangedMessage = Event<
  'background_tasks_changed',
  {
    tasks: {
      task_id: string;
      run_id?: string;
      task_type: string;
      subagent_type?: string;
      description: string;
      parent_task_id?: string;
      ambient?: boolean;
    }[];
  }
>;

export type SDKThinkingTokensMessage = Event<
  'thinking_tokens',
  { estimated_tokens: number; estimated_tokens_delta: number; user_message_uuid?: string }
>;

export type SDKSessionStateChangedMessage = Event<
  'session_state_changed',
  { state: 'idle' | 'running' | 'requires_action' }
>;

export type SDKWorkerShuttingDownMessage = Event<'worker_shutting_down', { reason: string }>;
export type SDKCommandsChangedMessage = Event<'commands_changed', { commands: SlashCommand[] }>;

export type SDKNotificationMessage = Event<
  'notification',
  {
    key: string;
    text: string;
    priority: 'low' | 'medium' | 'high' | 'immediate';
    color?: string;
    timeout_ms?: number;
  }
>;

export type SDKFilesPersistedEvent = Event<
  'files_persisted',
  {
    files: { filename: string; file_id: string }[];
    failed: { filename: string; error: string }[];
    processed_at: string;
  }
>;

export type SDKToolUseSummaryMessage = Own<
  'tool_use_summary',
  { summary: string; preceding_tool_use_ids: string[] }
>;

export type SDKMemoryRecallMessage = Event<
  'memory_recall',
  {
    mode: 'select' | 'synthesize';
    memories: { path: string; scope: 'personal' | 'team' | 'organization'; content?: string }[];
  }
>;

export type SDKRateLimitInfo = {
  status: 'allowed' | 'allowed_warning' | 'rejected';
  resetsAt?: number;
  utilization?: number;
};

export type SDKRateLimitEvent = Own<'rate_limit_event', { rate_limit_info: SDKRateLimitInfo }>;

export type SDKElicitationCompleteMessage = Event<
  'elicitation_complete',
  { mcp_server_name: string; elicitation_id: string }
>;

export type SDKPermissionDeniedMessage = Event<
  'permission_denied',
  {
    tool_name: string;
    tool_use_id: string;
    agent_id?: string;
    decision_reason_type?: string;
    decision_reason?: string;
    message: string;
  }
>;

export type SDKPromptSuggestionMessage = Own<'prompt_suggestion', { suggestion: string }>;

export type SDKMirrorErrorMessage = Event<
  'mirror_error',
  { error: string; key: { projectKey: string; sessionId: string; subpath?: string } }
>;

export type SDKInformationalMessage = Event<
  'informational',
  {
    content: string;
    level: 'info' | 'notice' | 'suggestion' | 'warning';
    tool_use_id?: string;
    prevent_continuation?: boolean;
    tag?: string;
  }
>;

export type SDKConversationResetMessage = Own<
  'conversation_reset',
  {
    new_conversation_id: UUID;
    trigger?: 'clear' | 'plan_mode_exit' | 'fresh_session' | 'onboarding';
    user_message_uuid?: string;
    timestamp?: string;
  }
>;

export type SDKSessionWritesLostMessage = Event<
  'session_writes_lost',
  {
    error_code: 'ENOSPC' | 'EDQUOT';
    lost: ('transcript' | 'global_config')[];
    transcript_session_ids?: string[];
  }
>;

/** Ours, with `receipts: true`: why a call was let through or refused. */
export type SDKDecisionMessage = Event<'decision', { receipt: Receipt }>;

/** Ours, first of all messages: every rule in force and where it was written. */
export type SDKPolicyMessage = Event<'policy', { policy: PolicyReport }>;

/** Ours: a background agent waits for an answer, or has got one. */
export type SDKInboxMessage = Event<
  'inbox',
  {
    state: 'asked' | 'answered' | 'expired' | 'withdrawn';
    question_id: string;
    agent_id: string;
    agent_path: string;
    subagent_type: string;
    tool_use_id: string;
    tool_name: string;
    summary: string;
    reason: string;
    expires_at: string;
    answered_by?: string;
  }
>;

export type SDKSystemEvent =
  | SDKCompactBoundaryMessage
  | SDKStatusMessage
  | SDKAPIRetryMessage
  | SDKControlRequestProgressMessage
  | SDKModelRefusalFallbackMessage
  | SDKModelRefusalNoFallbackMessage
  | SDKLocalCommandOutputMessage
  | SDKHookStartedMessage
  | SDKHookProgressMessage
  | SDKHookResponseMessage
  | SDKPluginInstallMessage
  | SDKToolProgressMessage
  | SDKAuthStatusMessage
  | SDKTaskNotificationMessage
  | SDKTaskStartedMessage
  | SDKTaskUpdatedMessage
  | SDKTaskProgressMessage
  | SDKBackgroundTasksChangedMessage
  | SDKThinkingTokensMessage
  | SDKSessionStateChangedMessage
  | SDKWorkerShuttingDownMessage
  | SDKCommandsChangedMessage
  | SDKNotificationMessage
  | SDKFilesPersistedEvent
  | SDKToolUseSummaryMessage
  | SDKMemoryRecallMessage
  | SDKRateLimitEvent
  | SDKElicitationCompleteMessage
  | SDKPermissionDeniedMessage
  | SDKPromptSuggestionMessage
  | SDKMirrorErrorMessage
  | SDKInformationalMessage
  | SDKConversationResetMessage
  | SDKSessionWritesLostMessage
  | SDKDecisionMessage
  | SDKPolicyMessage
  | SDKInboxMessage;
