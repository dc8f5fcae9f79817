import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type CallHost, callHost } from '../../../test/support/tool-call.js';
import { nodeFileSystem as fs } from '../../platform/fs/node-fs.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { notebookEditTool } from './notebook-edit.js';
import { readTool } from './read.js';

const clock = { now: () => 0, monotonic: () => 0, uuid: () => 'abcdef01-2345' };
const edit = notebookEditTool({ fs, clock });
const read = readTool({ fs });
let host: CallHost;
const file = () => path.join(host.cwd, 'n.ipynb');
const content = () => readFileSync(file(), 'utf8');

const notebook = (minor: number) => ({
  cells: [
    { cell_type: 'markdown', ...(minor >= 5 ? { id: 'm1' } : {}), metadata: {}, source: ['# T'] },
    {
      cell_type: 'code',
      ...(minor >= 5 ? { id: 'c1' } : {}),
      execution_count: 3,
      metadata: { keep: true },
      outputs: [{ output_type: 'stream', text: ['o'] }],
      source: ['x = 1\n', 'x'],
    },
  ],
  metadata: { language_info: { name: 'julia' } },
  nbformat: 4,
  nbformat_minor: minor,
});

async function change(
  text: string,
  input: Omit<ToolInputs['NotebookEdit'], 'notebook_path'>,
): ReturnType<typeof host.call> {
  writeFileSync(file(), text);
  await host.call(read, { file_path: 'n.ipynb' });
  return host.call(edit, { notebook_path: 'n.ipynb', ...input });
}

beforeEach(() => {
  host = callHost();
});

describe('NotebookEdit', () => {
  it('replaces a cell, clears its outputs and touches nothing else', async () => {
    const before = `${JSON.stringify(notebook(5), null, 1)}\n`;
    const done = await change(before, { cell_id: 'c1', new_source: 'y = 2\ny' });
    const expected = notebook(5);
    Object.assign(expected.cells[1] ?? {}, {
      execution_count: null,
      outputs: [],
      source: ['y = 2\n', 'y'],
    });
    expect(content()).toBe(`${JSON.stringify(expected, null, 1)}\n`);
    expect(done.structured).toEqual({
      new_source: 'y = 2\ny',
      old_source: 'x = 1\nx',
      cell_id: 'c1',
      cell_type: 'code',
      language: 'julia',
      edit_mode: 'replace',
      error: '',
      notebook_path: file(),
      original_file: before,
      updated_file: content(),
    });
  });

  it.each(['\t', '    ', ''])('keeps indentation %j', async (indent) => {
    const before = JSON.stringify(notebook(5), null, indent);
    await change(before, { cell_id: 'm1', new_source: '# T' });
    expect(content()).toBe(before);
  });

  it('inserts after a cell, or first, with an id where the format has them', async () => {
    await change(JSON.stringify(notebook(5)), {
      cell_id: 'm1',
      new_source: 'z',
      cell_type: 'code',
      edit_mode: 'insert',
    });
    expect(JSON.parse(content()).cells[1]).toEqual({
      cell_type: 'code',
      id: 'abcdef01',
      metadata: {},
      execution_count: null,
      outputs: [],
      source: ['z'],
    });
    const old = await change(JSON.stringify(notebook(4)), {
      new_source: '',
      cell_type: 'markdown',
      edit_mode: 'insert',
    });
    expect(JSON.parse(content()).cells[0]).toEqual({
      cell_type: 'markdown',
      metadata: {},
      source: [],
    });
    expect(old.structured).toMatchObject({ cell_id: 'cell-0', edit_mode: 'insert' });
  });

  it('deletes, by position too, and changes the type of a cell', async () => {
    await change(JSON.stringify(notebook(4)), {
      cell_id: 'cell-0',
      new_source: '',
      edit_mode: 'delete',
    });
    expect(JSON.parse(content()).cells).toHaveLength(1);
    await host.call(edit, {
      notebook_path: 'n.ipynb',
      cell_id: 'cell-0',
      new_source: 'text',
      cell_type: 'markdown',
    });
    expect(JSON.parse(content()).cells).toEqual([
      { cell_type: 'markdown', metadata: { keep: true }, source: ['text'] },
    ]);
  });

  it('refuses what it cannot do, and says why', async () => {
    const text = JSON.stringify(notebook(5));
    const refusal = async (input: Parameters<typeof change>[1]) => {
      const done = await change(text, input);
      expect(done.isError).toBe(true);
      expect(content()).toBe(text);
      return done.text;
    };
    expect(await refusal({ cell_id: 'zz', new_source: '' })).toMatch(/no cell "zz".*m1, c1/);
    expect(await refusal({ cell_id: 'cell-9', new_source: '' })).toMatch(/no cell/);
    expect(await refusal({ new_source: '' })).toMatch(/cell_id is needed/);
    expect(await refusal({ new_source: '', edit_mode: 'insert' })).toMatch(/cell_type is needed/);
    expect((await change('{"a": 1}', { cell_id: 'x', new_source: '' })).text).toMatch(/no list/);
    expect((await change('{', { cell_id: 'x', new_source: '' })).text).toMatch(/not valid JSON/);
    const other = await host.call(edit, { notebook_path: 'a.py', new_source: '' });
    expect(other.text).toMatch(/Use Edit/);
  });

  it('needs a read, and the file as it was read', async () => {
    writeFileSync(file(), JSON.stringify(notebook(5)));
    const call = () =>
      host.call(edit, { notebook_path: 'n.ipynb', cell_id: 'c1', new_source: 'q' });
    expect((await call()).text).toMatch(/not read yet/);
    await host.call(read, { file_path: 'n.ipynb' });
    writeFileSync(file(), JSON.stringify(notebook(4)));
    expect((await call()).text).toMatch(/changed since/);
  });

  it('does not touch a file that writing it anew would damage', async () => {
    const text = JSON.stringify(notebook(5));
    const long = text.replace('"keep":true', '"keep":12345678901234567890');
    const refused = await change(long, { cell_id: 'c1', new_source: 'y' });
    expect(refused).toMatchObject({ isError: true });
    expect(refused.text).toContain('12345678901234567890');
    expect(content()).toBe(long);

    const bytes = Buffer.from(text.replace('julia', 'jul\u0001ia'));
    bytes[bytes.indexOf(1)] = 0xff;
    writeFileSync(file(), bytes);
    await host.call(read, { file_path: 'n.ipynb' });
    const damaged = await host.call(edit, {
      notebook_path: 'n.ipynb',
      cell_id: 'c1',
      new_source: 'y',
    });
    expect(damaged.text).toContain('not valid UTF-8');
    expect(readFileSync(file()).equals(bytes)).toBe(true);
  });
});
