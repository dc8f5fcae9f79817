import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CurrentText, currentText, previewCall, shortened } from './call-preview.js';

function asked(
  tool: string,
  input: Record<string, unknown>,
  summary = '',
): Parameters<typeof previewCall>[0] {
  return { tool, input, summary, cwd: '/p' };
}

const lines = (call: Parameters<typeof previewCall>[0], current: CurrentText = 'absent') =>
  previewCall(call, () => current).lines;

describe('what a person sees of a call', () => {
  it('an edit as a difference', () => {
    const input = { file_path: '/p/a', old_string: 'one\ntwo\n', new_string: 'one\nthree\n' };
    expect(lines(asked('Edit', input, '/p/a'))).toEqual(['  one', '- two', '+ three']);
    expect(lines(asked('Edit', { ...input, replace_all: true }))[0]).toContain('every occurrence');
  });

  it('an Edit with its place in the file, and no word about the end of it', () => {
    const text = Array.from({ length: 9 }, (_, at) => `line ${at + 1}\n`).join('');
    const edit = (more: object) =>
      lines(asked('Edit', { file_path: '/p/a', old_string: 'line 8', ...more }), { text });
    expect(edit({ new_string: 'LINE $& 8' })).toEqual([
      '@@ -5 +5 @@',
      '  line 5',
      '  line 6',
      '  line 7',
      '- line 8',
      '+ LINE $& 8',
      '  line 9',
    ]);
    expect(edit({ old_string: 'absent', new_string: 'x' })).toEqual(['- absent', '+ x']);
    expect(edit({ old_string: 'line', new_string: 'row', replace_all: true })).toHaveLength(18);
  });

  it('a Write against what is there', () => {
    const call = asked('Write', { file_path: '/p/a', content: 'a\nB\n' });
    expect(lines(call)).toEqual(['a new file:', '+ a', '+ B']);
    expect(lines(call, { text: 'a\nb\n' })).toEqual([
      'replaces what the file holds:',
      '  a',
      '- b',
      '+ B',
    ]);
    expect(lines(call, { text: 'a\nB\n' })[1]).toBe('(nothing changes)');
    expect(lines(call, 'unreadable')[0]).toContain('cannot be shown');
  });

  it('every field that the first line does not have', () => {
    const call = asked('Bash', { command: 'ls', dangerouslyDisableSandbox: true, note: 'x\ny' });
    expect(previewCall(call, () => 'absent')).toEqual({
      title: 'ls',
      lines: ['dangerouslyDisableSandbox: true', 'note: x', '  y'],
    });
  });

  it('a command of several lines, each of them marked, and nothing hidden', () => {
    const call = asked('Bash', { command: 'ls\n\trm\u202e -rf\u001b[2K x\n  n  no' });
    const { title, lines: shown } = previewCall(call, () => 'absent');
    expect(title).toBe('3 lines');
    expect(shown).toEqual(['ls', '  rm\\u202e -rf\\u001b[2K x', '  n  no']);
  });

  it('names the tool once', () => {
    const input = { file_path: '/p/a', content: '' };
    expect(previewCall(asked('Write', input, 'Write a'), () => 'absent').title).toBe('a');
  });

  it('input that is not as it should be is shown as it is', () => {
    expect(lines(asked('Edit', { old_string: 3 }))).toEqual(['old_string: 3']);
  });
});

describe('shortened', () => {
  it('says how much is missing', () => {
    expect(shortened(['a', 'b', 'c'], { lines: 2, length: 9 })).toEqual({
      lines: ['a', 'b', '… 1 more line'],
      isCut: true,
    });
    expect(shortened(['abcdef'], { lines: 2, length: 4 })).toEqual({
      lines: ['abcd… [2 more characters]'],
      isCut: true,
    });
    expect(shortened(['a'], { lines: 1, length: 1 })).toEqual({ lines: ['a'], isCut: false });
  });
});

describe('the file as it is now', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'portcullis-current-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('is its text, or why there is none', () => {
    writeFileSync(join(directory, 'a'), 'text');
    writeFileSync(join(directory, 'b'), Buffer.from([0, 1]));
    expect(currentText(join(directory, 'a'))).toEqual({ text: 'text' });
    expect(currentText(join(directory, 'b'))).toBe('unreadable');
    expect(currentText(join(directory, 'c'))).toBe('absent');
    expect(currentText(directory)).toBe('unreadable');
  });
});
