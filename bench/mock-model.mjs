// The model of the bench: answers at once, or after `delayMs`, in a process of its own, so that all time that passes is the
// runtime's. Which turn it is follows from the tool results that the request already carries.
import { readFileSync } from 'node:fs';
import http from 'node:http';

const now = () => Number(process.hrtime.bigint());
let plan = { op: 'read', turns: 0, cwd: '/' };
let records = [];
let serial = 0;
let client;

const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

function answer(turn) {
  const id = `msg_${++serial}`;
  const last = turn >= plan.turns;
  const call =
    plan.calls?.[turn] ??
    (plan.op === 'read'
      ? { name: 'Read', input: { file_path: `${plan.cwd}/f${turn % 500}.txt` } }
      : { name: 'Bash', input: { command: `true ${turn}`, description: 'no-op' } });
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 100,
    output_tokens: 1,
  };
  const block = last
    ? { type: 'text', text: '' }
    : { type: 'tool_use', id: `toolu_${serial}`, name: call.name, input: {} };
  const delta = last
    ? { type: 'text_delta', text: 'done' }
    : { type: 'input_json_delta', partial_json: JSON.stringify(call.input) };
  return [
    {
      type: 'message_start',
      message: {
        id,
        type: 'message',
        role: 'assistant',
        model: 'bench',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: last ? 'end_turn' : 'tool_use', stop_sequence: null },
      usage: { output_tokens: 12 },
    },
    { type: 'message_stop' },
  ]
    .map(event)
    .join('');
}

/** Milliseconds for which the main thread of the client has had a processor, where the system tells. */
function workOf(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return undefined;
  }
}

/** What a provider hashes for its prompt cache, in its order, without the marks. */
function hashedParts(body) {
  const out = [];
  const add = (part) =>
    out.push(JSON.stringify(part, (key, value) => (key === 'cache_control' ? undefined : value)));
  for (const tool of body.tools ?? []) add(tool);
  for (const block of typeof body.system === 'string' ? [body.system] : (body.system ?? []))
    add(block);
  for (const message of body.messages ?? []) {
    out.push(message.role);
    for (const block of typeof message.content === 'string' ? [message.content] : message.content)
      add(block);
  }
  return out.join('\n');
}

const server = http.createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const end = now();
    const work = client === undefined ? undefined : workOf(client);
    const raw = Buffer.concat(chunks);
    const body = JSON.parse(raw.toString('utf8'));
    const turn = (body.messages ?? []).reduce(
      (sum, message) =>
        sum +
        (Array.isArray(message.content)
          ? message.content.filter((block) => block.type === 'tool_result').length
          : 0),
      0,
    );
    const text = answer(turn);
    const record = {
      end,
      work,
      bytes: raw.length,
      hashed: plan.prefix ? hashedParts(body) : undefined,
      last: 0,
    };
    records.push(record);
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'content-length': Buffer.byteLength(text),
    });
    const send = () => {
      record.last = now();
      response.end(text);
    };
    if (plan.delayMs > 0) setTimeout(send, plan.delayMs);
    else send();
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('message', (message) => {
  if (message.plan !== undefined) {
    plan = message.plan;
    records = [];
    client = undefined;
    process.send({ ready: true });
  } else if (message.client !== undefined) {
    client = message.client;
  } else {
    process.send({ records });
  }
});
process.on('disconnect', () => process.exit(0));
