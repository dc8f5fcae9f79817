import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PARTS = ['src', 'scripts', 'bin', 'package.json', 'package-lock.json', 'tsconfig.json'];

let clone: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  clone = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'build-')));
  for (const name of [...PARTS, 'tsconfig.build.json'])
    fs.cpSync(path.join(ROOT, name), path.join(clone, name), { recursive: true });
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(clone, 'node_modules'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  fs.rmSync(clone, { recursive: true, force: true });
});

interface Run {
  readonly child: ChildProcess;
  readonly warned: () => string;
  /** Resolves when the program has said this. */
  readonly says: (text: string) => Promise<void>;
  readonly code: Promise<number | null>;
}

/** What every command does before it uses dist/. */
function ensureBuilt(): Run {
  const program = "import('./scripts/setup.mjs').then((it) => it.ensureBuilt())";
  const child = spawn(process.execPath, ['-e', program], { cwd: clone });
  children.push(child);
  let warned = '';
  child.stderr.on('data', (text) => {
    warned += text;
  });
  const code = once(child, 'close').then(() => child.exitCode);
  const says = async (text: string): Promise<void> => {
    while (!warned.includes(text)) await once(child.stderr, 'data');
  };
  return { child, warned: () => warned, says, code };
}

const dist = (): string[] => fs.readdirSync(path.join(clone, 'dist')).sort();
const works = (): string =>
  execFileSync(process.execPath, [path.join(clone, 'bin/portcullis'), '--version'], {
    encoding: 'utf8',
  });
const isCurrent = (): boolean =>
  execFileSync(
    process.execPath,
    [
      '-e',
      "import('./scripts/build-state.mjs').then((it) => console.log(it.isBuilt(['program'])))",
    ],
    { cwd: clone, encoding: 'utf8' },
  ) === 'true\n';

/** A build takes seconds, and much longer on a busy machine. */
const LONG = { timeout: 300_000 };

describe('two commands that find the program not built', LONG, () => {
  it('build it once: the second waits, and finds it built', async () => {
    const first = ensureBuilt();
    await first.says('building');
    const second = ensureBuilt();
    await second.says('waiting for process');
    expect(await Promise.all([first.code, second.code])).toEqual([0, 0]);
    expect(second.warned()).toMatch(/^waiting for process \d+ that is building …\n$/);
    expect(dist()).toEqual(['.built-program', 'cli', 'lib']);
    expect(works()).toContain('Portcullis');
    expect(isCurrent()).toBe(true);

    // Also a change that leaves the time of the file alone.
    const file = path.join(clone, 'src/index.ts');
    const { atime, mtime } = fs.statSync(file);
    fs.appendFileSync(file, '\n');
    fs.utimesSync(file, atime, mtime);
    expect(isCurrent()).toBe(false);
  });

  it('get a whole one although the process that builds is killed', async () => {
    const first = ensureBuilt();
    await first.says('building');
    const { pid } = JSON.parse(fs.readFileSync(path.join(clone, 'dist/.lock'), 'utf8'));
    const second = ensureBuilt();
    await second.says('waiting for process');
    process.kill(pid, 'SIGKILL');
    expect(await first.code).toBe(1);
    expect(first.warned()).toContain('was ended by SIGKILL');
    expect(await second.code).toBe(0);
    expect(second.warned()).toMatch(/^building …$/m);
    expect(dist()).toEqual(['.built-program', 'cli', 'lib']);
    expect(works()).toContain('Portcullis');
    expect(isCurrent()).toBe(true);
  });
});
