import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Budget } from '../../src/permissions/gate/budget.js';
import { readShell } from '../../src/permissions/shell/syntax/read.js';
import { LONG_INPUT_LENGTH, LONG_INPUTS } from './long-inputs.js';

const NAMES = Object.keys(LONG_INPUTS);
const MEGABYTES = 200;
/** What one judgement may take. */
const MOST_STEPS = 1_000_000;

describe('60 KiB of one thing', () => {
  const program = path.resolve('node_modules/.cache', `judge-long-input-${process.pid}.mjs`);
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
  });
  afterAll(() => rmSync(program, { force: true }));

  it(`is judged or asked about with ${MEGABYTES} MB, whatever it is`, () => {
    const run = spawnSync(process.execPath, [`--max-old-space-size=${MEGABYTES}`, program], {
      encoding: 'utf8',
    });
    expect(run.stderr).toBe('');
    const judged = run.stdout.trim().split('\n');
    expect(judged.map((line) => line.split(':')[0])).toEqual(NAMES);
    for (const line of judged) expect(line).toMatch(/: ((runs|asks|denied) ?){2}$/);
    expect([run.status, run.signal]).toEqual([0, null]);
  }, 300_000);

  it.each(NAMES)('is read within the counted steps or asked about: %s', async (name) => {
    const command = LONG_INPUTS[name] ?? '';
    expect(command.length).toBeLessThanOrEqual(LONG_INPUT_LENGTH);
    const budget = new Budget();
    const { opaque } = await readShell(command, { cwd: '/project', home: '/home' }, budget);
    if (opaque === undefined) expect(budget.spent).toBeLessThanOrEqual(MOST_STEPS);
  });
});
