import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFileSystem as fs } from '../../platform/fs/node-fs.js';
import { openToolApprovals } from '../approval/tool-approvals.js';
import type { RawTool } from '../server.js';
import { openToolCache } from './cache.js';
import { listed, listingOf } from './listing.js';

let stateDirectory: string;
beforeEach(async () => {
  stateDirectory = await mkdtemp(path.join(tmpdir(), 'mcp-tools-'));
});
afterEach(() => rm(stateDirectory, { recursive: true, force: true }));

const server = { name: 'srv', key: 'srv', contentHash: 'h1', origin: { file: '/p/.mcp.json' } };

const raw = (name: string, description = 'd'): RawTool => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
});

const listing = () =>
  listingOf({
    declaration: server,
    tools: [raw('one'), { ...raw('two'), _meta: { 'anthropic/alwaysLoad': true } }, raw('ｂad')],
    instructions: 'Be\u200b kind.',
    serverInfo: { name: 'x', version: '1' },
  });

const fileIn = (folder: string, ending = '.json'): string => {
  const directory = path.join(stateDirectory, folder);
  const found = readdirSync(directory).find((name) => name.endsWith(ending));
  return path.join(directory, found ?? '');
};

describe('the cache of tools', () => {
  it('gives back what a server offered', async () => {
    const cache = openToolCache({ fs, stateDirectory });
    await cache.write(server, listing());
    const read = await cache.read(server);
    const plain = (made: ReturnType<typeof listing> | undefined) => ({
      ...made,
      tools: made?.tools.map((tool) => ({ ...tool, raw: tool.raw })),
    });
    expect(plain(read)).toEqual(plain(listing()));
    expect(read?.instructions).toBe('Be\\u200b kind.');
    expect(statSync(fileIn('mcp-tools')).mode & 0o777).toBe(0o600);
  });

  it('keeps the names in order, and whether the server has resources', async () => {
    const cache = openToolCache({ fs, stateDirectory });
    const tools = ['b.x', 'A', 'c'].map((name) => raw(name));
    const found = listingOf({ declaration: server, tools });
    await cache.write(server, { ...found, hasResources: true });
    const read = openToolCache({ fs, stateDirectory }).read(server);
    expect(read?.hasResources).toBe(true);
    expect(read?.tools.map(({ name }) => name)).toEqual(['A', 'b.x', 'c']);
  });

  it('remembers several servers that are written at once', async () => {
    const cache = openToolCache({ fs, stateDirectory });
    const servers = ['a', 'b', 'c'].map((name) => ({ ...server, name }));
    await Promise.all(servers.map((one) => cache.write(one, listing())));
    for (const one of servers) expect((await cache.read(one))?.tools).toHaveLength(2);
  });

  it.each([
    { name: 'other' },
    { contentHash: 'h2' },
    { origin: { file: '/q/.mcp.json' } },
    { origin: {} },
  ])('is for one server: not for %j', async (more) => {
    const cache = openToolCache({ fs, stateDirectory });
    await cache.write(server, listing());
    expect(await cache.read({ ...server, ...more })).toBeUndefined();
  });

  it.each<[string, (text: string) => string]>([
    ['cut', (text) => text.slice(0, 200)],
    ['empty', () => ''],
    ['no JSON', () => 'x\ny\n'],
  ])('is ignored when it is %s', async (_, edit) => {
    const cache = openToolCache({ fs, stateDirectory });
    await cache.write(server, listing());
    const file = fileIn('mcp-tools');
    writeFileSync(file, edit(readFileSync(file, 'utf8')));
    expect(await cache.read(server)).toBeUndefined();
  });

  it('is ignored when others may write it', async () => {
    const cache = openToolCache({ fs, stateDirectory });
    await cache.write(server, listing());
    chmodSync(path.join(stateDirectory, 'mcp-tools'), 0o777);
    expect(await cache.read(server)).toBeUndefined();
  });
});

describe('approvals of definitions', () => {
  it('are kept with the definition', async () => {
    const approvals = openToolApprovals({ fs, stateDirectory });
    expect(approvals.read(server).tools.get('one')).toBeUndefined();
    const one = listed(raw('one', 'old'));
    await Promise.all([
      approvals.record(server, [one]),
      approvals.record(server, [listed(raw('two'))]),
    ]);
    const read = await openToolApprovals({ fs, stateDirectory }).read(server);
    expect(read.damaged).toBe(false);
    expect(read.tools.get('one')?.fingerprint).toBe(one.fingerprint);
    expect(read.tools.get('two')?.fingerprint).toBeDefined();
    expect(read.tools.get('one')?.definition).toMatchObject({ description: 'old' });
    expect(statSync(fileIn('mcp-approvals', '.json')).mode & 0o777).toBe(0o600);
  });

  it('stay as they were when they were read', async () => {
    await openToolApprovals({ fs, stateDirectory }).record(server, [listed(raw('one', 'first'))]);
    const approvals = openToolApprovals({ fs, stateDirectory });
    const read = approvals.read(server);
    const before = read.tools.get('one')?.fingerprint;
    expect(before).toBe(listed(raw('one', 'first')).fingerprint);
    await approvals.record(server, [listed(raw('one', 'second'))]);
    expect(read.tools.get('one')?.fingerprint).toBe(before);
    expect(approvals.read(server).tools.get('one')?.fingerprint).not.toBe(before);
  });

  it('that are damaged are not the same as none, and stay so until they are forgotten', async () => {
    const approvals = openToolApprovals({ fs, stateDirectory });
    await approvals.record(server, [listed(raw('one')), listed(raw('two'))]);
    writeFileSync(fileIn('mcp-approvals', '.json'), '{}');
    expect((await approvals.read(server)).damaged).toBe(true);
    await approvals.record(server, [listed(raw('one'))]);
    const read = await approvals.read(server);
    expect(read.tools.get('one')?.fingerprint).toBeDefined();
    expect(read.damaged).toBe(true);
    await approvals.forget(server);
    await approvals.record(server, [listed(raw('one'))]);
    expect((await approvals.read(server)).damaged).toBe(false);
  });

  it('say when they cannot be kept', async () => {
    const blocked = path.join(stateDirectory, 'file');
    writeFileSync(blocked, '');
    const approvals = openToolApprovals({ fs, stateDirectory: path.join(blocked, 'below') });
    await expect(approvals.record(server, [listed(raw('one'))])).rejects.toThrow(/stored/);
  });
});
