import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AppendError } from '../env/append-log.js';
import { nodeTranscriptFiles } from '../env/transcript-files.js';
import type { UserEntry } from '../protocol/transcript.js';
import { createJsonlStore } from './jsonl-store.js';

const ID = '11111111-1111-4111-8111-111111111111';
const SECRET = `ghp_${'a1B2'.repeat(9)}`;

let configDir: string;
beforeEach(() => {
  configDir = mkdtempSync(path.join(tmpdir(), 'gathered-lines-'));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(configDir, { recursive: true, force: true });
});

const entry = (uuid: string, text = `text of ${uuid}`): UserEntry => ({
  parentUuid: null,
  type: 'user',
  uuid,
  sessionId: ID,
  timestamp: '2026-01-01T00:00:00.000Z',
  message: { role: 'user', content: text },
});

/** A store that counts its writes. */
function opened() {
  const writes: (readonly string[])[] = [];
  let refuses = false;
  const store = createJsonlStore({
    configDir,
    cwd: '/p',
    files: {
      ...nodeTranscriptFiles,
      openLog(file) {
        const log = nodeTranscriptFiles.openLog(file);
        return {
          path: file,
          append(lines) {
            if (refuses) throw new AppendError(file, new Error('no space'), 0);
            writes.push(lines);
            return log.append(lines);
          },
          prepare: () => log.prepare(),
          end: () => log.end(),
          close: () => log.close(),
        };
      },
    },
  });
  const uuids = (agentId: string): string[] => {
    const file = store.transcriptPath(ID, agentId);
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => String(JSON.parse(line).uuid));
  };
  const refuse = (does: boolean): void => {
    refuses = does;
  };
  return { store, writes, uuids, refuse };
}

describe('what is appended for agents', () => {
  it('is written together, in order, when somebody is going to act', () => {
    const { store, writes, uuids } = opened();
    for (const uuid of ['1', '2', '3']) store.append(ID, [entry(uuid)], 'a');
    store.append(ID, [entry('4')], 'b');
    expect(uuids('a')).toEqual([]);
    store.flush();
    expect(uuids('a')).toEqual(['1', '2', '3']);
    expect(uuids('b')).toEqual(['4']);
    expect(writes).toHaveLength(2);
    store.flush();
    expect(writes).toHaveLength(2);
  });

  it('does not keep the conversation itself waiting', () => {
    const { store } = opened();
    store.append(ID, [entry('1')]);
    expect(readFileSync(store.transcriptPath(ID), 'utf8')).toContain('"uuid":"1"');
  });

  it('is written by itself a moment later', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { store, uuids } = opened();
    store.append(ID, [entry('1')], 'a');
    vi.advanceTimersByTime(49);
    expect(uuids('a')).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(uuids('a')).toEqual(['1']);
    store.append(ID, [entry('2')], 'a');
    vi.advanceTimersByTime(50);
    expect(uuids('a')).toEqual(['1', '2']);
  });

  it('is written when there is much of it', () => {
    const { store, uuids } = opened();
    for (let index = 0; index <= 100; index++) store.append(ID, [entry(`${index}`)], 'a');
    expect(uuids('a')).toHaveLength(101);
  });

  it('is there for whoever reads it, when the agent ends and when the session does', async () => {
    const { store, uuids } = opened();
    store.append(ID, [entry('0')]);
    store.append(ID, [entry('1')], 'a');
    expect((await store.read(ID, 'a'))?.entries.map(({ uuid }) => uuid)).toEqual(['1']);
    store.append(ID, [entry('2')], 'b');
    expect(await store.agents(ID)).toEqual(['a', 'b']);
    store.append(ID, [entry('3')], 'c');
    await store.release(ID, 'c');
    expect(uuids('c')).toEqual(['3']);
    store.append(ID, [entry('4')], 'd');
    expect(store.close()).toBe(0);
    expect(uuids('d')).toEqual(['4']);
  });

  it('is kept while the disk takes nothing, and goes before what comes later', () => {
    const { store, uuids, refuse } = opened();
    refuse(true);
    store.append(ID, [entry('1'), entry('2')], 'a');
    store.flush();
    store.append(ID, [entry('3')], 'a');
    refuse(false);
    store.flush();
    expect(uuids('a')).toEqual(['1', '2', '3']);
  });

  it('loses what is surely a secret, in whichever line of a write it stands', () => {
    const { store } = opened();
    store.append(ID, [entry('1')], 'a');
    store.append(ID, [entry('2', `the key is ${SECRET}`)], 'a');
    store.append(ID, [entry('3')], 'a');
    store.flush();
    const text = readFileSync(store.transcriptPath(ID, 'a'), 'utf8');
    expect(text).not.toContain(SECRET);
    expect(text.split('\n').filter(Boolean)).toHaveLength(3);
    expect(text).toContain('text of 1');
    expect(text).toContain('text of 3');
  });
});
