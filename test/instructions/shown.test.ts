import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL_INSTRUCTIONS_CAP, INSTRUCTION_CAP } from '../../src/context/instructions/reminder.js';
import { projectSlug } from '../../src/platform/fs/paths.js';
import { run } from '../e2e/worlds.js';
import { notices, read } from '../hooks/e2e-rig.js';
import { blocks, place, shown, talk } from './rig.js';

const SUMMARY = '<summary>THE SUMMARY</summary>';

describe('what the model is shown of instruction files', () => {
  it('stands as a marked block in a user message; the system prompt does not know of it', async () => {
    const plain = await run({ script: ['done'] });
    const done = await run({ files: { 'CLAUDE.md': 'ROOT_WORDS' }, script: ['done'] });
    const [block = ''] = blocks(done, 0);
    expect(block).toMatch(/^<system-reminder>\n[\s\S]*override your default behaviour/);
    expect(block).toContain('ROOT_WORDS\n</system-reminder>');
    const system = (body: unknown) => JSON.stringify((body as { system: unknown }).system);
    expect(system(done.requests[0]?.body)).toBe(system(plain.requests[0]?.body));
  });

  it('is capped, file by file and altogether', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`.claude/rules/r${index}.md`, 'x'.repeat(90_000)]),
    );
    const done = await run({ files: { ...files, 'CLAUDE.md': 'SHORT_WORDS' }, script: ['done'] });
    const [block = ''] = blocks(done, 0);
    expect(block).toContain('SHORT_WORDS');
    expect(block.length).toBeLessThan(ALL_INSTRUCTIONS_CAP + 10_000);
    const longest = Math.max(...(block.match(/x+/g) ?? []).map((text) => text.length));
    expect(longest).toBeLessThanOrEqual(INSTRUCTION_CAP);
    expect(longest).toBeGreaterThan(20_000);
  });

  it('is shown anew before the next prompt when a file has changed, and only then', async () => {
    const world = place({ 'CLAUDE.md': 'OLD_WORDS', '.claude/rules/r.md': 'RULE_WORDS' });
    const done = await talk(
      world,
      ['one', 'two', 'three'],
      [
        { prompt: 'a' },
        { prompt: 'b', before: () => world.write('CLAUDE.md', 'NEW_WORDS') },
        { prompt: 'c' },
      ],
    );
    const count = (index: number) => blocks(done, index).length;
    expect([count(0), count(1), count(2)]).toEqual([1, 2, 2]);
    const [, news = ''] = blocks(done, 1);
    expect(news).toContain('NEW_WORDS');
    expect(news).toContain('takes the place of what was shown before');
    expect(news).not.toContain('RULE_WORDS');
  });

  it('stands word for word after a summary, as it is on disk then; nested files come back when used', async () => {
    const world = place({
      'CLAUDE.md': 'ROOT_WORDS @inc.md',
      'inc.md': 'INCLUDED_WORDS',
      'sub/CLAUDE.md': 'SUB_WORDS',
      'sub/f.txt': 'f',
    });
    const sub = read(world.at('sub/f.txt'));
    const done = await talk(
      world,
      [sub, 'one', SUMMARY, 'two', sub, 'three'],
      [
        { prompt: 'a' },
        { prompt: '/compact', before: () => world.write('inc.md', 'INCLUDED_ANEW') },
        { prompt: 'b' },
        { prompt: 'c' },
      ],
    );
    expect(shown(done, 1).join('\n')).toContain('SUB_WORDS');
    const after = shown(done, 3);
    const [block = '', ...others] = blocks(done, 3);
    expect(others).toEqual([]);
    expect(after.some((text) => text.includes('THE SUMMARY'))).toBe(true);
    expect(block).toContain('shown again after the summary');
    expect(block).toContain('ROOT_WORDS @inc.md');
    expect(block).toContain('INCLUDED_ANEW');
    expect(after.join('\n')).not.toMatch(/INCLUDED_WORDS|SUB_WORDS/);
    expect(shown(done, 5).join('\n')).toContain('SUB_WORDS');
  });
});

describe('what the runtime says beside the first prompt', () => {
  it('is not said again after a summary; what it said before is, after each', async () => {
    const world = place({
      '.claude/agents/helper.md': '---\nname: helper\ndescription: d\n---\nH',
    });
    const done = await talk(
      world,
      ['one', SUMMARY, 'two', SUMMARY, 'three'],
      [
        { prompt: 'please use @agent-helper' },
        { prompt: '/compact' },
        { prompt: 'b' },
        { prompt: '/compact' },
        { prompt: 'c' },
      ],
    );
    const ordered = (index: number) =>
      shown(done, index).join('\n').includes('for the agent helper');
    expect([0, 2, 4].map(ordered)).toEqual([true, false, false]);
    for (const index of [0, 2, 4]) {
      expect(shown(done, index).join('\n').split('Platform: ').length).toBe(2);
    }
  });
});

describe('settings about instructions', () => {
  const notes = (directory: string, text: string) => ({
    [`.claude/projects/${projectSlug(directory)}/memory/MEMORY.md`]: text,
  });
  const textOf = async (world: ReturnType<typeof place>, args: readonly string[] = []) => {
    const done = await run({ world, args, script: ['done'] });
    return { text: shown(done, 0).join('\n'), told: notices(done).join('\n') };
  };

  it('claudeMdExcludes leaves files out, in a trusted folder', async () => {
    const settings = { json: { claudeMdExcludes: ['**/rules/x.md', 'CLAUDE.local.md'] } };
    const world = place({
      '.claude/settings.json': settings,
      'CLAUDE.md': 'M_PROJ',
      'CLAUDE.local.md': 'M_LOCAL',
      '.claude/rules/x.md': 'M_X',
      '.claude/rules/y.md': 'M_Y',
    });
    // A file may enforce something: a stranger does not take it away.
    const untrusted = await textOf(world);
    expect(untrusted.text).toMatch(/M_PROJ[\s\S]*M_X[\s\S]*M_LOCAL/);
    expect(untrusted.told).toContain('claudeMdExcludes');
    const { text, told } = await textOf(world, ['--trust']);
    expect(text).toMatch(/M_PROJ[\s\S]*M_Y/);
    expect(text).not.toMatch(/M_LOCAL|M_X/);
    expect(told).toBe('');
  });

  it('autoMemoryEnabled and autoMemoryDirectory govern the notes; a project’s word needs trust', async () => {
    const world = place({}, {});
    const { home, directory } = world.project;
    const write = (file: string, text: string): void =>
      world.write(path.relative(directory, path.join(home, file)), text);
    const { mkdirSync } = await import('node:fs');
    const [file = ''] = Object.keys(notes(directory, ''));
    mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
    mkdirSync(path.join(home, 'elsewhere'));
    mkdirSync(path.join(directory, '.claude'));
    write(file, 'USUAL_NOTES');
    write('elsewhere/MEMORY.md', 'OTHER_NOTES');
    expect((await textOf(world)).text).toContain('USUAL_NOTES');
    write('.claude/settings.json', JSON.stringify({ autoMemoryEnabled: false }));
    expect(await textOf(world)).toEqual({ text: expect.not.stringContaining('NOTES'), told: '' });
    write('.claude/settings.json', '{}');
    const project = JSON.stringify({ autoMemoryDirectory: '~/elsewhere' });
    world.write('.claude/settings.json', project);
    expect((await textOf(world)).text).toContain('USUAL_NOTES');
    expect((await textOf(world, ['--trust'])).text).toContain('OTHER_NOTES');
    write('.claude/settings.json', project);
    world.write('.claude/settings.json', '{}');
    expect((await textOf(world)).text).toContain('OTHER_NOTES');
  });

  it('portcullis.teamMemory shows the team’s notes, in a trusted folder only', async () => {
    const world = place({
      '.claude/team-memory/MEMORY.md': 'TEAM_NOTES',
      '.claude/settings.json': '{}',
    });
    expect((await textOf(world, ['--trust'])).text).not.toContain('TEAM_NOTES');
    const on = ['--settings', JSON.stringify({ portcullis: { teamMemory: true } })];
    expect((await textOf(world, on)).text).not.toContain('TEAM_NOTES');
    expect((await textOf(world, [...on, '--trust'])).text).toContain('TEAM_NOTES');
    world.write('.claude/settings.json', JSON.stringify({ portcullis: { teamMemory: true } }));
    expect((await textOf(world)).text).not.toContain('TEAM_NOTES');
    expect((await textOf(world, ['--trust'])).text).toContain('TEAM_NOTES');
  });
});

describe('files that a rule hides', () => {
  it('are not shown by an include, nor in a folder, and are named', async () => {
    const world = place({
      'CLAUDE.md': 'ROOT_WORDS @hidden/k.md',
      'hidden/k.md': 'HIDDEN_WORDS',
      'sub/CLAUDE.md': 'SUB_WORDS',
      'sub/f.txt': 'f',
      '.claude/settings.json': {
        json: { permissions: { deny: ['Read(hidden/**)', 'Read(sub/CLAUDE.md)'] } },
      },
    });
    const script = [read(world.at('sub/f.txt')), 'done'];
    const done = await run({ world, script });
    const told = notices(done).join('\n');
    expect(shown(done, 1).join('\n')).toContain('ROOT_WORDS');
    expect(shown(done, 1).join('\n')).not.toMatch(/HIDDEN_WORDS|SUB_WORDS/);
    expect(done.toolResult(0).isError).toBe(false);
    expect(told).toMatch(/hidden\/k\.md.*was not read: a permission rule/);
    expect(told).toMatch(/sub\/CLAUDE\.md was not read: a permission rule/);
  });
});
