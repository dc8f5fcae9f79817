// A ledger: who used which tool, from hooks that are told of every call of every agent.
import assert from 'node:assert/strict';
import { query } from 'portcullis';
import { all, stage } from './support.mjs';

const read = { tool: 'Read', input: { file_path: 'a.txt' } };
const at = await stage({
  files: { 'a.txt': 'a\n' },
  actors: [
    { name: 'reader', match: { firstUser: 'READ' }, replies: [read, 'read'] },
    {
      name: 'main',
      replies: [
        read,
        {
          tool: 'Agent',
          input: { subagent_type: 'general-purpose', description: 'read', prompt: 'READ it' },
        },
        'done',
      ],
    },
  ],
});
const ledger = [];
try {
  await all(
    query({
      prompt: 'read it twice',
      options: {
        ...at.options,
        allowedTools: ['Agent'],
        hooks: {
          PostToolUse: [
            {
              hooks: [
                async ({ tool_name, agent, duration_ms }) => {
                  ledger.push({ tool: tool_name, agent: agent.path, timed: duration_ms >= 0 });
                  return {};
                },
              ],
            },
          ],
        },
      },
    }),
  );
  assert.deepEqual(
    ledger.map(({ tool, agent }) => `${agent} ${tool}`),
    ['main Read', 'main/general-purpose#1 Read', 'main Agent'],
  );
  console.table(ledger);
} finally {
  await at.close();
}
