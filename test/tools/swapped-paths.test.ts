import { readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFileSystem as fs } from '../../src/platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { listingTool } from '../../src/tools/files/directory-listing.js';
import { editTool } from '../../src/tools/files/edit.js';
import { notebookEditTool } from '../../src/tools/files/notebook-edit.js';
import { readTool } from '../../src/tools/files/read.js';
import { writeTool } from '../../src/tools/files/write.js';
import type { AnyTool, Tool } from '../../src/tools/tool.js';
import { gateRig } from '../support/gate-rig.js';
import { type CallOutcome, callHost } from '../support/tool-call.js';

const NOTEBOOK = JSON.stringify({
  cells: [{ cell_type: 'code', id: 'one', metadata: {}, source: ['old'], outputs: [] }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
});

let project: TempProject;
beforeEach(() => {
  project = makeTempProject({
    files: {
      'a.txt': 'old\n',
      'secret/a.txt': 'SECRET old\n',
      'secret/big.txt': 'SECRET old\n'.repeat(30_000),
      'secret/book.ipynb': NOTEBOOK,
      'open/a.txt': 'old\n',
      'open/big.txt': 'open old\n'.repeat(40_000),
      'open/book.ipynb': NOTEBOOK,
      link: { symlink: 'a.txt' },
      linked: { symlink: 'open' },
    },
  });
});
afterEach(() => project.remove());

/** A link in the place of what was judged, as another process would put it there. */
const swap = {
  link: () => point('link', 'secret/a.txt'),
  file: () => point('a.txt', 'secret/a.txt'),
  linked: () => point('linked', 'secret'),
  directory: () => {
    renameSync(project.at('open'), project.at('moved'));
    symlinkSync('secret', project.at('open'));
  },
};

function point(name: string, target: string): void {
  rmSync(project.at(name));
  symlinkSync(target, project.at(name));
}

type Input = Record<string, unknown>;

/** Judged by the real gate, then swapped, then run. `seen`: what the agent has read before. */
async function judgeSwapRun<T>(
  tool: Tool<T>,
  input: Input,
  { swapping, seen = [] }: { swapping?: (() => void) | undefined; seen?: readonly string[] } = {},
): Promise<CallOutcome> {
  const rig = gateRig({
    cwd: project.directory,
    home: project.home,
    mode: 'acceptEdits',
    deny: ['Read(./secret/**)', 'Edit(./secret/**)'],
  });
  const host = callHost(project.directory);
  for (const file_path of seen) await host.call(readTool({ fs }), { file_path });
  // The gate's stand-ins know no notebooks.
  const verdict = await rig.call(tool.name.replace('Notebook', ''), {
    file_path: input.notebook_path,
    ...input,
  });
  if (verdict.kind !== 'allowed') throw new Error(verdict.message);
  const touched = verdict.judged.pathsFound();
  expect(touched).toHaveLength(1);
  swapping?.();
  return await host.call(
    { ...tool, run: (given, context, permit) => tool.run(given, { ...context, touched }, permit) },
    input as T,
  );
}

const CHANGED = 'changed while the call was being judged; nothing was read or written';

const secretsAsBefore = (): void => {
  expect(readFileSync(project.at('secret/a.txt'), 'utf8')).toBe('SECRET old\n');
  expect(readFileSync(project.at('secret/book.ipynb'), 'utf8')).toBe(NOTEBOOK);
};

describe('a path that is swapped after it was judged', () => {
  it.each([
    ['link', 'link', swap.link],
    ['a.txt', 'a.txt', swap.file],
    ['linked/a.txt', 'linked', swap.linked],
    ['open/a.txt', 'open', swap.directory],
    ['open/big.txt', 'open', swap.directory],
  ])('is not read: %s', async (name, _what, swapping) => {
    const input = { file_path: project.at(name), offset: 1, limit: 2 };
    const honest = await judgeSwapRun(readTool({ fs }), input);
    expect(honest).toMatchObject({ isError: false, text: expect.stringContaining('old') });
    const { text, isError } = await judgeSwapRun(readTool({ fs }), input, { swapping });
    expect(text).toContain(CHANGED);
    expect(text).not.toContain('SECRET');
    expect(isError).toBe(true);
  });

  it.each([
    ['link', swap.link],
    ['a.txt', swap.file],
    ['linked/a.txt', swap.linked],
    ['open/a.txt', swap.directory],
  ])('is not edited: %s', async (name, swapping) => {
    const file_path = project.at(name);
    const input = { file_path, old_string: 'old', new_string: 'new' };
    const seen = [file_path, project.at('secret/a.txt')];
    const { text } = await judgeSwapRun(editTool({ fs }), input, { swapping, seen });
    expect(text).toContain(CHANGED);
    secretsAsBefore();
  });

  it.each([
    ['link', swap.link],
    ['a.txt', swap.file],
    ['linked/a.txt', swap.linked],
    ['open/a.txt', swap.directory],
    ['linked/new.txt', swap.linked],
    ['open/new.txt', swap.directory],
    ['open/deep/new.txt', swap.directory],
  ])('is not written: %s', async (name, swapping) => {
    const file_path = project.at(name);
    const seen = name.includes('new') ? [] : [file_path, project.at('secret/a.txt')];
    const input = { file_path, content: 'new\n' };
    const { text } = await judgeSwapRun(writeTool({ fs }), input, { swapping, seen });
    expect(text).toContain(CHANGED);
    secretsAsBefore();
    expect(project.exists('secret/new.txt')).toBe(false);
    expect(project.exists('secret/deep')).toBe(false);
  });

  it('is not written where a link is put in the place of a file that is new', async () => {
    const input = { file_path: project.at('open/new.txt'), content: 'new\n' };
    const swapping = (): void => symlinkSync('../secret/made.txt', project.at('open/new.txt'));
    const { text } = await judgeSwapRun(writeTool({ fs }), input, { swapping });
    expect(text).toContain(CHANGED);
    expect(project.exists('secret/made.txt')).toBe(false);
  });

  it('is not changed as a notebook', async () => {
    const notebook_path = project.at('open/book.ipynb');
    const input = { notebook_path, cell_id: 'one', new_source: 'new' };
    const seen = [notebook_path, project.at('secret/book.ipynb')];
    const tool = notebookEditTool({ fs });
    const { text } = await judgeSwapRun(tool, input, { swapping: swap.directory, seen });
    expect(text).toContain(CHANGED);
    secretsAsBefore();
  });

  it('is not listed', async () => {
    const tool = listingTool(readTool({ fs }) as unknown as AnyTool, { fs });
    const input = { file_path: project.at('open') };
    expect((await judgeSwapRun(tool, input)).text).toContain('a.txt');
    const { text } = await judgeSwapRun(tool, input, { swapping: swap.directory });
    expect(text).toContain(CHANGED);
  });
});

describe('a path that stays as it was judged', () => {
  it.each(['link', 'linked/a.txt', 'open/a.txt', 'a.txt'])('is edited: %s', async (name) => {
    const file_path = project.at(name);
    const input = { file_path, old_string: 'old', new_string: 'new' };
    const { isError } = await judgeSwapRun(editTool({ fs }), input, { seen: [file_path] });
    expect(isError).toBe(false);
    expect(project.read(name)).toBe('new\n');
  });

  it.each(['new.txt', 'linked/new.txt', 'open/deep/er/new.txt'])('is made: %s', async (name) => {
    const input = { file_path: project.at(name), content: 'new\n' };
    expect((await judgeSwapRun(writeTool({ fs }), input)).isError).toBe(false);
    expect(project.read(name)).toBe('new\n');
  });
});
