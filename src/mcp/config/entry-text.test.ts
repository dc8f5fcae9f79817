import { describe, expect, it } from 'vitest';
import { entryLines, listedLine } from './entry-text.js';

describe('an entry, for a person', () => {
  it('shows values of variables that make the command another one, and of no others', () => {
    const env = { PATH: '/evil\u202ebin', API_TOKEN: 'SECRET', UV_PUBLISH_TOKEN: 'SECRET', A: 'b' };
    const lines = entryLines({ command: 'git', env }, {}).join('\n');
    expect(lines).toContain('PATH="/evil\\u202ebin", API_TOKEN, UV_PUBLISH_TOKEN, A');
    expect(lines).not.toContain('SECRET');
  });
});

describe('a line of an entry, for a list', () => {
  const listed = (entry: unknown): string => entryLines(entry, {}).map(listedLine).join('\n');
  const key = ['sk', 'ant', 'api03', 'SECRET'.repeat(5)].join('-');

  it.each([
    ['--api-key', key],
    ['--api-key', 'SECRETSHORT'],
    ['--password=SECRETPASS'],
    ['--password=SECRET PASS'],
    ['--access-token', 'SECRET'],
    ['--db-password', 'SECRET "quoted" PASS'],
    ['-token=SECRET'],
    ['-H', 'Authorization: Bearer SECRETSECRET1'],
    ['--x', `A=${key}`],
  ])('shows no secret of its arguments: %s %s', (...args) => {
    const text = listed({ command: 'x', args: [...args, '--last'] });
    expect(text).not.toMatch(/SECRET|PASS/);
    expect(text).toContain('[redacted]');
    expect(text).toContain('--last');
  });

  it('shows none of a helper and of an address', () => {
    const url = 'https://a.invalid/mcp?api_key=SECRETS&k=short';
    const text = listed({ type: 'http', url, headersHelper: `echo ${key}` });
    expect(text).not.toContain('SECRET');
    expect(text).toContain('k=short');
    expect(text).toContain('headersHelper: echo [redacted]');
  });

  it.each([
    [['--token', '$' + '{API_TOKEN}']],
    [['--password=$' + '{DB}']],
    [['--access-token', '--verbose']],
    [['get-token', 'serve', '--port', '80']],
  ])('shows what is no secret: %j', (args) => {
    expect(listed({ command: 'x', args }).split('\n')[0]).toBe(`command: x ${args.join(' ')}`);
  });
});
