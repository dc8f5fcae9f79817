/** Frames that stand beside messages on the wire: requests both ways, and what keeps a copy of the transcript. */
import { z } from 'zod';
import { type Declaration, declare, handWritten } from './declare.schema.js';
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
