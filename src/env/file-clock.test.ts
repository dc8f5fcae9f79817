import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileClock } from './file-clock.js';

let base: string;

beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'portcullis-clock-'));
  mkdirSync(path.join(base, 'own'));
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

describe('the clock of files', () => {
  it('tells what was changed before a moment from what was changed after it', () => {
    const clock = new FileClock(path.join(base, 'own'), base);
    for (let at = 0; at < 200; at++) {
      const [one, other] = [path.join(base, `one-${at % 3}`), path.join(base, `other-${at}`)];
      writeFileSync(one, 'x');
      const moment = clock.now();
      writeFileSync(other, 'x');
      // Where it cannot tell, it says so.
      if (moment === undefined) continue;
      expect(statSync(one).ctimeMs).toBeLessThanOrEqual(moment.before);
      expect(statSync(other).ctimeMs).toBeGreaterThanOrEqual(moment.after);
      expect(moment.after).toBeGreaterThan(moment.before);
    }
    clock.close();
  });

  it('leaves nothing behind, and tells nothing once it is closed', () => {
    const clock = new FileClock(path.join(base, 'own'), base);
    clock.now();
    clock.close();
    expect(clock.now()).toBeUndefined();
    expect(readdirSync(path.join(base, 'own'))).toEqual([]);
  });

  it('tells nothing about a tree of another file system, or one that is not there', () => {
    expect(new FileClock(base, '/proc').now()).toBeUndefined();
    expect(new FileClock(base, path.join(base, 'nowhere')).now()).toBeUndefined();
    expect(new FileClock(path.join(base, 'nowhere'), base).now()).toBeUndefined();
  });
});
