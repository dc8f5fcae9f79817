import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nextTurn } from '../../src/platform/turns.js';
import type { UserEntry } from '../../src/protocol/transcript.js';
import { createJsonlStore } from '../../src/session/transcript/jsonl-store.js';
import type { LostLines } from '../../src/session/transcript/store.js';

const ID = 'full-disk';

/** Why a small disk cannot be had here; undefined when it can. */
function reasonAgainstMounting(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root to mount a small disk';
  const probe = mkdtempSync(path.join(tmpdir(), 'mount-probe-'));
  const mounted = mount('-t', 'tmpfs', '-o', 'size=64k', 'none', probe);
  if (mounted) spawnSync('umount', [probe]);
  rmSync(probe, { recursive: true, force: true });
  return mounted ? undefined : 'mount is not allowed here';
}

function mount(...args: readonly string[]): boolean {
  return spawnSync('mount', args).status === 0;
}

const reason = reasonAgainstMounting();

function entry(number: number, length: number): UserEntry {
  return {
    type: 'user',
    uuid: `u${number}`,
    parentUuid: number === 0 ? null : `u${number - 1}`,
    sessionId: ID,
    timestamp: '2026-01-01T00:00:00.000Z',
    message: { role: 'user', content: 'x'.repeat(length) },
  };
}

describe.skipIf(reason !== undefined)(
  `a small disk${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    let disk: string;
    beforeEach(() => {
      disk = mkdtempSync(path.join(tmpdir(), 'small-disk-'));
      expect(mount('-t', 'tmpfs', '-o', 'size=256k', 'none', disk)).toBe(true);
    });
    afterEach(() => {
      expect(spawnSync('umount', ['-l', disk]).status).toBe(0);
      rmSync(disk, { recursive: true });
    });

    it('that fills up costs nothing once there is room again', async () => {
      const lost: LostLines[] = [];
      const store = createJsonlStore({
        configDir: disk,
        cwd: '/p',
        onLost: (event) => lost.push(event),
      });
      writeFileSync(path.join(disk, 'ballast'), 'b'.repeat(150_000));
      let entries = 0;
      while (lost.length === 0)
        store.append(ID, [entry(entries++, 3_000), entry(entries++, 3_000)]);
      for (let more = 0; more < 5; more++) store.append(ID, [entry(entries++, 3_000)]);
      expect(lost).toHaveLength(1);
      expect(lost[0]?.message).toContain('ENOSPC');

      const meanwhile = await store.read(ID);
      expect(meanwhile?.entries.map(({ uuid }) => uuid)).toEqual(
        (meanwhile?.entries ?? []).map((_, index) => `u${index}`),
      );
      rmSync(path.join(disk, 'ballast'));
      store.append(ID, [entry(entries++, 10)]);
      expect(store.close()).toBe(0);
      const loaded = await store.read(ID);
      expect(loaded?.entries.map(({ uuid }) => uuid)).toEqual(
        Array.from({ length: entries }, (_, index) => `u${index}`),
      );
      expect(lost).toHaveLength(1);
    });

    it('that is read-only is reported with a way out', () => {
      const lost: LostLines[] = [];
      const store = createJsonlStore({
        configDir: disk,
        cwd: '/p',
        onLost: (event) => lost.push(event),
      });
      expect(mount('-o', 'remount,ro', disk)).toBe(true);
      store.append(ID, [entry(0, 10)]);
      expect(lost[0]?.message).toContain('EROFS');
      expect(lost[0]?.remedy).toContain('CLAUDE_CONFIG_DIR');
      expect(mount('-o', 'remount,rw', disk)).toBe(true);
      expect(store.close()).toBe(0);
    });

    it('whose project folder is deleted in between takes what comes after', async () => {
      const store = createJsonlStore({ configDir: disk, cwd: '/p' });
      store.append(ID, [entry(0, 10)]);
      rmSync(path.join(disk, 'projects'), { recursive: true });
      mkdirSync(path.join(disk, 'projects'));
      await nextTurn();
      store.append(ID, [entry(1, 10)]);
      expect(store.close()).toBe(0);
      expect((await store.read(ID))?.entries.map(({ uuid }) => uuid)).toEqual(['u1']);
    });
  },
);
