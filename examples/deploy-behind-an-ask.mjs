// A deploy script behind an ask rule: every command may run by itself but that one, and no wider grant
// covers it.
import assert from 'node:assert/strict';
import { query } from 'portcullis';
import { all, stage } from './support.mjs';

const bash = (command) => ({ tool: 'Bash', input: { command } });
const at = await stage({
  files: { 'deploy.sh': { text: '#!/bin/sh\necho deployed > deployed\n', mode: 0o755 } },
  script: [bash('echo build > built'), bash('./deploy.sh'), bash('true; ./deploy.sh'), 'done'],
});
const asked = [];
try {
  const { result } = await all(
    query({
      prompt: 'build and deploy',
      options: {
        ...at.options,
        allowedTools: ['Bash'],
        settings: JSON.stringify({ permissions: { ask: ['Bash(./deploy.sh:*)'] } }),
        async canUseTool(_tool, input) {
          asked.push(input.command);
          return { behavior: 'deny', message: 'not on a Friday' };
        },
      },
    }),
  );
  assert.deepEqual(asked, ['./deploy.sh', 'true; ./deploy.sh']);
  assert.ok(at.project.exists('built'));
  assert.ok(!at.project.exists('deployed'));
  assert.equal(result.permission_denials.length, 2);
  console.log('built, not deployed');
} finally {
  await at.close();
}
