import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createConnection } from '../../src/mcp/connection/connection.js';
import { isGone, temporaryDirectory, until } from '../process/helpers.js';
import {
  call,
  connectTo,
  declared,
  depsWith,
  journalLines,
  never,
  nodeEntry,
  recorder,
  scripted,
  text,
} from './connection-rig.js';

describe('a stdio server', () => {
  it('is connected at first need, by one attempt for all, and tells how it stands', async () => {
    const journal = path.join(temporaryDirectory(), 'journal');
    const connection = connectTo(scripted({ journal }));
    const changes: string[] = [];
    connection.onChange((change) => changes.push(change));
    expect(connection.status()).toMatchObject({ state: 'pending', transport: 'stdio' });
    expect(journalLines(journal)).toEqual([]);
    const answers = await Promise.all([
      connection.connect(),
      call(connection, 'echo', { a: 1 }),
      connection.listTools(),
    ]);
    expect(answers.every((answer) => answer.ok)).toBe(true);
    expect(journalLines(journal).filter((line) => line.startsWith('start'))).toHaveLength(1);
    expect(connection.status()).toMatchObject({
      state: 'connected',
      serverInfo: { name: 'scripted', version: '1' },
      protocolVersion: '2025-11-25',
      instructions: 'first\nsecond\\u200b',
    });
    expect(changes).toContain('state');
  });

  it('gets the minimal environment, what its entry says, and nothing of ours', async () => {
    const cwd = temporaryDirectory();
    const entry = { ...scripted(), env: { OWN: 'x' } };
    const connection = connectTo(entry, { cwd });
    const env = JSON.parse(text(await call(connection, 'env')));
    expect(env).toMatchObject({ OWN: 'x', CLAUDE_PROJECT_DIR: cwd, HOME: '/home/me' });
    expect(env.FOO ?? env.ANTHROPIC_API_KEY).toBeUndefined();
  });

  it('is asked in the new protocol first, and in the old one when it is silent', async () => {
    const journal = path.join(temporaryDirectory(), 'journal');
    const connection = connectTo(scripted({ journal, discover: 'silent' }), {
      timeouts: { probeMs: 200 },
    });
    expect((await connection.connect()).ok).toBe(true);
    const lines = journalLines(journal).map((line) => line.split(' ')[0]);
    expect(lines.slice(0, 3)).toEqual(['start', 'server/discover', 'initialize']);
  });

  it('is started anew in the old protocol when the new one kills it, and not asked again', async () => {
    const journal = path.join(temporaryDirectory(), 'journal');
    const connection = connectTo(scripted({ journal, discover: 'die' }));
    expect(text(await call(connection, 'echo', { a: 1 }))).toBe('{"a":1}');
    await call(connection, 'crash');
    expect((await call(connection, 'echo')).ok).toBe(true);
    const discovers = journalLines(journal).filter((line) => line.startsWith('server/discover'));
    expect(discovers).toHaveLength(1);
  });

  it('may write what is no message', async () => {
    const connection = connectTo(scripted({ noise: true }));
    expect(text(await call(connection, 'echo', { a: 1 }))).toBe('{"a":1}');
  });

  it('works on while it floods its output', async () => {
    const connection = connectTo(scripted({ flood: true }));
    expect(text(await call(connection, 'echo', { a: 1 }))).toBe('{"a":1}');
    await connection.close();
  });

  it('is ended for a line without an end', async () => {
    const connection = connectTo(scripted());
    const pid = Number(text(await call(connection, 'pid')));
    const result = await call(connection, 'huge');
    expect(result).toMatchObject({ ok: false, error: { code: 'protocol', mayHaveRun: true } });
    expect(result.ok ? '' : result.error.message).toContain('longer than 16 MiB');
    expect(await until(() => isGone(pid))).toBe(true);
    expect((await call(connection, 'echo')).ok).toBe(true);
  });

  it.each(['proto', 'nothing', 'deep', 'both', 'badMeta'])(
    'whose answer cannot be taken is not waited for: %s',
    async (tool) => {
      const connection = connectTo(scripted());
      const result = await call(connection, tool);
      expect(result).toMatchObject({ ok: false, error: { code: 'protocol', mayHaveRun: true } });
      expect((await call(connection, 'echo')).ok).toBe(true);
    },
  );

  it('may add to its answers what the protocol does not know', async () => {
    expect(text(await call(connectTo(scripted()), 'extra'))).toBe('with more');
  });

  it('that cannot be started says so without paths', async () => {
    const connection = connectTo(nodeEntry([], { command: '/no/such/program' }));
    const result = await connection.connect();
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'connect-failed', mayHaveRun: false },
    });
    expect(JSON.stringify(result)).not.toContain('/no/such');
    expect(connection.status().state).toBe('failed');
  });

  it('that ends at its start says so without what it wrote', async () => {
    const connection = connectTo(scripted({ exitAtStart: 7, stderr: 'secret words\n' }));
    const result = await connection.connect();
    expect(result).toMatchObject({ ok: false, error: { code: 'connect-failed' } });
    expect(JSON.stringify(result)).toContain('exit code 7');
    expect(JSON.stringify(result)).not.toContain('secret');
  });

  it('that never answers is given up after the connect timeout, and its process ended', async () => {
    const journal = path.join(temporaryDirectory(), 'journal');
    const connection = connectTo(scripted({ journal, init: 'silent', discover: 'silent' }), {
      timeouts: { connectMs: 700, probeMs: 100 },
    });
    const result = await connection.connect();
    expect(result).toMatchObject({ ok: false, error: { code: 'connect-timeout' } });
    const pid = Number(journalLines(journal)[0]?.split(' ')[1]);
    expect(await until(() => isGone(pid))).toBe(true);
  });

  it('may take its time to start', async () => {
    const connection = connectTo(scripted({ initMs: 1500, discover: 'silent' }), {
      timeouts: { probeMs: 100 },
    });
    expect((await connection.connect()).ok).toBe(true);
  });

  it('may crash in a call: told so, not repeated, started anew for the next', async () => {
    const journal = path.join(temporaryDirectory(), 'journal');
    const connection = connectTo(scripted({ journal }));
    expect((await call(connection, 'echo')).ok).toBe(true);
    const result = await call(connection, 'crash');
    expect(result).toMatchObject({ ok: false, error: { code: 'crashed', mayHaveRun: true } });
    expect(JSON.stringify(result)).toContain('Server may have crashed or restarted');
    expect(connection.status().state).toBe('failed');
    expect((await call(connection, 'echo')).ok).toBe(true);
    expect(connection.status().state).toBe('connected');
    const calls = journalLines(journal).filter((line) => line === 'tools/call "crash"');
    expect(calls).toHaveLength(1);
  });

  it('that flaps is held off, with a word about when', async () => {
    const journal = path.join(temporaryDirectory(), 'journal');
    const connection = connectTo(scripted({ journal }), {
      timeouts: { backoffMs: 60_000, maxBackoffMs: 90_000 },
    });
    for (let round = 0; round < 2; round++) await call(connection, 'crash');
    const result = await call(connection, 'echo');
    expect(result).toMatchObject({ ok: false, error: { code: 'crashed', mayHaveRun: false } });
    expect(JSON.stringify(result)).toMatch(/started again in (59|60) s/);
    expect(journalLines(journal).filter((line) => line.startsWith('start'))).toHaveLength(2);
    expect((await connection.reconnect()).ok).toBe(true);
  });

  it('leaves its words to the log file, and the last of them in memory', async () => {
    const log = path.join(temporaryDirectory(), 'logs', 'srv.log');
    const connection = connectTo(scripted({ stderr: 'first words\n', stderrBytes: 200_000 }), {
      log,
    });
    await connection.connect();
    expect(await until(() => statSync(log, { throwIfNoEntry: false })?.size === 200_012)).toBe(
      true,
    );
    expect(readFileSync(log, 'utf8')).toMatch(/^first words\ne+/);
    expect(statSync(log).mode & 0o777).toBe(0o600);
    expect(connection.stderr().length).toBeLessThan(66_000);
    expect(connection.stderr()).toContain('first words');
  });

  it('ends when the connection is closed, though it ignores the end of its input and signals', async () => {
    const connection = connectTo(scripted({ ignoreEnd: true }), { timeouts: { closeMs: 100 } });
    const pid = Number(text(await call(connection, 'pid')));
    await connection.close();
    expect(isGone(pid)).toBe(true);
    expect(await call(connection, 'echo')).toMatchObject({ ok: false, error: { code: 'closed' } });
  });

  it('is closed while it is being connected', async () => {
    const connection = connectTo(scripted({ init: 'silent' }));
    const connecting = connection.connect();
    await new Promise((resolve) => setTimeout(resolve, 300));
    await connection.close();
    expect(await connecting).toMatchObject({ ok: false, error: { code: 'closed' } });
  });

  it('is not started without approval, whoever asks', async () => {
    const journal = path.join(temporaryDirectory(), 'journal');
    const declaration = {
      ...declared(scripted({ journal })),
      standing: { kind: 'pending-approval' as const, reason: 'nobody has agreed to it' },
    };
    const connection = createConnection(declaration, depsWith());
    expect(await connection.connect()).toMatchObject({ ok: false, error: { code: 'refused' } });
    expect(await call(connection, 'echo')).toMatchObject({ ok: false, error: { code: 'refused' } });
    expect(connection.status().state).toBe('pending');
    expect(journalLines(journal)).toEqual([]);
  });

  it('asks for the roots and hears when they change', async () => {
    const journal = path.join(temporaryDirectory(), 'journal');
    const connection = connectTo(scripted({ journal }));
    expect(text(await call(connection, 'roots'))).toContain('"file:///srv/a%20b"');
    await connection.rootsChanged();
    const told = (): boolean =>
      journalLines(journal).some((line) => line.startsWith('notifications/roots/list_changed'));
    expect(await until(told)).toBe(true);
  });

  it('asks a person through the connection', async () => {
    const { asked, elicit } = recorder();
    const connection = connectTo(scripted(), { elicit });
    expect(text(await call(connection, 'question'))).toBe(
      '{"action":"accept","content":{"name":"Ada"}}',
    );
    expect(asked).toMatchObject([{ server: 'srv', mode: 'form', message: 'your name?' }]);
    expect(never.aborted).toBe(false);
  });
});
