import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { gateRig } from '../support/gate-rig.js';

it('a path that fails at once leaves no other failure without somebody who hears of it', async () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'portcullis-beside-')));
  const home = path.join(root, 'home');
  mkdirSync(home);
  symlinkSync('loop', path.join(root, 'loop'));
  const unheard: unknown[] = [];
  const hear = (reason: unknown): void => void unheard.push(reason);
  process.on('unhandledRejection', hear);
  try {
    const rig = gateRig({ cwd: root, home, mode: 'bypassPermissions', deny: ['Read(.env)'] });
    const deep = `${'a/'.repeat(20_000)}f`;
    const command = `sftp host <<EOF\nput loop\nput ${deep}\nEOF`;
    expect((await rig.call('Bash', { command })).kind).toBe('refused');
    // What nobody heard of is told when the queue of promises is empty.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unheard).toEqual([]);
  } finally {
    process.off('unhandledRejection', hear);
    rmSync(root, { recursive: true, force: true });
  }
});
