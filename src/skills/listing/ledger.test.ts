import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import type { Skill } from '../skill.js';
import { readSkillLedger, SkillLedger } from './ledger.js';
import { ledgerText, NOTHING_LEFT_OUT, readRecords, type SkillRecord } from './ledger-record.js';
import { skillListing } from './listing.js';

let project: TempProject;
let told: string[];
beforeEach(() => {
  project = makeTempProject();
  told = [];
});
afterEach(() => project.remove());

const skillOf = (name: string, more: Partial<Skill> = {}): Skill => ({
  name,
  origin: 'project',
  source: 'project',
  file: `/p/${name}/SKILL.md`,
  directory: `/p/${name}`,
  head: { keys: [], description: `words about ${name}` },
  trusted: true,
  bodyLine: 1,
  problems: [],
  body: async () => '',
  ...more,
});

const ledgerIn = (stateDirectory = project.directory, counts = true): SkillLedger =>
  new SkillLedger({
    fs: nodeFileSystem,
    stateDirectory,
    counts,
    now: () => Date.UTC(2030, 0, 2),
    tell: (text) => told.push(text),
  });

const show = (ledger: SkillLedger, skills: readonly Skill[], budgetChars?: number): void =>
  ledger.listed(skills, skillListing(skills, { budgetChars }));

async function kept(): Promise<readonly SkillRecord[]> {
  const read = await readSkillLedger({ fs: nodeFileSystem, stateDirectory: project.directory });
  if (!read.ok) throw new Error(read.error);
  return read.value;
}

const record = (name: string, more: Partial<SkillRecord> = {}): SkillRecord => ({
  name,
  file: `/p/${name}/SKILL.md`,
  offered: 0,
  taken: 0,
  model: 0,
  person: 0,
  shortened: 0,
  leftOut: NOTHING_LEFT_OUT,
  last: '2030-01-02',
  ...more,
});

const left = (why: Partial<SkillRecord['leftOut']>): Partial<SkillRecord> => ({
  leftOut: { ...NOTHING_LEFT_OUT, ...why },
});

describe('the ledger of skills', () => {
  it('counts a session once for what it offers, and each start by who started it', async () => {
    const ledger = ledgerIn();
    const [a, b] = [skillOf('a'), skillOf('b')];
    show(ledger, [a, b]);
    show(ledger, [a, b]);
    await ledger.keep();
    ledger.started(a, 'model');
    ledger.started(a, 'model');
    ledger.started(a, 'person');
    await ledger.keep();
    await ledger.keep();
    expect(await kept()).toEqual([
      record('a', { offered: 1, taken: 1, model: 2, person: 1 }),
      record('b', { offered: 1 }),
    ]);
  });

  it('does not take a start for a choice among what was offered when it was not offered', async () => {
    const ledger = ledgerIn();
    ledger.started(skillOf('a'), 'person');
    await ledger.keep();
    expect(await kept()).toEqual([record('a', { person: 1 })]);
  });

  it('says why a skill was not listed, and counts no reason of one that was listed later', async () => {
    const ledger = ledgerIn();
    const people = skillOf('people', { head: { keys: [], disableModelInvocation: true } });
    const late = skillOf('late');
    const skills = [skillOf('off'), people, late];
    ledger.listed(
      skills,
      skillListing(skills, {
        overrides: (name) => (name === 'off' ? 'off' : undefined),
        isDormant: (skill) => skill === late,
      }),
    );
    show(ledger, [late]);
    ledger.end([skillOf('asleep')]);
    await ledger.keep();
    expect(await kept()).toEqual([
      record('off', left({ settings: 1 })),
      record('people', left({ people: 1 })),
      record('late', { offered: 1 }),
      record('asleep', left({ file: 1 })),
    ]);
  });

  it('tells those that were cut from those for which there was no room', async () => {
    const ledger = ledgerIn();
    const long = { keys: [], description: 'w'.repeat(400) };
    show(ledger, [skillOf('a', { head: long }), skillOf('b'.repeat(120), { head: long })], 200);
    ledger.end([]);
    await ledger.keep();
    expect(await kept()).toEqual([
      record('a', { offered: 1, shortened: 1 }),
      record('b'.repeat(120), left({ room: 1 })),
    ]);
  });

  it('keeps two skills of one name apart, and adds up their starts for the list', async () => {
    const ledger = ledgerIn();
    ledger.started(skillOf('a'), 'model');
    ledger.started(skillOf('a', { file: '/q/a/SKILL.md' }), 'person');
    ledger.started(skillOf('__proto__'), 'model');
    await ledger.keep();
    expect(await kept()).toHaveLength(3);
    expect(ledgerIn().counts()).toEqual(
      new Map([
        ['a', 2],
        ['__proto__', 1],
      ]),
    );
  });

  it('loses nothing when many sessions end at the same time', async () => {
    const ledgers = Array.from({ length: 20 }, () => ledgerIn());
    for (const ledger of ledgers) show(ledger, [skillOf('a'), skillOf('b')]);
    for (const ledger of ledgers) ledger.started(skillOf('b'), 'model');
    await Promise.all(ledgers.map((ledger) => ledger.keep()));
    expect(told).toEqual([]);
    expect(await kept()).toEqual([
      record('b', { offered: 20, taken: 20, model: 20 }),
      record('a', { offered: 20 }),
    ]);
  });

  it('leaves nothing behind of a session that is not counted', async () => {
    const ledger = ledgerIn(project.directory, false);
    show(ledger, [skillOf('a')]);
    ledger.started(skillOf('a'), 'model');
    ledger.end([skillOf('b')]);
    await ledger.keep();
    expect(existsSync(project.at('skill-ledger.jsonl'))).toBe(false);
  });
});

describe('a ledger that cannot be used', () => {
  it.each([
    ['half a line', '{"name":"a"', 'line 1'],
    ['another line', `${JSON.stringify(record('a', { model: 1 }))}\n[1]\n`, 'line 2'],
    ['no count', '{"name":"a","file":"f","last":"x","offered":-1}', 'line 1'],
    ['no reasons', '{"name":"a","file":"f","last":"x","leftOut":{"room":"1"}}', 'line 1'],
    ['too much of it', 'x'.repeat(600_000), 'skill-ledger.jsonl'],
  ])('is put aside and told: %s', async (_what, text, why) => {
    writeFileSync(project.at('skill-ledger.jsonl'), text);
    const ledger = ledgerIn();
    ledger.counts();
    show(ledger, [skillOf('b')]);
    await ledger.keep();
    expect(told).toEqual([expect.stringContaining(why)]);
    expect(told[0]).toContain('skill-ledger.jsonl.broken');
    expect(readFileSync(project.at('skill-ledger.jsonl.broken'), 'utf8')).toBe(text);
    expect(await kept()).toEqual([record('b', { offered: 1 })]);
  });

  it('is told where nothing can be written, and the session goes on', async () => {
    writeFileSync(project.at('file'), '');
    const ledger = ledgerIn(project.at('file'));
    ledger.started(skillOf('a'), 'model');
    await ledger.keep();
    expect(told).toEqual([expect.stringContaining('the ledger of skills cannot be written')]);
    expect(ledger.counts()).toEqual(new Map());
  });

  it('is told while another program holds it', { timeout: 20_000 }, async () => {
    mkdirSync(project.at('skill-ledger.jsonl.lock'), { recursive: true });
    writeFileSync(project.at('skill-ledger.jsonl.lock/1'), JSON.stringify({ pid: process.pid }));
    const ledger = ledgerIn();
    ledger.started(skillOf('a'), 'model');
    await ledger.keep();
    expect(told).toEqual([expect.stringContaining('another program holds it')]);
  });
});

describe('the text of a ledger', () => {
  it('is bounded: the least started and longest unseen give way', () => {
    const many = Array.from({ length: 1_500 }, (_, at) =>
      record(`s${at}`, { last: at < 500 ? '2029-01-01' : '2030-01-01' }),
    );
    const read = readRecords(ledgerText([...many, record('used', { model: 1, last: '2020' })]));
    const names = (read.ok ? read.value : []).map(({ name }) => name);
    expect(names).toHaveLength(1_000);
    expect(names[0]).toBe('used');
    expect(names).not.toContain('s0');
  });

  it('is bounded in bytes whatever the names are', () => {
    const long = Array.from({ length: 900 }, (_, at) => record(`${at}${'語'.repeat(1_000)}`));
    const text = ledgerText(long);
    expect(Buffer.byteLength(text)).toBeLessThan(512 * 1024);
    expect(readRecords(text).ok).toBe(true);
  });
});
