import { describe, expect, it } from 'vitest';
import type { SandboxPolicy } from '../types.js';
import { seatbeltProfile } from './driver.js';

const policy: SandboxPolicy = {
  writable: ['/Users/me/project'],
  protected: ['/Users/me/project/.git/hooks'],
  hidden: ['/Users/me/.ssh', '/Users/me'],
  shown: ['/Users/me/.ssh/known_hosts'],
  network: { kind: 'none' },
  weaker: {},
};
const lines = (more: Partial<SandboxPolicy> = {}, proxyPort?: number): readonly string[] =>
  seatbeltProfile({ policy: { ...policy, ...more }, scratch: '/private/var/x', proxyPort }).split(
    '\n',
  );

describe('seatbeltProfile', () => {
  it('denies by default, and lets the deeper rule win', () => {
    const text = lines();
    expect(text.slice(0, 2)).toEqual(['(version 1)', '(deny default)']);
    const order = [
      '(deny file-read* file-write* (subpath "/Users/me"))',
      '(allow file-read* file-write* (subpath "/Users/me/project"))',
      '(deny file-read* file-write* (subpath "/Users/me/.ssh"))',
      '(allow file-read* (subpath "/Users/me/.ssh/known_hosts"))',
      '(deny file-write* (subpath "/Users/me/project/.git/hooks"))',
    ].map((line) => text.indexOf(line));
    expect(order.every((at) => at > 0)).toBe(true);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  it('lets programs look up hidden directories on the way to what is shown, and no more', () => {
    const tree = '/Users/me/project/.claude/worktrees/w';
    const text = lines({ hidden: ['/Users/me/project'], shown: [tree], writable: [tree] });
    const way = [
      '(deny file-read* file-write* (subpath "/Users/me/project"))',
      `(allow file-read* file-write* (subpath "${tree}"))`,
      '(allow file-read-metadata (literal "/Users/me/project/.claude/worktrees") (literal "/Users/me/project/.claude") (literal "/Users/me/project"))',
    ].map((line) => text.indexOf(line));
    expect(way.every((at) => at > 0)).toBe(true);
    expect(way).toEqual([...way].sort((a, b) => a - b));
  });

  it('keeps the directories above a protected path in their place', () => {
    expect(lines()).toContain(
      '(deny file-write-unlink (literal "/Users/me/project/.git/hooks") (literal "/Users/me/project/.git") (literal "/Users/me/project"))',
    );
  });

  it('opens no network, or only the proxy', () => {
    expect(lines().join()).not.toContain('network-outbound');
    const filtered = lines({ network: { kind: 'filtered', allows: async () => true } }, 4711);
    expect(filtered).toContain('(allow network-outbound (remote ip "localhost:4711"))');
    expect(filtered.filter((line) => line.includes('network'))).toHaveLength(1);
  });

  it('opens sockets and ports only where a person asked for it', () => {
    expect(lines().join()).not.toContain('unix-socket');
    expect(lines({ weaker: { unixSockets: ['/s'] } })).toContain(
      '(allow network-outbound (remote unix-socket (subpath "/s")))',
    );
    expect(lines({ weaker: { localBinding: true } }).join()).toContain('network-bind');
  });

  it('opens no way to other programs: events, launching, the pasteboard (SC-303)', () => {
    const text = lines().join();
    for (const word of ['appleevent', 'lsopen', 'launchservices', 'pasteboard', 'coreservices']) {
      expect(text.toLowerCase()).not.toContain(word);
    }
  });

  it('is not ended by a path', () => {
    const text = lines({ hidden: ['/x") (allow default) ("\\\n'] });
    expect(text).toContain(
      '(deny file-read* file-write* (subpath "/x\\") (allow default) (\\"\\\\\\n"))',
    );
  });
});
