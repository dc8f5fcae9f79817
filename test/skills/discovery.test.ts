import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { privateDirectory } from '../../src/platform/fs/private-files.js';
import { openExtraction } from '../../src/skills/discovery/bundled-skills.js';
import { oneSkill as one, openWorld, skillText } from './rig.js';

describe('where skills are found', () => {
  it('in every documented place, in a steady order', async () => {
    const { project, book } = openWorld({
      git: true,
      start: 'packages/app',
      home: {
        ...one('mine'),
        '.claude/commands/cmd.md': 'Mine.',
        '.claude/commands/ns/deep.md': 'Deep.',
      },
      files: {
        ...one('root'),
        'packages/app/.claude/skills/near/SKILL.md': 'Near.',
        'packages/.claude/commands/old.md': skillText('description: Old'),
        'packages/app/x': '',
      },
    });
    mkdirSync(path.join(project.root, 'managed/.claude/skills/policy'), { recursive: true });
    writeFileSync(path.join(project.root, 'managed/.claude/skills/policy/SKILL.md'), 'Policy.');
    const list = await book.list();
    expect(
      list.map(({ name, origin, source, trusted }) => [name, origin, source, trusted]),
    ).toEqual([
      ['policy', 'managed', 'managed', true],
      ['mine', 'user', 'user', true],
      ['near', 'project', 'project', false],
      ['root', 'project', 'project', false],
      ['cmd', 'command', 'user', true],
      ['ns:deep', 'command', 'user', true],
      ['old', 'command', 'project', false],
    ]);
    expect(list.find(({ name }) => name === 'ns:deep')?.head.description).toBe('Deep.');
    expect(list.find(({ name }) => name === 'near')?.directory).toBe(
      project.at('packages/app/.claude/skills/near'),
    );
  });

  it('stops at the repository, and at the start directory outside of one', async () => {
    const files = { ...one('above'), 'inner/x': '' };
    expect(await openWorld({ files, start: 'inner' }).names()).toEqual([]);
    expect(await openWorld({ files, start: 'inner', git: true }).names()).toEqual(['above']);
  });

  it('managed before personal before project, skills before commands, bundled last', async () => {
    const home = {
      ...one('a', 'user'),
      ...one('b', 'user'),
      '.claude/commands/c.md': 'user command',
    };
    const files = {
      ...one('a', 'project'),
      ...one('b', 'project'),
      ...one('c', 'project'),
      '.claude/commands/a.md': 'command',
      '.claude/commands/write-a-skill.md': 'ours',
    };
    const bundled = openExtraction(privateDirectory('/nowhere', 'x-'));
    const { project, book, reason } = openWorld({ home, files, bundled });
    mkdirSync(path.join(project.root, 'managed/.claude/skills/a'), { recursive: true });
    writeFileSync(path.join(project.root, 'managed/.claude/skills/a/SKILL.md'), 'managed');
    const descriptions = (await book.list()).map(
      ({ name, head }) => `${name}: ${head.description}`,
    );
    expect(descriptions.slice(0, 4)).toEqual([
      'a: managed',
      'b: user',
      'c: project',
      'write-a-skill: ours',
    ]);
    expect(await reason('write-a-skill')).toContain('commands/write-a-skill.md has the same name');
    const shadowed = (await book.skipped()).filter(({ name }) => name === 'a');
    expect(shadowed.map(({ reason: why }) => why.includes('managed'))).toEqual([true, true, true]);
  });

  it('only in the sources that count', async () => {
    const world = {
      home: { ...one('u') },
      files: { ...one('p'), 'sub/.claude/skills/n/SKILL.md': 'n' },
    };
    expect(await openWorld({ ...world, sources: ['user'] }).names()).toEqual(['u']);
    expect(await openWorld({ ...world, sources: ['project'] }).names()).toEqual(['p']);
    expect(await openWorld({ ...world, sources: [] }).names()).toEqual([]);
    const { book, project } = openWorld({ ...world, sources: ['user'] });
    expect(await book.touched([project.at('sub/x')])).toEqual([]);
  });

  it('in added directories, also one that is called .claude', async () => {
    const other = openWorld({
      files: { ...one('added'), 'cfg/.claude/skills/dot/SKILL.md': 'dot' },
    }).project;
    const { names } = openWorld({
      additionalDirectories: () => [other.directory, other.at('cfg/.claude')],
    });
    expect(await names()).toEqual(['added', 'dot']);
  });

  it('the home is nobody’s project', async () => {
    const world = openWorld({ files: { ...one('x') } });
    const { names } = openWorld({
      cwd: world.project.directory,
      configDir: world.project.at('.claude'),
    });
    expect(await names()).toEqual(['x']);
  });

  it('of plugins, under their name; a bare name finds the only one', async () => {
    const plugin = openWorld({
      files: {
        'skills/a/SKILL.md': 'A',
        'skills/b/SKILL.md': skillText('name: renamed'),
        'commands/c.md': 'C',
      },
    }).project;
    const { book, names } = openWorld({
      plugins: [{ name: 'plug', directory: plugin.directory, trusted: true }],
      override: () => 'off',
    });
    expect(await names()).toEqual(['plug:a', 'plug:c', 'plug:renamed']);
    expect((await book.find('/a'))?.name).toBe('plug:a');
    expect((await book.find('b'))?.name).toBe('plug:renamed');
  });
});

describe('what is not a skill', () => {
  it('says why', async () => {
    const { names, reason } = openWorld({
      files: {
        '.claude/skills/flat.md': 'x',
        '.claude/skills/README.md': 'x',
        '.claude/skills/group/inner/SKILL.md': 'x',
        '.claude/skills/empty/notes.txt': 'x',
        '.claude/skills/plug/.claude-plugin/plugin.json': '{}',
        '.claude/skills/dead': { symlink: 'nothing' },
        '.claude/skills/pipe/SKILL.md/x': 'a directory',
        '.claude/skills/zero/SKILL.md': 'a\0b',
        '.claude/skills/fenced/SKILL.md': skillText('disallowed-tools: Bash(x'),
        '.claude/skills/.hidden/SKILL.md': 'x',
      },
      home: { '.claude/skills/synced/x/SKILL.md': 'x' },
    });
    expect(await names()).toEqual([]);
    expect(await reason('flat.md')).toContain('flat/SKILL.md');
    expect(await reason('README.md')).toBeUndefined();
    expect(await reason('group')).toContain('move inner/ up');
    expect(await reason('empty')).toContain('no SKILL.md');
    expect(await reason('plug')).toContain('plugin');
    expect(await reason('dead')).toContain('link to nothing');
    expect(await reason('pipe')).toContain('not a regular file');
    expect(await reason('zero')).toContain('not a text');
    expect(await reason('fenced')).toContain('line 2: a restriction cannot be read');
    expect(await reason('synced')).toContain('account');
    expect(await reason('.hidden')).toBeUndefined();
  });

  it.each([
    'zero\u200bwidth',
    'tag\u{e0041}',
    'bidi\u202e',
    'a<b',
    'a>b',
    'two words',
    'deploy *',
    'a(b)',
    'plug:in',
    'mcp__srv__x',
    'back\\slash',
    'a,b',
    'a?b',
    '[ab]',
    'a|b',
    '^a',
    '!a',
  ])('refuses the name %j', async (name) => {
    const { names, book } = openWorld({ files: { [`.claude/skills/${name}/SKILL.md`]: 'x' } });
    expect(await names()).toEqual([]);
    expect((await book.skipped())[0]?.reason).toContain('name');
  });

  it('refuses long names where a file system could hold them', async () => {
    const long = 'n'.repeat(300);
    const { names, reason } = openWorld({
      files: { ...one('x') },
      fs: (real) => ({
        ...real,
        list: async (at) =>
          (await real.list(at)).map((entry) =>
            entry.name === 'x' ? { ...entry, name: long } : entry,
          ),
        lstat: async (at) => await real.lstat(at.replace(long, 'x')),
      }),
    });
    expect(await names()).toEqual([]);
    expect(await reason(long)).toContain('longer than 256');
  });

  it('of one file reads one skill, through however many links', async () => {
    const { names, reason } = openWorld({
      files: {
        'shared/deploy/SKILL.md': 'x',
        '.claude/skills/a': { symlink: '../../shared/deploy' },
        '.claude/skills/b': { symlink: '../../shared/deploy' },
        '.claude/skills/c/SKILL.md': { symlink: '../../../shared/deploy/SKILL.md' },
      },
    });
    expect(await names()).toEqual(['a']);
    expect(await reason('b')).toContain('the same file');
    expect(await reason('c')).toContain('the same file');
  });

  it('ends where links run in a circle', async () => {
    const { names } = openWorld({
      files: {
        ...one('fine'),
        '.claude/skills/loop': { symlink: 'loop' },
        '.claude/commands/again': { symlink: '.' },
        '.claude/commands/c.md': 'C',
      },
    });
    expect(await names()).toEqual(['fine', 'c']);
  });
});
