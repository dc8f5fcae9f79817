// The model of bench/agents.mjs, in a process of its own: starts many agents with one answer, gives each
// some calls, and answers at once. Bodies are not parsed, so that long ones cost it little.
import http from 'node:http';

const MAIN = 'BENCHMAIN';
let plan = { fan: 1, turns: 1, cwd: '/' };
let serial = 0;
let seen = { main: 0, agents: 0, done: 0, bytes: 0 };

const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const USAGE = {
  input_tokens: 10,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 100,
  output_tokens: 1,
};

function answer(calls) {
  const id = `msg_${++serial}`;
  const blocks =
    calls.length === 0
      ? [
          [
            { type: 'text', text: '' },
            { type: 'text_delta', text: 'done' },
          ],
        ]
      : calls.map(({ name, input }) => [
          { type: 'tool_use', id: `toolu_${++serial}`, name, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(input) },
        ]);
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model: 'bench',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: USAGE,
  };
  return [
    { type: 'message_start', message },
    ...blocks.flatMap(([content_block, delta], index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: calls.length === 0 ? 'end_turn' : 'tool_use', stop_sequence: null },
      usage: { output_tokens: 12 },
    },
    { type: 'message_stop' },
  ]
    .map(event)
    .join('');
}

const task = (i) => ({
  name: 'Agent',
  input: { description: `agent ${i}`, prompt: `BENCHSUB ${i}: read files and report.` },
});

function next(body) {
  const results = body.split('"type":"tool_result"').length - 1;
  if (body.includes(MAIN)) {
    seen.main += 1;
    return results === 0 ? Array.from({ length: plan.fan }, (_, i) => task(i)) : [];
  }
  seen.agents += 1;
  if (results >= plan.turns) {
    seen.done += 1;
    return [];
  }
  return [{ name: 'Read', input: { file_path: `${plan.cwd}/f${results}.txt` } }];
}

const server = http.createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    seen.bytes += body.length;
    const text = answer(next(body.toString('utf8')));
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('message', (message) => {
  if (message.plan !== undefined) {
    plan = message.plan;
    seen = { main: 0, agents: 0, done: 0, bytes: 0 };
    process.send({ ready: true });
  } else {
    process.send({ seen });
  }
});
process.on('disconnect', () => process.exit(0));
