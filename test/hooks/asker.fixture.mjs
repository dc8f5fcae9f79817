// A stdio MCP server whose tool `ask` wants a name of whoever calls it, and tells what was answered.
import { createInterface } from 'node:readline';

const write = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const requestedSchema = {
  type: 'object',
  properties: { name: { type: 'string', title: 'Name' } },
  required: ['name'],
};
/** Calls that wait for an answer, by the id of the question. */
const waiting = new Map();

const answers = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'asker', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'ask', inputSchema: { type: 'object' } }] }),
};

function ask(call) {
  const id = `question-${waiting.size + 1}`;
  waiting.set(id, call);
  write({ id, method: 'elicitation/create', params: { message: 'Who are you?', requestedSchema } });
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params, result, error } = JSON.parse(line);
    if (id === undefined) return;
    if (method === undefined) {
      const text = `The answer: ${JSON.stringify(result ?? error)}`;
      write({ id: waiting.get(id), result: { content: [{ type: 'text', text }] } });
      return;
    }
    if (method === 'tools/call') return ask(id);
    const answer = answers[method];
    if (answer) write({ id, result: answer(params ?? {}) });
    else write({ id, error: { code: -32601, message: 'Method not found' } });
  })
  .on('close', () => process.exit(0));
