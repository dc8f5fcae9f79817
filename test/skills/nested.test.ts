import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { oneSkill as one, openWorld, skillText } from './rig.js';

describe('sub-directories', () => {
  const files = {
    ...one('deploy', 'root'),
    'pkg/a/.claude/skills/nest/SKILL.md': 'NEST',
    'pkg/a/.claude/skills/deploy/SKILL.md': 'A-DEPLOY',
    'pkg/.claude/skills/mid/SKILL.md': 'MID',
    'node_modules/evil/.claude/skills/ev/SKILL.md': 'EVIL',
    'vendor/x/.claude/skills/ve/SKILL.md': 'VENDOR',
    '.cache/.claude/skills/ca/SKILL.md': 'CACHE',
    'out/.claude/skills/ig/SKILL.md': 'IGNORED',
  };

  it('count once a file below is touched', async () => {
    const { book, project, names } = openWorld({ git: true, files });
    expect(await names()).toEqual(['deploy']);
    expect(await book.touched([project.at('README'), '/elsewhere/x'])).toEqual([]);
    const found = await book.touched(['pkg/a/src/f.ts', project.at('pkg/a/g.ts')]);
    expect(found.map(({ name, origin, trusted }) => [name, origin, trusted])).toEqual([
      ['mid', 'nested', false],
      ['nest', 'nested', false],
      ['pkg/a:deploy', 'nested', false],
    ]);
    expect(await names()).toEqual(['deploy', 'mid', 'nest', 'pkg/a:deploy']);
    expect(await book.touched(['pkg/a/src/f.ts'])).toEqual([]);
    expect(await (await book.find('pkg/a:deploy'))?.body()).toBe('A-DEPLOY');
    expect((await book.find('deploy'))?.head.description).toBe('root');
  });

  it('are not overlooked for files that lie beside, nor is a skill that begins to wait', async () => {
    const { book, project } = openWorld({ git: true, files, start: 'pkg' });
    await book.list();
    const touched = async (...paths: readonly string[]) =>
      (await book.touched(paths)).map(({ name }) => name);
    expect(await touched('x', '../y')).toEqual([]);
    expect(await touched('x', '../y', 'a/z')).toEqual(['nest', 'pkg/a:deploy']);
    const waiting = project.at('pkg/.claude/skills/py');
    mkdirSync(waiting);
    writeFileSync(path.join(waiting, 'SKILL.md'), skillText('description: waits\npaths: "*.py"'));
    expect(await touched('x.py')).toEqual([]);
    await book.refresh();
    expect(await touched('x.txt')).toEqual([]);
    expect(await touched('x.py')).toEqual(['py']);
    expect(await touched('x.py')).toEqual([]);
  });

  it('of others never do', async () => {
    const asked: string[] = [];
    const { book, project, reason } = openWorld({
      git: true,
      files,
      isIgnored: async (at) => {
        asked.push(at);
        return at.includes('/out/');
      },
    });
    const paths = [
      'node_modules/evil/f',
      'vendor/x/f',
      '.cache/f',
      'out/f',
      '.claude/skills/deploy/f',
    ];
    expect(await book.touched(paths.map((name) => project.at(name)))).toEqual([]);
    expect(asked).toEqual([project.at('out/.claude/skills')]);
    const reasons = (await book.skipped()).map((skipped) => skipped.reason);
    expect(reasons).toEqual([
      'it lies in node_modules',
      'it lies in vendor',
      'it lies in .cache',
      'git ignores it',
    ]);
    expect(await reason('ev')).toBeUndefined();
  });

  it('are not used when nobody can say whether git ignores them', async () => {
    const { book, project } = openWorld({
      files,
      isIgnored: () => Promise.reject(new Error('no git')),
    });
    expect(await book.touched([project.at('pkg/a/f')])).toEqual([]);
    expect((await book.skipped()).map(({ reason }) => reason).join()).toContain('no git');
  });

  it('are not reached through a link out of the project', async () => {
    const world = openWorld({ home: { 'x/.claude/skills/s/SKILL.md': 'S' } });
    symlinkSync(path.join(world.project.home, 'x'), world.project.at('link'));
    expect(await world.book.touched([world.project.at('link/f')])).toEqual([]);
  });

  it('are asked about their own trust', async () => {
    const { book, project } = openWorld({
      git: true,
      files,
      trusts: async (level) => level.endsWith('pkg/a'),
    });
    await book.touched([project.at('pkg/a/f')]);
    const trusted = (await book.list()).filter((skill) => skill.trusted).map(({ name }) => name);
    expect(trusted).toEqual(['nest', 'pkg/a:deploy']);
  });
});

describe('skills for some files', () => {
  it('wait for them', async () => {
    const { book, project, names } = openWorld({
      home: { '.claude/skills/py/SKILL.md': skillText('paths: "**/*.py"') },
      files: {
        '.claude/skills/cond/SKILL.md': skillText('paths: src/**'),
        '.claude/commands/cmd.md': skillText('paths: nothing'),
        'sub/.claude/skills/deep/SKILL.md': skillText('paths: "*.ts"'),
      },
    });
    expect(await names()).toEqual(['cmd']);
    expect((await book.all()).map(({ name }) => name)).toEqual(['py', 'cond', 'cmd']);
    expect((await book.find('cond'))?.name).toBe('cond');
    expect(await book.touched([project.at('other.txt')])).toEqual([]);
    expect((await book.touched([project.at('src/x.ts')])).map(({ name }) => name)).toEqual([
      'cond',
    ]);
    expect(await book.touched([project.at('src/y.ts')])).toEqual([]);
    expect((await book.touched([project.at('n.py')])).map(({ name }) => name)).toEqual(['py']);
    expect((await book.touched([project.at('sub/f.md')])).map(({ name }) => name)).toEqual([]);
    expect((await book.touched([project.at('sub/f.ts')])).map(({ name }) => name)).toEqual([
      'deep',
    ]);
    expect(await names()).toEqual(['py', 'cond', 'deep', 'cmd']);
  });
});
