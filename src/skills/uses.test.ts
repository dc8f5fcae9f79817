import { writeFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { nodeFileSystem } from '../env/node-fs.js';
import { makeTempProject, type TempProject } from '../testing/temp-project.js';
import { openSkillUses } from './uses.js';

let project: TempProject | undefined;
afterEach(() => project?.remove());
const place = (): TempProject => {
  project = makeTempProject();
  return project;
};

it('adds to what other sessions have counted', async () => {
  const { directory } = place();
  const one = openSkillUses(nodeFileSystem, directory);
  const other = openSkillUses(nodeFileSystem, directory);
  one.started('a');
  one.started('__proto__');
  await one.keep();
  other.started('a');
  await other.keep();
  expect(one.counts()).toEqual(
    new Map([
      ['a', 2],
      ['__proto__', 1],
    ]),
  );
});

it.each(['', '{', '[1]', '{"a":"x","b":-1,"c":1.5}'])('takes %j for nothing', (text) => {
  const { directory, at } = place();
  writeFileSync(at('skill-uses.json'), text);
  expect(openSkillUses(nodeFileSystem, directory).counts()).toEqual(new Map());
});

it('is lost without a word where nothing can be written', async () => {
  const { at } = place();
  writeFileSync(at('file'), '');
  const uses = openSkillUses(nodeFileSystem, at('file'));
  uses.started('a');
  await uses.keep();
  expect(uses.counts()).toEqual(new Map());
});
