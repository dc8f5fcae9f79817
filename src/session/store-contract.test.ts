import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { sessionStoreContract } from '../testing/contracts/session-store.js';
import { createJsonlStore } from './jsonl-store.js';
import { createMemoryStore } from './memory-store.js';

const made: string[] = [];
function temporary(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'session-store-'));
  made.push(directory);
  return directory;
}
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

describe('a store in files', () => {
  const cases = sessionStoreContract(() =>
    createJsonlStore({ configDir: temporary(), cwd: '/home/somebody/project' }),
  );
  for (const { name, run } of cases) it(name, run);
});

describe('a store in memory', () => {
  const cases = sessionStoreContract(() =>
    createMemoryStore({
      directory: temporary(),
      makeDirectory: (directory) => mkdirSync(directory, { recursive: true }),
    }),
  );
  for (const { name, run } of cases) it(name, run);
});
