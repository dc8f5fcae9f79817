import { type AgentSession, errorName, type StopReason } from '../harness.js';
import { contextUsage } from './context-usage.js';
import { costText } from './control-reports.js';
import type { Frame } from './wire.js';

/** What the runtime itself says in the place of an answer. */
export function syntheticFrame(
  text: string,
  {
    sessionId,
    uuid,
    fields,
  }: {
    readonly sessionId: string;
    uuid(): string;
    readonly fields: Readonly<Record<string, unknown>>;
  },
): Frame {
  return {
    type: 'assistant',
    message: {
      id: uuid(),
      type: 'message',
      role: 'assistant',
      model: '<synthetic>',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 0,
        output_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
    },
    parent_tool_use_id: null,
    ...fields,
    uuid: uuid(),
    session_id: sessionId,
  };
}

type Failure = Extract<StopReason, { kind: 'model_failure' }>['failure'];

/** Why there is no answer, in the words that hosts know. */
export function failureFields(failure: Failure): Readonly<Record<string, unknown>> {
  return {
    error: errorName(failure),
    is_api_error_message: true,
    ...(failure.status === undefined ? {} : { api_error_status: failure.status }),
  };
}

/** What a command of the runtime answers. */
export async function localText(
  session: AgentSession,
  command: 'context' | 'cost',
): Promise<string> {
  if (command === 'cost') return costText(session.accounts());
  const [report, agents] = await Promise.all([session.context(), session.requests.agents()]);
  const isAutoCompactEnabled = session.requests.compactsByItself();
  const facts = { agents, lastUsage: undefined, isAutoCompactEnabled };
  const { categories, totalTokens, maxTokens, percentage, model } = contextUsage(report, facts);
  const rows = categories.map(({ name, tokens }) => `| ${name} | ${tokens} |`);
  return [
    '## Context Usage',
    '',
    `**Model:** ${model}`,
    `**Tokens:** ${totalTokens} of ${maxTokens} (${percentage}%)`,
    '',
    '| Category | Tokens |',
    '|---|---|',
    ...rows,
  ].join('\n');
}
