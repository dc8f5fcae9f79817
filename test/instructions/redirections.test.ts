import { afterEach, expect, it } from 'vitest';
import { openSkillSession, type SkillSession } from '../skills/session-rig.js';

let open: SkillSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

it.each([
  ['cat < sub/f', true],
  ['echo x > sub/new', false],
  ['cd sub && wc -l < f', true],
  ['ls sub', false],
  ['echo x > here 2> /dev/null', false],
])('%s brings in the instructions there: %s', async (command, isShown) => {
  open = await openSkillSession({
    files: { 'sub/CLAUDE.md': 'NESTED WORDS', 'sub/f': 'text' },
    script: [{ tool: 'Bash', input: { command } }, 'done'],
    config: { allowedTools: ['Bash'] },
  });
  await open.say('go');
  expect(open.shown().includes('NESTED WORDS')).toBe(isShown);
});
