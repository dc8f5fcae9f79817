import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';

it('plays the golden scenarios as recorded; `node test/golden/run.mjs --write` accepts a change', () => {
  const run = path.join(import.meta.dirname, 'run.mjs');
  expect(execFileSync(process.execPath, [run], { encoding: 'utf8' })).toMatch(
    /^9 of 9 scenarios agree/,
  );
});
