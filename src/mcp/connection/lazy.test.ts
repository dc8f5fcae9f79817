import { describe, expect, it } from 'vitest';
import { ok } from '../../lib/result.js';
import type { ListKind, ServerDeclaration, ServerStatus } from '../server.js';
import type { ClientConnection } from './deps.js';
import { lazyConnection } from './lazy.js';

const declaration: ServerDeclaration = {
  name: 'srv',
  key: 'srv',
  scope: 'user',
  entry: { type: 'stdio', command: 'none', args: [], env: {} },
  origin: {},
  standing: { kind: 'ready' },
  contentHash: '',
};
const CONNECTED: ServerStatus = {
  name: 'srv',
  scope: 'user',
  transport: 'stdio',
  state: 'connected',
};

/** Writes down what is wanted of it. */
function recorded() {
  const seen: string[] = [];
  const listeners: ((change: ListKind | 'state') => void)[] = [];
  const note = async <T>(what: string, value: T) => {
    seen.push(what);
    return ok(value);
  };
  const real: ClientConnection = {
    declaration,
    status: () => CONNECTED,
    connect: () => note('connect', CONNECTED),
    reconnect: () => note('reconnect', CONNECTED),
    listTools: () => note('tools', []),
    listResources: () => note('resources', []),
    listPrompts: () => note('prompts', []),
    call: ({ tool }) => note(`call ${tool}`, { content: [] }),
    readResource: (uri) => note(`read ${uri}`, []),
    getPrompt: (name) => note(`prompt ${name}`, []),
    onChange: (listener) => void listeners.push(listener),
    rootsChanged: async () => void seen.push('roots'),
    stderr: () => 'words',
    close: async () => void seen.push('close'),
  };
  let count = 0;
  const make = async (): Promise<ClientConnection> => {
    count += 1;
    return real;
  };
  return { seen, listeners, make, count: () => count };
}

describe('a connection that is made when it is wanted', () => {
  it('is not made for looking at it or closing it', async () => {
    const { make, count, seen } = recorded();
    const lazy = lazyConnection(declaration, make);
    expect(lazy.status()).toMatchObject({ name: 'srv', transport: 'stdio', state: 'pending' });
    expect(lazy.stderr()).toBe('');
    await lazy.rootsChanged();
    await lazy.close();
    expect(count()).toBe(0);
    expect(seen).toEqual([]);
  });

  it('is made once, and then it is the real one', async () => {
    const { make, count, seen, listeners } = recorded();
    const lazy = lazyConnection(declaration, make);
    lazy.onChange(() => seen.push('first'));
    const { signal } = new AbortController();
    await Promise.all([
      lazy.connect(),
      lazy.listTools(),
      lazy.call({ tool: 'one', arguments: {} }, signal),
      lazy.readResource('x', signal),
      lazy.getPrompt('p', {}, signal),
    ]);
    lazy.onChange(() => seen.push('second'));
    for (const listener of listeners) listener('tools');
    await lazy.rootsChanged();
    await lazy.close();
    expect(count()).toBe(1);
    expect(lazy.status()).toBe(CONNECTED);
    expect(lazy.stderr()).toBe('words');
    expect(seen).toEqual([
      ...['connect', 'tools', 'call one', 'read x', 'prompt p'],
      ...['first', 'second', 'roots', 'close'],
    ]);
  });

  it('is made anew after it could not be made, and closes all the same', async () => {
    const { make, seen } = recorded();
    let isBroken = true;
    const lazy = lazyConnection(declaration, async () => {
      if (isBroken) throw new Error('not now');
      return await make();
    });
    await expect(lazy.listTools()).rejects.toThrow('not now');
    await lazy.close();
    isBroken = false;
    await lazy.listTools();
    expect(seen).toEqual(['close', 'tools']);
  });

  it('stays closed when it was closed before', async () => {
    const { make, seen } = recorded();
    const lazy = lazyConnection(declaration, make);
    await lazy.close();
    await lazy.listTools();
    expect(seen).toEqual(['close', 'tools']);
  });
});
