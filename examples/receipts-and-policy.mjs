// Why was a call allowed? A report of the rules in force at the start, which of them come before your
// callback, and a receipt for every decision. `ignoreFileGrants` leaves only the restrictions of files.
import assert from 'node:assert/strict';
import { query } from 'portcullis';
import { all, stage } from './support.mjs';

const bash = (command) => ({ tool: 'Bash', input: { command } });
const files = {
  '.claude/settings.json': {
    json: { permissions: { allow: ['Bash(touch *)'], deny: ['Bash(rm *)'] } },
  },
};

async function play(ignoreFileGrants) {
  const at = await stage({ files, script: [bash('touch made'), bash('rm made'), 'done'] });
  const asked = [];
  try {
    const session = query({
      prompt: 'go',
      options: {
        ...at.options,
        settingSources: ['project'],
        trustProject: true,
        receipts: true,
        ignoreFileGrants,
        async canUseTool(_tool, input) {
          asked.push(input.command);
          return { behavior: 'allow', updatedInput: input };
        },
      },
    });
    const policy = await session.policy();
    const { messages } = await all(session);
    const receipts = messages.flatMap((message) =>
      message.subtype === 'decision' ? [message.receipt ?? message] : [],
    );
    return { policy, asked, receipts };
  } finally {
    await at.close();
  }
}

const open = await play(false);
assert.deepEqual(open.asked, [], 'the file allows one command and forbids the other');
assert.match(JSON.stringify(open.policy), /settings\.json/);
assert.deepEqual(
  open.receipts.map(({ decision }) => decision),
  ['allow', 'deny'],
);
const closed = await play(true);
assert.deepEqual(closed.asked, ['touch made'], 'its grant is ignored, its ban is not');
console.log(open.receipts.map(({ decision, reason }) => `${decision}: ${reason}`).join('\n'));
