/** The sample project of the demonstration: a small program with one wrong line and its test. */
export const SAMPLE_FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "sample", "type": "module", "private": true }\n',
  'CLAUDE.md': 'Run the tests with `node --test` after every change.\n',
  'price.js': `// Price of an order: a tenth off from ten pieces on.
export function price(pieces, each) {
  const total = pieces * each;
  return pieces > 10 ? total * 0.9 : total;
}
`,
  'price.test.js': `import assert from 'node:assert/strict';
import test from 'node:test';
import { price } from './price.js';

test('nine pieces cost nine times one', () => assert.equal(price(9, 2), 18));
test('ten pieces are a tenth cheaper', () => assert.equal(price(10, 2), 18));
`,
};

export const DEMO_PROMPT = 'The test for ten pieces fails. Find out why and mend it.';

/** The counts alone: what stands before them differs from one version of Node to the next. */
const RUN_TESTS = 'node --test 2>&1 | grep -oE "(pass|fail) [0-9]+"';

/** What the scripted model says, reply by reply. `{{DIR}}` is the sample project. */
export const DEMO_REPLIES: readonly unknown[] = [
  {
    blocks: [
      { text: 'I look at the code and run the tests.' },
      { tool: 'Grep', input: { pattern: 'price\\(', output_mode: 'content' } },
      { tool: 'Read', input: { file_path: '{{DIR}}/price.js' } },
      {
        tool: 'Bash',
        input: {
          command: RUN_TESTS,
          description: 'Run the tests',
        },
      },
    ],
  },
  {
    blocks: [
      { text: 'The discount starts above ten pieces instead of at ten.' },
      {
        tool: 'Edit',
        input: {
          file_path: '{{DIR}}/price.js',
          old_string: 'pieces > 10',
          new_string: 'pieces >= 10',
        },
      },
    ],
  },
  {
    tool: 'Bash',
    input: {
      command: RUN_TESTS,
      description: 'Run the tests again',
    },
  },
  {
    blocks: [
      { text: 'Now something that nobody allowed, to show the gate:' },
      { tool: 'Bash', input: { command: 'git push --force origin main', description: 'Push' } },
    ],
  },
  'Mended: `price.js:4` compared with `>` instead of `>=`. Both tests pass. The push was refused, so nothing left this machine.',
];
