import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeProcesses } from '../process/process-stamp.js';
import { stateFiles } from './state-files.js';
import { readLines } from './transcript-files.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'inbox-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const isPosix = process.platform !== 'win32';

describe('files of the inbox', () => {
  it('are made once, for their owner alone, and leave nothing beside them', () => {
    const file = path.join(directory, 'deep/inbox/q.json');
    expect(stateFiles.createOnce(file, 'one')).toBe(true);
    expect(stateFiles.createOnce(file, 'two')).toBe(false);
    expect(stateFiles.readOwn(file)).toEqual({ ok: true, value: 'one' });
    expect(readdirSync(path.dirname(file))).toEqual(['q.json']);
    if (isPosix) expect(statSync(file).mode & 0o777).toBe(0o600);
    stateFiles.remove(file);
    expect(stateFiles.readOwn(file)).toBeUndefined();
    expect(stateFiles.list(path.join(directory, 'none'))).toEqual([]);
  });

  it('keep no place for what could not be written', () => {
    const file = path.join(directory, 'q.json');
    const draft = `${file}.${process.pid}.tmp`;
    mkdirSync(path.join(draft, 'in the way'), { recursive: true });
    expect(() => stateFiles.createOnce(file, 'one')).toThrow();
    expect(readdirSync(directory)).toEqual([path.basename(draft)]);
    rmSync(draft, { recursive: true });
    writeFileSync(draft, 'of a process that died');
    expect(stateFiles.createOnce(file, 'two')).toBe(true);
    expect(stateFiles.readOwn(file)).toEqual({ ok: true, value: 'two' });
  });

  it.skipIf(!isPosix)('count only when nobody else could have written them', () => {
    const file = path.join(directory, 'a.json');
    writeFileSync(file, '{}', { mode: 0o600 });
    const link = path.join(directory, 'link.json');
    symlinkSync(file, link);
    expect(stateFiles.readOwn(link)).toMatchObject({ ok: false });
    chmodSync(file, 0o666);
    expect(stateFiles.readOwn(file)).toMatchObject({ ok: false });
    chmodSync(file, 0o600);
    linkSync(file, path.join(directory, 'other.json'));
    expect(stateFiles.readOwn(file)).toMatchObject({ ok: false });
    expect(stateFiles.readOwn(directory)).toMatchObject({ ok: false });
  });
});

describe('files of the journal', () => {
  it('grow, and are for their owner alone', async () => {
    const file = path.join(directory, 'session/deliveries.jsonl');
    const log = stateFiles.openSyncedLog(file);
    log.append(['a', 'b']);
    log.append(['c'], { sync: false });
    log.close();
    const lines: (string | undefined)[] = [];
    expect(await readLines(file, (line) => void lines.push(line))).toBe(true);
    expect(lines).toEqual(['a', 'b', 'c']);
    if (isPosix) expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('keep long texts whole', () => {
    const file = path.join(directory, 'kept/long.txt');
    stateFiles.writeDurable(file, 'first');
    stateFiles.writeDurable(file, 'second');
    expect(stateFiles.read(file)).toBe('second');
    expect(stateFiles.read(`${file}x`)).toBeUndefined();
    expect(readdirSync(path.dirname(file))).toEqual(['long.txt']);
  });

  it('know whether a process still runs', () => {
    const self = nodeProcesses.self();
    expect(nodeProcesses.isAlive(self)).toBe(true);
    expect(nodeProcesses.isAlive({ pid: 2 ** 22 + 1 })).toBe(false);
    if (self.start !== undefined) {
      expect(nodeProcesses.isAlive({ ...self, start: 'another' })).toBe(false);
    }
  });
});
