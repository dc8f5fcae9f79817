// A budget that is reserved before each call: the run is wound down and cut off, with what it had.
import assert from 'node:assert/strict';
import { query } from 'portcullis';
import { stage } from './support.mjs';

const read = { tool: 'Read', input: { file_path: 'a.txt' } };
const at = await stage({ files: { 'a.txt': 'a\n' }, script: [read, read, read, 'all I have'] });
const messages = [];
try {
  const session = query({
    prompt: 'read for ever',
    options: { ...at.options, budget: { turns: 3 } },
  });
  try {
    for await (const message of session) messages.push(message);
  } catch (problem) {
    // The end of the iteration says that the run did not end well.
    assert.match(problem.message, /turn/i);
  }
  const result = messages.findLast(({ type }) => type === 'result');
  assert.equal(result.is_error, true);
  assert.ok(at.model.requests.length <= 4, 'no more calls than the budget has');
  console.log(`${at.model.requests.length} calls, then ${result.subtype}`);
} finally {
  await at.close();
}
