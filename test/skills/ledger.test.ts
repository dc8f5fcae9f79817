import { existsSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { readSkillLedger } from '../../src/skills/listing/ledger.js';
import { type SkillRecord, skippedOf } from '../../src/skills/listing/ledger-record.js';
import { skillText } from './rig.js';
import { openSkillSession, type SkillSession, skill } from './session-rig.js';

let open: SkillSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const WORDS = 'w'.repeat(300);
const files = {
  ...Object.fromEntries(
    ['a', 'b', 'c', 'd'].map((name) => [
      `.claude/skills/${name}/SKILL.md`,
      skillText(`description: ${name} ${WORDS}`, 'BODY'),
    ]),
  ),
  '.claude/settings.json': { json: { disableBundledSkills: true } },
};
const waits = {
  '.claude/skills/w/SKILL.md': skillText('description: waits\npaths: "*.sql"', 'BODY'),
  '.claude/skills/x/SKILL.md': skillText('description: waits\npaths: "*.txt"', 'BODY'),
  'some.txt': 'text',
};

async function records(): Promise<ReadonlyMap<string, SkillRecord>> {
  const stateDirectory = `${open?.project.home}/.portcullis`;
  const read = await readSkillLedger({ fs: nodeFileSystem, stateDirectory });
  if (!read.ok) throw new Error(read.error);
  return new Map(read.value.map((record) => [record.name, record]));
}

it('a skill that was started before keeps its description where others lose theirs', async () => {
  const c = { name: 'c', file: 'f', model: 2, last: '2030-01-01' };
  open = await openSkillSession({
    files,
    home: { '.portcullis/skill-ledger.jsonl': `${JSON.stringify(c)}\n` },
    env: { SLASH_COMMAND_TOOL_CHAR_BUDGET: '600' },
    script: ['done'],
  });
  await open.say('go');
  expect(open.shown()).toContain(`- c: c ${WORDS}`);
  expect(open.shown()).not.toContain(`- a: a ${WORDS}`);
});

it('what was offered, chosen by whom, and skipped is kept for later', async () => {
  open = await openSkillSession({
    files: { ...files, ...waits },
    script: [skill('a'), { tool: 'Read', input: { file_path: 'some.txt' } }, 'one', 'two'],
    config: { persist: true },
  });
  await open.say('go');
  await open.say('/b');
  await open.session.close();
  const found = await records();
  expect(found.get('a')).toMatchObject({ offered: 1, model: 1, person: 0 });
  expect(found.get('b')).toMatchObject({ offered: 1, model: 0, person: 1 });
  expect(found.get('c')).toMatchObject({ offered: 1, model: 0, person: 0 });
  expect([...found.values()].filter((one) => skippedOf(one) === 1).map((one) => one.name)).toEqual([
    'c',
    'd',
    'x',
  ]);
  expect(found.get('w')).toMatchObject({ offered: 0, leftOut: { file: 1 } });
});

it.each([
  ['without a place to keep it', { persist: false }, true],
  ['without a prompt', { persist: true }, false],
])('nothing is kept of a session %s', async (_what, config, speaks) => {
  open = await openSkillSession({ files, script: [skill('a'), 'one'], config });
  if (speaks) await open.say('go');
  await open.session.close();
  expect(existsSync(`${open.project.home}/.portcullis/skill-ledger.jsonl`)).toBe(false);
});

it('a broken ledger is told, and the session works', async () => {
  open = await openSkillSession({
    files,
    home: { '.portcullis/skill-ledger.jsonl': 'no ledger' },
    script: ['done'],
    config: { persist: true },
  });
  await open.say('go');
  await open.session.close();
  expect(open.notices).toContainEqual(expect.stringContaining('skill-ledger.jsonl.broken'));
  expect((await records()).get('a')).toMatchObject({ offered: 1 });
});
