import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { whyNot } from './inside.js';

const NOBODY = 65_534;
const reason =
  process.getuid?.() === 0 ? await whyNot() : 'the other tests run as an ordinary user here';

/** The fence as an ordinary user has it: the whole of it is tried in a process of its own. */
const SCRIPT = `
import { spawnSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { openSandbox } from './open.mjs';
const base = process.argv[2];
mkdirSync(base + '/project/.git/hooks', { recursive: true });
writeFileSync(base + '/secret', 'hunter2');
const reach = {
  resolve: async () => ['198.51.99.7'],
  connect: async (address, port) => { throw new Error('dialled ' + address + ':' + port); },
  upstream: () => undefined,
};
const sandbox = await openSandbox({ env: {}, stateDirectory: base + '/state', reach });
const results = { availability: sandbox.availability };
const run = async (name, script, more = {}) => {
  const policy = { writable: [base + '/project'], protected: [base + '/project/.git/hooks', base + '/project/.vscode'], hidden: [base + '/secret'], shown: [], network: { kind: 'none' }, weaker: {}, ...more };
  const wrapped = await sandbox.wrap({ command: '/bin/bash', args: ['-c', script], cwd: base + '/project', env: { PATH: '/usr/bin:/bin' } }, policy);
  const child = spawn(wrapped.command, wrapped.args, { cwd: wrapped.cwd, env: wrapped.env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  child.stdout.on('data', (d) => (out += d));
  child.stderr.on('data', (d) => (out += d));
  await new Promise((resolve) => child.once('close', resolve));
  await wrapped.release();
  results[name] = out;
};
await run('write', 'echo ok > file; echo x > ../x; echo x > .git/hooks/pre-commit; mv .git g; mkdir .vscode/x; cat file');
await run('read', 'cat ../secret; id -u; ls -A');
await run('namespaces', 'unshare -U true && echo GOT; mount -t tmpfs none /mnt && echo GOT; grep CapEff /proc/self/status');
await run('socket', 'curl -s --unix-socket ' + base + '/x.sock http://x/; perl -e \\'socket(S,1,1,0) and print "GOT"; print $!\\'');
await run('allowed', 'curl -s http://good.example/; curl -s http://evil.example/', { network: { kind: 'filtered', allows: async (host) => host === 'good.example' } });
results.left = readdirSync(base + '/project');
results.outside = existsSync(base + '/x');
await sandbox.close();
console.log(JSON.stringify(results));
`;

describe.skipIf(reason !== undefined)(`an ordinary user${reason ? ` (${reason})` : ''}`, () => {
  it('has the same fence', async () => {
    const base = mkdtempSync('/srv/portcullis-sandbox-nobody-');
    try {
      await build({
        entryPoints: [path.resolve(import.meta.dirname, '../../src/sandbox/session/sandbox.ts')],
        bundle: true,
        format: 'esm',
        platform: 'node',
        target: 'node20',
        outfile: path.join(base, 'open.mjs'),
        logLevel: 'error',
      });
      writeFileSync(path.join(base, 'try.mjs'), SCRIPT);
      const home = path.join(base, 'home');
      mkdirSync(home);
      chmodSync(base, 0o755);
      chownSync(home, NOBODY, NOBODY);
      const ran = spawnSync(process.execPath, [path.join(base, 'try.mjs'), home], {
        uid: NOBODY,
        gid: NOBODY,
        cwd: home,
        env: { PATH: '/usr/bin:/bin', HOME: home },
        encoding: 'utf8',
      });
      expect(ran.stderr).toBe('');
      const results = JSON.parse(ran.stdout);
      expect(results.availability).toMatchObject({ kind: 'available' });
      expect(results.write).toContain('ok');
      expect(results.write).toContain('pre-commit: Read-only file system');
      expect(results.read).not.toContain('hunter2');
      expect(results.read).toContain(`${NOBODY}`);
      expect(results.namespaces).not.toContain('GOT');
      expect(results.namespaces).toContain('0000000000000000');
      expect(results.socket).toBe('Operation not permitted');
      expect(results.allowed).toContain('dialled 198.51.99.7:80');
      expect(results.allowed).toContain('evil.example:80 is not an allowed host');
      expect(results.left.sort()).toEqual(['.git', 'file']);
      expect(results.outside).toBe(false);
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  });
});
