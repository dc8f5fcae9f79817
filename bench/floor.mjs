// The least that a Node program can do for the same exchange: keep-alive HTTP, one parse of the stream,
// one tool, a body that only grows. What a runtime costs is measured against this.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';

const url = new URL(process.env.ANTHROPIC_BASE_URL);
const agent = new http.Agent({ keepAlive: true });
let messages = JSON.stringify({ role: 'user', content: 'go' });

function post(body) {
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

function shell(command) {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.on('close', () => resolve(output));
  });
}

for (;;) {
  const text = await post(
    Buffer.from(
      `{"model":"floor","stream":true,"max_tokens":1000,"system":"floor","tools":[],"messages":[${messages}]}`,
    ),
  );
  let call;
  let json = '';
  for (const part of text.split('\n\n')) {
    const at = part.indexOf('data: ');
    if (at < 0) continue;
    const data = JSON.parse(part.slice(at + 6));
    if (data.type === 'content_block_start' && data.content_block.type === 'tool_use')
      call = data.content_block;
    if (data.type === 'content_block_delta' && data.delta.partial_json !== undefined)
      json += data.delta.partial_json;
  }
  if (call === undefined) break;
  const input = JSON.parse(json);
  const content =
    input.file_path === undefined
      ? await shell(input.command)
      : readFileSync(input.file_path, 'utf8');
  const use = {
    role: 'assistant',
    content: [{ type: 'tool_use', id: call.id, name: call.name, input }],
  };
  const result = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: call.id, content }],
  };
  messages += `,${JSON.stringify(use)},${JSON.stringify(result)}`;
}
process.exit(0);
