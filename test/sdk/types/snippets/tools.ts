import { createSdkMcpServer, type Options, query, tool } from 'the-sdk';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';

const add = tool(
  'add',
  'Adds two numbers',
  { a: z.number(), b: z.number().describe('the other'), label: z.string().optional() },
  async (args) => {
    const sum: number = args.a + args.b;
    const label: string | undefined = args.label;
    return { content: [{ type: 'text', text: `${label ?? ''}${sum}` }] };
  },
  { annotations: { readOnlyHint: true } },
);

const old = tool('old', 'With zod 3', { names: z3.array(z3.string()) }, async ({ names }) => ({
  content: [{ type: 'text', text: names.join() }],
  isError: names.length === 0,
}));

const none = tool('none', 'Without arguments', {}, async () => ({ content: [] }));

const server = createSdkMcpServer({ name: 'calc', version: '1.0.0', tools: [add, old, none] });

const options: Options = {
  mcpServers: {
    calc: server,
    files: { command: 'npx', args: ['files'], env: { A: 'b' } },
    web: { type: 'http', url: 'http://127.0.0.1/mcp', headers: { Authorization: 'x' } },
    events: { type: 'sse', url: 'http://127.0.0.1/sse' },
  },
  allowedTools: ['mcp__calc__add'],
};

export const calculate = (prompt: string) => query({ prompt, options });
