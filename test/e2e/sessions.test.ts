import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScenarioRun } from '../../src/testing/scenario.js';
import { canonical } from './canonical.js';
import { run, transcript, transcripts, userTexts } from './worlds.js';

const ID = '11111111-2222-4333-8444-555555555555';
const OTHER_ID = '99999999-2222-4333-8444-555555555555';

const TOOLS = ['--allowedTools', 'Write', 'Bash'];
const TOOL_SCRIPT = [
  {
    blocks: [
      'I write two files.',
      { tool: 'Write', input: { file_path: 'a.txt', content: 'ä "quoted"\n' } },
      { tool: 'Bash', input: { command: 'printf "b\\t\\n" > b.txt; cat b.txt' } },
    ],
  },
  { thinking: 'Now to read.', tool: 'Read', input: { file_path: 'a.txt' } },
  { tool: 'Nothing', input: { odd: [1, null, { x: 1.5 }] } },
  'Done.',
] as const;

const idOf = (done: ScenarioRun): string => String(done.result?.session_id);

describe.concurrent('going on with a session', () => {
  it('--continue takes the newest one of the directory', async () => {
    const old = await run({ prompt: 'OLD', script: ['one'] });
    const newer = await run({ world: old.world, prompt: 'NEWER', script: ['two'] });
    const next = await run({ world: old.world, args: ['--continue'], script: ['three'] });
    expect(idOf(next)).toBe(idOf(newer));
    const texts = userTexts(next.requests[0]?.body);
    expect(texts).toContain('NEWER');
    expect(texts).not.toContain('OLD');
    expect(transcripts(next)).toHaveLength(2);
  });

  it('--continue with nothing to go on with begins a session', async () => {
    const done = await run({ args: ['--continue'], script: ['ok'] });
    expect(done.exitCode).toBe(0);
    expect(transcripts(done)).toHaveLength(1);
  });

  it('--resume takes the one that is named', async () => {
    const old = await run({ prompt: 'OLD', script: ['one'] });
    await run({ world: old.world, prompt: 'NEWER', script: ['two'] });
    const next = await run({
      world: old.world,
      args: ['--resume', idOf(old)],
      prompt: 'AGAIN',
      script: ['three'],
    });
    expect(idOf(next)).toBe(idOf(old));
    expect(userTexts(next.requests[0]?.body).slice(-2)).toEqual(['OLD', 'AGAIN']);
  });

  it('--resume with an id that nobody knows is an error, and makes no file', async () => {
    const done = await run({ args: ['--resume', ID], format: 'text' });
    expect(done).toMatchObject({ exitCode: 1, stdout: '', requests: [] });
    expect(done.stderr).toContain(`No conversation found with session ID: ${ID}`);
    expect(transcripts(done)).toEqual([]);
  });

  it.each(['../../etc/passwd', '..', 'a/b', ''])(
    '--resume never leaves the session folder: %j',
    async (id) => {
      const done = await run({ args: [`--resume=${id}`], format: 'text', script: ['new'] });
      if (id === '') expect(done).toMatchObject({ exitCode: 2, requests: [] });
      else expect(done).toMatchObject({ exitCode: 1, requests: [] });
    },
  );

  it('resumes from another directory, and tells the model where it is now', async () => {
    const first = await run({ prompt: 'FIRST', files: { 'sub/x.txt': '' }, script: ['one'] });
    const next = await run({
      world: first.world,
      cwd: first.project.at('sub'),
      args: ['--resume', idOf(first)],
      prompt: 'SECOND',
      script: ['two'],
    });
    expect(next.exitCode).toBe(0);
    expect(idOf(next)).toBe(idOf(first));
    const texts = userTexts(next.requests[0]?.body);
    expect(texts).toContain('FIRST');
    expect(texts.at(-2)).toContain(first.project.at('sub'));
    // Still one file, in the folder where it began.
    expect(transcript(next).text).toContain('SECOND');
  });

  it('--resume-session-at forgets what came after', async () => {
    const first = await run({ prompt: 'FIRST', script: ['one'] });
    await run({ world: first.world, args: ['-c'], prompt: 'SECOND', script: ['two'] });
    const answer = transcript(first).lines.find((line) => line.type === 'assistant');
    const next = await run({
      world: first.world,
      args: ['--resume', idOf(first), '--resume-session-at', String(answer?.uuid)],
      prompt: 'INSTEAD',
      script: ['three'],
    });
    expect(next.exitCode).toBe(0);
    const texts = userTexts(next.requests[0]?.body);
    expect(texts.slice(-2)).toEqual(['FIRST', 'INSTEAD']);
    const after = await run({ world: first.world, args: ['-c'], script: ['four'] });
    expect(userTexts(after.requests[0]?.body)).not.toContain('SECOND');
    expect(userTexts(after.requests[0]?.body)).toContain('INSTEAD');
  });

  it('--resume-session-at with an unknown message is an error', async () => {
    const first = await run({ prompt: 'FIRST', script: ['one'] });
    const next = await run({
      world: first.world,
      args: ['--resume', idOf(first), '--resume-session-at', ID],
      format: 'text',
    });
    expect(next).toMatchObject({ exitCode: 1, stdout: '', requests: [] });
    expect(next.stderr).toContain(ID);
  });

  it('--name gives a title, by which a session can be resumed', async () => {
    const first = await run({ args: ['--name', 'The parser'], prompt: 'FIRST', script: ['one'] });
    await run({ world: first.world, prompt: 'OTHER', script: ['two'] });
    const next = await run({
      world: first.world,
      args: ['--resume', 'The parser'],
      script: ['three'],
    });
    expect(next.exitCode).toBe(0);
    expect(idOf(next)).toBe(idOf(first));
  });
});

describe.concurrent('ids and copies', () => {
  it('--session-id names the session, once', async () => {
    const first = await run({ args: ['--session-id', ID], script: ['one'] });
    expect({ code: first.exitCode, id: idOf(first) }).toEqual({ code: 0, id: ID });
    expect(transcript(first).id).toBe(ID);
    const before = transcript(first).text;
    const again = await run({
      world: first.world,
      args: ['--session-id', ID],
      format: 'text',
    });
    expect(again).toMatchObject({ exitCode: 1, stdout: '', requests: [] });
    expect(again.stderr).toContain(`Session ID ${ID} is already in use`);
    expect(transcript(first).text).toBe(before);
  });

  it('--fork-session leaves the old file as it was', async () => {
    const first = await run({ args: TOOLS, prompt: 'FIRST', script: TOOL_SCRIPT });
    const before = transcript(first);
    const fork = await run({
      world: first.world,
      args: ['--continue', '--fork-session', '--session-id', OTHER_ID],
      prompt: 'BRANCH',
      script: ['two'],
    });
    expect({ code: fork.exitCode, id: idOf(fork) }).toEqual({ code: 0, id: OTHER_ID });
    const all = transcripts(first);
    expect(all).toHaveLength(2);
    expect(all.find((file) => file.id === before.id)?.text).toBe(before.text);
    const copy = all.find((file) => file.id === OTHER_ID);
    expect(copy?.lines.every((line) => line.sessionId === OTHER_ID)).toBe(true);
    const texts = userTexts(fork.requests[0]?.body);
    expect(texts).toContain('FIRST');
    expect(texts.at(-1)).toBe('BRANCH');
  });

  it('--no-session-persistence leaves nothing behind', async () => {
    const done = await run({
      args: [...TOOLS, '--no-session-persistence'],
      script: TOOL_SCRIPT,
    });
    expect(done.exitCode).toBe(0);
    expect(existsSync(path.join(done.project.home, '.claude/projects'))).toBe(false);
  });
});

describe.concurrent('transcripts of other programs', () => {
  const place = (done: ScenarioRun, lines: readonly object[]): void => {
    const folder = path.join(
      done.project.home,
      '.claude/projects',
      done.project.directory.replace(/[^a-zA-Z0-9]/g, '-'),
    );
    mkdirSync(folder, { recursive: true });
    const file = path.join(folder, `${ID}.jsonl`);
    writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
    const later = new Date(Date.now() + 60_000);
    utimesSync(file, later, later);
  };
  const base = (uuid: string, parentUuid: string | null): object => ({
    uuid,
    parentUuid,
    sessionId: ID,
    timestamp: '2026-01-01T00:00:00.000Z',
  });
  const MINIMAL = [
    { ...base('u1', null), type: 'user', message: { role: 'user', content: 'BY HAND' } },
    {
      ...base('a1', 'u1'),
      type: 'assistant',
      message: { role: 'assistant', content: [{ type: 'text', text: 'ANSWERED' }] },
    },
  ];

  it('the least that can be called one is enough', async () => {
    const world = await run({ args: ['--no-session-persistence'], script: ['x'] });
    place(world, MINIMAL);
    const next = await run({ world: world.world, args: ['--continue'], script: ['ok'] });
    expect({ code: next.exitCode, id: idOf(next) }).toEqual({ code: 0, id: ID });
    expect(next.requests[0]?.body).toMatchObject({
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'BY HAND' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'ANSWERED' }] },
        { role: 'user' },
      ],
    });
  });

  it('entries of kinds that we do not know are passed over, not lost', async () => {
    const world = await run({ args: ['--no-session-persistence'], script: ['x'] });
    place(world, [
      { type: 'summary', summary: 'Earlier', leafUuid: 'a1' },
      { type: 'file-history-snapshot', messageId: 'u1', snapshot: {} },
      ...MINIMAL,
      { ...base('q1', 'a1'), type: 'quantum-entry', payload: { strange: true } },
      { ...base('u2', 'q1'), type: 'user', message: { role: 'user', content: 'AFTER' } },
    ]);
    const next = await run({ world: world.world, args: ['--resume', ID], script: ['ok'] });
    expect(next.exitCode).toBe(0);
    const texts = userTexts(next.requests[0]?.body);
    expect(texts).toContain('BY HAND');
    expect(texts).toContain('AFTER');
    expect(transcript(next).text).toContain('quantum-entry');
    expect(next.stderr).not.toContain('damaged');
  });

  it.each([[], ['--fork-session']])('says that lines are damaged: %j', async (...args) => {
    const world = await run({ args: ['--no-session-persistence'], script: ['x'] });
    place(world, [...MINIMAL, ['no entry']]);
    const resume = ['--resume', ID, ...args];
    const next = await run({ world: world.world, args: resume, format: 'text', script: ['ok'] });
    expect(next.exitCode).toBe(0);
    expect(next.stderr).toMatch(/555555555555\.jsonl has damaged lines.*: 1$/m);
  });
});

describe.concurrent('what is written', () => {
  it('is a chain of entries that viewers can read, for the owner alone', async () => {
    const first = await run({ args: TOOLS, prompt: 'FIRST', script: TOOL_SCRIPT });
    await run({ world: first.world, args: ['--continue'], prompt: 'SECOND', script: ['two'] });
    const file = transcript(first);
    expect(file.mode).toBe(0o600);
    expect(file.text.endsWith('\n')).toBe(true);
    const entries = file.lines.filter((line) => line.uuid !== undefined);
    let parent: unknown = null;
    for (const entry of entries) {
      expect(entry).toMatchObject({
        type: expect.stringMatching(/^(user|assistant|system|attachment)$/),
        uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        parentUuid: parent,
        sessionId: file.id,
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        cwd: first.project.directory,
      });
      parent = entry.uuid;
    }
    expect(new Set(entries.map((entry) => entry.uuid)).size).toBe(entries.length);
    const facts = file.lines.filter((line) => line.uuid === undefined);
    for (const fact of facts) expect(fact).toMatchObject({ sessionId: file.id });
  });

  it('has the ids that the frames had', async () => {
    const done = await run({ args: TOOLS, script: TOOL_SCRIPT });
    const written = new Set(transcript(done).lines.map((line) => line.uuid));
    const shown = done.frames.filter(
      (frame) => frame.type === 'assistant' || frame.type === 'user',
    );
    expect(shown.length).toBeGreaterThan(8);
    for (const frame of shown) expect(written.has(frame.uuid)).toBe(true);
  });

  it('gives the model, when it goes on, exactly what it was given before', async () => {
    const first = await run({ args: TOOLS, prompt: 'FIRST', script: TOOL_SCRIPT });
    expect(first).toMatchObject({ exitCode: 0, scriptProblems: [] });
    const next = await run({
      world: first.world,
      args: [...TOOLS, '--continue'],
      prompt: 'SECOND',
      script: ['two'],
    });
    const before = canonical(first.requests.at(-1)?.body);
    const after = canonical(next.requests[0]?.body);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.length).toBe(before.length + 2);
  });
});
