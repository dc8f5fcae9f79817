import type { AgentRef } from '../../protocol/agent-ref.js';
import type {
  AssistantMessageContent,
  MessageParam,
  NonNullableUsage,
  StreamEvent,
  UUID,
} from './content.js';
import type { SDKAssistantMessageError } from './facts.js';
import type { PermissionMode } from './permissions.js';
import type { SDKSystemEvent } from './system-messages.js';

/** On every message of ours: whose it is. */
export interface Lineage {
  /** Absent on what belongs to no agent. Ours. */
  agent?: AgentRef;
}

/** One finished block of an answer; the blocks of one answer share `message.id`. */
export type SDKAssistantMessage = Lineage & {
  type: 'assistant';
  message: AssistantMessageContent;
  parent_tool_use_id: string | null;
  error?: SDKAssistantMessageError;
  uuid: UUID;
  session_id: string;
  request_id?: string;
  user_message_uuid?: string;
  user_message_uuids?: string[];
  supersedes?: UUID[];
  aborted?: true;
  agent_id?: string;
  subagent_type?: string;
  task_description?: string;
  timestamp?: string;
};

export type SDKMessageOrigin =
  | { kind: 'human' }
  | { kind: 'channel'; server: string }
  | {
      kind: 'peer';
      from: string;
      fromMode?: 'bypass' | 'prompting';
      name?: string;
      fromSession?: string;
      senderTaskId?: string;
      body?: string;
      verifiedPeerPid?: number;
    }
  | {
      kind: 'task-notification';
      subkind?: 'scheduled-trigger' | 'peer-send-message' | 'projects-relay' | 'session-inbox';
      fireReason?: string;
      runId?: string;
    }
  | { kind: 'coordinator' }
  | { kind: 'unclassified' }
  | { kind: 'observer'; from: string; senderTaskId: string }
  | { kind: 'auto-continuation' }
  | { kind: 'observer-activity' };

/** A prompt, or the result of a tool. */
export type SDKUserMessage = Lineage & {
  type: 'user';
  message: MessageParam;
  parent_tool_use_id: string | null;
  isSynthetic?: boolean;
  tool_use_result?: unknown;
  priority?: 'now' | 'next' | 'later';
  origin?: SDKMessageOrigin;
  shouldQuery?: boolean;
  timestamp?: string;
  client_composed?: true;
  uuid?: UUID;
  pasted_content?: MessageParam['content'][];
  inline_pastes?: string[];
  session_id?: string;
  agent_id?: string;
  subagent_type?: string;
  task_description?: string;
};

/** An accepted prompt, told back. */
export type SDKUserMessageReplay = Lineage & {
  type: 'user';
  message: MessageParam;
  parent_tool_use_id: string | null;
  isSynthetic?: boolean;
  tool_use_result?: unknown;
  priority?: 'now' | 'next' | 'later';
  origin?: SDKMessageOrigin;
  shouldQuery?: boolean;
  timestamp?: string;
  client_composed?: true;
  uuid: UUID;
  session_id: string;
  isReplay: true;
  file_attachments?: unknown[];
};

export type ModelUsage = {
  inputTokens: number;
  outputTokens: number;
  thinkingTokens?: number;
  cacheReadInputTokens: number;
  cacheCreationInputTokens: number;
  cacheCreationEphemeral5mInputTokens?: number;
  cacheCreationEphemeral1hInputTokens?: number;
  webSearchRequests: number;
  costUSD: number;
  contextWindow: number;
  maxOutputTokens: number;
  canonicalModel?: string;
  provider?: string;
  costBasis?: 'list' | 'managed' | 'unknown';
};

export type SDKPermissionDenial = {
  tool_name: string;
  tool_use_id: string;
  tool_input: Record<string, unknown>;
};

export type TerminalReason =
  | 'blocking_limit'
  | 'rapid_refill_breaker'
  | 'prompt_too_long'
  | 'image_error'
  | 'model_error'
  | 'api_error'
  | 'malformed_tool_use_exhausted'
  | 'aborted_streaming'
  | 'aborted_tools'
  | 'stop_hook_prevented'
  | 'hook_stopped'
  | 'tool_deferred'
  | 'max_turns'
  | 'background_requested'
  | 'completed'
  | 'budget_exhausted'
  | 'structured_output_retry_exhausted'
  | 'tool_deferred_unavailable'
  | 'turn_setup_failed';

interface ResultCommon extends Lineage {
  type: 'result';
  duration_ms: number;
  duration_api_ms: number;
  is_error: boolean;
  num_turns: number;
  stop_reason: string | null;
  total_cost_usd: number;
  usage: NonNullableUsage;
  modelUsage: Record<string, ModelUsage>;
  permission_denials: SDKPermissionDenial[];
  queued_turn_count?: number;
  user_message_uuid?: string;
  user_message_uuids?: string[];
  terminal_reason?: TerminalReason;
  result_index?: number;
  origin?: SDKMessageOrigin;
  uuid: UUID;
  session_id: string;
}

export type SDKDeferredToolUse = { id: string; name: string; input: Record<string, unknown> };

/** The end of a turn. A failed model call is a success with `is_error` and its words as the result. */
export type SDKResultSuccess = ResultCommon & {
  subtype: 'success';
  ttft_ms?: number;
  ttft_stream_ms?: number;
  time_to_request_ms?: number;
  local_command?: string;
  api_error_status?: number | null;
  result: string;
  structured_output?: unknown;
  deferred_tool_use?: SDKDeferredToolUse;
};

export type SDKResultError = ResultCommon & {
  subtype:
    | 'error_during_execution'
    | 'error_max_turns'
    | 'error_max_budget_usd'
    | 'error_max_structured_output_retries';
  errors: string[];
};

export type SDKResultMessage = SDKResultSuccess | SDKResultError;

export type ApiKeySource =
  | 'ANTHROPIC_API_KEY'
  | 'apiKeyHelper'
  | '/login managed key'
  | 'none'
  | 'user'
  | 'project'
  | 'org'
  | 'temporary'
  | 'oauth';

/** Sent at the start of every turn. */
export type SDKSystemMessage = Lineage & {
  type: 'system';
  subtype: 'init';
  agents?: string[];
  apiKeySource: ApiKeySource;
  betas?: string[];
  claude_code_version: string;
  /** Ours. */
  portcullis_version?: string;
  cwd: string;
  tools: string[];
  mcp_servers: { name: string; status: string; source?: string }[];
  model: string;
  permissionMode: PermissionMode;
  slash_commands: string[];
  terminal_slash_commands?: string[];
  output_style: string;
  skills: string[];
  plugins: { name: string; path: string; version?: string }[];
  effort?: ('low' | 'medium' | 'high' | 'xhigh' | 'max') | null;
  capabilities?: string[];
  uuid: UUID;
  session_id: string;
};

/** A piece of the model's own stream, with `includePartialMessages`. */
export type SDKPartialAssistantMessage = Lineage & {
  type: 'stream_event';
  event: StreamEvent;
  parent_tool_use_id: string | null;
  uuid: UUID;
  session_id: string;
  ttft_ms?: number;
  user_message_uuid?: string;
  user_message_uuids?: string[];
};

/** Everything that a session tells its host. */
export type SDKMessage =
  | SDKAssistantMessage
  | SDKUserMessage
  | SDKUserMessageReplay
  | SDKResultMessage
  | SDKSystemMessage
  | SDKPartialAssistantMessage
  | SDKSystemEvent;
