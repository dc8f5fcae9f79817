import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { skillText } from './rig.js';
import { openSkillSession, type SkillSession, skill } from './session-rig.js';

let open: SkillSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const WORDS = 'w'.repeat(300);
const files = Object.fromEntries(
  ['a', 'b', 'c', 'd'].map((name) => [
    `.claude/skills/${name}/SKILL.md`,
    skillText(`description: ${name} ${WORDS}`, 'BODY'),
  ]),
);

it('a skill that was used before keeps its description where others lose theirs', async () => {
  open = await openSkillSession({
    files: { ...files, '.claude/settings.json': { json: { disableBundledSkills: true } } },
    home: { '.portcullis/skill-uses.json': { json: { c: 2 } } },
    env: { SLASH_COMMAND_TOOL_CHAR_BUDGET: '600' },
    script: ['done'],
  });
  await open.say('go');
  expect(open.shown()).toContain(`- c: c ${WORDS}`);
  expect(open.shown()).not.toContain(`- a: a ${WORDS}`);
});

it.each([
  [true, { a: 1, b: 1 }],
  [false, undefined],
])('what is started is counted for the next session; kept: %s', async (persist, kept) => {
  open = await openSkillSession({ files, script: [skill('a'), 'one', 'two'], config: { persist } });
  await open.say('go');
  await open.say('/b');
  await open.session.close();
  const read = (): unknown =>
    JSON.parse(readFileSync(`${open?.project.home}/.portcullis/skill-uses.json`, 'utf8'));
  if (kept === undefined) expect(read).toThrow('ENOENT');
  else expect(read()).toEqual(kept);
});
