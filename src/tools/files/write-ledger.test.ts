import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { changeFile } from './change-file.js';
import { editTool } from './edit.js';
import { createReadState, versionOf } from './read-state.js';
import { writeWhole } from './write.js';
import { createWriteLedger, type WriteLedger, type Writer } from './write-ledger.js';

let directory = '';
let file = '';
let ledger: WriteLedger;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'ledger-')));
  file = join(directory, 'a.txt');
  writeFileSync(file, 'one\n');
  ledger = createWriteLedger();
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const agentAt = (path: string): Writer => ({
  readState: createReadState(),
  agent: { path },
  toolUseId: `call-of-${path}`,
  ledger,
});

async function hasRead(writer: Writer, path = file): Promise<void> {
  const stat = await nodeFileSystem.stat(path);
  if (stat !== undefined) writer.readState.note(path, versionOf(stat, readFileSync(path)));
}

const write = (writer: Writer, content: string, path = file) =>
  changeFile({ fs: nodeFileSystem, ledger }, { path, context: writer }, (one) =>
    writeWhole(nodeFileSystem, { path, content }, one),
  );

describe('a file that somebody else changed', () => {
  it('names the agent that wrote it', async () => {
    const [a, b] = [agentAt('main/a#1'), agentAt('main/b#1')];
    await hasRead(a);
    await hasRead(b);
    expect((await write(a, 'two\n')).isError).toBeUndefined();
    const second = await write(b, 'three\n');
    expect(second.isError).toBe(true);
    expect(second.content).toContain('the agent main/a#1 wrote it (call call-of-main/a#1)');
    expect(readFileSync(file, 'utf8')).toBe('two\n');
  });

  it('says that it was changed on disk when no tool did', async () => {
    const a = agentAt('main');
    await hasRead(a);
    writeFileSync(file, 'by hand\n');
    const { content } = await write(a, 'two\n');
    expect(content).toContain('changed on disk by a person or an unknown program. Read it again');
  });

  it('names whose command ran at that time', async () => {
    const a = agentAt('main');
    await hasRead(a);
    const ended = ledger.commandStarted({ agent: 'main/b#1', toolUseId: 'x' });
    writeFileSync(file, 'by a program\n');
    ended();
    expect((await write(a, 'two\n')).content).toContain('maybe Bash of main/b#1');
  });

  it('names both when a program came after an agent', async () => {
    const [a, b] = [agentAt('main/a#1'), agentAt('main/b#1')];
    await hasRead(a);
    await hasRead(b);
    await write(a, 'two\n');
    writeFileSync(file, 'three\n');
    const { content } = await write(b, 'four\n');
    expect(content).toContain('the agent main/a#1 wrote it, and then it was changed on disk');
  });

  it('says who made a file that was never read', async () => {
    await write(agentAt('main/a#1'), 'new\n', join(directory, 'new.txt'));
    const { content } = await write(agentAt('main/b#1'), 'x', join(directory, 'new.txt'));
    expect(content).toContain('was not read yet, and the agent main/a#1 wrote it');
  });

  it('lets an agent go on from what it wrote itself', async () => {
    const a = agentAt('main');
    await hasRead(a);
    await write(a, 'two\n');
    expect((await write(a, 'three\n')).isError).toBeUndefined();
  });
});

describe('a race', () => {
  it('lets exactly one of many win, on existing and on new files', async () => {
    for (const path of [file, join(directory, 'fresh.txt')]) {
      const writers = Array.from({ length: 20 }, (_, index) => agentAt(`main/w#${index}`));
      for (const writer of writers) await hasRead(writer, path);
      const outcomes = await Promise.all(writers.map((writer, n) => write(writer, `${n}\n`, path)));
      const winners = outcomes.flatMap((outcome, n) => (outcome.isError === true ? [] : [n]));
      expect(winners).toHaveLength(1);
      expect(readFileSync(path, 'utf8')).toBe(`${winners[0]}\n`);
      const told = outcomes.filter((one) => String(one.content).includes(`main/w#${winners[0]}`));
      expect(told.length).toBe(19);
    }
  });

  it('holds for edits of different lines too', async () => {
    const tool = editTool({ fs: nodeFileSystem, ledger });
    const [a, b] = [agentAt('main/a#1'), agentAt('main/b#1')];
    await hasRead(a);
    await hasRead(b);
    const edit = (writer: Writer, text: string) =>
      // The gate stands before this in a session; here is only what happens behind it.
      Reflect.apply(tool.run, tool, [
        { file_path: file, old_string: 'one', new_string: text },
        { ...writer, workspace: { cwd: directory, roots: [directory], setCwd: () => undefined } },
      ]) as ReturnType<typeof tool.run>;
    const outcomes = await Promise.all([edit(a, 'one two'), edit(b, 'one three')]);
    expect(outcomes.filter((one) => one.isError === true)).toHaveLength(1);
  });

  it('goes on after a failure, and forgets who waited', async () => {
    const change = (work: () => Promise<string>) =>
      changeFile({ fs: nodeFileSystem }, { path: file, context: agentAt('main') }, async () => ({
        content: await work(),
      }));
    const failed = await change(() => Promise.reject(new Error('no')));
    expect(failed).toEqual({ content: 'no', isError: true });
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((n) => change(async () => String(order.push(n)))));
    expect(order).toEqual([1, 2, 3]);
  });
});

describe('the ledger', () => {
  it('stays bounded', () => {
    for (let n = 0; n < 21_000; n++) {
      ledger.wrote(`/f${n}`, { agent: `a${n}`, toolUseId: 't', hash: 'h' });
      ledger.forget(`a${n}`);
    }
    expect(ledger.lastWrite('/f0')).toBeUndefined();
    expect(ledger.lastWrite('/f20999')).toBeDefined();
    expect(ledger.writesOf('a5')).toEqual([]);
  });
});

describe('a copy of what was read', () => {
  it('goes its own way', async () => {
    const parent = createReadState();
    parent.note('/a', { mtimeMs: 1, size: 1, hash: 'h', whole: true });
    const child = parent.clone();
    child.note('/b', { mtimeMs: 1, size: 1, hash: 'h', whole: true });
    expect(child.get('/a')).toBeDefined();
    expect(parent.get('/b')).toBeUndefined();
  });
});
