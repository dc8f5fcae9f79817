import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/platform/clock.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';
import { openBuiltins } from '../../src/tools/builtin/builtin-tools.js';
import { defineTool } from '../../src/tools/define-tool.js';
import { createWorkspace } from '../../src/tools/workspace.js';
import { callTool } from '../support/permitted-call.js';

/** All that a new tool takes: this definition, and its place in the list of tools. */
const countWords = defineTool<{ readonly text: string }>({
  name: 'CountWords',
  kind: 'read',
  description: 'Counts the words of a text.\n',
  schema: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: false,
  },
  check: async ({ text }) => (text === '' ? [{ path: '/text', message: 'is empty' }] : []),
  subject: ({ text }) => ({ paths: [], summary: `count words of ${text.length} characters` }),
  run: async ({ text }) => ({ content: `${text.split(/\s+/).length} words` }),
});

const open = (more: {
  readonly offered?: readonly string[];
  readonly banned?: readonly string[];
}) =>
  openBuiltins({
    fs: nodeFileSystem,
    clock: systemClock,
    processes: createProcessSupervisor(),
    env: {},
    workspace: createWorkspace(['/']),
    configDir: '/',
    sessionId: 'none',
    hasPerson: false,
    offered: more.offered,
    allowed: [],
    banned: more.banned ?? [],
    jsonSchema: undefined,
    more: [countWords],
    summarise: async () => undefined,
  });

describe('a tool that one definition describes', () => {
  it('is offered, told to the model and found like every other one', async () => {
    const { pool } = await open({});
    expect(pool.resolve('countwords')).toBe(countWords);
    const told = pool.definitions.find(({ name }) => name === 'CountWords');
    expect(told).toMatchObject({ description: 'Counts the words of a text.' });
    expect((await open({ offered: ['Read'] })).pool.names).toEqual(['Read']);
    expect((await open({ offered: ['CountWords'] })).pool.names).toEqual(['CountWords']);
    expect((await open({ banned: ['countWORDS'] })).pool.names).not.toContain('CountWords');
  });

  it('has its input checked by its schema, then by its own check', async () => {
    expect(await countWords.validate({ text: 'a b' })).toEqual([]);
    expect(await countWords.validate({ text: 1 })).toMatchObject([{ path: '/text' }]);
    expect(await countWords.validate({ text: 'a', more: 1 })).toHaveLength(1);
    expect(await countWords.validate({ text: '' })).toEqual([
      { path: '/text', message: 'is empty' },
    ]);
  });

  it('runs with a permit, and alone unless it says otherwise', async () => {
    expect(await callTool(countWords, { text: 'one two' })).toMatchObject({ content: '2 words' });
    expect(countWords.concurrencySafe({ text: '' })).toBe(false);
  });

  it('cannot be without a schema', () => {
    const { description: _, ...spec } = countWords.definition;
    expect(() =>
      defineTool({ ...countWords, ...spec, description: '', schema: undefined }),
    ).toThrow('CountWords has no schema');
  });
});
