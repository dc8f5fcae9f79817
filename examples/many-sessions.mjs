// Many sessions in one process, side by side, each with a project of its own.
import assert from 'node:assert/strict';
import { query } from 'portcullis';
import { all, stage } from './support.mjs';

const COUNT = 20;
const stages = await Promise.all(
  Array.from({ length: COUNT }, (_, n) =>
    stage({
      script: [{ tool: 'Write', input: { file_path: 'n.txt', content: `${n}\n` } }, `done ${n}`],
    }),
  ),
);
try {
  const results = await Promise.all(
    stages.map((at) =>
      all(query({ prompt: 'go', options: { ...at.options, permissionMode: 'acceptEdits' } })),
    ),
  );
  results.forEach(({ result }, n) => {
    assert.equal(result.result, `done ${n}`);
    assert.equal(stages[n].project.read('n.txt'), `${n}\n`);
  });
  assert.equal(new Set(results.map(({ result }) => result.session_id)).size, COUNT);
  console.log(`${COUNT} sessions in one process`);
} finally {
  await Promise.all(stages.map((at) => at.close()));
}
