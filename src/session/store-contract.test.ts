import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { sessionStoreContract } from '../testing/contracts/session-store.js';
import { createJsonlStore } from './transcript/jsonl-store.js';
import { createMemoryStore } from './transcript/memory-store.js';

const made: string[] = [];
function temporary(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'session-store-'));
  made.push(directory);
  return directory;
}
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

sessionStoreContract({ describe, it }, 'a store in files', () =>
  createJsonlStore({ configDir: temporary(), cwd: '/home/somebody/project' }),
);

sessionStoreContract({ describe, it }, 'a store in memory', () =>
  createMemoryStore({ directory: temporary() }),
);
