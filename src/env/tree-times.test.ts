import { describe, expect, it } from 'vitest';
import { ChangeTimes, SLACK_MS, type TimeSources } from './tree-times.js';

const EXT4 = 0xef53;
const NFS = 0x6969;
const FUSE = 0x65735546;
const ZFS = 0x2fc12fc1;
const ROOT_MOUNT = '22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw';

function rig(root = '/data/my project') {
  const at = { now: 1_700_000_000_000, monotonic: 5_000, type: EXT4, mounts: [ROOT_MOUNT] };
  const sources: TimeSources = {
    clock: { now: () => at.now, monotonic: () => at.monotonic },
    fileSystemType: () => at.type,
    mounts: () => `${at.mounts.join('\n')}\n`,
  };
  const times = new ChangeTimes(root, sources);
  const pass = (ms: number): void => {
    at.now += ms;
    at.monotonic += ms;
  };
  return { at, times, pass, sources };
}

describe('change times', () => {
  it('tell what has changed since the begin of a look, with a slack', () => {
    const { times, pass } = rig();
    const last = times.begin();
    pass(60_000);
    const since = times.since(last, times.begin());
    expect(since).toBe((1_700_000_000_000 - SLACK_MS) / 1000);
  });

  it.each([-3_600_000, -1_100, 1_100, 86_400_000])(
    'tell nothing after the clock was set by %d ms',
    (step) => {
      const { at, times, pass } = rig();
      const last = times.begin();
      pass(60_000);
      at.now += step;
      expect(times.since(last, times.begin())).toBeUndefined();
      const next = times.begin();
      pass(1_000);
      expect(times.since(next, times.begin())).toBeDefined();
    },
  );

  it('keep a slack that is longer than what a clock may be set by unnoticed, and a second', () => {
    const { at, times, pass } = rig();
    const last = times.begin();
    pass(10);
    at.now -= 1_000;
    const stamp = Math.floor(at.now / 1000);
    expect(times.since(last, times.begin())).toBeLessThan(stamp);
  });

  it.each([NFS, FUSE, ZFS, 0])('tell nothing on a file system of type %d', (type) => {
    const { at, times } = rig();
    at.type = type;
    expect(times.since(times.begin(), times.begin())).toBeUndefined();
  });

  it.each([
    '40 22 0:50 / /data/my\\040project/data rw - tmpfs tmpfs rw',
    '40 22 0:50 / /data/my\\040project rw - tmpfs tmpfs rw',
    '40 22 254:0 /elsewhere /data rw - ext4 /dev/vda rw',
  ])('tell nothing when this was mounted meanwhile: %s', (line) => {
    const { at, times } = rig();
    const last = times.begin();
    at.mounts.push(line);
    const now = times.begin();
    expect(times.since(last, now)).toBeUndefined();
    expect(times.since(now, times.begin())).toBeDefined();
    at.mounts.pop();
    expect(times.since(now, times.begin())).toBeUndefined();
  });

  it.each([
    '40 22 0:50 / /data/my\\040projects rw - tmpfs tmpfs rw',
    '40 22 0:50 / /mnt/data/my\\040project rw - tmpfs tmpfs rw',
  ])('go on when this was mounted meanwhile: %s', (line) => {
    const { at, times } = rig();
    const last = times.begin();
    at.mounts.push(line);
    expect(times.since(last, times.begin())).toBeDefined();
  });

  it('tell nothing where nobody can say what is mounted, or what the file system is', () => {
    const failing = (): never => {
      throw new Error('no such file');
    };
    const { sources } = rig();
    for (const broken of [{ mounts: failing }, { fileSystemType: failing }]) {
      const times = new ChangeTimes('/data', { ...sources, ...broken });
      expect(times.since(times.begin(), times.begin())).toBeUndefined();
    }
  });
});
