import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** The compiler's complaints about the files of this folder. */
function complaints(project: string): readonly string[] {
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(
    process.execPath,
    [tsc, '-p', path.join(import.meta.dirname, project)],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  );
  return stdout.split('\n').filter((line) => /^test\/sdk\/types\//.test(line));
}

describe('programs for the official SDK', () => {
  it('are what its declarations ask for', () => {
    expect(complaints('tsconfig.official.json')).toEqual([]);
  }, 300_000);

  it('compile against our library when only the import is changed', () => {
    expect(complaints('tsconfig.ours.json')).toEqual([]);
  }, 300_000);
});
