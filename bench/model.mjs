// The model of the benches: answers at once, in a process of its own, so that all time that passes is the runtime's.
// Which turn it is follows from the tool results in the request.
import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** In the prompts of sub-agents. */
export const AGENT_MARK = 'BENCHAGENT';
const USAGE = { input_tokens: 10, cache_read_input_tokens: 100, output_tokens: 1 };

let plan = { op: 'Read', turns: 0 };
let records = [];
let serial = 0;

const CALLS = {
  Read: (turn) => ({ name: 'Read', input: { file_path: `${plan.cwd}/f${turn % 500}.txt` } }),
  Bash: (turn) => ({ name: 'Bash', input: { command: `true ${turn}`, description: 'no-op' } }),
  Agent: (turn) => ({
    name: 'Agent',
    input: { description: `agent ${turn}`, prompt: `${AGENT_MARK} ${turn}: read the files.` },
  }),
};

/** Texts that bench/terminal.mjs watches: 10,000 lines at once, and 200 words a second. */
const TEXTS = {
  *lines() {
    const row = (_, at) => `Line ${at} of a long answer.\n\n`;
    for (let part = 0; part < 100; part++) yield Array.from({ length: 100 }, row).join('');
    yield 'END OF LINES';
  },
  async *words() {
    for (let word = 0; ; word++) {
      yield word % 12 === 11 ? 'word.\n\n' : 'word ';
      await pause(5);
    }
  },
};

/** `fan`: the first answer starts so many agents, each of which makes `turns` calls. */
function nextCalls(body, isAgent) {
  const turn = body.split('"type":"tool_result"').length - 1;
  if (plan.fan !== undefined && !isAgent)
    return turn === 0 ? Array.from({ length: plan.fan }, (_, index) => CALLS.Agent(index)) : [];
  return turn < plan.turns ? [CALLS[plan.op](turn)] : [];
}

function eventsOf(calls) {
  const blocks = calls.map(({ name, input }) => [
    { type: 'tool_use', id: `toolu_${++serial}`, name, input: {} },
    { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  ]);
  const text = [
    { type: 'text', text: '' },
    { type: 'text_delta', text: 'done' },
  ];
  const stop_reason = calls.length === 0 ? 'end_turn' : 'tool_use';
  const message = { id: `msg_${++serial}`, type: 'message', role: 'assistant', model: 'bench' };
  return [
    { type: 'message_start', message: { ...message, content: [], usage: USAGE } },
    ...(calls.length === 0 ? [text] : blocks).flatMap(([content_block, delta], index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 12 } },
    { type: 'message_stop' },
  ];
}

const write = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

async function stream(response, text) {
  const [message, block, delta, ...rest] = eventsOf([]);
  response.write(write(message) + write(block));
  for await (const piece of text) {
    if (response.destroyed) return;
    response.write(write({ ...delta, delta: { ...delta.delta, text: piece } }));
  }
  response.end(rest.map(write).join(''));
}

/** What a provider hashes for its prompt cache, in its order, without the marks. */
function hashedText(body) {
  const { tools = [], system = [], messages = [] } = JSON.parse(body);
  return JSON.stringify([...tools, system, ...messages], (key, value) =>
    key === 'cache_control' ? undefined : value,
  ).slice(1, -1);
}

const server = http.createServer({ keepAliveTimeout: 120_000 }, async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const end = Number(process.hrtime.bigint());
  const body = Buffer.concat(chunks).toString('utf8');
  const isAgent = body.includes(AGENT_MARK) && !body.includes('"name":"Agent","input"');
  const calls = nextCalls(body, isAgent);
  const text = eventsOf(calls).map(write).join('');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const hashed = plan.prefix ? hashedText(body) : undefined;
  const isLast = calls.length === 0;
  const bytes = Buffer.byteLength(body);
  records.push({ end, answered: Number(process.hrtime.bigint()), bytes, isAgent, isLast, hashed });
  // Titles and other side jobs have no tools.
  if (plan.text !== undefined && body.includes('"tools":[{'))
    await stream(response, TEXTS[plan.text]());
  else response.end(text);
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('message', (message) => {
  if (message.plan === undefined) {
    process.send({ records });
    return;
  }
  ({ plan } = message);
  records = [];
  process.send({});
});
process.on('disconnect', () => process.exit(0));
