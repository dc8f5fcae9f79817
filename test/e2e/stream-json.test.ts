import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { drive, isAssistant, isResult, kindOf } from './host.js';
import { blocksOf, expectContinues, runBuilt as run, transcript, userTexts } from './worlds.js';

const prompt = (text: string, fields: object = {}) => ({
  type: 'user',
  message: { role: 'user', content: text },
  ...fields,
});

describe.concurrent('prompts over standard input', () => {
  it('two in one process: two results, one conversation', async () => {
    const done = await drive({ script: ['one', 'two'] }, async (host) => {
      host.prompt('FIRST');
      expect(await host.next(isResult)).toMatchObject({ result: 'one', num_turns: 1 });
      host.prompt('SECOND');
      expect(await host.next(isResult)).toMatchObject({ result: 'two', num_turns: 1 });
      host.end();
    });
    expect(done).toMatchObject({ exitCode: 0, stderr: '', scriptProblems: [] });
    expect(userTexts(done.requests[1]?.body).slice(-2)).toEqual(['FIRST', 'SECOND']);
    expect(done.frames.filter(isResult)).toHaveLength(2);
    expect(done.frames.map(kindOf)).toEqual([
      'system/init',
      'assistant',
      'result/success',
      'system/init',
      'assistant',
      'result/success',
    ]);
    expect(new Set(done.frames.map((frame) => frame.session_id)).size).toBe(1);
    await expectContinues(done, 'SECOND');
  });

  it('one that arrives while a turn runs is folded into it', async () => {
    const done = await drive(
      {
        args: ['--allowedTools', 'Bash'],
        script: [
          {
            tool: 'Bash',
            input: { command: 'until [ -e go ]; do sleep 0.02; done', timeout: 10_000 },
          },
          'saw both',
        ],
      },
      async (host) => {
        host.prompt('FIRST');
        const { cwd } = await host.next((frame) => frame.subtype === 'init');
        await host.next(isAssistant);
        host.prompt('MEANWHILE');
        // Answered in order: once this is back, the prompt before it has been read.
        await host.request({ subtype: 'mcp_status' });
        writeFileSync(path.join(String(cwd), 'go'), '');
        await host.next(isResult);
        host.end();
      },
    );
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.requests).toHaveLength(2);
    expect(userTexts(done.requests[1]?.body)).toContain('MEANWHILE');
    expect(done.frames.filter(isResult)).toHaveLength(1);
  });

  it('what is queued when the input ends is still answered', async () => {
    const done = await run({
      stdin: [prompt('FIRST'), prompt('SECOND')],
      script: [
        (view) => (view.lastUser.includes('SECOND') ? 'both' : { text: 'one', delayMs: 300 }),
        'rest',
      ],
    });
    expect(done.exitCode).toBe(0);
    expect(userTexts(done.requests.at(-1)?.body)).toContain('SECOND');
    expect(done.result).toMatchObject({ is_error: false });
  });

  it('no prompt at all is no error', async () => {
    const done = await run({ stdin: [], script: [] });
    expect(done).toMatchObject({ exitCode: 0, stdout: '', requests: [] });
  });

  it('may be lists of blocks, images among them', async () => {
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: PIXEL },
    };
    const content = [{ type: 'text', text: 'What is this?' }, image];
    const done = await run({
      stdin: [{ type: 'user', message: { role: 'user', content } }],
      script: ['a pixel'],
    });
    expect(done.exitCode).toBe(0);
    expect(blocksOf(done.requests[0]?.body, 'user').at(-1)).toMatchObject(image);
    await expectContinues(done, 'What is this?');
  });

  it('are echoed with their ids when that is asked for', async () => {
    const uuid = '11111111-2222-4333-8444-555555555555';
    const done = await run({
      args: ['--replay-user-messages'],
      stdin: [prompt('FIRST', { uuid })],
      script: ['one'],
    });
    const echo = done.frames.filter((frame) => frame.type === 'user');
    expect(echo).toMatchObject([
      { uuid, isReplay: true, message: { content: [{ type: 'text', text: 'FIRST' }] } },
    ]);
    expect(transcript(done).lines.some((line) => line.uuid === uuid)).toBe(true);
  });

  it('exit 1 when the last result is an error, 0 when it is not', async () => {
    const error = { error: { status: 400, message: 'no' } };
    const bad = await run({ stdin: [prompt('FIRST')], script: [error] });
    expect(bad.exitCode).toBe(1);
    expect(bad.result).toMatchObject({ is_error: true, subtype: 'success' });
    const mended = await drive({ script: [error, 'fine'] }, async (host) => {
      host.prompt('FIRST');
      await host.next(isResult);
      host.prompt('SECOND');
      await host.next(isResult);
      host.end();
    });
    expect(mended.exitCode).toBe(0);
  });
});

describe.concurrent('lines that are no prompts', () => {
  it('that are no JSON end the run with exit 1 and the line', async () => {
    const done = await run({
      prompt: null,
      args: ['--input-format', 'stream-json'],
      stdin: `${JSON.stringify(prompt('FIRST'))}\nthis is no JSON\n`,
      script: ['one'],
    });
    expect(done.exitCode).toBe(1);
    expect(done.stderr).toContain('not a JSON object: this is no JSON');
    expect(done.stderr).not.toContain('.js:');
  });

  it('empty ones are passed over', async () => {
    const done = await run({
      prompt: null,
      args: ['--input-format', 'stream-json'],
      stdin: `\n\n${JSON.stringify(prompt('FIRST'))}\r\n\n`,
      script: ['one'],
    });
    expect(done).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('of kinds that nobody knows are ignored', async () => {
    const done = await run({
      stdin: [
        { type: 'keep_alive' },
        { type: 'from_the_future', payload: 1 },
        { type: 'control_response', response: { subtype: 'success', request_id: 'never-asked' } },
        { no: 'type' },
        prompt('FIRST'),
      ],
      script: ['one'],
    });
    expect(done).toMatchObject({ exitCode: 0, stderr: '', scriptProblems: [] });
    expect(done.frames.filter(isResult)).toHaveLength(1);
  });

  it('a prompt of 3 MB on one line is read', async () => {
    const text = 'x'.repeat(3_000_000);
    const done = await run({ stdin: [prompt(text)], script: ['long'] });
    expect(done.exitCode).toBe(0);
    expect(userTexts(done.requests[0]?.body).at(-1) === text).toBe(true);
  });
});

describe.concurrent('frames', () => {
  it('stay below 1 MB when a tool returns 3 MB', async () => {
    const done = await run({
      args: ['--allowedTools', 'Bash'],
      env: { BASH_MAX_OUTPUT_LENGTH: '150000' },
      stdin: [prompt('FIRST')],
      script: [
        { tool: 'Bash', input: { command: 'head -c 3000000 /dev/zero | tr "\\0" x' } },
        'That was long.',
      ],
    });
    expect(done.exitCode).toBe(0);
    for (const line of done.stdout.split('\n'))
      expect(Buffer.byteLength(line)).toBeLessThan(1_000_000);
    expect(done.requests[1]?.raw.length).toBeLessThan(400_000);
    expect(done.toolResult(0).text).toMatch(/saved to (\S+)/);
    await expectContinues(done, 'FIRST');
  });
});

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
