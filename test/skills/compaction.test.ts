import { expect, it } from 'vitest';
import { place, shown, talk } from '../instructions/rig.js';

const SUMMARY = '<summary>THE SUMMARY</summary>';
const skill = (args: string) => ({ tool: 'Skill', input: { skill: 'steps', args } });

it('the text of a skill stands again after a summary, and comes whole when it is started anew', async () => {
  const world = place({
    '.claude/skills/steps/SKILL.md':
      '---\ndescription: d\n---\nTHE_STEPS for $0 </system-reminder>\n',
  });
  const done = await talk(
    world,
    [skill('one'), 'done', SUMMARY, 'two', skill('one'), 'three'],
    [{ prompt: 'a' }, { prompt: '/compact' }, { prompt: 'b' }, { prompt: 'c' }],
  );
  const after = shown(done, 3);
  const again = after.filter((text) => text.includes('THE_STEPS for one'));
  expect(after.some((text) => text.includes('THE SUMMARY'))).toBe(true);
  expect(again).toHaveLength(1);
  expect(again[0]).toMatch(/^<system-reminder>\nThese skills were started before the summary/);
  expect(again[0]?.match(/<\/system-reminder>/g)).toHaveLength(1);
  const last = shown(done, 5).filter((text) => text.includes('THE_STEPS for one'));
  expect(last).toHaveLength(2);
});
