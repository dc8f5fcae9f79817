/** Frames beside messages on the wire: requests both ways, and copies of transcript lines. */
import { z } from 'zod';
import {
  type Declaration,
  declare,
  flag,
  handWritten,
  list,
  open,
  text,
  words,
} from './declare.schema.js';
import { command, count, effort, may } from './messages.schema.js';
import { permissionUpdate, serverProvenance } from './permission-types.schema.js';

export const CONTROL_TYPES: Declaration[] = [];

const frame = <F extends z.ZodRawShape>(name: string, about: string, type: string, fields: F) =>
  declare(CONTROL_TYPES, name, about, z.object({ type: z.literal(type), ...fields }));
const request = <F extends z.ZodRawShape>(subtype: string, fields: F) =>
  z.object({ subtype: z.literal(subtype), ...fields });

frame('SDKControlRequest', 'A question to the host; it answers once.', 'control_request', {
  request_id: text,
  request: declare(
    CONTROL_TYPES,
    'SDKControlRequestInner',
    'What hosts are asked.',
    z.union([
      request('can_use_tool', {
        tool_name: text,
        display_name: may(text),
        title: may(text),
        description: may(text),
        input: open,
        tool_use_id: text,
        decision_reason: may(text),
        decision_reason_type: may(text),
        held_by: text.describe('Ours: the guard that asks.').optional(),
        blocked_path: may(text),
        matched_ask_rule: may(z.object({ source: text, tool_name: text, rule_content: may(text) })),
        agent_id: may(text),
        mcp_server: may(serverProvenance),
        requires_user_interaction: flag.optional(),
        permission_suggestions: z.array(permissionUpdate).optional(),
      }),
      request('hook_callback', {
        callback_id: text,
        input: handWritten('HookInput'),
        tool_use_id: may(text),
      }),
      request('mcp_message', { server_name: text, message: z.unknown() }),
      request('elicitation', {
        mcp_server_name: text,
        message: text,
        mode: may(words('form url')),
        url: may(text),
        elicitation_id: may(text),
        requested_schema: may(open),
        property_order: z.array(text).optional(),
        display_name: may(text),
        description: may(text),
      }),
    ]),
  ),
});
frame('SDKControlResponse', 'The answer to a request of the host.', 'control_response', {
  response: z.union([
    z.object({ subtype: z.literal('success'), request_id: text, response: may(open) }),
    z.object({
      subtype: z.literal('error'),
      request_id: text,
      error: text,
      error_code: may(text),
    }),
  ]),
});
frame('SDKControlCancelRequest', 'A question is taken back.', 'control_cancel_request', {
  request_id: text,
});
frame('SDKKeepAliveMessage', 'Nothing; it shows that the host still reads.', 'keep_alive', {});
frame(
  'SDKTranscriptMirrorMessage',
  'New lines of a transcript, for a store.',
  'transcript_mirror',
  {
    filePath: text,
    entries: z.array(z.unknown()),
  },
);
frame('SDKCommandLifecycleMessage', 'What becomes of a prompt.', 'command_lifecycle', {
  command_uuid: text,
  state: text,
  uuid: may(text),
  session_id: may(text),
});

/** What requests of the host are answered with. */
export const RESPONSE_TYPES: Declaration[] = [];

const response = <F extends z.ZodRawShape>(name: string, about: string, fields: F) =>
  declare(RESPONSE_TYPES, name, about, z.object(fields));

const modelInfo = response('ModelInfo', 'A model that can be chosen.', {
  value: text,
  resolvedModel: may(text),
  displayName: text,
  description: text,
  supportsEffort: may(flag),
  supportedEffortLevels: z.array(effort).optional(),
  supportsAdaptiveThinking: may(flag),
  supportsFastMode: may(flag),
  supportsAutoMode: may(flag),
});
const agentInfo = response('AgentInfo', 'An agent that can be started.', {
  name: text,
  description: text,
  model: may(text),
});
const account = response('AccountInfo', 'Whose key is used, and where.', {
  email: may(text),
  organization: may(text),
  subscriptionType: may(text),
  tokenSource: may(text),
  apiKeySource: may(text),
  apiProvider: may(
    words('firstParty bedrock vertex foundry anthropicAws anthropicGoogleCloud mantle gateway'),
  ),
});
const limits = { timeout: may(count), alwaysLoad: may(flag) };
const toolPolicies = z
  .array(
    response('McpServerToolPolicy', 'What a host says of one tool of a server.', {
      name: text,
      permission_policy: may(words('always_allow always_ask always_deny')),
      org_max_permission: may(words('allow ask blocked')),
    }),
  )
  .optional();
const remote = {
  url: text,
  headers: z.record(text, text).optional(),
  tools: toolPolicies,
  ...limits,
};
const serverConfig = declare(
  RESPONSE_TYPES,
  'McpServerConfigForProcessTransport',
  'An MCP server as a host declares it.',
  z.union([
    response('McpStdioServerConfig', 'A server that is a program.', {
      type: z.literal('stdio').optional(),
      command: text,
      args: may(list),
      env: z.record(text, text).optional(),
      ...limits,
    }),
    response('McpSSEServerConfig', 'A server behind server-sent events.', {
      type: z.literal('sse'),
      ...remote,
    }),
    response('McpHttpServerConfig', 'A server behind HTTP.', {
      type: z.literal('http'),
      ...remote,
    }),
    response('McpSdkServerConfig', "A server in the host's process.", {
      type: z.literal('sdk'),
      name: text,
      timeout: may(count),
      tools: toolPolicies,
    }),
  ]),
);
const statusConfig = declare(
  RESPONSE_TYPES,
  'McpServerStatusConfig',
  'An MCP server as its status shows it.',
  z.union([
    serverConfig,
    response('McpClaudeAIProxyServerConfig', 'A server of an account.', {
      type: z.literal('claudeai-proxy'),
      url: text,
      id: text,
      timeout: may(count),
    }),
  ]),
);
const serverStatus = response('McpServerStatus', 'The status of an MCP server.', {
  name: text,
  status: words('connected failed needs-auth pending disabled'),
  serverInfo: z.object({ name: text, version: text }).optional(),
  error: may(text),
  config: may(statusConfig),
  scope: may(text),
  source: may(text),
  tools: z
    .array(
      z.object({
        name: text,
        description: may(text),
        annotations: may(
          z.object({ readOnly: may(flag), destructive: may(flag), openWorld: may(flag) }),
        ),
        _meta: may(open),
      }),
    )
    .optional(),
});
response('McpSetServersResult', 'What setting the servers changed.', {
  added: list,
  removed: list,
  errors: z.record(text, text),
});
response('SDKControlInitializeResponse', 'The answer to `initialize`.', {
  commands: z.array(command),
  agents: z.array(agentInfo),
  output_style: text,
  available_output_styles: list,
  models: z.array(modelInfo),
  account,
  hooks_applied: may(flag),
  hook_on_failure_supported: may(flag),
  plugins_applied: flag.describe('The session was opened with these plugins.').optional(),
  mcp_servers_applied: flag.describe('The session was opened with these servers.').optional(),
  claude_code_version: may(text),
});
response('SDKControlInterruptResponse', 'Prompts that still wait, or were cancelled.', {
  still_queued: list,
  cancelled: may(list),
});
response('RewindFilesResult', 'What rewinding files did or would do.', {
  canRewind: flag,
  error: may(text),
  filesChanged: may(list),
  insertions: may(count),
  deletions: may(count),
  skippedLinks: may(count),
});
response('SDKControlGetContextUsageResponse', 'What fills the context window.', {
  categories: z.array(
    z.object({
      id: may(text),
      name: text,
      tokens: count,
      color: text,
      isDeferred: may(flag),
      kind: words('used free buffer deferred'),
    }),
  ),
  totalTokens: count,
  maxTokens: count,
  rawMaxTokens: count,
  percentage: count,
  gridRows: z.array(z.array(z.unknown())),
  model: text,
  memoryFiles: z.array(z.object({ path: text, type: text, tokens: count })),
  mcpTools: z.array(z.object({ name: text, serverName: text, tokens: count, isLoaded: may(flag) })),
  agents: z.array(z.object({ agentType: text, source: text, tokens: count })),
  isAutoCompactEnabled: flag,
  autoCompactThreshold: may(count),
  apiUsage: z
    .object({
      input_tokens: count,
      output_tokens: count,
      cache_creation_input_tokens: count,
      cache_read_input_tokens: count,
    })
    .nullable(),
});
response('SDKControlReadFileResponse', 'The contents of a file.', {
  contents: text,
  absPath: text,
  truncated: may(flag),
  encoding: z.literal('base64').optional(),
  lossy: may(flag),
});
response('SDKControlMcpReadResourceResponse', 'The contents of a resource.', {
  contents: z.array(
    z.object({
      uri: text,
      mimeType: may(text),
      text: may(text),
      blob: may(text),
      _meta: may(open),
    }),
  ),
});
response('SDKControlReloadPluginsResponse', 'What plugins bring now.', {
  commands: z.array(command),
  agents: z.array(agentInfo),
  plugins: z.array(z.object({ name: text, path: text, source: may(text), version: may(text) })),
  mcpServers: z.array(serverStatus),
  error_count: count,
});
response('SDKControlReloadSkillsResponse', 'The skills that there are now.', {
  skills: z.array(command),
});
