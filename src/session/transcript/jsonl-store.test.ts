import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PortcullisError } from '../../errors.js';
import { nextTurn } from '../../platform/turns.js';
import type { UserEntry } from '../../protocol/transcript.js';
import { loadConversation } from '../resume.js';
import { createJsonlStore } from './jsonl-store.js';
import type { LostLines } from './store.js';

const ID = '11111111-1111-4111-8111-111111111111';
const SECRET = `ghp_${'a1B2'.repeat(9)}`;
const OTHER = '22222222-2222-4222-8222-222222222222';

let configDir: string;
beforeEach(() => {
  configDir = mkdtempSync(path.join(tmpdir(), 'jsonl-store-'));
});
afterEach(() => rmSync(configDir, { recursive: true, force: true }));

const storeAt = (cwd: string): ReturnType<typeof createJsonlStore> =>
  createJsonlStore({ configDir, cwd });

function entry(uuid: string, parentUuid: string | null = null, extra: object = {}): UserEntry {
  return {
    parentUuid,
    type: 'user',
    uuid,
    sessionId: ID,
    timestamp: '2026-01-01T00:00:00.000Z',
    message: { role: 'user', content: `text of ${uuid}` },
    ...extra,
  };
}

describe('where things are', () => {
  it('takes a name for the folder, and nothing that leads elsewhere', () => {
    const named = (projectDirName: string) =>
      createJsonlStore({ configDir, cwd: '/p', projectDirName }).transcriptPath(ID);
    expect(named('my_project.1')).toBe(
      path.join(configDir, 'projects', 'my_project.1', `${ID}.jsonl`),
    );
    expect(named('')).toBe(path.join(configDir, 'projects', '-p', `${ID}.jsonl`));
    for (const name of ['..', '.', '../x', 'a/b', '/etc', 'a\\b', 'a\nb', 'x'.repeat(300)]) {
      expect(() => named(name)).toThrow(PortcullisError);
    }
  });

  it('does not wait for a pipe or read a directory in the place of a transcript', async () => {
    const store = storeAt('/p');
    mkdirSync(store.transcriptPath(ID), { recursive: true });
    await expect(store.read(ID)).rejects.toThrow(/not a regular file/);
    execFileSync('mkfifo', [store.transcriptPath(OTHER)]);
    await expect(store.read(OTHER)).rejects.toThrow(/not a regular file/);
  });

  it('follows the layout of the ecosystem, in compact JSON, for the owner alone', () => {
    const store = storeAt('/home/me/my.project');
    store.append(ID, [entry('u1')]);
    store.append(ID, [entry('s1')], 'abc');
    const project = path.join(configDir, 'projects', '-home-me-my-project');
    expect(store.transcriptPath(ID)).toBe(path.join(project, `${ID}.jsonl`));
    const text = readFileSync(path.join(project, `${ID}.jsonl`), 'utf8');
    expect(text).toBe(`${JSON.stringify(entry('u1'))}\n`);
    expect(readdirSync(path.join(project, ID, 'subagents'))).toEqual(['agent-abc.jsonl']);
    if (process.platform !== 'win32') {
      expect(statSync(store.transcriptPath(ID)).mode & 0o777).toBe(0o600);
      expect(statSync(project).mode & 0o777).toBe(0o700);
    }
  });

  it('has an agent described beside its transcript when the agent is released', async () => {
    const store = storeAt('/p');
    const agent = { id: 'abc', type: 'Explore', depth: 1, spawnedBy: 'toolu_1' };
    const attachment = { type: 'agent_started', agent, description: 'looks around' };
    store.append(ID, [{ ...entry('s1'), type: 'attachment', attachment } as never], 'abc');
    store.append(ID, [entry('s2', 's1')], 'abc');
    store.release(ID, 'abc');
    const directory = path.dirname(store.transcriptPath(ID, 'abc'));
    expect(readdirSync(directory).sort()).toEqual(['agent-abc.jsonl', 'agent-abc.meta.json']);
    expect(JSON.parse(readFileSync(path.join(directory, 'agent-abc.meta.json'), 'utf8'))).toEqual({
      agentType: 'Explore',
      description: 'looks around',
      toolUseId: 'toolu_1',
      spawnDepth: 1,
    });
    expect((await store.read(ID, 'abc'))?.entries).toHaveLength(2);
  });

  it('takes secrets out of what it says of an agent beside its transcript', async () => {
    const store = storeAt('/p');
    const agent = { id: 'abc', type: 'Explore', depth: 1 };
    const attachment = { type: 'agent_started', agent, description: `signs in with ${SECRET}` };
    store.append(ID, [{ ...entry('s1'), type: 'attachment', attachment } as never], 'abc');
    store.release(ID, 'abc');
    const file = store.transcriptPath(ID, 'abc').replace(/jsonl$/, 'meta.json');
    expect(JSON.parse(readFileSync(file, 'utf8')).description).toBe('signs in with [redacted]');
  });

  it('takes a given folder name in place of the slug', () => {
    const store = createJsonlStore({ configDir, cwd: '/p', projectDirName: 'named' });
    expect(store.transcriptPath(ID)).toBe(path.join(configDir, 'projects', 'named', `${ID}.jsonl`));
  });
});

describe('structured output', () => {
  const big = { stdout: 'ä'.repeat(200_000), nested: { stdout: 'x'.repeat(100_000) } };

  it('goes to a file of its own when it is long; what the model saw stays', async () => {
    const store = storeAt('/p');
    const seen = 'y'.repeat(500_000);
    const message = { role: 'user', content: seen };
    store.append(ID, [entry('u1', null, { toolUseResult: big, message })]);
    const line: unknown = JSON.parse(readFileSync(store.transcriptPath(ID), 'utf8'));
    expect(line).toEqual({
      ...entry('u1', null, { message }),
      toolUseResult: {
        $ref: expect.stringMatching(/^tool-results\/[0-9a-f]{64}\.json$/),
        bytes: Buffer.byteLength(JSON.stringify(big)),
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    const [file] = readdirSync(store.spillDirectory(ID));
    expect(statSync(path.join(store.spillDirectory(ID), file ?? '')).mode & 0o077).toBe(0);
    const [read] = (await store.read(ID))?.entries ?? [];
    const stored = read?.type === 'user' ? read.toolUseResult : undefined;
    expect(await store.payload(ID, stored)).toEqual(big);
  });

  it('stays in the line when only the rest of the line is long', () => {
    const store = storeAt('/p');
    const message = { role: 'user', content: 'y'.repeat(500_000) };
    store.append(ID, [entry('u1', null, { toolUseResult: { small: true }, message })]);
    expect(readFileSync(store.transcriptPath(ID), 'utf8')).toContain(
      '"toolUseResult":{"small":true}',
    );
  });

  it('says so when the file is gone or was changed, and opens nothing else', async () => {
    const store = storeAt('/p');
    store.append(ID, [entry('u1', null, { toolUseResult: big })]);
    const [read] = (await store.read(ID))?.entries ?? [];
    const ref = read?.type === 'user' ? read.toolUseResult : undefined;
    const file = path.join(
      store.spillDirectory(ID),
      readdirSync(store.spillDirectory(ID))[0] ?? '',
    );
    writeFileSync(file, '{}');
    await expect(store.payload(ID, ref)).rejects.toThrow(/was changed/);
    rmSync(file);
    await expect(store.payload(ID, ref)).rejects.toThrow(/is gone/);
    const forged = { $ref: '../../../etc/passwd', bytes: 1, sha256: 'a'.repeat(64) };
    expect(await store.payload(ID, forged)).toBe(forged);
  });

  it('costs only itself when it cannot be written as JSON', async () => {
    const store = storeAt('/p');
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    store.append(ID, [
      entry('u1', null, { toolUseResult: circle }),
      entry('u2', 'u1', { toolUseResult: 1n }),
    ]);
    const loaded = await store.read(ID);
    expect(loaded?.entries.map(({ uuid }) => uuid)).toEqual(['u1', 'u2']);
    expect(loaded?.entries[0]).toHaveProperty('toolUseResult.unrepresentable');
  });

  it('does not keep secrets in the rest of its line when it cannot be written as JSON', () => {
    const store = storeAt('/p');
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    for (const toolUseResult of [circle, 1n]) {
      store.append(ID, [
        entry('u1', null, { toolUseResult, message: { role: 'user', content: SECRET } }),
      ]);
    }
    const text = readFileSync(store.transcriptPath(ID), 'utf8');
    expect(text.match(/\[redacted\]/g)).toHaveLength(2);
    expect(text).not.toContain(SECRET);
  });

  it('stays in the line when its file cannot be written', async () => {
    const store = storeAt('/p');
    const transcript = store.transcriptPath(ID);
    mkdirSync(path.dirname(transcript), { recursive: true });
    // A file in the place of the session's directory.
    writeFileSync(transcript.replace(/\.jsonl$/, ''), '');
    store.append(ID, [entry('u1', null, { toolUseResult: big })]);
    expect((await store.read(ID))?.entries[0]).toHaveProperty('toolUseResult', big);
  });
});

describe('reading', () => {
  const whole = (uuid: string, parent: string | null = null): string =>
    JSON.stringify(entry(uuid, parent));

  async function read(
    content: string | Buffer,
  ): Promise<Awaited<ReturnType<ReturnType<typeof storeAt>['read']>>> {
    const store = storeAt('/p');
    mkdirSync(path.dirname(store.transcriptPath(ID)), { recursive: true });
    writeFileSync(store.transcriptPath(ID), content);
    return store.read(ID);
  }

  it('skips and counts what is torn, damaged or foreign', async () => {
    const loaded = await read(
      [
        `\ufeff${whole('u1')}`,
        'garbage',
        '[1,2]',
        '"text"',
        '',
        '   ',
        '{"type":"user"}',
        '{"type":"user","uuid":"x","parentUuid":null,"message":{"content":[1]}}',
        '{"type":"assistant","uuid":"y","parentUuid":"u1"}',
        '{"type":"tomorrow","uuid":"z","parentUuid":"u1"}',
        '{"type":"cost-state","cost":1}',
        `\0\0\0${whole('u2', 'z')}`,
        `${whole('u3', 'u2')}\r`,
        whole('u3', 'u2'),
        whole('u4', 'u3').slice(0, -5),
      ].join('\n'),
    );
    expect(loaded?.entries.map(({ uuid }) => uuid)).toEqual(['u1', 'u2', 'u3']);
    expect(loaded?.damagedLines).toBe(4);
    expect(loaded?.links?.get('z')).toBe('u1');
  });

  it('survives invalid UTF-8', async () => {
    const line = Buffer.from(`${whole('u1')}\n`);
    line[line.indexOf('text of')] = 0xff;
    const loaded = await read(Buffer.concat([Buffer.from([0xc3, 0x28, 10]), line]));
    expect(loaded?.entries).toHaveLength(1);
    expect(loaded?.damagedLines).toBe(1);
  });

  it('saves the whole line that another writer glued to a torn one', async () => {
    const loaded = await read(`${whole('u1').slice(0, 60)}${whole('u2')}\n`);
    expect(loaded?.entries.map(({ uuid }) => uuid)).toEqual(['u2']);
  });

  it('drops a __proto__ key, not the message around it', async () => {
    const loaded = await read(
      `{"type":"user","uuid":"u1","parentUuid":null,"toolUseResult":{"__proto__":{"x":1},"y":2},"message":{"role":"user","content":"__proto__"}}\n`,
    );
    expect(loaded?.entries[0]).toHaveProperty('toolUseResult', { y: 2 });
  });

  it('reads lines that are longer than its chunks, and characters cut by them', async () => {
    const content = '😀ü'.repeat(700_000);
    const long = JSON.stringify({ ...entry('u1'), message: { role: 'user', content } });
    const loaded = await read(`${long}\n${whole('u2', 'u1')}\n${long.replace('"u1"', '"u3"')}`);
    expect(loaded?.entries).toHaveLength(3);
    expect(loaded?.entries[2]).toHaveProperty('message.content', content);
    expect(loaded?.damagedLines).toBe(0);
  });

  it('goes on after a torn tail', async () => {
    await read(`${whole('u1')}\n{"type":"us`);
    const store = storeAt('/p');
    store.append(ID, [entry('u2', 'u1')]);
    const loaded = await store.read(ID);
    expect(loaded?.entries.map(({ uuid }) => uuid)).toEqual(['u1', 'u2']);
    expect(loaded?.damagedLines).toBe(1);
  });

  it('does not take a directory for a transcript', async () => {
    const store = storeAt('/p');
    mkdirSync(store.transcriptPath(ID), { recursive: true });
    expect(await store.find(ID)).toBeUndefined();
  });
});

describe('finding', () => {
  it('finds a session of another project, and goes on in its file', async () => {
    storeAt('/one').append(ID, [entry('u1')]);
    const store = storeAt('/two');
    expect(await store.find(ID)).toBe(ID);
    store.append(ID, [entry('u2', 'u1')]);
    expect((await storeAt('/one').read(ID))?.entries).toHaveLength(2);
    expect(await store.newest()).toBeUndefined();
    const direct = storeAt('/three');
    expect((await direct.read(ID))?.entries).toHaveLength(2);
  });

  it('prefers this project and does not guess between two others', async () => {
    storeAt('/one').append(ID, [entry('u1')]);
    storeAt('/two').append(ID, [entry('u2')]);
    expect((await storeAt('/two').read(ID))?.entries[0]?.uuid).toBe('u2');
    await expect(storeAt('/three').find(ID)).rejects.toThrow(PortcullisError);
    await expect(storeAt('/three').find(ID)).rejects.toThrow(/-one, -two|-two, -one/);
  });

  it('does not follow a path in place of an id', async () => {
    writeFileSync(path.join(configDir, 'secret.jsonl'), `${JSON.stringify(entry('u1'))}\n`);
    const store = storeAt('/p');
    store.append(ID, [entry('u1')]);
    expect(await store.find('../../secret')).toBeUndefined();
    await expect(store.read('../../secret')).rejects.toThrow(PortcullisError);
  });

  it('passes over sidechains, foreign files and files without a conversation', async () => {
    const store = storeAt('/p');
    store.append(ID, [entry('u1')]);
    const folder = path.dirname(store.transcriptPath(ID));
    store.append('sidechain', [entry('s', null, { isSidechain: true })]);
    writeFileSync(path.join(folder, 'empty.jsonl'), '');
    writeFileSync(path.join(folder, 'snapshots.jsonl'), '{"type":"file-history-snapshot"}\n');
    writeFileSync(path.join(folder, 'notes.txt'), '"type":"user"');
    mkdirSync(path.join(folder, 'directory.jsonl'));
    const past = new Date(Date.now() - 60_000);
    utimesSync(store.transcriptPath(ID), past, past);
    expect(await store.newest()).toBe(ID);
  });

  it('tells folders apart that share a slug', async () => {
    storeAt('/a/b-c').append(ID, [entry('u1', null, { cwd: '/a/b-c' })]);
    expect(await storeAt('/a/b/c').newest()).toBeUndefined();
    expect(await storeAt('/a/b-c').newest()).toBe(ID);
  });

  it('finds a title at the end of a long transcript', async () => {
    const store = storeAt('/p');
    const message = { role: 'user', content: 'x'.repeat(300_000) };
    store.append(ID, [entry('u1', null, { message })]);
    store.append(ID, [{ type: 'custom-title', customTitle: 'old', sessionId: ID }]);
    store.append(ID, [{ type: 'custom-title', customTitle: 'new', sessionId: ID }]);
    store.append(OTHER, [
      entry('u1', null, { message: { role: 'user', content: '"custom-title" new' } }),
    ]);
    expect(await store.find('new')).toBe(ID);
    expect(await store.find('old')).toBeUndefined();
  });
});

describe('a disk that does not take it', () => {
  it('is reported once, keeps the order, and loses nothing once it works again', async () => {
    const lost: LostLines[] = [];
    const recovered: string[] = [];
    const store = createJsonlStore({
      configDir,
      cwd: '/p',
      onLost: (event) => lost.push(event),
      onRecovered: (file) => recovered.push(file),
    });
    const folder = path.dirname(store.transcriptPath(ID));
    mkdirSync(path.dirname(folder), { recursive: true });
    writeFileSync(folder, 'in the way');
    store.append(ID, [entry('u1'), entry('u2', 'u1')]);
    store.append(ID, [entry('u3', 'u2')]);
    expect(lost).toHaveLength(1);
    expect(lost[0]).toMatchObject({ sessionId: ID, path: store.transcriptPath(ID), lines: 2 });
    expect(lost[0]?.message).toContain(store.transcriptPath(ID));
    expect(store.close()).toBe(3);
    expect(recovered).toEqual([]);
    rmSync(folder);
    store.append(ID, [entry('u4', 'u3')]);
    expect(recovered).toEqual([store.transcriptPath(ID)]);
    const loaded = await store.read(ID);
    expect(loaded?.entries.map(({ uuid }) => uuid)).toEqual(['u1', 'u2', 'u3', 'u4']);
    expect(store.close()).toBe(0);
  });

  it('is reported anew when it fails again', async () => {
    const lost: LostLines[] = [];
    const store = createJsonlStore({ configDir, cwd: '/p', onLost: (event) => lost.push(event) });
    store.append(ID, [entry('u1')]);
    const folder = path.dirname(store.transcriptPath(ID));
    for (let round = 0; round < 2; round++) {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, 'in the way');
      await nextTurn();
      store.append(ID, [entry(`a${round}`)]);
      store.append(ID, [entry(`b${round}`)]);
      rmSync(folder);
      store.append(ID, [entry(`c${round}`)]);
    }
    expect(lost).toHaveLength(2);
  });

  it('costs the earlier part when the project folder is deleted, and the rest can be resumed', async () => {
    const store = storeAt('/p');
    store.append(ID, [entry('u1')]);
    rmSync(path.join(configDir, 'projects'), { recursive: true });
    await nextTurn();
    store.append(ID, [entry('u2', 'u1')]);
    const loaded = await store.read(ID);
    expect(loaded?.entries.map(({ uuid }) => uuid)).toEqual(['u2']);
    if (loaded !== undefined) expect(loadConversation(loaded).messages).toHaveLength(1);
  });

  it('does not disturb another writer of the same session', async () => {
    const one = storeAt('/p');
    const other = storeAt('/p');
    one.append(ID, [entry('u1')]);
    other.append(ID, [entry('u2', 'u1')]);
    appendFileSync(one.transcriptPath(ID), '{"torn');
    one.append(ID, [entry('u3', 'u2')]);
    expect((await one.read(ID))?.entries.map(({ uuid }) => uuid)).toEqual(['u1', 'u2', 'u3']);
  });

  it.skipIf(process.platform !== 'linux')('reports a full disk and keeps the lines', () => {
    const lost: LostLines[] = [];
    const store = createJsonlStore({ configDir, cwd: '/p', onLost: (event) => lost.push(event) });
    mkdirSync(path.dirname(store.transcriptPath(ID)), { recursive: true });
    symlinkSync('/dev/full', store.transcriptPath(ID));
    store.append(ID, [entry('u1')]);
    expect(lost[0]?.remedy).toContain('Free space');
    expect(store.close()).toBe(1);
  });
});
