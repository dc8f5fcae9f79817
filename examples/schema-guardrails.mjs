// Guardrails by schema: a tool whose input is checked before it runs, and an answer that fits a schema
// or is no answer.
import assert from 'node:assert/strict';
import { createSdkMcpServer, query, tool } from 'portcullis';
import { z } from 'zod';
import { all, stage, toolResults } from './support.mjs';

const refunds = [];
const shop = createSdkMcpServer({
  name: 'shop',
  tools: [
    tool(
      'refund',
      'Pays an order back.',
      { order: z.string().regex(/^A-\d+$/), amount: z.number().positive().max(100) },
      async (input) => {
        refunds.push(input);
        return { content: [{ type: 'text', text: 'paid' }] };
      },
    ),
  ],
});
const refund = (input) => ({ tool: 'mcp__shop__refund', input });
const at = await stage({
  script: [
    refund({ order: 'A-1', amount: 5000 }),
    refund({ order: 'A-1', amount: 50 }),
    { tool: 'StructuredOutput', input: { refunded: 50 } },
  ],
});
try {
  const { result } = await all(
    query({
      prompt: 'pay order A-1 back',
      options: {
        ...at.options,
        mcpServers: { shop },
        allowedTools: ['mcp__shop__refund'],
        outputFormat: {
          type: 'json_schema',
          schema: {
            type: 'object',
            properties: { refunded: { type: 'number' } },
            required: ['refunded'],
            additionalProperties: false,
          },
        },
      },
    }),
  );
  assert.deepEqual(refunds, [{ order: 'A-1', amount: 50 }]);
  assert.match(toolResults(at.model)[0], /amount/, 'the model was told what was wrong');
  assert.deepEqual(result.structured_output, { refunded: 50 });
  console.log('one refund was refused by its schema, one was paid');
} finally {
  await at.close();
}
