import fs from 'node:fs';
import path from 'node:path';
import { openBlobStore } from '../../src/checkpoint/disk/blob-store.js';
import { openCheckpoints } from '../../src/checkpoint/open.js';
import { openTracker } from '../../src/checkpoint/scan/tracker.js';
import type { Author } from '../../src/checkpoint/types.js';

/** A program that works on a tree until it is killed: `<rewind|write> <home> <session>`. */
const [what = '', home = '', session = ''] = process.argv.slice(2);
const root = path.join(home, 'tree');
const directory = path.join(home, 'state');
const store = openBlobStore({ directory });
const checkpoints = await openCheckpoints({
  root,
  directory,
  sessionId: session,
  store,
  openTracker: () => openTracker({ root, store }),
  waitMs: 20_000,
  smallLookMs: Number.POSITIVE_INFINITY,
});

const author = (toolUseId: string): Author => ({
  kind: 'call',
  toolUseId,
  tool: 'Bash',
  agent: { id: 'main', type: 'main', path: 'main' },
});

/** To and fro between the two states of the tree. */
async function rewindForever(): Promise<never> {
  fs.writeSync(2, 'ready\n');
  for (;;) {
    const redone = await checkpoints.redo();
    const result =
      redone.kind === 'done'
        ? redone
        : await checkpoints.rewind({ kind: 'message', messageId: 'm1' });
    const isGood =
      result.kind === 'done' && result.failed.length === 0 && result.plan.conflicts.length === 0;
    if (!isGood) fs.writeSync(2, `${JSON.stringify(result)}\n`);
    fs.writeSync(1, 'once\n');
  }
}

/** One call after the other, each with its own files; says so when the journal has one. */
async function writeForever(): Promise<never> {
  checkpoints.mark('m1', 'write');
  await checkpoints.changes();
  fs.writeSync(2, 'ready\n');
  for (let call = 0; ; call++) {
    const window = await checkpoints.begin(author(`call-${call}`));
    fs.writeFileSync(path.join(root, `old-${call % 7}`), `call ${call}\n`);
    fs.writeFileSync(path.join(root, `new-${call}`), `call ${call}\n`);
    window.end();
    await window.changes;
    fs.writeSync(1, `${call}\n`);
  }
}

await (what === 'rewind' ? rewindForever() : writeForever());
