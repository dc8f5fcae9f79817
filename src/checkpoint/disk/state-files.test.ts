import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckpointFiles, describeStoreError } from './state-files.js';

let directory: string;
let files: CheckpointFiles;

beforeEach(() => {
  directory = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'checkpoint-files-')), 'state');
  files = new CheckpointFiles(directory);
});
afterEach(() => fs.rmSync(path.dirname(directory), { recursive: true, force: true }));

async function linesOf(session: string): Promise<(string | undefined)[]> {
  const lines: (string | undefined)[] = [];
  await files.readLog(files.logFile(session), (line) => lines.push(line));
  return lines;
}

describe('the files of the journal', () => {
  it('are for their owner alone, and never outside of their directory', async () => {
    const log = files.openLog('../../evil');
    log.append(['{}']);
    log.close();
    files.writePlan('../p', '{}');
    const all = fs.readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
    expect(all).toEqual([
      'plans',
      'plans/..%2Fp.json',
      'sessions',
      'sessions/..%2F..%2Fevil.jsonl',
    ]);
    for (const name of all) {
      expect(fs.statSync(path.join(directory, name)).mode & 0o077).toBe(0);
    }
    expect(await linesOf('../../evil')).toEqual(['{}']);
  });

  it('go on after a torn line', async () => {
    const log = files.openLog('s');
    log.append(['one']);
    log.close();
    fs.appendFileSync(path.join(directory, 'sessions/s.jsonl'), '{"torn');
    const again = files.openLog('s');
    again.append(['two']);
    again.close();
    expect(await linesOf('s')).toEqual(['one', '{"torn', 'two']);
  });

  it('lists plans that are not done, and sets aside those that cannot be', () => {
    const [a, b] = [files.writePlan('a', 'A'), files.writePlan('b', 'B')];
    expect(files.unfinishedPlans().map(({ text }) => text)).toEqual(['A', 'B']);
    files.removePlan(a);
    files.setPlanAside(b);
    expect(files.unfinishedPlans()).toEqual([]);
    expect(fs.readFileSync(path.join(directory, 'plans/b.json.stuck'), 'utf8')).toBe('B');
  });
});

describe('the lock of a workspace', () => {
  it('lets one in after the other', async () => {
    const order: string[] = [];
    const one = files.exclusive(5_000, async () => {
      order.push('one in');
      await new Promise((resolve) => setTimeout(resolve, 30));
      order.push('one out');
    });
    await files.exclusive(5_000, async () => {
      order.push('two');
    });
    await one;
    expect(order).toEqual(['one in', 'one out', 'two']);
  });

  it('is refused while it is held for too long', async () => {
    await files.exclusive(0, async () => {
      expect(await files.exclusive(40, async () => 1)).toBeUndefined();
    });
  });

  it('is free at once when its holder is dead', async () => {
    // Above the largest process id that Linux assigns.
    const pid = 4_194_305;
    fs.mkdirSync(path.join(directory, 'rewind.lock'), { recursive: true });
    fs.writeFileSync(path.join(directory, 'rewind.lock/1'), JSON.stringify({ pid, mark: 'x' }));
    expect(await files.exclusive(0, async () => 1)).toEqual({ value: 1 });
    expect(await files.exclusive(0, async () => 2)).toEqual({ value: 2 });
  });

  it('is not taken from somebody who does not say who they are', async () => {
    fs.mkdirSync(path.join(directory, 'rewind.lock'), { recursive: true });
    fs.writeFileSync(path.join(directory, 'rewind.lock/1'), 'nonsense');
    expect(await files.exclusive(0, async () => 1)).toBeUndefined();
  });
});

describe('a store that cannot be written', () => {
  const failure = (code: string): Error => Object.assign(new Error(`${code}: raw text`), { code });

  it.each([
    ['ENOSPC', 'the disk is full'],
    ['EROFS', 'the disk is read-only'],
  ])('is told in words (%s)', (code, why) => {
    const told = `the store of checkpoints cannot be written: ${why}`;
    expect(describeStoreError(failure(code))).toBe(told);
    expect(describeStoreError(new Error('outer', { cause: failure(code) }))).toBe(told);
    expect(describeStoreError(failure('EIO'))).toBe('EIO: raw text');
  });
});
