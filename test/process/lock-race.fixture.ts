import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { withFileLock } from '../../src/platform/fs/file-lock.js';

/** Takes a lock as soon as it may, and says whether it was alone while it had it. */
const [lock = '', start = '', name = ''] = process.argv.slice(2);
writeFileSync(`${start}.${name}`, '');
while (!existsSync(start)) await new Promise((resolve) => setTimeout(resolve, 1));
const inside = `${start}.inside`;
await withFileLock(lock, { staleMs: 60_000, waitMs: 20_000 }, async () => {
  try {
    closeSync(openSync(inside, 'wx'));
  } catch {
    process.stdout.write('TWO AT ONCE\n');
    return;
  }
  await new Promise((resolve) => setTimeout(resolve, 3));
  rmSync(inside);
  process.stdout.write('alone\n');
});
