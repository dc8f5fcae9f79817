// A model that sends an empty Write is told what is missing, by a hook on inputs that do not fit.
import assert from 'node:assert/strict';
import { query } from 'portcullis';
import { all, stage, toolResults } from './support.mjs';

const at = await stage({
  script: [
    { tool: 'Write', input: { file_path: 'report.md' } },
    { tool: 'Write', input: { file_path: 'report.md', content: 'the report\n' } },
    'written',
  ],
});
const nudged = [];
try {
  await all(
    query({
      prompt: 'write the report',
      options: {
        ...at.options,
        permissionMode: 'acceptEdits',
        hooks: {
          ToolInputInvalid: [
            {
              matcher: 'Write',
              hooks: [
                async ({ tool_input }) => {
                  nudged.push(Object.keys(tool_input));
                  return {
                    hookSpecificOutput: {
                      hookEventName: 'ToolInputInvalid',
                      additionalContext: 'Send the whole text in `content`; write long files in parts.',
                    },
                  };
                },
              ],
            },
          ],
        },
      },
    }),
  );
  assert.deepEqual(nudged, [['file_path']]);
  assert.match(toolResults(at.model)[0], /write long files in parts/);
  assert.equal(at.project.read('report.md'), 'the report\n');
  console.log('one nudge, then the report was written');
} finally {
  await at.close();
}
