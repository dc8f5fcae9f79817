import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type CallHost, callHost } from '../../../test/support/tool-call.js';
import { expandAll } from '../../lib/patterns/braces.js';
import { systemClock } from '../../platform/clock.js';
import { nodeFileSystem as fs } from '../../platform/fs/node-fs.js';
import { globTool } from './glob.js';
import { parseGlob } from './glob-pattern.js';

const glob = globTool({ fs });
const ANY_PERMIT = {} as Parameters<typeof glob.run>[2];
let host: CallHost;
const at = (name: string) => path.join(host.cwd, name);

function make(...names: string[]): void {
  for (const name of names) {
    mkdirSync(path.dirname(at(name)), { recursive: true });
    writeFileSync(at(name), '');
  }
}

async function find(pattern: string, more: { path?: string } = {}): Promise<string[]> {
  const { structured } = await host.call(glob, { pattern, ...more });
  return (structured.filenames as string[]).map((file) => path.relative(host.cwd, file)).sort();
}

beforeEach(() => {
  host = callHost();
});

describe('Glob', () => {
  it('stops when it is aborted, in whatever phase it is', async () => {
    make('a', 'b', 'c');
    for (const phase of ['hidden', 'stat'] as const) {
      const controller = new AbortController();
      let looks = 0;
      const stop = (): void => {
        looks++;
        controller.abort(new Error('stopped'));
      };
      const slow = {
        ...fs,
        stat: async (file: string) => {
          if (phase === 'stat' && file !== host.cwd) stop();
          return await fs.stat(file);
        },
      };
      const hiding = () => async () => {
        if (phase === 'hidden') stop();
        return false;
      };
      const context = { ...host.context, signal: controller.signal, hiding };
      const running = globTool({ fs: slow, clock: systemClock }).run(
        { pattern: '*' },
        context,
        ANY_PERMIT,
      );
      expect(await running).toEqual({ content: 'stopped', isError: true });
      expect(looks).toBe(1);
    }
  });

  it('finds files newest first and shows them relative', async () => {
    make('src/old.ts', 'src/deep/new.ts', 'src/a.js');
    utimesSync(at('src/old.ts'), 1, 1);
    const { text, structured } = await host.call(glob, { pattern: '**/*.ts' });
    expect(text).toBe('src/deep/new.ts\nsrc/old.ts');
    expect(structured).toMatchObject({
      numFiles: 2,
      filenames: [at('src/deep/new.ts'), at('src/old.ts')],
      truncated: false,
      totalMatches: 2,
      countIsComplete: true,
    });
  });

  it('says the same whether a file matches that a rule denies, or none', async () => {
    make('deep/key.pem', 'secrets/a.pem', 'top.txt');
    const denied = new Set([at('secrets/a.pem'), at('id.pem')]);
    const context = { ...host.context, hiding: () => async (file: string) => denied.has(file) };
    const answer = async (pattern: string) => {
      const { content, structured } = await glob.run({ pattern }, context, ANY_PERMIT);
      return { content, structured: { ...(structured as object), durationMs: 0 } };
    };
    expect(await answer('secrets/a*')).toEqual(await answer('secrets/b*'));
    const without = await answer('*.pem');
    make('id.pem');
    expect(await answer('*.pem')).toEqual(without);
    expect(without.content).toContain('deep/key.pem');
  });

  it('includes hidden and ignored files, .git and node_modules only by name', async () => {
    make('.gitignore', '.hidden/x.ts', 'a.ts', 'node_modules/p/i.ts', '.git/hook.ts', 'd/.e.ts');
    writeFileSync(at('.gitignore'), 'a.ts\n');
    expect(await find('**/*.ts')).toEqual(['.hidden/x.ts', 'a.ts', 'd/.e.ts']);
    expect(await find('node_modules/**/*.ts')).toEqual(['node_modules/p/i.ts']);
    expect(await find('**/*.ts', { path: at('node_modules') })).toEqual(['node_modules/p/i.ts']);
    expect(await find('.git/*')).toEqual(['.git/hook.ts']);
  });

  it('understands braces, sets, question marks and plain names', async () => {
    make('a.ts', 'b.tsx', 'c.js', 'src/x1.ts', 'test/x2.ts', 'src/[id].ts');
    expect(await find('*.{ts,tsx}')).toEqual(['a.ts', 'b.tsx']);
    expect(await find('{src,test}/x?.ts')).toEqual(['src/x1.ts', 'test/x2.ts']);
    expect(await find('[!ab].*')).toEqual(['c.js']);
    expect(await find('src/x1.ts')).toEqual(['src/x1.ts']);
    expect(await find('src/\\[id\\].ts')).toEqual(['src/[id].ts']);
    expect(await find('./src/*1*')).toEqual(['src/x1.ts']);
    expect(await find('**')).toHaveLength(6);
  });

  it('looks deeper when a bare pattern matches nothing at the top, and says so', async () => {
    make('deep/down/a.ts');
    const { text } = await host.call(glob, { pattern: '*.ts' });
    expect(text).toContain('deep/down/a.ts');
    expect(text).toContain('None at the top level');
    make('top.ts');
    expect(await find('*.ts')).toEqual(['top.ts']);
  });

  it('takes absolute patterns and judges them by where they lead', async () => {
    make('src/a.ts');
    const pattern = `${at('src')}/**/*.ts`;
    expect(await find(pattern)).toEqual(['src/a.ts']);
    const { paths } = glob.subject({ pattern: '/etc/*.conf' }, host.context.workspace);
    expect(paths).toEqual([{ path: '/etc', access: 'read' }]);
    const outside = await host.call(glob, { pattern: '/etc/*', path: host.cwd });
    expect(outside.text).toMatch(/not inside path/);
  });

  it('does not leave its directory by dots or links', async () => {
    const other = callHost().cwd;
    writeFileSync(path.join(other, 'secret.ts'), '');
    symlinkSync(other, at('link'));
    make('a.ts');
    expect(await find('**/*.ts')).toEqual(['a.ts']);
    expect((await host.call(glob, { pattern: 'link/*.ts' })).text).toMatch(/leads out/);
    expect((await host.call(glob, { pattern: '../*' })).text).toMatch(/cannot lead out/);
  });

  it('survives loops of links and lists links to files', async () => {
    make('d/a.ts');
    symlinkSync('..', at('d/up'));
    symlinkSync('a.ts', at('d/b.ts'));
    symlinkSync('nothing', at('d/c.ts'));
    expect(await find('**/*.ts')).toEqual(['d/a.ts', 'd/b.ts']);
  });

  it('shows at most 100 and says how many there are', async () => {
    make(...Array.from({ length: 101 }, (_, index) => `f${index}.txt`));
    const { text, structured } = await host.call(glob, { pattern: '*.txt' });
    expect(structured).toMatchObject({ numFiles: 100, truncated: true, totalMatches: 101 });
    expect(text).toContain('[The 100 newest of 101 files.');
  });

  it('says that it found nothing, or where it cannot look', async () => {
    expect((await host.call(glob, { pattern: '*.none' })).text).toBe('No files found.');
    make('file');
    expect((await host.call(glob, { pattern: '*', path: 'file' })).text).toMatch(/not a directory/);
    expect((await host.call(glob, { pattern: '*', path: 'no' })).text).toMatch(/does not exist/);
    expect((await host.call(glob, { pattern: ' ' })).text).toMatch(/empty/);
  });

  it('stops at its deadline with what it has', async () => {
    make('a/b.ts');
    let time = 0;
    const clock = { ...systemClock, monotonic: () => (time += 15_000) };
    const { structured, text } = await host.call(globTool({ fs, clock }), { pattern: '**/*.ts' });
    expect(structured).toMatchObject({ timedOut: true, countIsComplete: false });
    expect(text).toContain('Stopped after 20 s');
  });
});

describe('patterns', () => {
  const matches = (pattern: string, name: string) =>
    parseGlob(pattern).some((one) => {
      const segments = name.split('/');
      const base = segments.slice(0, one.base.length).join('/');
      return base === one.base.join('/') && one.matches(segments.slice(one.base.length));
    });

  it.each([
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'a/b/c.ts', true],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a/**/b', 'a/x/y/c', false],
    ['a/*', 'a/b/c', false],
    ['a**', 'abc', true],
    ['a**', 'a/b', false],
    ['**/x/**/y', 'x/y/x/z/y', true],
    ['*.{a,b{c,d}}', 'f.bd', true],
    ['[a-c]?[]]', 'bz]', true],
    ['[', '[', true],
    ['{a}', '{a}', true],
    ['ü*', 'über', true],
    ['?', '😀', true],
  ])('%s on %s: %s', (pattern, name, expected) => {
    expect(matches(pattern, name)).toBe(expected);
  });

  it('take no long time, however they are made', () => {
    expect(matches(`${'*a'.repeat(60)}b`, 'a'.repeat(250))).toBe(false);
    expect(expandAll(['{a,b}'.repeat(30)])).toHaveLength(1);
  });
});
