import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const NAME = `main-${process.version}-${process.arch}`;
const ID_LENGTH = 64;

let project: TempProject;
let copy: string;
let directory: string;
let cache: string;

/** A copy of the built program without a cache. */
beforeEach(() => {
  project = makeTempProject({ files: { 'script.json': { json: ['done'] } } });
  copy = path.join(project.root, 'copy');
  directory = path.join(copy, 'dist/.cache');
  cache = path.join(directory, NAME);
  mkdirSync(path.join(copy, 'dist'), { recursive: true });
  for (const name of ['bin', 'dist/cli'])
    cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true });
});
afterEach(() => project.remove());

const SESSION = ['-p', 'go', '--script', 'script.json'];

function start(args: readonly string[] = SESSION): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [path.join(copy, 'bin/portcullis'), ...args],
    {
      cwd: project.directory,
      env: { PATH: process.env.PATH, HOME: project.home },
      encoding: 'utf8',
    },
  );
  return `${status} ${stdout}${stderr}`.trim();
}

/** Whether a start leaves the file alone, as it does with one that V8 has taken. */
function isKept(): boolean {
  const before = statSync(cache).ino;
  expect(start()).toBe('0 done');
  return statSync(cache).ino === before;
}

describe('the cache of compiled code', () => {
  it('is written after the first session, where nobody else can write, and used by the next', () => {
    expect(start(['--version'])).toContain('(Portcullis)');
    expect(start(['-p', 'go'])).toContain('no model');
    expect(existsSync(directory)).toBe(false);
    expect(start()).toBe('0 done');
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readdirSync(directory)).toEqual([NAME]);
    expect(isKept()).toBe(true);
  });

  it('is made anew where it is of another build, of another V8, or not whole', () => {
    start();
    const whole = readFileSync(cache);
    const ofAnotherBuild = Buffer.from(whole);
    ofAnotherBuild.write('0'.repeat(ID_LENGTH), 'latin1');
    const ofAnotherV8 = Buffer.from(whole);
    // The second word of V8's part is its version.
    ofAnotherV8.writeUInt8(ofAnotherV8.readUInt8(ID_LENGTH + 4) ^ 1, ID_LENGTH + 4);
    const broken = [Buffer.alloc(0), Buffer.from('{}'), whole.subarray(0, 5_000)];
    for (const bytes of [ofAnotherBuild, ofAnotherV8, ...broken, whole.subarray(0, -8)]) {
      writeFileSync(cache, bytes);
      expect(isKept()).toBe(false);
    }
    expect(isKept()).toBe(true);
  });

  it('is neither read nor written where others can write', () => {
    start();
    chmodSync(directory, 0o770);
    writeFileSync(cache, 'not ours');
    expect(start()).toBe('0 done');
    expect(readFileSync(cache, 'utf8')).toBe('not ours');
    // Nor through a link.
    chmodSync(directory, 0o700);
    renameSync(directory, path.join(project.root, 'elsewhere'));
    symlinkSync(path.join(project.root, 'elsewhere'), directory);
    expect(start()).toBe('0 done');
    expect(readFileSync(cache, 'utf8')).toBe('not ours');
  });

  it.runIf(process.getuid?.() === 0)('of a program of somebody else lies in our own state', () => {
    chownSync(path.join(copy, 'dist'), 1, 1);
    expect(start()).toBe('0 done');
    expect(existsSync(directory)).toBe(false);
    const own = path.join(project.home, '.portcullis/.cache');
    expect(readdirSync(own)).toEqual([NAME]);
    chownSync(own, 1, 1);
    rmSync(path.join(own, NAME));
    expect(start()).toBe('0 done');
    expect(readdirSync(own)).toEqual([]);
  });
});
