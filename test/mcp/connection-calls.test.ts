import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ElicitAnswer } from '../../src/mcp/server.js';
import { listingOf } from '../../src/mcp/tools/listing.js';
import { temporaryDirectory, until } from '../process/helpers.js';
import {
  call,
  connectTo,
  journalLines,
  never,
  recorder,
  scripted,
  text,
} from './connection-rig.js';

describe('a call', () => {
  it('carries the id of its use and asks for progress', async () => {
    const texts: string[] = [];
    const connection = connectTo(scripted(), { timeouts: { progressGapMs: 0 } });
    const result = await connection.call(
      {
        tool: 'progress',
        arguments: { steps: 3, ms: 20 },
        toolUseId: 'toolu_1',
        onProgress: (words) => texts.push(words),
      },
      never,
    );
    expect(text(result)).toBe('3 steps');
    expect(texts[0]).toBe('work\\u001b[2J (1/3)');
    const meta = await connection.call(
      { tool: 'meta', arguments: {}, toolUseId: 'toolu_2' },
      never,
    );
    expect(JSON.parse(text(meta))).toMatchObject({
      'claudecode/toolUseId': 'toolu_2',
      progressToken: expect.any(Number),
    });
  });

  it('has a total limit, which progress does not move', async () => {
    const journal = path.join(temporaryDirectory(), 'journal');
    const connection = connectTo(scripted({ journal }), { timeouts: { totalMs: 500 } });
    const result = await call(connection, 'progress', { steps: 1000, ms: 20 });
    expect(result).toMatchObject({ ok: false, error: { code: 'call-timeout', mayHaveRun: true } });
    const cancelled = (): boolean =>
      journalLines(journal).some((line) => line.startsWith('notifications/cancelled'));
    expect(await until(cancelled)).toBe(true);
    expect((await call(connection, 'echo')).ok).toBe(true);
  });

  it('has a limit for silence, which progress ends', async () => {
    const connection = connectTo(scripted(), { timeouts: { idleMs: 600 } });
    await connection.connect();
    expect(text(await call(connection, 'progress', { steps: 40, ms: 30 }))).toBe('40 steps');
    const result = await call(connection, 'hang');
    expect(result).toMatchObject({ ok: false, error: { code: 'idle-timeout', mayHaveRun: true } });
  });

  it('takes its limit from the entry', async () => {
    const connection = connectTo({ ...scripted(), timeout: 1000 });
    const result = await call(connection, 'hang');
    expect(result).toMatchObject({ ok: false, error: { code: 'call-timeout' } });
    expect(JSON.stringify(result)).toContain('1 s');
  });

  it('takes its limit from the environment', async () => {
    const env = { PATH: process.env.PATH, MCP_TOOL_TIMEOUT: '1000' };
    const result = await call(connectTo(scripted(), { env }), 'hang');
    expect(result).toMatchObject({ ok: false, error: { code: 'call-timeout' } });
  });

  it('says from time to time that it still runs', async () => {
    const texts: string[] = [];
    const connection = connectTo(scripted(), { timeouts: { stillRunningMs: 50 } });
    await connection.connect();
    const onProgress = (words: string): number => texts.push(words);
    await connection.call({ tool: 'slow', arguments: { ms: 400 }, onProgress }, never);
    expect(texts.length).toBeGreaterThan(1);
    expect(texts[0]).toBe('still running, 0 s');
  });

  it('is cancelled with its signal, and the server is told', async () => {
    const journal = path.join(temporaryDirectory(), 'journal');
    const connection = connectTo(scripted({ journal }));
    await connection.connect();
    const stop = new AbortController();
    const calling = call(connection, 'hang', {}, stop.signal);
    expect(await until(() => journalLines(journal).includes('tools/call "hang"'))).toBe(true);
    stop.abort();
    expect(await calling).toMatchObject({
      ok: false,
      error: { code: 'aborted', mayHaveRun: true },
    });
    const cancelled = (): boolean =>
      journalLines(journal).some((line) => /^notifications\/cancelled \d+/.test(line));
    expect(await until(cancelled)).toBe(true);
  });

  it('that is cancelled before it was sent has not run', async () => {
    const connection = connectTo(scripted({ init: 'silent' }));
    const stop = new AbortController();
    const calling = call(connection, 'echo', {}, stop.signal);
    setTimeout(() => stop.abort(), 50);
    expect(await calling).toMatchObject({
      ok: false,
      error: { code: 'aborted', mayHaveRun: false },
    });
  });

  it('hands on what the server says of its error: bounded, visible, without secrets and home paths', async () => {
    const connection = connectTo(scripted());
    const result = await call(connection, 'boom');
    expect(result).toMatchObject({ ok: false, error: { code: 'server-error', mayHaveRun: true } });
    const message = result.ok ? '' : result.error.message;
    expect(message).toContain(
      'error -32050: no \\u202e such ~/x ~/y key [redacted]\nsecond line zzz',
    );
    expect(message.length).toBeLessThan(2200);
  });

  it('whose answer is no result is a breach of the protocol', async () => {
    const result = await call(connectTo(scripted()), 'odd');
    expect(result).toMatchObject({ ok: false, error: { code: 'protocol', mayHaveRun: true } });
  });

  it('to a session that the server says is lost is not repeated; the next one connects anew', async () => {
    const journal = path.join(temporaryDirectory(), 'journal');
    const connection = connectTo(scripted({ journal }));
    const result = await call(connection, 'gone');
    expect(result).toMatchObject({ ok: false, error: { code: 'session-lost', mayHaveRun: true } });
    expect((await call(connection, 'echo')).ok).toBe(true);
    const lines = journalLines(journal);
    expect(lines.filter((line) => line === 'tools/call "gone"')).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith('start'))).toHaveLength(2);
  });
});

describe('a call that wants a page visited first', () => {
  it('waits for the person, however long, and is repeated once', async () => {
    const asked: string[] = [];
    const connection = connectTo(scripted({ pageOnce: true }), {
      timeouts: { totalMs: 2000, idleMs: 2000 },
      elicit: async (request) => {
        asked.push(`${request.mode} ${request.url} ${request.elicitationId}`);
        await new Promise((resolve) => setTimeout(resolve, 300));
        return { action: 'accept' };
      },
    });
    expect(text(await call(connection, 'page'))).toBe('after the page');
    expect(asked).toEqual(['url https://example.test/x e1']);
  });

  it('is refused with the address when nobody visits it', async () => {
    const result = await call(connectTo(scripted()), 'page');
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'refused', url: 'https://example.test/x' },
    });
    expect(result.ok ? '' : result.error.message).not.toContain('example.test');
  });

  it('is not repeated a second time', async () => {
    const { asked, elicit } = recorder();
    const result = await call(connectTo(scripted(), { elicit }), 'page');
    expect(result).toMatchObject({ ok: false, error: { code: 'refused' } });
    expect(asked).toHaveLength(1);
  });

  it('shows no address that is none of the web', async () => {
    const { asked, elicit } = recorder();
    const connection = connectTo(scripted({ page: 'javascript:alert(1)' }), { elicit });
    const result = await call(connection, 'page');
    expect(result).toMatchObject({ ok: false, error: { code: 'refused' } });
    expect(result.ok ? '' : result.error.url).toBeUndefined();
    expect(asked).toEqual([]);
  });
});

describe('a question during a call', () => {
  it('holds the timers of the call', async () => {
    const connection = connectTo(scripted(), {
      timeouts: { totalMs: 700, idleMs: 700 },
      elicit: async () => {
        await new Promise((resolve) => setTimeout(resolve, 1500));
        return { action: 'accept', content: { name: 'late' } };
      },
    });
    await connection.connect();
    expect(text(await call(connection, 'question'))).toContain('late');
  });

  it('is withdrawn with the call', async () => {
    let signal: AbortSignal | undefined;
    const connection = connectTo(scripted(), {
      elicit: (_request, given) =>
        new Promise<ElicitAnswer>((resolve) => {
          signal = given;
          given.addEventListener('abort', () => resolve({ action: 'cancel' }));
        }),
    });
    const stop = new AbortController();
    const calling = call(connection, 'question', {}, stop.signal);
    expect(await until(() => signal !== undefined)).toBe(true);
    stop.abort();
    expect((await calling).ok).toBe(false);
    expect(signal?.aborted).toBe(true);
  });
});

describe('lists', () => {
  it('come whole, page by page', async () => {
    const connection = connectTo(scripted({ pages: 3 }));
    const tools = await connection.listTools();
    const names = tools.ok ? tools.value.map((tool) => tool.name) : [];
    expect(names).toContain('echo');
    expect(names.slice(-2)).toEqual(['page_1', 'page_2']);
  });

  it('have the names of tools that cannot be read, and offer none of these', async () => {
    const connection = connectTo(scripted({ oddTools: true }));
    const listed = await connection.listTools();
    const tools = listed.ok ? listed.value : [];
    const odd = tools.filter(({ inputSchema }) => inputSchema === undefined);
    expect(odd.map(({ name }) => name)).toEqual(['bad', '', '', '']);
    const { declaration } = connection;
    const listing = listingOf({ declaration, tools });
    expect(listing.tools.map(({ name }) => name)).toContain('echo');
    expect(listing.tools.map(({ name }) => name)).not.toContain('bad');
    expect(listing.problems).toHaveLength(4);
    expect(listing.problems.join('\n')).toMatch(/"bad" .* its schema is not an object/);
  });

  it('without an end are no lists', async () => {
    const result = await connectTo(scripted({ endless: true })).listTools();
    expect(result).toMatchObject({ ok: false, error: { code: 'protocol' } });
  });

  it('that the server does not offer are empty', async () => {
    const connection = connectTo(scripted());
    expect(await connection.listPrompts()).toEqual({ ok: true, value: [] });
    expect(await connection.listResources()).toEqual({ ok: true, value: [] });
  });

  it('that change are told, and the old one stays when the new one fails', async () => {
    const connection = connectTo(scripted());
    const changes: string[] = [];
    connection.onChange((change) => changes.push(change));
    const before = await connection.listTools();
    await call(connection, 'grow');
    expect(await until(() => changes.includes('tools'))).toBe(true);
    const after = await connection.listTools();
    expect(after.ok && before.ok ? after.value.length - before.value.length : 0).toBe(1);
    await connection.close();
    expect(await connection.listTools()).toEqual(after);
  });

  it('that the server refuses are an error', async () => {
    const result = await connectTo(scripted({ listError: 'always' })).listTools();
    expect(result).toMatchObject({ ok: false, error: { code: 'server-error', mayHaveRun: false } });
  });
});

describe('a call that runs when the connection is closed', () => {
  it('is told so', async () => {
    const connection = connectTo(scripted());
    await connection.connect();
    const calling = call(connection, 'hang');
    await new Promise((resolve) => setTimeout(resolve, 50));
    await connection.close();
    expect(await calling).toMatchObject({ ok: false, error: { code: 'closed', mayHaveRun: true } });
    expect(connection.status().state).toBe('disabled');
  });
});
