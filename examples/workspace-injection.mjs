// Each agent works in a directory of its own: that is where its relative paths lead, and the only place
// that it can write to. The prompt does not have to say so, and cannot change it.
import assert from 'node:assert/strict';
import { query } from 'portcullis';
import { all, stage } from './support.mjs';

const write = (file_path) => ({ tool: 'Write', input: { file_path, content: 'x\n' } });
const at = await stage({
  files: { 'packages/api': { directory: true }, 'README.md': 'read me\n' },
  actors: [
    {
      name: 'fixer',
      match: { firstUser: 'FIX' },
      replies: [write('notes.md'), write('../../README.md'), 'fixed'],
    },
    {
      name: 'main',
      replies: [
        { tool: 'Agent', input: { subagent_type: 'fixer', description: 'fix', prompt: 'FIX it' } },
        'done',
      ],
    },
  ],
});
try {
  await all(
    query({
      prompt: 'fix the api',
      options: {
        ...at.options,
        permissionMode: 'acceptEdits',
        allowedTools: ['Agent'],
        agents: {
          fixer: {
            description: 'Fixes the api.',
            prompt: 'You fix.',
            portcullis: { workspace: { directory: 'packages/api' } },
          },
        },
      },
    }),
  );
  assert.equal(at.project.read('packages/api/notes.md'), 'x\n');
  assert.equal(at.project.read('README.md'), 'read me\n', 'what is outside stayed as it was');
  console.log('the agent wrote in its own directory alone');
} finally {
  await at.close();
}
