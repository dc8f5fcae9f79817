import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type CallHost, callHost } from '../../../test/support/tool-call.js';
import { nodeFileSystem as fs } from '../../platform/fs/node-fs.js';
import { editTool } from './edit.js';
import { readTool } from './read.js';

const read = readTool({ fs });
const edit = editTool({ fs });
let host: CallHost;
const at = (name: string) => path.join(host.cwd, name);
const text = () => readFileSync(at('f'), 'utf8');

/** Writes the file, reads it as a model would, and edits it. */
async function change(content: string | Uint8Array, edited: readonly [string, string, boolean?]) {
  writeFileSync(at('f'), content);
  await host.call(read, { file_path: 'f' });
  return again(edited);
}

const again = ([old_string, new_string, replace_all]: readonly [string, string, boolean?]) =>
  host.call(edit, {
    file_path: 'f',
    old_string,
    new_string,
    ...(replace_all ? { replace_all } : {}),
  });

beforeEach(() => {
  host = callHost();
});

describe('Edit', () => {
  it('replaces a unique text and shows the place', async () => {
    const done = await change('one\ntwo\nthree\n', ['two', '2']);
    expect(text()).toBe('one\n2\nthree\n');
    expect(done.text).toBe(`Changed ${at('f')}:\n1\tone\n2\t2\n3\tthree`);
    expect(done.structured).toEqual({
      filePath: at('f'),
      oldString: 'two',
      newString: '2',
      originalFile: 'one\ntwo\nthree\n',
      structuredPatch: [
        {
          oldStart: 1,
          oldLines: 3,
          newStart: 1,
          newLines: 3,
          lines: [' one', '-two', '+2', ' three'],
        },
      ],
      userModified: false,
      replaceAll: false,
    });
    expect((await again(['2', 'two'])).isError).toBe(false);
  });

  it('takes replacement patterns literally', async () => {
    await change('a b c', ['b', "$& $1 $' $$"]);
    expect(text()).toBe("a $& $1 $' $$ c");
  });

  it('counts several matches with their lines, or replaces all', async () => {
    const refused = await change('x\ny\nx\n', ['x', 'z']);
    expect(refused.text).toMatch(/2 times, at lines 1, 3\./);
    expect(text()).toBe('x\ny\nx\n');
    const done = await again(['x', 'z', true]);
    expect(done.text).toContain('in 2 places');
    expect(text()).toBe('z\ny\nz\n');
  });

  it('can delete, down to nothing', async () => {
    const done = await change('all', ['all', '']);
    expect(text()).toBe('');
    expect(done.text).toContain('now empty');
  });

  it('keeps what it shows short', async () => {
    const done = await change('a\n', ['a', 'line\n'.repeat(1000)]);
    expect(done.text.length).toBeLessThan(1000);
  });

  it('matches LF in CRLF files and writes CRLF back', async () => {
    await change('a\r\nb\r\nc\r\n', ['a\nb', 'x\ny\nz']);
    expect(text()).toBe('x\r\ny\r\nz\r\nc\r\n');
    await again(['c', 'd\ne']);
    expect(text()).toBe('x\r\ny\r\nz\r\nd\r\ne\r\n');
    await again(['x\r\ny', 'x\r\nY']);
    expect(text()).toBe('x\r\nY\r\nz\r\nd\r\ne\r\n');
  });

  it('keeps mixed line ends as they are elsewhere, and sees both kinds of match', async () => {
    await change('a\nb\nc\r\nd\r\n', ['c\nd', 'C\nD']);
    expect(text()).toBe('a\nb\nC\r\nD\r\n');
    const both = await change('a\nb\n\na\r\nb\r\n', ['a\nb', 'x']);
    expect(both.text).toMatch(/2 times, at lines 1, 4/);
  });

  it('keeps byte order mark, encoding and mode', async () => {
    writeFileSync(at('f'), '');
    chmodSync(at('f'), 0o600);
    await change('\ufeffa\n', ['a', 'b']);
    expect(text()).toBe('\ufeffb\n');
    expect(statSync(at('f')).mode & 0o777).toBe(0o600);
    await change(Buffer.from('\ufeffé\n', 'utf16le'), ['é', 'ö']);
    expect(readFileSync(at('f'))).toEqual(Buffer.from('\ufeffö\n', 'utf16le'));
  });

  it('creates a missing file from an empty old_string, only then', async () => {
    expect((await again(['', 'new'])).text).toContain('Created');
    expect(text()).toBe('new');
    expect((await again(['', 'more'])).text).toMatch(/exists/);
    expect((await again(['new', 'newer'])).isError).toBe(false);
  });

  it('works after a partial read', async () => {
    writeFileSync(at('f'), 'a\nb\nc\n');
    await host.call(read, { file_path: 'f', limit: 1 });
    expect((await again(['c', 'd'])).isError).toBe(false);
  });
});

describe('Edit refuses', () => {
  it('what was not read, or changed since', async () => {
    writeFileSync(at('f'), 'abc');
    expect((await again(['abc', 'x'])).text).toMatch(/not read yet/);
    await host.call(read, { file_path: 'f' });
    writeFileSync(at('f'), 'abc and more');
    expect((await again(['abc', 'x'])).text).toMatch(/changed since/);
    expect(text()).toBe('abc and more');
  });

  it('no change, missing files, binary and damaged ones', async () => {
    expect((await again(['a', 'a'])).text).toMatch(/the same/);
    expect((await again(['a', 'b'])).text).toMatch(/does not exist/);
    host.readState.note(at('f'), { mtimeMs: 0, size: 0, hash: '', whole: true });
    const latin = await change(Buffer.from([0x61, 0xe9]), ['a', 'b']);
    expect(latin.text).toMatch(/not valid UTF-8/);
    expect(readFileSync(at('f'))).toEqual(Buffer.from([0x61, 0xe9]));
    writeFileSync(at('f'), Buffer.from([0x61, 0]));
    expect((await again(['a', 'b'])).isError).toBe(true);
  });

  it.each([
    ['trailing white space', 'a  \nb\n', 'a\nb', /Line 1 differs only in white space at the end/],
    ['tabs', 'x\n\tif (a)\n\t\tb\n', '    if (a)\n        b', /Line 2 differs only in indentation/],
    ['inner spaces', 'f( a,  b )\n', 'f( a, b )', /differs only in white space\./],
    ['curly quotes', 'say “hi”\n', 'say "hi"', /typographic quotes/],
    ['case', 'Hello World\n', 'hello world', /upper and lower case/],
    ['line numbers', 'one\ntwo\n', '1\tone\n2\ttwo', /line numbers/],
    ['a typo', 'const answer = 42;\nother\n', 'const anwser = 43;', /closest line is 1:/],
    ['all', 'abc\n', 'qqqqq wwwww', /Nothing in the file comes close/],
    ['an empty file', '', 'x', /file is empty/],
  ])('a text that differs in %s, naming it', async (_what, content, wanted, message) => {
    const refused = await change(content, [wanted, 'new']);
    expect(refused.isError).toBe(true);
    expect(refused.text).toMatch(message);
    expect(text()).toBe(content);
  });
});
