import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { nodeFileSystem as fs } from '../../src/platform/fs/node-fs.js';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';
import type { ProcessResult } from '../../src/platform/process/process.js';
import { grepTool } from '../../src/tools/search/grep.js';
import { globsOf } from '../../src/tools/search/grep-report.js';
import { type CallHost, callHost } from '../support/tool-call.js';

const ANY_PERMIT = {} as Parameters<ReturnType<typeof grepTool>['run']>[2];
const processes = createProcessSupervisor();
const grep = grepTool({ fs, processes });
let host: CallHost;
const at = (name: string) => path.join(host.cwd, name);
const search = (pattern: string, more: object = {}) => host.call(grep, { pattern, ...more });

function make(files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
  }
}

beforeEach(() => {
  host = callHost();
});
afterAll(() => processes.killAll());

describe('Grep', () => {
  it('does not wait for a pipe', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    const { text, isError } = await search('x', { path: 'pipe' });
    expect(isError).toBe(true);
    expect(text).toContain('pipe or socket');
  });

  it('lists files that match, newest first', async () => {
    make({ 'a.txt': 'hit\n', 'b/c.txt': 'hit\nhit\n', 'd.txt': 'miss\n' });
    utimesSync(at('a.txt'), 1, 1);
    const { text, structured } = await search('hit');
    expect(text).toBe('b/c.txt\na.txt');
    expect(structured).toEqual({
      mode: 'files_with_matches',
      numFiles: 2,
      filenames: ['b/c.txt', 'a.txt'],
      totalFiles: 2,
    });
  });

  it('shows lines with numbers and context', async () => {
    make({ 'a.txt': 'one\ntwo\nhit\nfour\nfive\n' });
    const content = { output_mode: 'content' };
    expect((await search('hit', content)).text).toBe('a.txt:3:hit');
    expect((await search('hit', { ...content, '-n': false })).text).toBe('a.txt:hit');
    expect((await search('hit', { ...content, '-C': 1 })).text).toBe(
      'a.txt-2-two\na.txt:3:hit\na.txt-4-four',
    );
    expect((await search('hit', { ...content, context: 1 })).text).toContain('a.txt-2-two');
    expect((await search('hit', { ...content, '-A': 2 })).text).toBe(
      'a.txt:3:hit\na.txt-4-four\na.txt-5-five',
    );
    expect((await search('hit', { ...content, '-B': 1 })).text).toBe('a.txt-2-two\na.txt:3:hit');
    expect((await search('f(i|o)', { ...content, '-o': true })).text).toBe(
      'a.txt:4:fo\na.txt:5:fi',
    );
    const { structured } = await search('HIT', { ...content, '-i': true });
    expect(structured).toEqual({
      mode: 'content',
      numFiles: 1,
      filenames: ['a.txt'],
      content: 'a.txt:3:hit',
      numLines: 1,
      totalLines: 1,
    });
  });

  it('counts', async () => {
    make({ 'a.txt': 'x\nx\n', 'b.txt': 'x\n' });
    const { text, structured } = await search('x', { output_mode: 'count' });
    expect(text.split('\n').sort()).toEqual([
      '[3 matching lines in 2 files.]',
      'a.txt:2',
      'b.txt:1',
    ]);
    expect(structured).toMatchObject({ mode: 'count', numFiles: 2, numMatches: 3 });
  });

  it('narrows by path, glob and type', async () => {
    make({ 'src/a.ts': 'x', 'src/b.js': 'x', 'src/lib/c.ts': 'x', 'd.py': 'x', 'e f.md': 'x' });
    const files = async (more: object) => (await search('x', more)).text.split('\n').sort();
    expect(await files({ path: 'src' })).toEqual(['src/a.ts', 'src/b.js', 'src/lib/c.ts']);
    expect(await files({ path: at('src/a.ts') })).toEqual(['src/a.ts']);
    expect(await files({ glob: '*.{ts,js}' })).toEqual(['src/a.ts', 'src/b.js', 'src/lib/c.ts']);
    expect(await files({ glob: '*.py, *.md' })).toEqual(['d.py', 'e f.md']);
    expect(await files({ glob: '*.ts !c.ts' })).toEqual(['src/a.ts']);
    expect(await files({ path: 'src', glob: 'lib/**' })).toEqual(['src/lib/c.ts']);
    expect(await files({ type: 'py' })).toEqual(['d.py']);
    expect((await search('x', { type: 'nonsense' })).text).toMatch(/unrecognized file type/);
  });

  it('spans lines when told', async () => {
    make({ 'a.txt': 'begin\nmiddle\nend\n' });
    expect((await search('begin.*end')).text).toBe('No matches found.');
    expect((await search('begin.*end', { multiline: true })).text).toBe('a.txt');
  });

  it('searches hidden files, not .git nor ignored ones, and no configuration decides', async () => {
    make({ '.hidden': 'x', '.git/config': 'x', '.gitignore': 'ignored\n', ignored: 'x', rc: '-v' });
    const env = { RIPGREP_CONFIG_PATH: at('rc'), PATH: process.env.PATH ?? '' };
    const tool = grepTool({ fs, processes, env });
    expect((await host.call(tool, { pattern: 'x' })).text).toBe('.hidden');
    expect((await search('x', { path: '.git' })).text).toBe('.git/config');
  });

  it('takes patterns and names that look like options as what they are', async () => {
    make({ '-v': '--files\n', 'a;b $(c).txt': '--files\n' });
    expect((await search('--files')).text.split('\n').sort()).toEqual(['-v', 'a;b $(c).txt']);
    expect((await search('-', { path: '-v' })).text).toBe('-v');
  });

  it('pages', async () => {
    make({ 'a.txt': Array.from({ length: 300 }, (_, index) => `x${index}\n`).join('') });
    const first = await search('x', { output_mode: 'content' });
    expect(first.structured).toMatchObject({ numLines: 250, totalLines: 300, appliedLimit: 250 });
    expect(first.text).toContain('[Results 1-250 of 300. Go on with offset=250');
    const rest = await search('x', { output_mode: 'content', offset: 250 });
    expect(rest.structured).toMatchObject({ numLines: 50, appliedOffset: 250 });
    expect(rest.text).not.toContain('Go on');
    const all = await search('x', { output_mode: 'content', head_limit: 0 });
    expect(all.structured).toMatchObject({ numLines: 300 });
  });

  it('guards against minified lines and long results', async () => {
    make({ 'min.js': `x${'y'.repeat(5000)}\n`, 'many.txt': `x${'z'.repeat(200)}\n`.repeat(1000) });
    const one = await search('x', { output_mode: 'content', path: 'min.js' });
    expect(one.text.length).toBeLessThan(700);
    const long = await search('x', { output_mode: 'content', head_limit: 0, path: 'many.txt' });
    expect(long.text.length).toBeLessThan(3000);
    const saved = /All of them: (\S+)/.exec(long.text)?.[1] ?? '';
    expect(readFileSync(saved, 'utf8').split('\n')).toHaveLength(1000);
  });

  it('says what is wrong with a pattern or path', async () => {
    make({ 'a.txt': 'x' });
    const broken = await search('(');
    expect(broken.isError).toBe(true);
    expect(broken.text).toMatch(/ripgrep failed: .*regex/s);
    expect((await search('x', { path: 'b.txt' })).text).toMatch(/Did you mean .*a\.txt/);
    expect(await search('nowhere')).toMatchObject({ text: 'No matches found.', isError: false });
  });

  it('names where it looks for the gate', () => {
    expect(grep.subject({ pattern: 'x', path: '../y' }, host.context.workspace)).toEqual({
      paths: [{ path: path.join(path.dirname(host.cwd), 'y'), access: 'read' }],
      summary: `Grep x in ${path.join(path.dirname(host.cwd), 'y')}`,
    });
  });
});

describe('Grep and files that a rule denies', () => {
  const searchHiding = async (hidden: readonly string[], input: object) => {
    const denied = new Set(hidden.map(at));
    const isHidden = async (file: string) => denied.has(file);
    const context = { ...host.context, hiding: () => isHidden };
    return await grep.run({ pattern: '', ...input }, context, ANY_PERMIT);
  };
  const SHAPES: readonly object[] = [
    {},
    { output_mode: 'files_with_matches', head_limit: 1 },
    { output_mode: 'content' },
    { output_mode: 'content', '-C': 1, '-n': false },
    { output_mode: 'content', '-o': true, head_limit: 1, offset: 1 },
    { output_mode: 'count' },
    { output_mode: 'count', head_limit: 1 },
    { multiline: true },
    { multiline: true, output_mode: 'content' },
    { glob: '.env' },
    { glob: '{.env,*.txt}', output_mode: 'count' },
    { type: 'sh' },
    { path: '.env' },
  ];

  it('says the same whether such a file matches or not', async () => {
    make({ 'a.txt': 'PASSWORD=visible\nx\n', 'b.txt': 'PASSWORD=visible\n', '.env': '' });
    for (const more of SHAPES) {
      const answers: unknown[] = [];
      for (const secret of ['PASSWORD=hunter1\nPASSWORD=x\n', 'nothing\n', '', 'PASSWORD=\0']) {
        writeFileSync(at('.env'), secret);
        answers.push(await searchHiding(['.env'], { pattern: '^PASSWORD=', ...more }));
      }
      expect(
        new Set(answers.map((answer) => JSON.stringify(answer))).size,
        JSON.stringify(more),
      ).toBe(1);
      expect(JSON.stringify(answers)).not.toContain('hunter1');
    }
  });

  it('opens none of them, so an expression that fails in one tells nothing either', async () => {
    const slow = { pattern: '^(?=(a+)+$)(?!x)(a|aa)+$', output_mode: 'content' };
    make({ 'a.txt': 'b\n', '.env': 'a\n' });
    const plain = await searchHiding(['.env'], slow);
    writeFileSync(at('.env'), `${'a'.repeat(40)}!\n`.repeat(50));
    expect(await searchHiding(['.env'], slow)).toEqual(plain);
  });

  it('searches all others, whatever the names of the denied ones are', async () => {
    const odd = [
      'd/a*b',
      'd/[x]',
      'd/{y}',
      'd/q?',
      'd/back\\slash',
      'd/ end ',
      'd/!not',
      'd/#n',
      'd/é',
      'd/new\nline',
    ];
    const open = ['d/aXb', 'd/x', 'd/y', 'd/qq', 'd/end', 'd/not', 'd/n', 'other', 'e/[x]'];
    make(Object.fromEntries([...odd, ...open].map((name) => [name, 'hit\n'])));
    make({ 'shut/deep/one': 'hit\n', 'shut/two': 'hit\n' });
    const hidden = [...odd, 'shut/deep/one', 'shut/two'];
    const { structured } = await searchHiding(hidden, { pattern: 'hit', head_limit: 0 });
    expect([...(structured as { filenames: string[] }).filenames].sort()).toEqual([...open].sort());
  });

  it('searches nothing where not all files could be checked', async () => {
    const files = Array.from({ length: 3000 }, (_, index) => `${'n'.repeat(60)}${index}`);
    make(Object.fromEntries([...files, 'open'].map((name) => [name, 'hit\n'])));
    const { isError, content } = await searchHiding(files, { pattern: 'hit' });
    expect(isError).toBe(true);
    expect(content).toContain('Narrow the search');
  });
});

describe('Grep and a ripgrep that', () => {
  const base: ProcessResult = {
    exitCode: 0,
    signal: null,
    stdout: '',
    stderr: '',
    control: '',
    timedOut: false,
    aborted: false,
    outputBytes: 0,
    truncated: false,
    durationMs: 1,
  };
  const with_ = (result: Partial<ProcessResult>, input: object = {}) =>
    host.call(grepTool({ fs, processes: { run: async () => ({ ...base, ...result }) } }), {
      pattern: 'x',
      ...input,
    });

  it('cannot start is reported with the remedy', async () => {
    const failed = await with_({ exitCode: null, startError: 'ENOENT' });
    expect(failed.isError).toBe(true);
    expect(failed.text).toMatch(/install `rg`/);
  });

  it('is killed has failed, even without a word', async () => {
    expect(await with_({ exitCode: null, signal: 'SIGKILL' })).toMatchObject({ isError: true });
  });

  it('takes too long gives what it had, without the piece that was cut', async () => {
    const cut = { exitCode: null, timedOut: true };
    const files = await with_({ ...cut, stdout: './a\0./b\0./c' });
    expect(files.structured).toMatchObject({ filenames: ['a', 'b'], timedOut: true });
    const lines = await with_(
      { ...cut, stdout: './a\x001:x\n./b\x002' },
      { output_mode: 'content' },
    );
    expect(lines.structured).toMatchObject({ content: 'a:1:x' });
    expect(await with_(cut)).toMatchObject({ isError: true });
  });

  it('could not read some files still gives the matches, and says so', async () => {
    const part = await with_({ exitCode: 2, stdout: './a\0', stderr: 'rg: b: Permission denied' });
    expect(part.isError).toBe(false);
    expect(part.text).toBe('a\n[Not all was searched: rg: b: Permission denied]');
  });
});

describe('globsOf', () => {
  it.each([
    [undefined, []],
    ['*.ts', ['*.ts']],
    ['*.ts *.js', ['*.ts', '*.js']],
    ['*.ts,*.js', ['*.ts', '*.js']],
    ['*.{ts,tsx}, !x', ['*.{ts,tsx}', '!x']],
  ])('%j', (globs, expected) => expect(globsOf(globs)).toEqual(expected));
});
