import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFileSystem as fs } from '../../platform/fs/node-fs.js';
import { readDocument } from './read.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'mcp-config-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const read = async (text: string) => {
  const file = path.join(directory, '.mcp.json');
  await writeFile(file, text);
  const found = await readDocument(fs, { file, severity: 'warning', maxBytes: 10_000 });
  if (found.kind !== 'document') throw new Error(found.kind);
  return found.document;
};

describe('a document with servers', () => {
  const value = { mcpServers: { one: { command: 'a', args: ['x'] }, two: { command: 'b' } } };

  it.each([
    ['on one line', JSON.stringify(value), 1],
    ['as programs write it', `${JSON.stringify(value, null, 2)}\n`, 9],
    [
      'as people write it',
      '{"mcpServers": {"one": {"command": "a", "args": ["x"]},\n"two": {"command": "b"}}}',
      2,
    ],
  ])('%s says what it holds, and on which line', async (_, text, line) => {
    const document = await read(text);
    expect(document.value).toEqual(value);
    expect(document.lineOf(['mcpServers', 'two'])).toBe(line);
    expect(document.lineOf(['mcpServers', 'three'])).toBeUndefined();
    expect(document.problems).toEqual([]);
  });

  it.each([
    '{"mcpServers":{"one":{"command":"a"},"one":{"command":"b"}}}',
    '{\n  "mcpServers": {\n    "one": {},\n    "one": {}\n  }\n}',
  ])('tells that a name stands twice: %j', async (text) => {
    expect((await read(text)).problems[0]?.message).toContain('is written twice');
  });
});
