import { describe, expect, it } from 'vitest';
import { PROGRAM } from './program.js';
import { expectContinues, run, transcript, transcripts, userTexts } from './worlds.js';

const MIB = 1024 * 1024;

describe.concurrent('what is piped in', () => {
  it('may be 5 MB long', async () => {
    const text = `${'0123456789abcdef'.repeat((5 * MIB) / 16)}END`;
    const done = await run({ format: 'text', prompt: null, stdin: text, script: ['read'] });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'read\n', stderr: '' });
    expect(userTexts(done.requests[0]?.body).at(-1) === text).toBe(true);
    // More than the model's window: going on begins with a summary of it.
    const next = await run({ world: done.world, args: ['--continue'], script: ['short', 'still'] });
    expect(next).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(userTexts(next.requests[0]?.body).includes(text)).toBe(true);
  });

  it('is refused above 10 MB, before anything is sent', async () => {
    const done = await run({ prompt: null, stdin: 'x'.repeat(10 * MIB + 1) });
    expect(done).toMatchObject({ exitCode: 2, stdout: '', requests: [] });
    expect(done.stderr).toContain('more than 10 MB arrived on standard input');
    expect(transcripts(done)).toEqual([]);
  });

  it('may hold bytes that are no UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from('BEFORE '),
      Buffer.from([0xff, 0xc3, 0x28]),
      Buffer.from(' AFTER'),
    ]);
    const done = await run({ prompt: null, stdin: bytes, script: ['ok'] });
    expect(done.exitCode).toBe(0);
    expect(userTexts(done.requests[0]?.body).at(-1)).toBe('BEFORE \ufffd\ufffd( AFTER');
    await expectContinues(done, 'BEFORE \ufffd\ufffd( AFTER');
  });

  it('may hold NUL and control characters', async () => {
    const text = 'NUL \0 and ESC \u001b[31m and U+2028 \u2028 end';
    const done = await run({ prompt: null, stdin: text, script: ['ok'] });
    expect(done.exitCode).toBe(0);
    expect(userTexts(done.requests[0]?.body).at(-1)).toBe(text);
    await expectContinues(done, text);
  });

  it('is nothing when it is only white space', async () => {
    const done = await run({ prompt: null, stdin: ' \n\t\n', format: 'text' });
    expect(done).toMatchObject({ exitCode: 2, stdout: '', requests: [] });
    expect(done.stderr).toContain('there is no prompt');
  });

  it('is not waited for for ever when there is a prompt', async () => {
    const done = await run({ format: 'text', script: ['went on'], onStart: () => undefined });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'went on\n' });
    expect(done.stderr).toContain('nothing arrived on standard input for 3 s');
    await expectContinues(done);
  });
});

describe.concurrent('a prompt that looks like something else', () => {
  it.each(['--help', '-p', '/etc/passwd', '$(touch made)', '{"type":"user"}'])(
    'is passed on as it is: %s',
    async (prompt) => {
      const done = await run({ prompt, format: 'text', script: ['ok'] });
      expect(done).toMatchObject({ exitCode: 0, stdout: 'ok\n' });
      expect(userTexts(done.requests[0]?.body)).toContain(prompt);
      expect(done.project.exists('made')).toBe(false);
    },
  );
});

describe.concurrent('a reader that goes away', () => {
  it('does not end the run: the transcript is complete', async () => {
    const done = await run(
      {
        args: ['--allowedTools', 'Bash'],
        script: [
          { tool: 'Bash', input: { command: 'sleep 0.3; echo one' } },
          { tool: 'Bash', input: { command: 'echo two; touch made' } },
          'THE LAST WORD',
        ],
      },
      ['bash', '-o', 'pipefail', '-c', '"$@" | head -n 1', 'bash', ...PROGRAM],
    );
    expect(done).toMatchObject({ exitCode: 0, stderr: '', scriptProblems: [] });
    expect(done.frames).toHaveLength(1);
    expect(done.project.exists('made')).toBe(true);
    expect(transcript(done).text).toContain('THE LAST WORD');
    await expectContinues(done);
  });

  it('does not crash when standard output and error are closed from the start', async () => {
    const done = await run({ script: ['THE LAST WORD'] }, [
      'bash',
      '-c',
      'exec "$@" >&- 2>&-',
      'bash',
      ...PROGRAM,
    ]);
    expect(done).toMatchObject({ exitCode: 0, stdout: '' });
    expect(transcript(done).text).toContain('THE LAST WORD');
  });

  it('does not crash when the output device is full', async () => {
    const done = await run({ script: ['THE LAST WORD'] }, [
      'bash',
      '-c',
      'exec "$@" >/dev/full',
      'bash',
      ...PROGRAM,
    ]);
    expect(done.stderr).not.toContain('.js:');
    expect(transcript(done).text).toContain('THE LAST WORD');
  });
});
