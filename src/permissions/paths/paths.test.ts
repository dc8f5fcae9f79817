import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { isCriticalPath, protectedPart } from '../guards/protected-paths.js';
import { createPathJudge, type PathFileSystem, type PathJudge } from './paths.js';

let project: TempProject;
let judge: PathJudge;
beforeAll(() => {
  project = makeTempProject({
    files: {
      'a.txt': '',
      'b.txt': '',
      '.hidden.txt': '',
      'sub/x': '',
      inside: { symlink: 'sub' },
      out: { symlink: '..' },
      dangling: { symlink: '../nowhere' },
      loop: { symlink: 'loop' },
    },
  });
  judge = createPathJudge(nodeFileSystem, { roots: [project.directory], home: project.home });
});
afterAll(() => project.remove());

describe('inside the working directories', () => {
  it.each([
    ['a.txt', true],
    ['.', true],
    ['not/there/yet', true],
    ['inside/x', true],
    ['..', false],
    ['../project2', false],
    ['out/x', false],
    ['out/project/a.txt', true],
    ['dangling', false],
    ['dangling/x', false],
    ['/etc/passwd', false],
    ['/proc/self/cwd', false],
  ])('%s: %s', async (name, expected) => {
    const spelled = await judge.spell(path.resolve(project.directory, name));
    expect(await judge.inside(spelled)).toBe(expected);
  });

  it('takes .. after links, as the shell’s programs do', async () => {
    const spelled = await judge.spellFrom(project.directory, 'out/../x');
    expect(spelled.map(({ literal }) => literal)).toEqual([
      path.join(project.directory, 'x'),
      path.join(path.dirname(project.root), 'x'),
    ]);
  });

  it('knows a place by the name of a working directory that is a link', async () => {
    const link = path.join(project.directory, 'inside');
    const linked = createPathJudge(nodeFileSystem, { roots: [link], home: project.home });
    const spelled = await linked.spell(path.join(project.directory, 'sub/x'));
    expect(spelled.resolved).toContain(path.join(link, 'x'));
    expect(await linked.inside(spelled)).toBe(true);
  });

  it('cannot answer for a loop of links', async () => {
    await expect(judge.spell(project.at('loop/x'))).rejects.toThrow();
  });

  it('expands patterns', async () => {
    const names = async (pattern: string) =>
      (await judge.expand(project.directory, pattern))?.map((file) => path.basename(file));
    expect(await names('*.txt')).toEqual(['a.txt', 'b.txt']);
    expect(await names('sub/*')).toEqual(['x']);
    expect(await names('.h*')).toEqual(['.hidden.txt']);
    expect(await names('s*/x')).toEqual(['x']);
    expect(await names('s*/gone')).toEqual(['gone']);
    expect(await names('**/x')).toBeUndefined();
    expect(await names('s*/../x')).toBeUndefined();
    expect(await names('nowhere/*')).toBeUndefined();
  });
});

describe('protected paths', () => {
  it.each([
    ['.git/config', '.git'],
    ['pkg/.GIT/hooks/x', '.git'],
    ['.config/git/config', '.config'],
    ['.config/other', undefined],
    ['.bashrc', '.bashrc'],
    ['x/.npmrc', '.npmrc'],
    ['x.code-workspace', 'x.code-workspace'],
    ['.claude/settings.json', '.claude'],
    ['.claude/worktrees/a/x', undefined],
    ['.gitignore', undefined],
    ['.env', undefined],
    ['git/config', undefined],
  ])('%s: %s', async (name, expected) => {
    expect(protectedPart(await judge.spell(project.at(name)), { roots: [project.directory] })).toBe(
      expected,
    );
  });
});

describe('critical paths', () => {
  it.each([
    ['.', true],
    ['..', true],
    ['/', true],
    ['/etc', true],
    ['sub', false],
    ['/etc/x/y', false],
  ])('%s: %s', async (name, expected) => {
    const { directory: cwd, home } = project;
    const spelled = await judge.spell(path.resolve(cwd, name));
    expect(isCriticalPath(spelled, { cwd, home, roots: [cwd] })).toBe(expected);
  });
});

describe('what stands at a path', () => {
  it('is told where somebody had to look', async () => {
    const kindOf = async (name: string) => (await judge.spell(project.at(name))).kind;
    expect(await kindOf('a.txt')).toBe('file');
    expect(await kindOf('sub')).toBe('directory');
    expect(await kindOf('inside/x')).toBe('file');
    expect(await kindOf('not/there')).toBeUndefined();
    expect(await kindOf('dangling')).toBeUndefined();
  });
});

describe('where a path leads', () => {
  const tree = {
    'd/e/f': '',
    'd/up': { symlink: '..' },
    'd/e/self': { symlink: '.' },
    'd/e/out': { symlink: '../../..' },
    'd/gone': { symlink: 'nowhere/x' },
    'd/back': { symlink: 'nowhere/..' },
    'd/aside': { symlink: 'e/out/../nowhere' },
    l: { symlink: 'd/e' },
    m: { symlink: 'l/out' },
  } as const;
  const names = ['d', 'e', 'f', 'l', 'm', 'up', 'self', 'out', 'gone', 'back', 'aside', 'no', '..'];

  it('is what the system says, whatever links are on the way', async () => {
    const other = makeTempProject({ files: tree });
    onTestFinished(() => other.remove());
    const place = { roots: [other.directory], home: other.home };
    const ways = fc.array(fc.constantFrom(...names), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(ways, { maxLength: 4 }), async (all) => {
        const one = createPathJudge(nodeFileSystem, place);
        for (const way of all) {
          const named = path.resolve(other.directory, ...way);
          const { literal, real } = await one.spell(named);
          expect(literal).toBe(named);
          expect(real).toBe(await nodeFileSystem.realPath(named));
        }
      }),
    );
  });

  it('is not what was seen under another name, behind a link to nothing', async () => {
    const other = makeTempProject({
      files: {
        key: { symlink: '../secret' },
        'sub/key': { symlink: '../../secret' },
        twin: '',
        back: { symlink: 'nowhere/..' },
      },
    });
    onTestFinished(() => other.remove());
    linkSync(other.at('twin'), other.at('other-twin'));
    const place = { roots: [other.directory], home: other.home };
    {
      const one = createPathJudge(nodeFileSystem, place);
      for (const name of ['key', 'sub/key']) {
        const secret = path.join(other.directory, '../secret');
        expect((await one.spell(other.at(`back/${name}`))).real).toBe(secret);
        expect((await one.spell(other.at(name))).real).toBe(secret);
        expect(await one.inside(await one.spell(other.at(name)))).toBe(false);
      }
      await one.spell(other.at('back/twin'));
      const twin = await one.spell(other.at('twin'));
      expect(twin.kind).toBe('file');
      expect(await one.manyNamed(twin)).toMatchObject({ links: 2 });
    }
  });

  // Elsewhere names may be shorter or longer than on Linux.
  it.runIf(process.platform === 'linux')(
    'is not known where its own name is too long',
    async () => {
      const other = makeTempProject({ files: {} });
      onTestFinished(() => other.remove());
      let deep = path.join(other.root, 'deep');
      // Node itself cannot name what is to be removed.
      onTestFinished(() => void execFileSync('rm', ['-rf', path.join(other.root, 'deep')]));
      while (deep.length < 3900) deep = path.join(deep, 'd'.repeat(100));
      mkdirSync(deep, { recursive: true });
      symlinkSync(deep, path.join(other.root, 'link'));
      const file = path.join(other.root, 'link', 'n'.repeat(4096 - deep.length));
      writeFileSync(file, '');
      const one = createPathJudge(nodeFileSystem, { roots: [other.directory], home: other.home });
      await expect(one.spell(file)).rejects.toThrow();
      const nowhere = path.join(other.root, 'n'.repeat(300));
      expect((await one.spell(nowhere)).real).toBe(nowhere);
    },
  );

  it('is looked up for every call: a link that was made since counts', async () => {
    const other = makeTempProject({ files: { 'd/x': '', 'e/x': '' } });
    onTestFinished(() => other.remove());
    const place = { roots: [other.directory], home: other.home };
    const realNow = async () =>
      (await createPathJudge(nodeFileSystem, place).spell(other.at('d/x'))).real;
    expect(await realNow()).toBe(other.at('d/x'));
    rmSync(other.at('d/x'));
    symlinkSync('../e/x', other.at('d/x'));
    expect(await realNow()).toBe(other.at('e/x'));
    rmSync(other.at('d'), { recursive: true });
    symlinkSync('/etc', other.at('d'));
    expect(await realNow()).toBe('/etc/x');
  });

  it('is one look for a call, and a file with several names is not forgotten when it goes', async () => {
    const other = makeTempProject({ files: { 'd/x': '', l: { symlink: 'd' } } });
    onTestFinished(() => other.remove());
    linkSync(other.at('d/x'), other.at('y'));
    const one = createPathJudge(nodeFileSystem, { roots: [other.directory], home: other.home });
    const first = await one.spell(other.at('d/x'));
    rmSync(other.at('d/x'));
    expect(await one.spell(other.at('d/x'))).toBe(first);
    const second = await one.spell(other.at('l/x'));
    expect(second.real).toBe(other.at('d/x'));
    expect(await one.manyNamed(second)).toMatchObject({ kind: 'file', links: 2 });
  });
});

describe('paths that are spelled at the same time', () => {
  const names = ['a.txt', 'sub/x', 'inside/x', 'out/x', 'dangling/x', 'not/there', '../else'];

  it('are spelled as they are one after the other, however long the disk takes', async () => {
    const slow: PathFileSystem = {
      ...nodeFileSystem,
      async lstat(path) {
        await new Promise((resolve) => setImmediate(resolve));
        return await nodeFileSystem.lstat(path);
      },
    };
    const place = { roots: [project.directory], home: project.home };
    const together = createPathJudge(slow, place);
    const all = await Promise.all(names.map((name) => together.spell(project.at(name))));
    const alone = createPathJudge(nodeFileSystem, place);
    for (const [index, name] of names.entries()) {
      expect(all[index]).toEqual(await alone.spell(project.at(name)));
    }
  });
});
