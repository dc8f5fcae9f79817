import type { SDKAssistantMessageError } from './facts.js';
import type { McpServerProvenance } from './mcp.js';
import type { PermissionUpdate } from './permissions.js';

/** Who acts, as hooks are told it. */
export interface HookAgent {
  id: string;
  type: string;
  name?: string;
  path: string;
  parent_id?: string;
  depth: number;
  spawned_by_tool_use_id?: string;
  background: boolean;
}

/** Stands in the input of every event. */
export type BaseHookInput = {
  session_id: string;
  transcript_path: string;
  cwd: string;
  prompt_id?: string;
  permission_mode?: string;
  agent_id?: string;
  agent_type?: string;
  effort?: { level: string };
  /** Ours. */
  agent?: HookAgent;
};

type Input<Name extends string, Fields = unknown> = BaseHookInput & {
  hook_event_name: Name;
} & Fields;

interface Call {
  tool_name: string;
  tool_input: unknown;
  mcp_server?: McpServerProvenance;
}

export type PreToolUseHookInput = Input<'PreToolUse', Call & { tool_use_id: string }>;

export type PostToolUseHookInput = Input<
  'PostToolUse',
  Call & { tool_response: unknown; tool_use_id: string; duration_ms?: number }
>;

export type PostToolUseFailureHookInput = Input<
  'PostToolUseFailure',
  Call & { tool_use_id: string; error: string; is_interrupt?: boolean; duration_ms?: number }
>;

/** Ours: the input of a call arrived broken, or does not fit the tool. */
export type ToolInputInvalidHookInput = Input<
  'ToolInputInvalid',
  {
    tool_name: string;
    tool_input?: Record<string, unknown>;
    tool_use_id: string;
    raw?: string;
    cause: 'output_limit' | 'cut_stream' | 'invalid_json' | 'not_an_object' | 'schema';
    problems: { path: string; message: string }[];
  }
>;

export type PostToolBatchToolCall = {
  tool_name: string;
  tool_input: unknown;
  tool_use_id: string;
  tool_response?: unknown;
};

export type PostToolBatchHookInput = Input<
  'PostToolBatch',
  { tool_calls: PostToolBatchToolCall[] }
>;

export type PermissionRequestHookInput = Input<
  'PermissionRequest',
  Call & { permission_suggestions?: PermissionUpdate[] }
>;

export type PermissionDeniedHookInput = Input<
  'PermissionDenied',
  Call & { tool_use_id: string; reason: string }
>;

export type NotificationHookInput = Input<
  'Notification',
  { message: string; title?: string; notification_type: string }
>;

export type UserPromptSubmitHookInput = Input<
  'UserPromptSubmit',
  {
    prompt: string;
    source?: 'user' | 'sdk' | 'system' | 'loop_wakeup' | 'schedule_wakeup' | 'poll_event';
    session_title?: string;
  }
>;

export type UserPromptExpansionHookInput = Input<
  'UserPromptExpansion',
  {
    expansion_type: 'slash_command' | 'mcp_prompt';
    command_name: string;
    command_args: string;
    command_source?: string;
    prompt: string;
  }
>;

export type SessionStartHookInput = Input<
  'SessionStart',
  {
    source: 'startup' | 'resume' | 'clear' | 'compact' | 'fork';
    agent_type?: string;
    model?: string;
    session_title?: string;
    seconds_since_last_response?: number;
    context_tokens?: number;
    prompt_cache_likely_expired?: boolean;
    estimated_cache_write_usd?: number;
  }
>;

export type ExitReason = 'clear' | 'resume' | 'logout' | 'prompt_input_exit' | 'other';

export type SessionEndHookInput = Input<'SessionEnd', { reason: ExitReason }>;

export type SetupHookInput = Input<'Setup', { trigger: 'init' | 'maintenance' }>;

export type BackgroundTaskSummary = {
  id: string;
  type: string;
  status: string;
  description: string;
  command?: string;
  agent_type?: string;
  server?: string;
  tool?: string;
  name?: string;
};

export type SessionCronSummary = {
  id: string;
  schedule: string;
  recurring: boolean;
  prompt: string;
};

interface Ending {
  stop_hook_active: boolean;
  last_assistant_message?: string;
  background_tasks?: BackgroundTaskSummary[];
  session_crons?: SessionCronSummary[];
}

export type StopHookInput = Input<'Stop', Ending>;

export type StopFailureHookInput = Input<
  'StopFailure',
  { error: SDKAssistantMessageError; error_details?: string; last_assistant_message?: string }
>;

export type SubagentStartHookInput = Input<
  'SubagentStart',
  { agent_id: string; agent_type: string }
>;

export type SubagentStopHookInput = Input<
  'SubagentStop',
  Ending & { agent_id: string; agent_transcript_path: string; agent_type: string }
>;

export type PreCompactHookInput = Input<
  'PreCompact',
  { trigger: 'manual' | 'auto'; custom_instructions: string | null }
>;

export type PostCompactHookInput = Input<
  'PostCompact',
  { trigger: 'manual' | 'auto'; compact_summary: string }
>;

interface ModelSwitch<Source> {
  from_model: string;
  to_model: string;
  requested_model: string | null;
  source: Source;
  context_tokens: number;
  prompt_cache_warm: boolean;
  cache_ttl: '5m' | '1h';
  estimated_cache_write_usd: number;
  pricing: 'configured' | 'catalog' | 'default';
}

export type PreModelSwitchHookInput = Input<
  'PreModelSwitch',
  ModelSwitch<'command' | 'picker' | 'sdk'>
>;

export type PostModelSwitchHookInput = Input<
  'PostModelSwitch',
  ModelSwitch<'command' | 'picker' | 'sdk' | 'auto' | 'resume'>
>;

export type TeammateIdleHookInput = Input<
  'TeammateIdle',
  { teammate_name: string; team_name: string }
>;

interface TaskFields {
  task_id: string;
  task_subject: string;
  task_description?: string;
  teammate_name?: string;
  team_name?: string;
}

export type TaskCreatedHookInput = Input<'TaskCreated', TaskFields>;
export type TaskCompletedHookInput = Input<'TaskCompleted', TaskFields>;

export type ElicitationHookInput = Input<
  'Elicitation',
  {
    mcp_server_name: string;
    message: string;
    mode?: 'form' | 'url';
    url?: string;
    elicitation_id?: string;
    requested_schema?: Record<string, unknown>;
  }
>;

export type ElicitationResultHookInput = Input<
  'ElicitationResult',
  {
    mcp_server_name: string;
    elicitation_id?: string;
    mode?: 'form' | 'url';
    action: 'accept' | 'decline' | 'cancel';
    content?: Record<string, unknown>;
  }
>;

export type ConfigChangeHookInput = Input<
  'ConfigChange',
  {
    source: 'user_settings' | 'project_settings' | 'local_settings' | 'policy_settings' | 'skills';
    file_path?: string;
  }
>;

export type InstructionsLoadedHookInput = Input<
  'InstructionsLoaded',
  {
    file_path: string;
    memory_type: 'User' | 'Project' | 'Local' | 'Managed';
    load_reason: 'session_start' | 'nested_traversal' | 'path_glob_match' | 'include' | 'compact';
    globs?: string[];
    trigger_file_path?: string;
    parent_file_path?: string;
  }
>;

export type WorktreeCreateHookInput = Input<'WorktreeCreate', { name: string }>;
export type WorktreeRemoveHookInput = Input<'WorktreeRemove', { worktree_path: string }>;
export type CwdChangedHookInput = Input<'CwdChanged', { old_cwd: string; new_cwd: string }>;

export type FileChangedHookInput = Input<
  'FileChanged',
  { file_path: string; event: 'change' | 'add' | 'unlink' }
>;

export type DirectoryAddedHookInput = Input<
  'DirectoryAdded',
  { directory: string; source: 'slash_command' | 'register_repo_root' }
>;

export type MessageDisplayHookInput = Input<
  'MessageDisplay',
  { turn_id: string; message_id: string; index: number; final: boolean; delta: string }
>;

export type HookInput =
  | PreToolUseHookInput
  | PostToolUseHookInput
  | PostToolUseFailureHookInput
  | PostToolBatchHookInput
  | PermissionDeniedHookInput
  | NotificationHookInput
  | UserPromptSubmitHookInput
  | UserPromptExpansionHookInput
  | SessionStartHookInput
  | SessionEndHookInput
  | StopHookInput
  | StopFailureHookInput
  | SubagentStartHookInput
  | SubagentStopHookInput
  | PreCompactHookInput
  | PostCompactHookInput
  | PreModelSwitchHookInput
  | PostModelSwitchHookInput
  | PermissionRequestHookInput
  | SetupHookInput
  | TeammateIdleHookInput
  | TaskCreatedHookInput
  | TaskCompletedHookInput
  | ElicitationHookInput
  | ElicitationResultHookInput
  | ConfigChangeHookInput
  | InstructionsLoadedHookInput
  | WorktreeCreateHookInput
  | WorktreeRemoveHookInput
  | CwdChangedHookInput
  | FileChangedHookInput
  | DirectoryAddedHookInput
  | MessageDisplayHookInput;

export type HookEvent = HookInput['hook_event_name'];
