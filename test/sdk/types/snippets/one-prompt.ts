import { type Options, query, type SDKMessage, type SDKResultMessage } from 'the-sdk';

export async function answer(prompt: string): Promise<string> {
  const options: Options = { model: 'sonnet', maxTurns: 3, cwd: '/tmp', allowedTools: ['Read'] };
  for await (const message of query({ prompt, options })) {
    if (message.type === 'result' && message.subtype === 'success') return message.result;
  }
  return '';
}

export async function collect(prompt: string): Promise<SDKMessage[]> {
  const messages: SDKMessage[] = [];
  for await (const message of query({ prompt })) messages.push(message);
  return messages;
}

export function costOf(result: SDKResultMessage): number {
  const perModel = Object.values(result.modelUsage).map((usage) => usage.costUSD);
  return Math.max(
    result.total_cost_usd,
    perModel.reduce((sum, cost) => sum + cost, 0),
  );
}
