// A stdio MCP server whose tool `approve` answers permission prompts as its argument (JSON) says.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const plan = JSON.parse(process.argv[2] ?? '{}');
const write = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const answers = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'judge', version: '1' },
  }),
  'tools/list': () => ({
    tools: ['approve', 'other'].map((name) => ({ name, inputSchema: { type: 'object' } })),
  }),
  'tools/call': ({ name, arguments: args }) => {
    if (plan.journal) appendFileSync(plan.journal, `${name} ${JSON.stringify(args)}\n`);
    return {
      content: [{ type: 'text', text: plan.answer ?? '' }],
      ...(plan.isError ? { isError: true } : {}),
    };
  },
};
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    if (method === 'tools/call' && plan.silent) return;
    const answer = answers[method];
    if (answer) write({ id, result: answer(params ?? {}) });
    else write({ id, error: { code: -32601, message: 'Method not found' } });
  })
  .on('close', () => process.exit(0));
