import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const LOCK = pathToFileURL(path.resolve(import.meta.dirname, '../../scripts/lock.mjs')).href;

let directory: string;
let file: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'lock-'));
  file = path.join(directory, 'below/the.lock');
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  fs.rmSync(directory, { recursive: true, force: true });
});

/** A process that takes the lock, says so and does what it is told. */
function holder(work: string): { child: ChildProcess; said: () => string; warned: () => string } {
  const program = `
    import fs from 'node:fs';
    import { takeLock } from ${JSON.stringify(LOCK)};
    const release = takeLock(${JSON.stringify(file)}, 'doing this');
    process.stdout.write('taken\\n');
    ${work}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
  children.push(child);
  let said = '';
  let warned = '';
  child.stdout.on('data', (text) => {
    said += text;
  });
  child.stderr.on('data', (text) => {
    warned += text;
  });
  return { child, said: () => said, warned: () => warned };
}

const FOREVER = 'setInterval(() => {}, 1_000);';
const NOTHING = 'release();';

async function taken(one: ReturnType<typeof holder>): Promise<void> {
  while (!one.said().includes('taken') && one.child.stdout) await once(one.child.stdout, 'data');
}

async function ended({ child, warned }: ReturnType<typeof holder>): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  expect(warned()).not.toContain('Error');
  return child.exitCode;
}

/** What an ended process, or none at all, left behind. */
function leave(lock: string | object): void {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, typeof lock === 'string' ? lock : JSON.stringify(lock));
}

describe('a lock of the scripts', () => {
  it('lets in one after the other, also where a killed process has left it', async () => {
    leave({ host: os.hostname(), pid: 2 ** 22 + 1, started: '1', doing: 'that' });
    const log = path.join(directory, 'log');
    const write = (text: string) => `fs.appendFileSync(${JSON.stringify(log)}, '${text}');`;
    const pause = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);';
    const all = Array.from({ length: 6 }, () =>
      holder(`${write('<')}${pause}${write('>')}release();`),
    );
    expect(await Promise.all(all.map(ended))).toEqual(all.map(() => 0));
    expect(fs.readFileSync(log, 'utf8')).toBe('<>'.repeat(all.length));
    expect(fs.readdirSync(path.dirname(file))).toEqual([]);
  });

  it('tells who waits whom it waits for, and lets it in when that process is killed', async () => {
    const first = holder(FOREVER);
    await taken(first);
    const second = holder(NOTHING);
    while (!second.warned().includes('\n') && second.child.stderr)
      await once(second.child.stderr, 'data');
    expect(second.warned()).toBe(`waiting for process ${first.child.pid} that is doing this …\n`);
    expect(second.said()).toBe('');
    first.child.kill('SIGKILL');
    expect(await ended(second)).toBe(0);
    expect(second.said()).toBe('taken\n');
  });

  it('is released by a process that ends without a word, or by an error', async () => {
    for (const work of ['', 'process.exit(3);']) {
      await ended(holder(work));
      expect(fs.existsSync(file)).toBe(false);
    }
  });

  it('holds nobody up when nobody can tell whose it is', async () => {
    for (const lock of ['', 'x', '{}', 'null', { pid: -1 }, { pid: 'x' }]) {
      leave(lock);
      expect(await ended(holder(NOTHING))).toBe(0);
    }
  });

  it.runIf(process.platform === 'linux')(
    'does not take another process with the same number for its holder',
    async () => {
      leave({ host: os.hostname(), pid: process.pid, started: '1', doing: 'that' });
      expect(await ended(holder(NOTHING))).toBe(0);
    },
  );

  it('of another machine counts for as long as its work may take', async () => {
    const lock = { host: `not-${os.hostname()}`, pid: process.pid, doing: 'that' };
    leave(lock);
    const waiting = holder(NOTHING);
    while (!waiting.warned().includes('\n') && waiting.child.stderr)
      await once(waiting.child.stderr, 'data');
    expect(waiting.warned()).toContain(`on not-${os.hostname()}`);
    expect(waiting.warned()).toContain(file);
    const longAgo = Date.now() / 1_000 - 3_600;
    fs.utimesSync(file, longAgo, longAgo);
    expect(await ended(waiting)).toBe(0);
  });
});
