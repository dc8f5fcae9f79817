import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { transcriptStoreContract } from '../testing/contracts/transcript-store.js';
import { FileSessionStore, InMemorySessionStore } from './session-stores.js';

const made: string[] = [];
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

transcriptStoreContract({ describe, it }, 'InMemorySessionStore', () => new InMemorySessionStore());
transcriptStoreContract({ describe, it }, 'FileSessionStore', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'sdk-store-'));
  made.push(directory);
  return new FileSessionStore(directory);
});
