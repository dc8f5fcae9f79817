import { spawn } from 'node:child_process';
import path from 'node:path';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { listChildren } from '../../src/platform/process/process-registry.js';
import { isGone, pidsIn, temporaryDirectory, until } from './helpers.js';

const program = path.join(
  import.meta.dirname,
  '..',
  '..',
  'node_modules',
  '.cache',
  'test-owner.mjs',
);

beforeAll(async () => {
  await build({
    entryPoints: [path.join(import.meta.dirname, 'owner.fixture.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
});

describe('when the program itself dies', () => {
  for (const mode of ['wait', 'exit']) {
    it(`ends what it started (${mode === 'wait' ? 'kill -9' : 'exit without cleaning up'})`, async () => {
      const stateDirectory = temporaryDirectory();
      const owner = spawn(process.execPath, [program, stateDirectory, mode], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      owner.stdout.on('data', (chunk) => {
        output += chunk;
      });
      const ended = new Promise((resolve) => owner.once('exit', resolve));
      expect(await until(() => output.includes('ready'))).toBe(true);
      const pids = pidsIn(output);
      expect(pids).toHaveLength(5);
      if (mode === 'wait') {
        expect(pids.filter(isGone)).toEqual([]);
        const labels = listChildren(stateDirectory).map(
          (child) => `${child.label} ${child.ownerAlive}`,
        );
        expect(labels.sort()).toEqual(['background true', 'background true', 'left behind true']);
        owner.kill('SIGKILL');
      }
      await ended;
      expect(await until(() => pids.every(isGone))).toBe(true);
      // A leader may take a moment longer than what it led.
      expect(await until(() => listChildren(stateDirectory).length === 0)).toBe(true);
    });
  }
});

describe('without named pipes', () => {
  it('runs on the pipes that Node makes', async () => {
    const child = spawn(process.execPath, [program, temporaryDirectory(), 'exit'], {
      // No mkfifo to be found.
      env: { PATH: temporaryDirectory() },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    await new Promise((resolve) => child.once('close', resolve));
    expect(output).toContain('ready');
    const pids = pidsIn(output);
    expect(pids).toHaveLength(5);
    expect(await until(() => pids.every(isGone))).toBe(true);
  });
});
