import { describe, expect, it } from 'vitest';
import { readSettings } from './settings-option.js';
import type { Options } from './types/index.js';

const read = async (options: Options): Promise<unknown> =>
  JSON.parse((await readSettings(options, '/p')) ?? 'null');

describe('the options settings and sandbox together', () => {
  const settings = {
    model: 'm',
    sandbox: {
      enabled: true,
      allowUnsandboxedCommands: false,
      network: { deniedDomains: ['a.example'], strictAllowlist: true },
      filesystem: { denyRead: ['~/.ssh'], denyWrite: ['/etc'] },
    },
  };
  const sandbox = {
    enabled: false,
    allowUnsandboxedCommands: true,
    autoAllowBashIfSandboxed: true,
    network: { deniedDomains: ['b.example'], allowLocalBinding: true },
    filesystem: { denyRead: ['~/.aws'] },
  };
  const both = {
    model: 'm',
    sandbox: {
      enabled: true,
      allowUnsandboxedCommands: false,
      autoAllowBashIfSandboxed: true,
      network: {
        deniedDomains: ['a.example', 'b.example'],
        strictAllowlist: true,
        allowLocalBinding: true,
      },
      filesystem: { denyRead: ['~/.ssh', '~/.aws'], denyWrite: ['/etc'] },
    },
  };

  it('add up their lists, and the strict value of a switch wins', async () => {
    expect(await read({ settings, sandbox } as Options)).toEqual(both);
    expect(await read({ settings: JSON.stringify(settings), sandbox } as Options)).toEqual(both);
  });

  it.each([
    [{ sandbox: 'on' }],
    [{ sandbox: { network: { deniedDomains: 'a.example' } } }],
    [{ sandbox: null }],
  ])('are refused when one of them cannot be read: %j', async (wrong) => {
    await expect(read({ settings: wrong, sandbox } as unknown as Options)).rejects.toThrow();
  });
});
