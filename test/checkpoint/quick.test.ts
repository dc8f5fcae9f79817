import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Checkpoints } from '../../src/checkpoint/checkpoints.js';
import { openBlobStore } from '../../src/checkpoint/disk/blob-store.js';
import { openCheckpoints } from '../../src/checkpoint/open.js';
import { openTracker } from '../../src/checkpoint/scan/tracker.js';
import type { Author } from '../../src/checkpoint/types.js';

let home: string;
let root: string;
let checkpoints: Checkpoints;

beforeEach(async () => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'portcullis-quick-')));
  root = path.join(home, 'project');
  fs.mkdirSync(root);
  const directory = path.join(home, 'state');
  const store = openBlobStore({ directory });
  checkpoints = await openCheckpoints({
    root,
    directory,
    sessionId: 'one',
    store,
    openTracker: () => openTracker({ root, store }),
    waitMs: 20_000,
    smallLookMs: Number.POSITIVE_INFINITY,
  });
  checkpoints.mark('m1', 'go');
});

afterEach(async () => {
  await checkpoints.close();
  fs.rmSync(home, { recursive: true, force: true });
});

const by = (toolUseId: string): Author => ({
  kind: 'call',
  toolUseId,
  tool: 'Bash',
  agent: { id: 'main', type: 'main', path: 'main' },
});
const write = (name: string, text = name): void => fs.writeFileSync(path.join(root, name), text);
describe('calls that follow each other at once', () => {
  it('keep what the person wrote in between, though the next one writes over it', async () => {
    write('f', 'first');
    for (const call of ['a', 'b']) {
      const window = await checkpoints.begin(by(call));
      write('f', `of ${call}`);
      window.end();
      if (call === 'b') await window.changes;
      else {
        await new Promise((resolve) => setTimeout(resolve, 1));
        write('f', 'mine');
      }
    }
    const rewound = await checkpoints.rewind({ kind: 'call', toolUseId: 'b' });
    expect(rewound.kind).toBe('done');
    expect(fs.readFileSync(path.join(root, 'f'), 'utf8')).toBe('mine');
  });

  it('end in the journal when what they did stands in it', async () => {
    const window = await checkpoints.begin(by('a'));
    write('f');
    window.end();
    const entries = (): string[] =>
      fs
        .readFileSync(path.join(home, 'state/sessions/one.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).t);
    expect(entries()).not.toContain('end');
    await window.changes;
    expect(entries().slice(-2)).toEqual(['changes', 'end']);
  });
});
