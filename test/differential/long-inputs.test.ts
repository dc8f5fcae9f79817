import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LONG_INPUT_LENGTH, LONG_INPUTS } from './long-inputs.js';

const NAMES = Object.keys(LONG_INPUTS);
const MEGABYTES = 200;
/** What one judgement may take. */
const MOST_STEPS = 1_000_000;

interface Judged {
  readonly name: string;
  readonly outcomes: readonly string[];
  readonly steps: number | null;
}

describe('60 KiB of one thing', () => {
  const program = path.resolve('node_modules/.cache', `judge-long-input-${process.pid}.mjs`);
  let run: SpawnSyncReturns<string>;
  let judged: readonly Judged[];
  beforeAll(async () => {
    await build({
      entryPoints: [path.resolve('test/differential/judge-long-input.ts')],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      loader: { '.md': 'text' },
      logLevel: 'warning',
    });
    const args = [`--max-old-space-size=${MEGABYTES}`, program];
    run = spawnSync(process.execPath, args, { encoding: 'utf8' });
    judged = run.stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  }, 300_000);
  afterAll(() => rmSync(program, { force: true }));

  it(`is judged or asked about with ${MEGABYTES} MB, whatever it is`, () => {
    expect(run.stderr).toBe('');
    expect(judged.map(({ name }) => name)).toEqual(NAMES);
    for (const { outcomes } of judged) {
      expect(outcomes).toHaveLength(2);
      for (const outcome of outcomes) expect(outcome).toMatch(/^(runs|asks|denied)$/);
    }
    expect([run.status, run.signal]).toEqual([0, null]);
  });

  it.each(NAMES)('is read within the counted steps or asked about: %s', (name) => {
    expect((LONG_INPUTS[name] ?? '').length).toBeLessThanOrEqual(LONG_INPUT_LENGTH);
    const steps = judged.find((one) => one.name === name)?.steps;
    if (steps !== null) expect(steps).toBeLessThanOrEqual(MOST_STEPS);
  });

  it.each([
    'deep pattern',
    'deep pattern of rm',
    'pattern behind a variable',
    'starred pattern',
    'array of words',
    'variables',
  ])('is given up early where it consists of very many parts: %s', (name) => {
    expect(judged.find((one) => one.name === name)?.steps).toBeNull();
  });
});
