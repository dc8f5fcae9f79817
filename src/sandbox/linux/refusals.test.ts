import { describe, expect, it } from 'vitest';
import { describeRefusals, type Evidence } from './refusals.js';

const evidence = (output: string, more: Partial<Evidence> = {}): string | undefined =>
  describeRefusals({
    exitCode: 1,
    output,
    cwd: '/w',
    policy: {
      writable: ['/w'],
      protected: ['/w/.git/hooks'],
      hidden: ['/home/me/.ssh'],
      shown: [],
      network: { kind: 'none' },
      weaker: {},
    },
    refusedHosts: new Map(),
    frozen: [],
    ...more,
  });

describe('describeRefusals', () => {
  it.each([
    ["touch: cannot touch '/etc/x': Read-only file system", '/etc/x is outside'],
    ['bash: .git/hooks/pre-commit: Read-only file system', '/w/.git/hooks/pre-commit is protected'],
    ["mv: cannot move '.git/hooks' to 'h': Device or resource busy", '.git/hooks is protected'],
    ['cat: /home/me/.ssh/id_rsa: Permission denied', '/home/me/.ssh/id_rsa cannot be read'],
    ["Error: EROFS: read-only file system, open '/opt/x'", '/opt/x is outside'],
    ['curl: (6) Could not resolve host: example.com', 'there is no network here'],
    ['getaddrinfo EAI_AGAIN registry.example', 'there is no network here'],
    ['connect to the socket: Operation not permitted', 'sockets of other programs'],
    ['Refused by the Portcullis sandbox: a.example:80 is not an allowed host', 'a.example:80'],
  ])('explains %s', (line, words) => {
    expect(evidence(line)).toContain(words);
  });

  it.each([
    'cat: /w/secret: Permission denied',
    'npm ERR! 404 Not Found',
    'sudo: Operation not permitted',
    '',
  ])('does not claim %s', (line) => {
    expect(evidence(line)).toBeUndefined();
  });

  it('says nothing of a program that got through, unless a host was refused', () => {
    const line = "touch: cannot touch '/etc/x': Read-only file system";
    expect(evidence(line, { exitCode: 0 })).toBeUndefined();
    const refusedHosts = new Map([['a.example:443', 'not allowed']]);
    expect(evidence('', { exitCode: 0, refusedHosts })).toContain('a.example:443');
  });

  it('lists a few, and shows no control characters', () => {
    const many = Array.from(
      { length: 9 },
      (_, at) => `x: '/etc/\u001b[3${at}m': Read-only file system`,
    );
    const text = evidence(many.join('\n')) ?? '';
    expect(text).toContain('and 4 more');
    expect(text).not.toContain('\u001b');
  });
});
