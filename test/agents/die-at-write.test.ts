import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const DIE = path.resolve(import.meta.dirname, '../fixtures/bin/die-at-write.cjs');

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'die-at-write-'));
  mkdirSync(path.join(root, 'projects'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Runs a module that has `ours` and `other`, names of files, and returns what is in the first one then. */
async function written(code: string, env: Record<string, string>) {
  const ours = path.join(root, 'projects', 'lines.jsonl');
  const names = { ours, other: path.join(root, 'other') };
  const head = `const { ours, other } = ${JSON.stringify(names)};`;
  const program = `import { open, openSync, closeSync, writeSync, fsyncSync } from 'node:fs';${head}${code}`;
  const args = ['-r', DIE, '--input-type=module', '-e', program];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: 'ignore',
  });
  const [, signal] = await once(child, 'exit');
  return { text: readFileSync(ours, 'utf8'), signal };
}

/** As logs write: all from one buffer, from its beginning. */
const SHARED = `
  const desk = Buffer.alloc(1024, 'x');
  const put = (fd, text) => writeSync(fd, desk, 0, desk.write(text));
`;
const TWICE = `${SHARED}
  const fd = openSync(ours, 'a');
  put(fd, '{"first":1}\\n{"second":2}\\n');
  put(fd, '{"third":3}\\n');
`;
const FIRST = '{"first":1}\n{"second":2}\n';

describe('a process that is to die at a write', () => {
  it('leaves half of what it was to write, and nothing else that its buffer holds', async () => {
    const { text, signal } = await written(TWICE, { DIE_AT: '2', DIE_HOW: 'middle' });
    expect([signal, text]).toEqual(['SIGKILL', `${FIRST}{"thir`]);
  });

  it('leaves nothing or all of it where it dies before or after', async () => {
    const before = await written(TWICE, { DIE_AT: '2', DIE_HOW: 'before' });
    expect([before.signal, before.text]).toEqual(['SIGKILL', FIRST]);
    rmSync(path.join(root, 'projects', 'lines.jsonl'));
    const after = await written(TWICE, { DIE_AT: '2', DIE_HOW: 'after' });
    expect([after.signal, after.text]).toEqual(['SIGKILL', `${FIRST}{"third":3}\n`]);
  });

  it.each([
    ['a text', `writeSync(fd, 'äbcdefg')`, 'äbc'],
    ['the middle of a buffer', `writeSync(fd, Buffer.from('__abcdef__'), 2, 6)`, 'abc'],
    ['the end of a buffer', `writeSync(fd, Buffer.from('__abcdef'), 2)`, 'abc'],
    ['a named part', `writeSync(fd, Buffer.from('_abcdef_'), { offset: 1, length: 6 })`, 'abc'],
    ['a view', `writeSync(fd, new Uint8Array(Buffer.from('_abcdef')).subarray(1))`, 'abc'],
  ])('leaves half of %s', async (_what, write, half) => {
    const code = `const fd = openSync(ours, 'a'); ${write};`;
    const { text, signal } = await written(code, { DIE_AT: '1', DIE_HOW: 'middle' });
    expect([signal, text]).toEqual(['SIGKILL', half]);
  });

  it('counts writes to a file that another thread has opened', async () => {
    const code = `open(ours, 'a', 0o600, (failure, fd) => void writeSync(fd, 'abcdef'));`;
    const { text, signal } = await written(code, { DIE_AT: '1', DIE_HOW: 'middle' });
    expect([signal, text]).toEqual(['SIGKILL', 'abc']);
  });

  it('does not count what is written elsewhere, also under the number of a file that was closed', async () => {
    const count = path.join(root, 'count');
    const code = `
      const first = openSync(ours, 'a');
      writeSync(first, 'abc');
      fsyncSync(first);
      closeSync(first);
      open(other, 'a', 0o600, (failure, fd) => {
        if (fd !== first) throw new Error('another number');
        writeSync(fd, 'elsewhere');
      });
    `;
    const { text, signal } = await written(code, { DIE_COUNT: count });
    expect([signal, text, readFileSync(count, 'utf8')]).toEqual([null, 'abc', '2']);
  });
});
