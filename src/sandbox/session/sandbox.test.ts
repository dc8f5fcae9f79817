import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  distributionOf,
  type NamespaceFacts,
  nodeSandboxHost,
  type SandboxHost,
} from '../host/host.js';
import { openSandbox } from './sandbox.js';

const stateDirectory = mkdtempSync(path.join(os.tmpdir(), 'portcullis-open-'));
afterAll(() => rmSync(stateDirectory, { recursive: true, force: true }));

const NO_FACTS: NamespaceFacts = {
  distribution: [],
  appArmorRestricts: false,
  disabledBySysctl: false,
  inContainer: false,
  firstWsl: false,
};

/** A machine whose bubblewrap prints this. */
function machine(more: Partial<SandboxHost>, said = ''): SandboxHost {
  return {
    ...nodeSandboxHost(),
    platform: 'linux',
    arch: 'x64',
    program: (name) => `/usr/bin/${name}`,
    isExecutable: () => true,
    facts: () => NO_FACTS,
    inheritedDescriptors: () => [],
    probe: async (_command, args) =>
      args.includes('--version')
        ? { code: 0, stdout: 'bubblewrap 0.8.0', stderr: '' }
        : { code: said === '' ? 0 : 1, stdout: '', stderr: said },
    ...more,
  };
}

const open = (host: SandboxHost, more: { unixSockets?: 'all' } = {}) =>
  openSandbox({ env: {}, stateDirectory, host, ...more });

describe('openSandbox', () => {
  it.each([
    ['win32', 'Windows'],
    ['freebsd', 'freebsd'],
  ])('has none on %s', async (platform, words) => {
    const sandbox = await open(machine({ platform }));
    expect(sandbox.availability).toMatchObject({ kind: 'unavailable' });
    expect(JSON.stringify(sandbox.availability)).toContain(words);
    const program = { command: 'true', args: [], cwd: '/', env: {} };
    const policy = {
      writable: [],
      protected: [],
      hidden: [],
      shown: [],
      network: { kind: 'none' },
      weaker: {},
    } as const;
    await expect(sandbox.wrap(program, policy)).rejects.toThrow('there is no sandbox here');
  });

  it.each([
    ['debian', 'sudo apt install bubblewrap'],
    ['fedora', 'sudo dnf install bubblewrap'],
    ['arch', 'sudo pacman -S bubblewrap'],
    ['nixos', 'nix-env -iA nixos.bubblewrap'],
    ['unheard-of', 'Install the package bubblewrap'],
  ])('says how to install it on %s', async (id, words) => {
    const facts = (): NamespaceFacts => ({ ...NO_FACTS, distribution: [id] });
    const { availability } = await open(machine({ facts, program: () => undefined }));
    expect(availability).toMatchObject({ missing: 'bwrap is not installed' });
    expect(availability.kind === 'unavailable' && availability.remedy).toContain(words);
  });

  it.each([
    [{ appArmorRestricts: true }, 'bwrap: setting up uid map: Permission denied', 'AppArmor'],
    [{ disabledBySysctl: true }, 'bwrap: No permissions to create new namespace', 'sysctl'],
    [
      { inContainer: true },
      "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
      'container',
    ],
    [{ firstWsl: true }, 'bwrap: prctl failed', 'WSL 1'],
    [{}, 'bwrap: something else', 'by hand'],
  ])('says why it does not run: %j', async (more, said, words) => {
    const facts = (): NamespaceFacts => ({ ...NO_FACTS, ...more });
    const { availability } = await open(machine({ facts }, said));
    expect(availability).toMatchObject({ kind: 'unavailable' });
    expect(availability.kind === 'unavailable' && availability.missing).toContain(said);
    expect(availability.kind === 'unavailable' && availability.remedy).toContain(words);
  });

  it('has none where the calls are not known, unless sockets are open anyway', async () => {
    const host = machine({ arch: 'riscv64' });
    expect((await open(host)).availability).toMatchObject({ kind: 'unavailable' });
    expect((await open(host, { unixSockets: 'all' })).availability).toMatchObject({
      kind: 'available',
    });
  });

  it('has none where descriptors leak that cannot be closed', async () => {
    const isExecutable = (file: string): boolean => file !== '/bin/bash';
    const host = machine({ inheritedDescriptors: () => [27], isExecutable });
    expect((await open(host)).availability).toMatchObject({ kind: 'unavailable' });
    const few = machine({ inheritedDescriptors: () => [7], isExecutable });
    expect((await open(few)).availability).toMatchObject({ kind: 'available' });
  });

  it('builds the rules for macOS, and says that nobody has tried them', async () => {
    const sandbox = await open(machine({ platform: 'darwin' }));
    expect(sandbox.availability).toMatchObject({ kind: 'available', driver: 'seatbelt' });
    const program = { command: '/bin/echo', args: ['x'], cwd: '/', env: { A: '1' } };
    const wrapped = await sandbox.wrap(program, {
      writable: [stateDirectory],
      protected: [],
      hidden: [],
      shown: [],
      network: { kind: 'filtered', allows: async () => false },
      weaker: {},
    });
    expect([wrapped.command, wrapped.args[0], ...wrapped.args.slice(2)]).toEqual([
      '/usr/bin/sandbox-exec',
      '-p',
      '/bin/echo',
      'x',
    ]);
    expect(wrapped.env.A).toBe('1');
    expect(wrapped.env.HTTPS_PROXY).toMatch(/^http:\/\/sandbox:[\w-]+@127\.0\.0\.1:\d+$/);
    const { port } = new URL(wrapped.env.HTTPS_PROXY ?? '');
    expect(wrapped.args[1]).toContain(`"localhost:${port}"`);
    await wrapped.release();
    await sandbox.close();
  });
});

describe('distributionOf', () => {
  it('reads both names', () => {
    expect(distributionOf('NAME="Ubuntu"\nID=ubuntu\nID_LIKE="debian"\n')).toEqual([
      'ubuntu',
      'debian',
    ]);
    expect(distributionOf('')).toEqual([]);
  });
});
