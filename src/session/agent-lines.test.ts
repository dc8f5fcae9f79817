import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppendError, createAppendLog } from '../platform/fs/append-log.js';
import type { UserEntry } from '../protocol/transcript.js';
import { createJsonlStore } from './transcript/jsonl-store.js';

const ID = '11111111-1111-4111-8111-111111111111';
const SECRET = `ghp_${'a1B2'.repeat(9)}`;

let configDir: string;
beforeEach(() => {
  configDir = mkdtempSync(path.join(tmpdir(), 'agent-lines-'));
});
afterEach(() => {
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

/** A store whose disk can be made to refuse writes. */
function opened() {
  let refuses = false;
  const store = createJsonlStore({
    configDir,
    cwd: '/p',
    openLog(file) {
      const log = createAppendLog(file);
      return {
        path: file,
        append(lines) {
          if (refuses) throw new AppendError(file, new Error('no space'), 0);
          return log.append(lines);
        },
        end: () => log.end(),
        close: () => log.close(),
      };
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
  return { store, uuids, refuse };
}

describe('what is appended for agents', () => {
  it('is on disk when the append returns', () => {
    const { store, uuids } = opened();
    store.append(ID, [entry('1'), entry('2')], 'a');
    expect(uuids('a')).toEqual(['1', '2']);
    store.append(ID, [entry('3')], 'a');
    expect(uuids('a')).toEqual(['1', '2', '3']);
  });

  it('is what it was when it was appended', () => {
    const { store } = opened();
    const live = { role: 'user' as const, content: 'before' };
    store.append(ID, [{ ...entry('1'), message: live }], 'a');
    live.content = 'after';
    expect(readFileSync(store.transcriptPath(ID, 'a'), 'utf8')).toContain('before');
  });

  it('is there when it is read, when the agent ends and when the session does', async () => {
    const { store, uuids } = opened();
    store.append(ID, [entry('0')]);
    store.append(ID, [entry('1')], 'a');
    expect((await store.read(ID, 'a'))?.entries.map(({ uuid }) => uuid)).toEqual(['1']);
    store.append(ID, [entry('2')], 'b');
    expect(await store.agents(ID)).toEqual(['a', 'b']);
    store.append(ID, [entry('3')], 'c');
    store.release(ID, 'c');
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
    store.append(ID, [entry('3')], 'a');
    refuse(false);
    store.append(ID, [entry('4')], 'a');
    expect(uuids('a')).toEqual(['1', '2', '3', '4']);
  });

  it('loses what is surely a secret, in whichever line of a write it stands', () => {
    const { store } = opened();
    store.append(ID, [entry('1')], 'a');
    store.append(ID, [entry('2', `the key is ${SECRET}`)], 'a');
    store.append(ID, [entry('3')], 'a');
    const text = readFileSync(store.transcriptPath(ID, 'a'), 'utf8');
    expect(text).not.toContain(SECRET);
    expect(text.split('\n').filter(Boolean)).toHaveLength(3);
    expect(text).toContain('text of 1');
    expect(text).toContain('text of 3');
  });

  it('begins with what is needed to go on with it', () => {
    const { store } = opened();
    const agent = { id: 'a', type: 'reviewer', path: 'main/reviewer#1', depth: 1 };
    const { message: _, ...base } = entry('1');
    const attachment = { type: 'agent_started', agent, description: 'look' };
    store.append(ID, [{ ...base, type: 'attachment', attachment }], 'a');
    expect(readFileSync(store.transcriptPath(ID, 'a'), 'utf8')).toContain('agent_started');
    store.release(ID, 'a');
  });
});
