import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freezeJson } from '../lib/frozen-json.js';
import { learnSecrets } from '../lib/text/redact.js';
import { createAppendLog } from '../platform/fs/append-log.js';
import { stateFiles } from '../platform/fs/state-files.js';
import { readEnds } from '../platform/fs/transcript-files.js';
import type { Receipt } from '../protocol/permissions.js';
import type { SessionNews } from '../protocol/session-events.js';
import { Journal, type JournalParts, journalFile, journalFilesIn, readJournal } from './journal.js';

let root: string;
let file: string;
let news: SessionNews[];
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'portcullis-journal-'));
  file = journalFile({ stateDirectory: root, cwd: '/a/project', sessionId: 'session-1' });
  news = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function open(
  over: { file?: string | undefined; files?: JournalParts['files'] } = { file },
): Journal {
  return new Journal({
    files: over.files,
    clock: { now: () => Date.UTC(2026, 0, 2, 3, 4, 5) },
    file: over.file,
    sessionId: 'session-1',
    cwd: () => '/a/project',
    emit: (event) => news.push(event),
  });
}

function receipt(toolUseId: string, input: unknown = { command: 'ls' }): Receipt {
  return {
    toolUseId,
    tool: 'Bash',
    agent: 'main',
    decision: 'allow',
    decidedBy: 'allow rules',
    reason: 'the rule Bash(ls) allows it',
    trace: [{ guard: 'allow rules', decision: 'allow', ms: 0.0123456 }],
    input,
    mode: 'default',
  };
}

const verify = async () => (await readJournal(file)).chain;
const lines = (): string[] => readFileSync(file, 'utf8').trimEnd().split('\n');

describe('the decision journal', () => {
  it('is made with the first decision, for its owner alone', () => {
    const journal = open();
    expect(() => statSync(file)).toThrow();
    journal.note(receipt('a'));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    expect(file).toBe(path.join(root, 'journal', '-a-project', 'session-1.jsonl'));
    expect(journal.close()).toBe(0);
  });

  it('stamps a receipt with time and session', () => {
    const stamped = open().note(receipt('a'));
    expect(stamped).toEqual({
      ...receipt('a'),
      time: '2026-01-02T03:04:05.000Z',
      sessionId: 'session-1',
    });
  });

  it('keeps every decision in one chain, across processes', async () => {
    const first = open();
    first.note(receipt('a'));
    first.note(receipt('b'));
    first.close();
    open().note(receipt('c'));
    const read = await readJournal(file);
    expect(read.entries.map((entry) => [entry.n, entry.receipt.toolUseId])).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]);
    expect(read.chain).toEqual({ ok: true, lines: 3, torn: 0 });
  });

  it('goes on behind what another process wrote in between', async () => {
    const one = open();
    const other = open();
    one.note(receipt('a'));
    other.note(receipt('b'));
    one.note(receipt('c'));
    expect(await verify()).toEqual({ ok: true, lines: 3, torn: 0 });
  });

  it('has a decision on disk when `note` returns, as it was when it was made', async () => {
    const journal = open();
    const input = { command: 'ls' };
    journal.note(receipt('a', input));
    expect(lines().length).toBe(1);
    input.command = 'rm';
    journal.note(receipt('b'));
    expect(lines().length).toBe(2);
    expect(lines()[0]).toContain('"command":"ls"');
    expect(await verify()).toMatchObject({ ok: true, lines: 2 });
    journal.close();
  });

  it('that is not kept has nothing to write', () => {
    const journal = open({ file: undefined });
    journal.note(receipt('a'));
    expect(existsSync(file)).toBe(false);
  });

  it('names the first line that was changed', async () => {
    const journal = open();
    for (const id of ['a', 'b', 'c']) journal.note(receipt(id));
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('"toolUseId":"b"', '"toolUseId":"x"'));
    expect(await verify()).toEqual({ ok: false, line: 2, reason: 'its content was changed' });
  });

  it('names the line after one that was removed, or made unreadable', async () => {
    const journal = open();
    for (const id of ['a', 'b', 'c']) journal.note(receipt(id));
    const [first = '', second = '', third = ''] = lines();
    writeFileSync(file, `${first}\n${third}\n`);
    expect(await verify()).toMatchObject({ ok: false, line: 2 });
    writeFileSync(file, `${second}\n${third}\n`);
    expect(await verify()).toMatchObject({ ok: false, line: 1 });
    writeFileSync(file, `${first}\n${second.slice(0, 40)}\n${third}\n`);
    expect(await verify()).toMatchObject({ ok: false, line: 3 });
  });

  it('does not take a line for forged that a dying process left half written', async () => {
    open().note(receipt('a'));
    appendFileSync(file, '{"v":1,"n":2,"time":"20');
    open().note(receipt('b'));
    expect(await verify()).toEqual({ ok: true, lines: 2, torn: 1 });
  });

  it('tells once that it cannot write, keeps the decisions, and writes them later', async () => {
    mkdirSync(path.dirname(file), { recursive: true });
    mkdirSync(file);
    const journal = open();
    journal.note(receipt('a'));
    journal.note(receipt('b'));
    expect(news.map((one) => (one.type === 'notice' ? one.level : one.type))).toEqual(['warning']);
    rmSync(file, { recursive: true });
    journal.note(receipt('c'));
    expect(news).toHaveLength(2);
    expect(news[1]).toMatchObject({ level: 'info', text: expect.stringContaining('again') });
    expect(await verify()).toEqual({ ok: true, lines: 3, torn: 0 });
    expect(journal.close()).toBe(0);
  });

  it('says at the end how much is not on disk', () => {
    mkdirSync(file, { recursive: true });
    const journal = open();
    journal.note(receipt('a'));
    expect(journal.close()).toBe(1);
    expect(news.at(-1)).toMatchObject({ text: '1 decision is missing in the journal' });
  });

  it('keeps secrets out and long texts short', async () => {
    const key = `sk-ant-${'x'.repeat(40)}`;
    open().note(
      receipt('a', { command: `curl -H "x-api-key: ${key}"`, content: 'y'.repeat(100_000) }),
    );
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain(key);
    expect(text.length).toBeLessThan(20_000);
    const { entries } = await readJournal(file);
    expect(entries[0]?.cut).toBe(true);
    expect(entries[0]?.receipt.input).toMatchObject({ command: 'curl -H "x-api-key: [redacted]"' });
  });

  it('keeps secrets out of all that a call was decided by and did', () => {
    const key = `sk-ant-${'x'.repeat(40)}`;
    const trace = [{ guard: `hook curl ${key}`, decision: 'allow', ms: 0.001 }] as const;
    const effects = { changed: [`notes/${key}`], violated: `not to write by Bash(echo ${key})` };
    open().note({ ...receipt('a'), decidedBy: `hook curl ${key}`, trace, effects });
    expect(readFileSync(file, 'utf8')).not.toContain(key);
  });

  it.each([7_990, 8_000])('keeps no part of a secret that is cut at %i', (place) => {
    learnSecrets(['Plough-7-Meridian-Quill']);
    const tail = 'z'.repeat(40_000);
    for (let before = 5; before < 40; before++) {
      const start = 'y '.repeat(place).slice(0, place - before);
      const input = {
        first: `${start}Plough-7-Meridian-Quill ${tail}`,
        second: `${start}Plough-7-Meridian-Quill`,
        third: `${start}https://me:Sw0rdf1sh@host.example ${tail}`,
      };
      const reason = input.first;
      open().note({ ...receipt('a', input), reason, command: reason });
      const text = readFileSync(file, 'utf8');
      expect(text).not.toMatch(/Ploug|:Sw0r/);
      rmSync(file);
    }
  });

  it('bounds an input of many parts', () => {
    const edits = Array.from({ length: 5_000 }, () => ({ old: 'a'.repeat(100), new: 'b' }));
    open().note(receipt('a', { edits }));
    expect(statSync(file).size).toBeLessThan(80_000);
  });

  it.each<[string, Record<string, unknown>]>([
    ['nothing', {}],
    ['a little', { file_path: '/a', offset: 3, deep: { list: [1, 'b', null, true, {}] } }],
    ['a secret', { command: `curl -u me:${'x'.repeat(20)} https://me:secret@host.example` }],
    ['a field that is a secret', { password: 'hunter2', list: [{ token: 'abc' }] }],
    ['as much as may stand in one text', { content: 'y'.repeat(7_960) }],
    ['a bit more', { content: 'y'.repeat(8_000) }],
    ['too long a text', { content: 'y'.repeat(8_001) }],
    ['too many texts', { list: Array.from({ length: 3_000 }, () => 'some text') }],
    ['too many keys', Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`k${at}`, at]))],
  ])('keeps the same of an input that nobody can change: %s', async (_name, input) => {
    const sealed = freezeJson(input);
    if (!sealed.ok) throw new Error(sealed.error);
    const journal = open();
    journal.note(receipt('a', input));
    journal.note(receipt('a', sealed.value));
    const { entries, chain } = await readJournal(file);
    expect(chain.ok).toBe(true);
    expect(entries[1]?.receipt).toEqual(entries[0]?.receipt);
    expect(entries[1]?.cut).toBe(entries[0]?.cut);
  });

  it('keeps every field of a receipt', async () => {
    const whole: Required<Receipt> = {
      ...receipt('a'),
      trace: [
        { guard: 'deny rules', decision: 'none', ms: 0.002 },
        { guard: 'allow rules', decision: 'allow', ms: 0.01, reason: 'r', source: 's' },
      ],
      command: 'ls',
      runs: "'ls'",
      ms: 1.5,
      effects: { changed: ['a'], violated: 'judged to be read-only', rolledBack: true },
      time: '2026-01-01T00:00:00.000Z',
      sessionId: 'another',
    };
    open().note(whole);
    const { entries } = await readJournal(file);
    expect(entries[0]).toMatchObject({ v: 1, n: 1, session: 'session-1', cwd: '/a/project' });
    expect(entries[0]?.receipt).toEqual(whole);
  });

  it('writes nothing where nothing is to be kept', () => {
    const journal = open({ file: undefined });
    expect(journal.note(receipt('a')).sessionId).toBe('session-1');
    expect(stateFiles.list(root)).toEqual([]);
  });

  it('lists the journals of a project, the newest first', () => {
    open().note(receipt('a'));
    const directory = path.dirname(file);
    writeFileSync(path.join(directory, 'notes.txt'), '');
    expect(journalFilesIn(directory)).toEqual([file]);
    expect(journalFilesIn(path.join(root, 'none'))).toEqual([]);
  });

  it.skipIf(process.getuid?.() === 0)('tells of a directory that cannot be written', () => {
    mkdirSync(path.dirname(file), { recursive: true });
    chmodSync(path.dirname(file), 0o500);
    open().note(receipt('a'));
    expect(news).toHaveLength(1);
    chmodSync(path.dirname(file), 0o700);
  });
});

describe('decisions after the end', () => {
  it('leave no file open that nobody closes', () => {
    let opened = 0;
    const files = {
      readEnds,
      openLog(at: string) {
        const log = createAppendLog(at);
        return {
          ...log,
          append(added: readonly string[]) {
            opened++;
            return log.append(added);
          },
          end: () => log.end(),
          close() {
            opened = 0;
            log.close();
          },
        };
      },
    };
    const journal = open({ file, files });
    journal.note(receipt('one'));
    journal.close();
    journal.note(receipt('two'));
    expect([lines().length, opened]).toEqual([2, 0]);
  });
});
