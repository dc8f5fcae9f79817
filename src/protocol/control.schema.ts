/** Frames that stand beside messages on the wire: requests both ways, and what keeps a copy of the transcript. */
import { z } from 'zod';
import { type Declaration, declare, handWritten } from './declare.schema.js';
import { command, effort } from './messages.schema.js';
import { permissionUpdate, serverProvenance } from './permission-types.schema.js';

export const CONTROL_TYPES: Declaration[] = [];

const text = z.string();
const open = z.record(z.string(), z.unknown());
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
        display_name: text.optional(),
        title: text.optional(),
        description: text.optional(),
        input: open,
        tool_use_id: text,
        decision_reason: text.optional(),
        decision_reason_type: text.optional(),
        held_by: text.describe('Ours: the guard that asks.').optional(),
        blocked_path: text.optional(),
        matched_ask_rule: z
          .object({ source: text, tool_name: text, rule_content: text.optional() })
          .optional(),
        agent_id: text.optional(),
        mcp_server: serverProvenance.optional(),
        requires_user_interaction: z.boolean().optional(),
        permission_suggestions: z.array(permissionUpdate).optional(),
      }),
      request('hook_callback', {
        callback_id: text,
        input: handWritten('HookInput'),
        tool_use_id: text.optional(),
      }),
      request('mcp_message', { server_name: text, message: z.unknown() }),
      request('elicitation', {
        mcp_server_name: text,
        message: text,
        mode: z.enum(['form', 'url']).optional(),
        url: text.optional(),
        elicitation_id: text.optional(),
        requested_schema: open.optional(),
        property_order: z.array(text).optional(),
        display_name: text.optional(),
        description: text.optional(),
      }),
    ]),
  ),
});
frame('SDKControlResponse', 'The answer to a request of the host.', 'control_response', {
  response: z.union([
    z.object({ subtype: z.literal('success'), request_id: text, response: open.optional() }),
    z.object({
      subtype: z.literal('error'),
      request_id: text,
      error: text,
      error_code: text.optional(),
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
  uuid: text.optional(),
  session_id: text.optional(),
});

/** What requests of the host are answered with. */
export const RESPONSE_TYPES: Declaration[] = [];

const flag = z.boolean();
const count = z.number();
const list = z.array(text);
const response = <F extends z.ZodRawShape>(name: string, about: string, fields: F) =>
  declare(RESPONSE_TYPES, name, about, z.object(fields));

const modelInfo = response('ModelInfo', 'A model that can be chosen.', {
  value: text,
  resolvedModel: text.optional(),
  displayName: text,
  description: text,
  supportsEffort: flag.optional(),
  supportedEffortLevels: z.array(effort).optional(),
  supportsAdaptiveThinking: flag.optional(),
  supportsFastMode: flag.optional(),
  supportsAutoMode: flag.optional(),
});
const agentInfo = response('AgentInfo', 'An agent that can be started.', {
  name: text,
  description: text,
  model: text.optional(),
});
const account = response('AccountInfo', 'Whose key is used, and where.', {
  email: text.optional(),
  organization: text.optional(),
  subscriptionType: text.optional(),
  tokenSource: text.optional(),
  apiKeySource: text.optional(),
  apiProvider: z
    .enum([
      'firstParty',
      'bedrock',
      'vertex',
      'foundry',
      'anthropicAws',
      'anthropicGoogleCloud',
      'mantle',
      'gateway',
    ])
    .optional(),
});
const limits = { timeout: count.optional(), alwaysLoad: flag.optional() };
const toolPolicies = z
  .array(
    response('McpServerToolPolicy', 'What a host says of one tool of a server.', {
      name: text,
      permission_policy: z.enum(['always_allow', 'always_ask', 'always_deny']).optional(),
      org_max_permission: z.enum(['allow', 'ask', 'blocked']).optional(),
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
      args: list.optional(),
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
      timeout: count.optional(),
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
      timeout: count.optional(),
    }),
  ]),
);
const serverStatus = response('McpServerStatus', 'The status of an MCP server.', {
  name: text,
  status: z.enum(['connected', 'failed', 'needs-auth', 'pending', 'disabled']),
  serverInfo: z.object({ name: text, version: text }).optional(),
  error: text.optional(),
  config: statusConfig.optional(),
  scope: text.optional(),
  source: text.optional(),
  tools: z
    .array(
      z.object({
        name: text,
        description: text.optional(),
        annotations: z
          .object({
            readOnly: flag.optional(),
            destructive: flag.optional(),
            openWorld: flag.optional(),
          })
          .optional(),
        _meta: open.optional(),
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
  hooks_applied: flag.optional(),
  hook_on_failure_supported: flag.optional(),
  plugins_applied: flag.describe('The session was opened with these plugins.').optional(),
  mcp_servers_applied: flag.describe('The session was opened with these servers.').optional(),
  claude_code_version: text.optional(),
});
response('SDKControlInterruptResponse', 'Prompts that still wait, or were cancelled.', {
  still_queued: list,
  cancelled: list.optional(),
});
response('RewindFilesResult', 'What rewinding files did or would do.', {
  canRewind: flag,
  error: text.optional(),
  filesChanged: list.optional(),
  insertions: count.optional(),
  deletions: count.optional(),
  skippedLinks: count.optional(),
});
response('SDKControlGetContextUsageResponse', 'What fills the context window.', {
  categories: z.array(
    z.object({
      id: text.optional(),
      name: text,
      tokens: count,
      color: text,
      isDeferred: flag.optional(),
      kind: z.enum(['used', 'free', 'buffer', 'deferred']),
    }),
  ),
  totalTokens: count,
  maxTokens: count,
  rawMaxTokens: count,
  percentage: count,
  gridRows: z.array(z.array(z.unknown())),
  model: text,
  memoryFiles: z.array(z.object({ path: text, type: text, tokens: count })),
  mcpTools: z.array(
    z.object({ name: text, serverName: text, tokens: count, isLoaded: flag.optional() }),
  ),
  agents: z.array(z.object({ agentType: text, source: text, tokens: count })),
  isAutoCompactEnabled: flag,
  autoCompactThreshold: count.optional(),
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
  truncated: flag.optional(),
  encoding: z.literal('base64').optional(),
  lossy: flag.optional(),
});
response('SDKControlMcpReadResourceResponse', 'The contents of a resource.', {
  contents: z.array(
    z.object({
      uri: text,
      mimeType: text.optional(),
      text: text.optional(),
      blob: text.optional(),
      _meta: open.optional(),
    }),
  ),
});
response('SDKControlReloadPluginsResponse', 'What plugins bring now.', {
  commands: z.array(command),
  agents: z.array(agentInfo),
  plugins: z.array(
    z.object({ name: text, path: text, source: text.optional(), version: text.optional() }),
  ),
  mcpServers: z.array(serverStatus),
  error_count: count,
});
response('SDKControlReloadSkillsResponse', 'The skills that there are now.', {
  skills: z.array(command),
});
