import { describe, expect, it } from 'vitest';
import { literalWord } from './model.js';
import { isPlainScript, scanSed, sedCall } from './sed.js';

describe('a script of sed', () => {
  it.each([
    's/a/b/',
    's/hello world/x/g',
    's/w /e /;s/while/read/',
    's/[/]e/x/',
    's|[]|]e|x|p',
    's/[[:alpha:]/]w x/y/',
    's,a,b,I;s#c#d#2g',
    '1,5d;/while/,/done/p',
    '/a/I,+3{s/x/y/;p}',
    '\\,we,d',
    '$!N;P;D',
    ':a;N;$!ba;s/\\n/ /g',
    'y/ew/we/',
    '1i\\\nwe write text\\\nwith more\n2d',
    '$a w file of text',
    '# w x\np',
    '/x/!s/a\\/e/b/',
    'n;d',
    '1~2p',
    '2q5',
  ])('only changes text: %j', (script) => {
    expect(isPlainScript(script)).toBe(true);
  });

  it.each([
    ['wPWNED', { writes: ['PWNED'] }],
    ['1wPWNED', { writes: ['PWNED'] }],
    ['/x/w.git/config', { writes: ['.git/config'] }],
    ['s/a/b/;wPWNED', { writes: ['PWNED'] }],
    ['s/a/b/gwPWNED', { writes: ['PWNED'] }],
    ['s/[/]/x/w out', { writes: ['out'] }],
    ['$!{W out\n}', { writes: ['out'] }],
    ['r.env', { reads: ['.env'] }],
    ['$R .env', { reads: ['.env'] }],
    ['eid', { runs: ['id'] }],
    ['1eid', { runs: ['id'] }],
    ['$eid', { runs: ['id'] }],
    ['1!e', { runs: [''] }],
    ['s/.*/id/e', { runs: ['id'] }],
    ['s_x_id_ge', { runs: ['id'] }],
    ['i\\\ntext\ne id', { runs: ['id'] }],
    [':a;e id', { runs: ['id'] }],
    ['# note\ne id', { runs: ['id'] }],
  ])('does more: %j', (script, use) => {
    expect(scanSed(script)).toMatchObject({ ...use, broken: false });
    expect(isPlainScript(script)).toBe(false);
  });

  it.each(['s/a', 'k', '1,', '/x', 's/a/b/&', '&'])('that is broken is not plain: %j', (script) => {
    expect(isPlainScript(script)).toBe(false);
  });

  it.each<[readonly string[], readonly string[] | 'every word']>([
    [['p', 'wide.txt'], ['p']],
    [['-n', '1p', 'README.md'], ['1p']],
    [
      ['-e', 'p', '-ewX', 'file'],
      ['p', 'wX'],
    ],
    [['-ne1eid', 'file'], ['1eid']],
    [['--expression=wX', 'file'], ['wX']],
    [['--exp', 'wX', 'file'], 'every word'],
    [['file', '-e', 'eid'], ['eid']],
    [['-i.bak', 's/a/b/', 'file'], ['s/a/b/']],
    [['--', 'eid', 'x'], ['eid']],
    [['-l', '5', 'eid'], 'every word'],
    [['-f', 'x.sed', 'file'], 'every word'],
    [['--unknown', 'p'], 'every word'],
  ])('stands where sed looks for it: %j', (values, scripts) => {
    const expected = scripts === 'every word' ? values : scripts;
    const { scripts: found, isSure } = sedCall(values.map(literalWord));
    expect(isSure ? found.map(({ value }) => value) : values).toEqual(expected);
  });

  it('is gone through in time with its length', () => {
    // A set that is not closed.
    expect(isPlainScript(`s/${'['.repeat(60_000)}/x/`)).toBe(false);
    expect(isPlainScript(`s/${'[]'.repeat(30_000)}/x/;p`)).toBe(true);
    expect(isPlainScript('s/a/b/;'.repeat(9_000))).toBe(true);
  });
});
