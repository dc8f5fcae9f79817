// Every Bash command is put to you, each time: an answer holds for one call, and nothing is remembered.
import assert from 'node:assert/strict';
import { query } from 'portcullis';
import { all, stage, toolResults } from './support.mjs';

const bash = (command) => ({ tool: 'Bash', input: { command } });
const at = await stage({
  script: [bash('touch one'), bash('touch two'), bash('touch one'), 'done'],
});
const asked = [];
try {
  await all(
    query({
      prompt: 'make the files',
      options: {
        ...at.options,
        async canUseTool(_tool, input, { agent, suggestions }) {
          asked.push({ command: input.command, agent: agent?.path, suggested: suggestions.length > 0 });
          return input.command === 'touch two'
            ? { behavior: 'deny', message: 'not that one' }
            : { behavior: 'allow', updatedInput: input, scope: 'once' };
        },
      },
    }),
  );
  assert.deepEqual(asked.map(({ command }) => command), ['touch one', 'touch two', 'touch one']);
  assert.ok(asked.every(({ agent }) => agent === 'main'));
  assert.ok(at.project.exists('one'));
  assert.ok(!at.project.exists('two'));
  assert.match(toolResults(at.model)[1], /not that one/);
  console.log(`asked ${asked.length} times; two of three ran`);
} finally {
  await at.close();
}
