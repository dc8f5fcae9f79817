// Undo as a tool that the model can call: it goes back to before the prompt, whatever was used to change
// files, Bash included.
import assert from 'node:assert/strict';
import { createSdkMcpServer, query, tool } from 'portcullis';
import { all, stage } from './support.mjs';

const at = await stage({
  files: { 'config.json': '{"a":1}\n' },
  script: [
    { tool: 'Bash', input: { command: 'echo broken > config.json; rm -f nothing; echo x > junk' } },
    { tool: 'mcp__undo__rewind', input: {} },
    'That did not work, so I took it back.',
  ],
});
const promptId = '00000000-0000-4000-8000-000000000001';
let session;
const undo = createSdkMcpServer({
  name: 'undo',
  tools: [
    tool('rewind', 'Takes back all changes since the last prompt.', {}, async () => {
      const preview = await session.rewindFiles(promptId, { dryRun: true });
      await session.rewindFiles(promptId);
      return { content: [{ type: 'text', text: `restored ${preview.filesChanged.join(', ')}` }] };
    }),
  ],
});
async function* prompts() {
  yield {
    type: 'user',
    uuid: promptId,
    message: { role: 'user', content: 'change the configuration' },
    parent_tool_use_id: null,
  };
}
try {
  session = query({
    prompt: prompts(),
    options: {
      ...at.options,
      enableFileCheckpointing: true,
      mcpServers: { undo },
      allowedTools: ['Bash', 'mcp__undo__rewind'],
    },
  });
  const { result } = await all(session);
  assert.equal(result.subtype, 'success');
  assert.equal(at.project.read('config.json'), '{"a":1}\n');
  assert.ok(!at.project.exists('junk'));
  console.log('what Bash did was taken back');
} finally {
  await at.close();
}
