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
function opened(options: { readonly onLost?: () => void } = {}) {
  const writes: (readonly string[])[] = [];
  let refuses = false;
  let refusedFile = '';
  const store = createJsonlStore({
    ...options,
    configDir,
    cwd: '/p',
    files: {
      ...nodeTranscriptFiles,
      openLog(file) {
        const log = nodeTranscriptFiles.openLog(file);
        return {
          path: file,
          append(lines) {
            if (refuses || file === refusedFile)
              throw new AppendError(file, new Error('no space'), 0);
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
  const refuseFile = (agentId: string): void => {
    refusedFile = store.transcriptPath(ID, agentId);
  };
  return { store, writes, uuids, refuse, refuseFile };
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
    store.append(ID, [entry('1', 'x'.repeat(200_000))], 'a');
    expect(uuids('a')).toEqual([]);
    store.append(ID, [entry('2', 'x'.repeat(100_000))], 'a');
    expect(uuids('a')).toEqual(['1', '2']);
  });

  it('is what it was when it was appended', () => {
    const { store } = opened();
    const live = { role: 'user' as const, content: 'before' };
    store.append(ID, [{ ...entry('1'), message: live }], 'a');
    live.content = 'after';
    store.flush();
    expect(readFileSync(store.transcriptPath(ID, 'a'), 'utf8')).toContain('before');
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
    store.append(ID, [entry('5')], 'd');
    expect(uuids('d')).toEqual(['4', '5']);
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

  it('is written alone before a call of that agent, and its result as soon as it comes', () => {
    const { store, uuids } = opened();
    store.append(ID, [entry('1')], 'a');
    store.append(ID, [entry('2')], 'b');
    store.flush({ sessionId: ID, agentId: 'a' });
    expect([uuids('a'), uuids('b')]).toEqual([['1'], []]);
    store.append(ID, [entry('3')], 'a');
    expect(uuids('a')).toEqual(['1', '3']);
    store.append(ID, [entry('4')], 'a');
    expect(uuids('a')).toEqual(['1', '3']);
    store.flush({ sessionId: ID, agentId: 'main' });
    expect(uuids('b')).toEqual([]);
    store.flush();
    expect([uuids('a'), uuids('b')]).toEqual([['1', '3', '4'], ['2']]);
  });

  it('begins with what is needed to go on with it, which is written at once', async () => {
    const { store } = opened();
    const agent = { id: 'a', type: 'reviewer', path: 'main/reviewer#1', depth: 1 };
    const { message: _, ...base } = entry('1');
    const attachment = { type: 'agent_started', agent, description: 'look' };
    store.append(ID, [{ ...base, type: 'attachment', attachment }], 'a');
    expect(readFileSync(store.transcriptPath(ID, 'a'), 'utf8')).toContain('agent_started');
    await store.release(ID, 'a');
  });

  it('does not wait for another file that cannot be written, whatever is made of that', () => {
    const seen: string[] = [];
    const { store, uuids, refuseFile } = opened({
      onLost() {
        // Somebody hears of it and records more.
        store.append(ID, [entry('3')], 'b');
        seen.push('lost');
        throw new Error('of whoever was told');
      },
    });
    store.append(ID, [entry('1')], 'b');
    store.append(ID, [entry('2')], 'a');
    store.append(ID, [entry('4')], 'c');
    refuseFile('a');
    expect(() => store.flush()).toThrow('of whoever was told');
    expect(seen).toEqual(['lost']);
    expect(uuids('b')).toEqual(['1', '3']);
    expect(uuids('c')).toEqual(['4']);
  });

  it('is written when the process ends without closing the session', () => {
    const { store, uuids } = opened();
    store.append(ID, [entry('1')], 'a');
    const listener = process.listeners('exit').find(({ name }) => name === 'endAll');
    listener?.(0);
    expect(uuids('a')).toEqual(['1']);
    store.close();
  });
});
