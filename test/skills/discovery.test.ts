import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../src/env/node-fs.js';
import { privateDirectory } from '../../src/env/private-files.js';
import { openExtraction } from '../../src/skills/extract.js';
import { openWorld, skillText } from './rig.js';

const one = (name: string, description = name): Record<string, string> => ({
  [`.claude/skills/${name}/SKILL.md`]: skillText(`description: ${description}`, `B_${description}`),
});

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
      ['deep', 'command', 'user', true],
      ['old', 'command', 'project', false],
    ]);
    expect(list.find(({ name }) => name === 'deep')?.head.description).toBe('Deep. (ns)');
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
    expect(await book.find('b')).toBeUndefined();
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
    expect(await reason('zero')).toContain('no text');
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

describe('links that leave the project', () => {
  const outside = {
    'secret/key.txt': 'KEY',
    'secret/notes.md': 'NOTES',
    'secret/sk/SKILL.md': 'SHARED',
  };
  const links = (home: string) => ({
    key: path.join(home, 'secret/key.txt'),
    notes: path.join(home, 'secret/notes.md'),
    sk: path.join(home, 'secret/sk'),
  });
  const made = (options: Parameters<typeof openWorld>[0] = {}) => {
    const world = openWorld({ ...options, home: outside });
    const { key, notes, sk } = links(world.project.home);
    const at = (name: string) => world.project.at(`.claude/skills/${name}`);
    for (const name of ['key', 'notes']) mkdirSync(at(name), { recursive: true });
    symlinkSync(key, at('key/SKILL.md'));
    symlinkSync(notes, at('notes/SKILL.md'));
    symlinkSync(sk, at('dir'));
    mkdirSync(world.project.at('.claude/commands'));
    symlinkSync(notes, world.project.at('.claude/commands/cmd.md'));
    return world;
  };

  it('are not followed in a folder that nobody trusts', async () => {
    const { names, reason } = made();
    expect(await names()).toEqual([]);
    for (const name of ['notes', 'dir', 'cmd'])
      expect(await reason(name)).toContain('trust the folder');
    expect(await reason('key')).toContain('no Markdown');
  });

  it('are followed in a trusted one, to Markdown only', async () => {
    const { names } = made({ trusts: async () => true });
    expect(await names()).toEqual(['dir', 'notes']);
  });

  it('are followed to an added directory', async () => {
    const added: string[] = [];
    const { project, names } = made({ additionalDirectories: () => added });
    added.push(path.join(project.home, 'secret/sk'));
    expect(await names()).toEqual(['dir']);
  });

  it('are the user’s own business in the user’s directory', async () => {
    const world = openWorld({ home: outside });
    mkdirSync(path.join(world.project.home, '.claude/skills'), { recursive: true });
    symlinkSync(links(world.project.home).sk, path.join(world.project.home, '.claude/skills/mine'));
    expect(await world.names()).toEqual(['mine']);
  });

  it('a link to the whole directory is looked through as well', async () => {
    const world = openWorld({ home: { 'secret/skills/s/SKILL.md': 'S' } });
    mkdirSync(world.project.at('.claude'));
    symlinkSync(path.join(world.project.home, 'secret/skills'), world.project.at('.claude/skills'));
    expect(await world.names()).toEqual([]);
  });

  it('a link that is answered by an exception is no trust', async () => {
    const { names } = made({ trusts: () => Promise.reject(new Error('no')) });
    expect(await names()).toEqual([]);
  });
});

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

describe('who may use what', () => {
  it('goes by skillOverrides and by what the host wants', async () => {
    const files = { ...one('a'), ...one('b'), ...one('c') };
    const overrides = new Map([
      ['a', 'off'],
      ['b', 'user-invocable-only'],
    ] as const);
    const world = openWorld({ files, override: (name) => overrides.get(name as 'a' | 'b') });
    expect(await world.names()).toEqual(['b', 'c']);
    expect(await world.book.find('a')).toBeUndefined();
    expect(await world.reason('a')).toContain('skillOverrides');
    expect((await world.book.find('b'))?.head.disableModelInvocation).toBe(true);
    const some = openWorld({ files, only: ['c'] });
    expect(await some.names()).toEqual(['c']);
  });

  it('asks about trust anew when a skill is used', async () => {
    let trusted = true;
    const { book } = openWorld({ files: one('a'), trusts: async () => trusted });
    expect((await book.find('a'))?.trusted).toBe(true);
    trusted = false;
    expect((await book.find('a'))?.trusted).toBe(false);
  });

  it.skipIf(process.getuid?.() !== 0 && process.platform === 'win32')(
    'a managed skill that others can write is none',
    async () => {
      const { project, names, reason } = openWorld();
      const directory = path.join(project.root, 'managed/.claude/skills/p');
      mkdirSync(directory, { recursive: true });
      writeFileSync(path.join(directory, 'SKILL.md'), 'x');
      chmodSync(path.join(directory, 'SKILL.md'), 0o666);
      expect(await names()).toEqual([]);
      expect(await reason('p')).toContain('others than the administrator');
    },
  );
});

describe('changes on disk', () => {
  it('are seen when a skill is used, and when the book is read again', async () => {
    const { book, project, names } = openWorld({ files: { ...one('a', 'first') } });
    const [before] = await book.list();
    project.write('.claude/skills/a/SKILL.md', skillText('description: second', 'NEW BODY'));
    await expect(before?.body()).rejects.toThrow('has changed');
    const now = await book.find('/a');
    expect(now?.head.description).toBe('second');
    expect(await now?.body()).toBe('NEW BODY');
    expect(await book.refresh()).toBe(false);
    project.write('.claude/skills/b/SKILL.md', 'B');
    expect(await names()).toEqual(['a']);
    expect(await book.refresh()).toBe(true);
    expect(await names()).toEqual(['a', 'b']);
    rmSync(project.at('.claude/skills/a'), { recursive: true });
    expect(await book.find('a')).toBeUndefined();
  });

  it('can be refused', async () => {
    const asked: string[] = [];
    const { book, project, names, reason } = openWorld({
      files: { ...one('a'), ...one('b') },
      veto: async (file) => {
        asked.push(file);
        if (file.includes('/c/')) throw new Error('silence');
        return 'no changes today';
      },
    });
    expect(await names()).toEqual(['a', 'b']);
    expect(asked).toEqual([]);
    project.write('.claude/skills/a/SKILL.md', 'CHANGED');
    project.write('.claude/skills/c/SKILL.md', 'NEW');
    expect(await book.find('a')).toBeUndefined();
    expect(await book.refresh()).toBe(false);
    expect(asked).toEqual([
      project.at('.claude/skills/a/SKILL.md'),
      project.at('.claude/skills/c/SKILL.md'),
    ]);
    expect(await names()).toEqual(['b']);
    expect(await reason('a')).toBe('no changes today');
    expect(await reason('c')).toContain('silence');
  });
});

describe('many and large', () => {
  it('reads directories and heads of 500 skills once, and nothing before it is asked for', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [
        `.claude/skills/s${index}/SKILL.md`,
        skillText(`description: number ${index}`, 'x'.repeat(20_000)),
      ]),
    );
    const calls = { readHead: 0, readText: 0, bytes: 0, list: 0, open: 0, most: 0 };
    const { book } = openWorld({
      files,
      fs: (real) => ({
        ...real,
        list: async (at) => {
          calls.list++;
          return await real.list(at);
        },
        readHead: async (at, length) => {
          calls.readHead++;
          calls.most = Math.max(calls.most, ++calls.open);
          await new Promise((resolve) => setImmediate(resolve));
          const bytes = await real.readHead(at, length);
          calls.bytes += bytes.length;
          calls.open--;
          return bytes;
        },
        readText: async (at, options) => {
          calls.readText++;
          return await real.readText(at, options);
        },
      }),
    });
    expect(calls).toMatchObject({ list: 0, readHead: 0 });
    await Promise.all([book.list(), book.list(), book.skipped()]);
    expect(await book.list()).toHaveLength(500);
    expect(calls).toMatchObject({ readHead: 500, readText: 0, list: 1, bytes: 500 * 8 * 1024 });
    expect(calls.most).toBeLessThanOrEqual(16);
    await book.refresh();
    expect(calls.readHead).toBe(500);
    expect(await (await book.find('s7'))?.body()).toHaveLength(20_000);
    expect(calls.readText).toBe(1);
  });

  it('reads on until a long head is closed, and not for ever', async () => {
    const long = 'word '.repeat(10_000);
    const { book, reason } = openWorld({
      files: {
        '.claude/skills/a/SKILL.md': skillText(`description: ${long}\nuser-invocable: false`),
        '.claude/skills/edge/SKILL.md': `---\n${`# ${'c'.repeat(80)}\n`.repeat(98)}user-invocable: no\n---\nText.`,
        '.claude/skills/b/SKILL.md': `---\ndescription: ${'x'.repeat(1_000_000)}\n---\nBODY`,
        '.claude/skills/c/SKILL.md': 'x'.repeat(5_000_000),
        '.claude/skills/d/SKILL.md': `${'é'.repeat(8 * 1024)}`,
      },
    });
    const [a, b, d, edge] = await book.all();
    expect(a?.head.userInvocable).toBe(false);
    expect(edge?.head).toMatchObject({ userInvocable: false, description: 'Text.' });
    expect(b?.head.disableModelInvocation).toBe(true);
    expect(d?.head.description).toMatch(/^é+$/);
    expect(await reason('c')).toContain('larger than');
  });

  it('does not fall over a file that cannot be read', async () => {
    const { names, reason } = openWorld({
      files: { ...one('a'), ...one('b') },
      fs: (real) => ({
        ...real,
        readHead: async (at, length) => {
          if (at.includes('/a/')) throw new Error('EIO');
          return await real.readHead(at, length);
        },
      }),
    });
    expect(await names()).toEqual(['b']);
    expect(await reason('a')).toContain('EIO');
  });
});

describe('bundled skills', () => {
  it('come with their files, in a directory of their own, when they are used', async () => {
    const { project } = openWorld();
    const place = privateDirectory(project.root, 'portcullis-skills-');
    const { book } = openWorld({ bundled: openExtraction(place) });
    const skills = await book.list();
    expect(skills.map(({ name, origin, trusted }) => [name, origin, trusted])).toEqual([
      ['review-permissions', 'bundled', true],
      ['write-a-hook', 'bundled', true],
      ['write-a-skill', 'bundled', true],
    ]);
    for (const { head, problems } of skills) {
      expect(problems).toEqual([]);
      expect(head.description?.length).toBeGreaterThan(40);
    }
    expect(await nodeFileSystem.stat(place.path)).toBeUndefined();
    const skill = await book.find('write-a-skill');
    expect(await skill?.body()).toContain('SKILL.md');
    expect(await skill?.body()).toContain('SKILL.md');
    const names = (await nodeFileSystem.list(skill?.directory ?? '')).map(({ name }) => name);
    expect(names).toEqual(['template.md']);
    expect(((await nodeFileSystem.stat(place.path))?.mode ?? 0) & 0o777).toBe(0o700);
    place.remove();
    expect(await nodeFileSystem.stat(place.path)).toBeUndefined();
  });
});
