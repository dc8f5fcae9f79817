import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let directory = '';
let program = '';
beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'portcullis-race-'));
  program = path.join(directory, 'race.mjs');
  await build({
    entryPoints: [path.join(import.meta.dirname, 'lock-race.fixture.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const PROCESSES = 6;
const ROUNDS = 4;

/** What each process said of its time inside. */
async function race(round: number): Promise<readonly string[]> {
  const lock = path.join(directory, `${round}.lock`);
  const start = path.join(directory, `${round}.start`);
  mkdirSync(lock);
  writeFileSync(path.join(lock, '1'), JSON.stringify({ pid: 4_194_305 }));
  utimesSync(path.join(lock, '1'), new Date(0), new Date(0));
  const names = Array.from({ length: PROCESSES }, (_, at) => String(at));
  const said = names.map((name) => {
    const child = spawn(process.execPath, [program, lock, start, name]);
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += String(chunk);
    });
    return new Promise<string>((resolve) => child.on('close', () => resolve(text.trim())));
  });
  while (!names.every((name) => existsSync(`${start}.${name}`))) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  writeFileSync(start, '');
  return await Promise.all(said);
}

describe('processes that find a stale lock at the same time', () => {
  it('hold it one after the other', { timeout: 60_000 }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      expect(await race(round)).toEqual(Array.from({ length: PROCESSES }, () => 'alone'));
    }
  });
});
