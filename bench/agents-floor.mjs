// The least that a Node program can do for agents: the same exchanges and reads, no more than bookkeeping.
import { readFileSync } from 'node:fs';
import http from 'node:http';

const url = new URL(process.env.ANTHROPIC_BASE_URL);
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

function post(messages) {
  const body = Buffer.from(
    `{"model":"floor","stream":true,"max_tokens":1000,"system":"floor","tools":[],"messages":[${messages}]}`,
  );
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        host: url.hostname,
        port: url.port,
        path: '/v1/messages',
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': body.length },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve(text));
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

async function run(prompt) {
  let messages = JSON.stringify({ role: 'user', content: prompt });
  for (;;) {
    const blocks = [];
    for (const part of (await post(messages)).split('\n\n')) {
      const at = part.indexOf('data: ');
      if (at < 0) continue;
      const data = JSON.parse(part.slice(at + 6));
      if (data.type === 'content_block_start')
        blocks[data.index] = { ...data.content_block, json: '' };
      if (data.type === 'content_block_delta') {
        blocks[data.index].json += data.delta.partial_json ?? '';
        blocks[data.index].text += data.delta.text ?? '';
      }
    }
    const calls = blocks.filter(({ type }) => type === 'tool_use');
    if (calls.length === 0) return blocks.map(({ text }) => text).join('');
    const made = await Promise.all(
      calls.map(async ({ id, name, json }) => {
        const input = JSON.parse(json);
        const content =
          input.file_path === undefined
            ? await run(input.prompt)
            : readFileSync(input.file_path, 'utf8');
        return {
          use: { type: 'tool_use', id, name, input },
          result: { type: 'tool_result', tool_use_id: id, content },
        };
      }),
    );
    const use = { role: 'assistant', content: made.map((one) => one.use) };
    const result = { role: 'user', content: made.map((one) => one.result) };
    messages += `,${JSON.stringify(use)},${JSON.stringify(result)}`;
  }
}

await run('BENCHMAIN');
process.exit(0);
