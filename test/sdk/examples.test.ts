import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const DIRECTORY = path.resolve(import.meta.dirname, '../../examples');
const examples = readdirSync(DIRECTORY).filter(
  (name) => name.endsWith('.mjs') && name !== 'support.mjs',
);

function play(name: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, [path.join(DIRECTORY, name)], {
    cwd: DIRECTORY,
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
}

describe('the examples', () => {
  it('are a dozen at least', () => {
    expect(examples.length).toBeGreaterThanOrEqual(12);
  });

  it.each(examples)(
    '%s runs and finds its own result right',
    async (name) => {
      const { code, output } = await play(name);
      expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/\S/) });
    },
    60_000,
  );
});
