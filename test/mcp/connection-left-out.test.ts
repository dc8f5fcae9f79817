import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectTo, nodeEntry } from './connection-rig.js';

const FIXTURE = path.join(import.meta.dirname, 'connection-left-out.fixture.mjs');

function serverWith(lists: Readonly<Record<string, unknown>>) {
  const notes: string[] = [];
  const entry = nodeEntry([FIXTURE, JSON.stringify(lists)]);
  const connection = connectTo(entry, { onNote: (note) => notes.push(note) });
  return { connection, notes };
}

describe('resources that cannot be used', () => {
  const resources = [
    { uri: 'note://a', name: 'a' },
    7,
    { name: 'no uri' },
    { uri: '', title: 'empty' },
    { uri: 'note://hid\u200bden', name: 'h' },
    { uri: 'note://two\nlines', name: 't' },
    { uri: `note://${'x'.repeat(9_000)}`, name: 'long' },
    { uri: 'note://a', name: 'again' },
    { uri: 'note://b' },
  ];

  it('are named once with their reasons, and the others are listed', async () => {
    const { connection, notes } = serverWith({ resources });
    const listed = await connection.listResources();
    await connection.listResources();
    expect(listed.ok && listed.value.map(({ uri, name }) => [uri, name])).toEqual([
      ['note://a', 'a'],
      ['note://b', 'note://b'],
    ]);
    expect(notes).toHaveLength(1);
    const [note = ''] = notes;
    expect(note).toMatch(/^resources of the MCP server "srv" that are not offered: /);
    expect(note).toContain('one without a name (it is not an object)');
    expect(note).toContain('"no uri" (it has no URI)');
    expect(note).toContain('"empty" (it has no URI)');
    expect(note).toContain('"note://hid\\\\u200bden" (its URI holds characters');
    expect(note).toContain('(its URI has 9007 characters)');
    expect(note).toContain('"note://a" (it is listed more than once');
    expect(note).not.toMatch(/[\u200b\n]/);
    expect(note.length).toBeLessThan(2_500);
    expect(connection.status().leftOut).toEqual(notes);
  });
});

describe('prompts that cannot be used', () => {
  it('are named once with their reasons', async () => {
    const { connection, notes } = serverWith({
      prompts: [
        { name: 'good', arguments: null },
        { title: 'nameless' },
        { name: 'de\u200bploy' },
        { name: 'a b' },
        { name: 'a_b' },
        { name: 'odd', arguments: [{ description: 'no name' }, { name: 'x' }] },
        { name: 'odder', arguments: { name: 'x' } },
      ],
    });
    const listed = await connection.listPrompts();
    expect(listed.ok && listed.value.map(({ name }) => name)).toContain('good');
    const [note = '', ...more] = notes;
    expect(more).toEqual([]);
    expect(note).toMatch(/^prompts of the MCP server "srv" that are not offered: /);
    expect(note).toContain('"nameless" (it has no name)');
    expect(note).toContain('"de\\\\u200bploy" (its name holds characters that are not seen)');
    expect(note).toContain('"a b" (another one has the same name');
    expect(note).toContain('"a_b" (another one has the same name');
    expect(note).toContain('"odd" (one of its arguments has no name)');
    expect(note).toContain('"odder" (its arguments are no list)');
    expect(note).not.toContain('good');
  });

  it('are told in a text of bounded length, however many there are', async () => {
    const name = '\u202e'.repeat(300);
    const { connection, notes } = serverWith({ prompts: { many: 5_000, name } });
    await connection.listPrompts();
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain('; and 4990 more');
    expect(notes[0]?.length).toBeLessThan(10_000);
  });
});

describe('a list that cannot be had', () => {
  it.each([
    ['too many', { many: 10_001, name: 'p' }, 'lists more than 10000'],
    ['an error', 'error', 'no list today'],
    ['no list', { a: 1 }, 'not MCP'],
  ])('is told of: %s', async (_, list, said) => {
    const { connection, notes } = serverWith({ prompts: list, resources: list });
    expect((await connection.listPrompts()).ok).toBe(false);
    expect((await connection.listResources()).ok).toBe(false);
    expect(notes).toEqual([
      expect.stringMatching(/^no prompts are offered: MCP server "srv" /),
      expect.stringMatching(/^no resources are offered: MCP server "srv" /),
    ]);
    expect(notes[0]).toContain(said);
    expect(connection.status().leftOut).toEqual(notes);
  });

  it('is not worth a word where the server knows of none, and all is well where nothing is wrong', async () => {
    const { connection, notes } = serverWith({ resources: [{ uri: 'x:y', name: 'y' }] });
    expect((await connection.listPrompts()).ok).toBe(false);
    expect((await connection.listResources()).ok).toBe(true);
    expect(notes).toEqual([]);
    expect(connection.status().leftOut).toBeUndefined();
  });
});
