// A hand-off: when an agent ends, a hook looks at its report and sends it back once if it lacks a summary.
import assert from 'node:assert/strict';
import { query } from 'portcullis';
import { all, stage } from './support.mjs';

const at = await stage({
  actors: [
    {
      name: 'writer',
      match: { firstUser: 'WRITE' },
      replies: ['I wrote it.', 'SUMMARY: one page about gates.'],
    },
    {
      name: 'main',
      replies: [
        {
          tool: 'Agent',
          input: { subagent_type: 'general-purpose', description: 'write', prompt: 'WRITE it' },
        },
        'handed over',
      ],
    },
  ],
});
const ended = [];
try {
  await all(
    query({
      prompt: 'have it written',
      options: {
        ...at.options,
        allowedTools: ['Agent'],
        hooks: {
          SubagentStop: [
            {
              hooks: [
                async ({ last_assistant_message: text, stop_hook_active }) => {
                  ended.push(text);
                  if (text.startsWith('SUMMARY:') || stop_hook_active) return {};
                  return { decision: 'block', reason: 'End with a line that begins with SUMMARY:' };
                },
              ],
            },
          ],
        },
      },
    }),
  );
  assert.deepEqual(ended, ['I wrote it.', 'SUMMARY: one page about gates.']);
  const handed = JSON.stringify(at.model.requests.at(-1).body);
  assert.match(handed, /SUMMARY: one page about gates/);
  console.log('the report was handed over with its summary');
} finally {
  await at.close();
}
