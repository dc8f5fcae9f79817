/**
 * The messages of a conversation. From here and `session-messages.schema.ts` come the SDK's message types, the
 * types of the frames on the wire and the reference page. Nothing that ships imports this file for its values.
 */
import { z } from 'zod';
import {
  type Declaration,
  declare,
  flag,
  handWritten,
  list,
  open,
  printedAs,
  text,
  words,
} from './declare.schema.js';
import {
  assistantContent,
  messageParam,
  streamEvent,
  summedUsage,
} from './message-content.schema.js';
import { permissionMode as mode, uuid } from './permission-types.schema.js';

/** Types that messages are made of. */
export const PART_TYPES: Declaration[] = [];
/** Prompts, answers, results and the start of a turn. */
export const CONVERSATION_MESSAGES: Declaration[] = [];

export const count = z.number();
export const may = <T extends z.ZodType>(schema: T) => schema.optional();
export const ours = <T extends z.ZodType>(schema: T, about: string) =>
  schema.describe(`Ours: ${about}`).optional();
export const part = <T extends z.ZodType>(name: string, about: string, schema: T): T =>
  declare(PART_TYPES, name, about, schema);

const agent = ours(
  handWritten('AgentRef'),
  'the agent it belongs to; absent where it belongs to none.',
);
const ids = { uuid, session_id: text, agent };

/** Declares messages into a list. */
export function messagesInto(target: Declaration[]) {
  const message = <F extends z.ZodRawShape>(name: string, about: string, type: string, fields: F) =>
    declare(target, name, about, z.object({ type: z.literal(type), ...fields, ...ids }));
  const system = <F extends z.ZodRawShape>(name: string, about: string, kind: string, fields: F) =>
    message(name, about, 'system', { subtype: z.literal(kind), ...fields });
  return { message, system };
}
const { message, system } = messagesInto(CONVERSATION_MESSAGES);

export const modelError = part(
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
  CONVERSATION_MESSAGES,
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
  CONVERSATION_MESSAGES,
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
