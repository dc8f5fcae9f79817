import { z } from 'zod';
import { flag, printedAs, text, words } from '../declare.schema.js';
import {
  ALL,
  block,
  context,
  decided,
  gate,
  is,
  may,
  object,
  observe,
  part,
  sampleOf,
} from './hook-event.schema.js';

const mcpServer = may(
  printedAs(
    'McpServerProvenance',
    z.looseObject({
      name: is(text, 'Its name.'),
      source: may(text, 'Where it is declared.'),
    }),
  ),
  'The server that a tool of MCP belongs to.',
);
const call = {
  tool_name: is(text, 'The tool.', 'Bash'),
  tool_input: is(printedAs('unknown', object), 'Its input; paths of files are absolute.', {
    command: 'npm test',
    description: 'Run the tests',
  }),
};
const toolUseId = is(text, 'The tool call.', 'toolu_sample');
const duration = may(z.number().min(0), 'Milliseconds that the tool took.', 840);

const decision = z.looseObject({
  behavior: is(words('allow deny'), 'Yes or no.'),
  updatedInput: may(object, 'With allow: the whole new input; it is judged again.'),
  updatedPermissions: may(
    z.array(z.looseObject({ type: is(text, 'What it changes.') })),
    'With allow: changes of rules, mode or directories.',
  ),
  scope: may(object, 'With allow: how far the yes reaches, `{what, until, expiresAt?}`. Ours.'),
  message: may(text, 'With deny: why; the model reads it.'),
  interrupt: may(flag, 'With deny: the turn ends too.'),
});
const replaced = {
  updatedToolOutput: may(z.unknown(), "Any value in place of the tool's output."),
  updatedMCPToolOutput: may(z.unknown(), 'The same, for tools of MCP only.'),
};
/** Events about tool calls. */
export const TOOL_EVENTS = {
  PreToolUse: gate({
    matcherField: 'tool_name',
    kinds: ALL,
    noEndsTurn: 'prompt',
    when: 'before a tool runs, once its input has the right form, for every agent',
    no: 'the call is refused; the model reads the reason',
    note: 'A yes opens only what no rule holds. `continue: false` refuses the call as well.',
    input: { ...call, tool_use_id: toolUseId, mcp_server: mcpServer },
    output: {
      ...decided('allow deny ask defer'),
      updatedInput: may(object, 'The whole new input; it is judged again.'),
      ...context,
      agentContext: may(text, 'For the agent that a call of Agent starts. Ours.'),
    },
    topOutput: {
      tool_input: may(object, 'Another name for `updatedInput`, where that is absent. Ours.'),
    },
  }),
  PermissionRequest: gate({
    matcherField: 'tool_name',
    kinds: ALL,
    when: 'when a person or host is about to be asked about a call, or would be if one were there',
    no: 'the call is refused',
    note: 'It runs beside the question to the host; the first answer counts, and rules are checked again.',
    input: {
      ...call,
      permission_suggestions: may(
        z.array(
          printedAs('PermissionUpdate', z.looseObject({ type: is(text, 'What it changes.') })),
        ),
        'Changes that would let such calls through, in the form of `updatedPermissions`.',
        [
          {
            type: 'addRules',
            rules: [{ toolName: 'Bash', ruleContent: 'npm test *' }],
            behavior: 'allow',
            destination: 'localSettings',
          },
        ],
      ),
      mcp_server: mcpServer,
    },
    output: { decision: may(decision, 'The answer in place of a person.') },
  }),
  PermissionDenied: observe({
    matcherField: 'tool_name',
    kinds: ALL,
    when: 'when plan mode refused a command and no person could be asked',
    input: {
      ...call,
      tool_use_id: toolUseId,
      reason: is(text, 'Why it was refused.', 'the rule Bash(npm *) refuses it'),
      mcp_server: mcpServer,
    },
    output: { retry: may(flag, 'true: the model may try again, and the refusal says so.') },
  }),
  PostToolUse: block({
    matcherField: 'tool_name',
    kinds: ALL,
    noEndsTurn: 'prompt',
    replacesOutput: true,
    when: 'when a tool has succeeded, before the model reads its result',
    no: 'the model reads the reason after the result; nothing is undone',
    input: {
      ...call,
      tool_use_id: toolUseId,
      tool_response: is(z.unknown(), "The tool's structured output; for MCP its content blocks.", {
        stdout: '12 tests passed',
        stderr: '',
        interrupted: false,
      }),
      duration_ms: duration,
      mcp_server: mcpServer,
    },
    output: {
      ...context,
      ...replaced,
      classifierContext: may(text, 'For a classifier of calls; at most 2000 characters count.'),
    },
  }),
  PostToolUseFailure: block({
    matcherField: 'tool_name',
    kinds: ALL,
    replacesOutput: true,
    when: 'when a tool that ran has failed; not for refused calls and invalid inputs',
    no: 'the model reads the reason after the error',
    input: {
      ...call,
      tool_use_id: toolUseId,
      error: is(text, 'What went wrong.', 'Exit code 1\n1 test failed'),
      is_interrupt: may(flag, 'The user or the host interrupted it.', false),
      duration_ms: duration,
      mcp_server: mcpServer,
    },
    output: { ...context, ...replaced },
  }),
  PostToolBatch: block({
    kinds: ALL,
    noEndsTurn: 'always',
    when: "when all calls of one of the model's answers have their results",
    no: 'the turn ends',
    input: {
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
        [{ ...sampleOf(call), tool_use_id: 'toolu_sample', tool_response: '12 tests passed' }],
      ),
    },
    output: context,
  }),
  ToolInputInvalid: observe({
    matcherField: 'tool_name',
    kinds: ALL,
    when: 'when the input of a tool call arrived broken or does not fit the tool',
    note: 'Ours: other programs have no such event.',
    input: {
      tool_name: is(text, 'The tool.', 'Write'),
      tool_input: may(object, 'What could be read of the input.'),
      tool_use_id: toolUseId,
      raw: may(
        text,
        'What arrived, where it was not a whole object.',
        '{"file_path": "/project/a.ts", "content": "impo',
      ),
      cause: is(
        words('output_limit cut_stream invalid_json not_an_object schema'),
        'The answer hit its limit, the stream broke off, no JSON, no object, or not what the tool takes.',
        'output_limit',
      ),
      problems: is(
        z.array(
          z.looseObject({
            path: is(text, 'The place inside the input, `/edits/0/old_string`.'),
            message: is(text, 'What is wrong there.'),
          }),
        ),
        'With `schema`: what is wrong.',
        [],
      ),
      error: may(text, 'The error that the model sees.'),
    },
    output: context,
  }),
};
