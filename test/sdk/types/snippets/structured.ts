import { query, type SDKResultSuccess } from 'the-sdk';

interface Found {
  readonly files: readonly string[];
}

export async function find(prompt: string): Promise<Found | undefined> {
  const schema = { type: 'object', properties: { files: { type: 'array' } } };
  let last: SDKResultSuccess | undefined;
  for await (const message of query({
    prompt,
    options: { outputFormat: { type: 'json_schema', schema } },
  })) {
    if (message.type === 'result' && message.subtype === 'success') last = message;
  }
  return last?.structured_output as Found | undefined;
}
