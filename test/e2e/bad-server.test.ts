import { describe, expect, it } from 'vitest';
import type { ServeOptions } from '../../src/model/scripted/format.js';
import { expectContinues, runBuilt as run, transcript, transcripts } from './worlds.js';

/** Longest silence of the model in these tests. */
const IMPATIENT = { PORTCULLIS_STREAM_IDLE_TIMEOUT_MS: '300' };

const failing = (misbehave: ServeOptions['misbehave']) => ({
  text: 'half an answer',
  ...(misbehave === undefined ? {} : { serve: { misbehave } }),
});

describe.concurrent('a server that cannot be used', () => {
  it('says which variable to set when there is no key', async () => {
    const done = await run({
      format: 'text',
      env: { ANTHROPIC_BASE_URL: undefined, ANTHROPIC_API_KEY: undefined },
    });
    expect(done).toMatchObject({ exitCode: 3, stdout: '' });
    expect(done.stderr).toContain('no model is configured');
    expect(done.stderr).toContain('ANTHROPIC_API_KEY');
    expect(transcripts(done)).toEqual([]);
  });

  it('tells a host of a missing key in a frame', async () => {
    const done = await run({
      env: { ANTHROPIC_BASE_URL: undefined, ANTHROPIC_API_KEY: undefined },
    });
    expect(done.exitCode).toBe(3);
    expect(done.result).toMatchObject({
      subtype: 'error_during_execution',
      is_error: true,
      errors: [expect.stringContaining('ANTHROPIC_API_KEY')],
      terminal_reason: 'turn_setup_failed',
    });
  });

  it('tells where nothing listens, after one more attempt', async () => {
    const done = await run({
      format: 'text',
      env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' },
    });
    expect(done.exitCode).toBe(1);
    expect(done.stdout).toContain('nothing listens at 127.0.0.1:1');
    expect(done.stdout).toContain('Check ANTHROPIC_BASE_URL');
    expect(done.stderr.match(/trying again/g)).toHaveLength(1);
    await expectContinues(done);
  });

  it.each(['hang', 'hang_midway'] as const)(
    'gives up on a server that falls silent: %s',
    async (how) => {
      const done = await run({ env: IMPATIENT, script: [failing(how), failing(how)] });
      expect(done.exitCode).toBe(1);
      expect(done.requests).toHaveLength(2);
      expect(done.result).toMatchObject({
        is_error: true,
        result: expect.stringMatching(/^API Error: 127\.0\.0\.1:\d+ sent nothing for 0\.3 s$/),
        error_kind: 'timeout',
      });
      expect(done.frames.filter((frame) => frame.type === 'assistant')).toEqual([]);
      await expectContinues(done);
    },
  );

  it.each([
    ['html', 'the server sent a web page', 1],
    ['unstreamed', 'an answer that is not a stream', 1],
    ['empty', 'closed the stream without an answer', 2],
    ['malformed_sse', 'an event of the stream cannot be read', 2],
    ['reset', 'closed the connection', 2],
  ] as const)(
    'ends with one clear error when the answer is a lie: %s',
    async (how, words, tries) => {
      const done = await run({ script: [failing(how), failing(how)] });
      expect({ code: done.exitCode, requests: done.requests.length }).toEqual({
        code: 1,
        requests: tries,
      });
      expect(done.result).toMatchObject({
        subtype: 'success',
        is_error: true,
        terminal_reason: 'api_error',
        result: expect.stringContaining(words),
      });
      expect(done.frames.filter((frame) => frame.type === 'result')).toHaveLength(1);
      expect(transcript(done).text).not.toContain('half an answer');
      await expectContinues(done);
    },
  );

  it('reads a stream that is called something else', async () => {
    const done = await run({ format: 'text', script: [failing('wrong_content_type')] });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'half an answer\n' });
  });

  it('does not wait for a connection that stays open after the last event', async () => {
    const done = await run({ format: 'text', script: [failing('no_end')] });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'half an answer\n', stderr: '' });
  });

  it('puts together an answer that arrives byte by byte', async () => {
    const done = await run({
      format: 'text',
      script: [{ text: 'Grüße, 世界 🎉', serve: { dripBytes: 1 } }],
    });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'Grüße, 世界 🎉\n' });
  });
});

describe.concurrent('a stream that is cut', () => {
  it('is asked for again, and nothing half is kept', async () => {
    const done = await run({
      args: ['--allowedTools', 'Bash'],
      script: [
        {
          blocks: ['HALF', { tool: 'Bash', input: { command: 'touch made-by-half' } }],
          cutStream: true,
        },
        'whole',
      ],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.result).toMatchObject({ result: 'whole', num_turns: 1 });
    expect(done.project.exists('made-by-half')).toBe(false);
    expect(done.requests[1]?.body).toEqual(done.requests[0]?.body);
    expect(
      done.frames.map((frame) => [frame.type, frame.subtype].filter(Boolean).join('/')),
    ).toEqual(['system/init', 'system/api_retry', 'assistant', 'result/success']);
    expect(transcript(done).text).not.toContain('HALF');
    await expectContinues(done);
  });

  it('takes back what partial messages already showed', async () => {
    const blocks = ['SHOWN', 'and more', 'and more', 'and more'];
    const done = await run({
      args: ['--include-partial-messages'],
      script: [{ blocks, cutStream: true }, 'whole'],
    });
    const shown = done.frames.filter((frame) => frame.type === 'assistant');
    const taken = shown.slice(0, -1).map((frame) => frame.uuid);
    expect(taken.length).toBeGreaterThan(0);
    expect(shown.at(-1)).toMatchObject({ supersedes: taken });
  });

  it('ends the run with one error when it is cut for ever', async () => {
    const cut = { text: 'HALF', cutStream: true };
    const done = await run({
      env: { CLAUDE_CODE_MAX_RETRIES: '2' },
      script: [cut, cut, cut],
    });
    expect(done).toMatchObject({ exitCode: 1, scriptProblems: [] });
    expect(done.frames.filter((frame) => frame.type === 'result')).toHaveLength(1);
    expect(done.result).toMatchObject({
      is_error: true,
      result: expect.stringContaining('closed the connection'),
    });
    expect(transcript(done).text).not.toContain('HALF');
    await expectContinues(done);
  });
});

describe.concurrent('a server that answers with a status', () => {
  it.each([
    [400, 'invalid_request', '', 1],
    [401, 'authentication', 'Check ANTHROPIC_API_KEY', 1],
    [403, 'authentication', 'Check ANTHROPIC_API_KEY', 1],
    [404, 'bad_response', 'Check that ANTHROPIC_BASE_URL', 1],
    [413, 'prompt_too_long', 'Shorten the conversation', 1],
    [429, 'rate_limit', 'Wait, or ask the provider', 2],
    [500, 'server', '', 2],
    [529, 'overloaded', '', 2],
  ] as const)('%i is told once, with a remedy', async (status, kind, remedy, tries) => {
    const error = { status, message: 'THE REASON', retryAfterMs: 20 };
    const done = await run({ script: [{ error }, { error }] });
    expect({ code: done.exitCode, requests: done.requests.length }).toEqual({
      code: 1,
      requests: tries,
    });
    expect(done.result).toMatchObject({
      subtype: 'success',
      is_error: true,
      api_error_status: status,
      error_kind: kind,
      terminal_reason: kind === 'prompt_too_long' ? kind : 'api_error',
    });
    const told = String(done.result?.result);
    expect(told).toMatch(new RegExp(`^API Error: ${status}: THE REASON`));
    expect(told).toContain(remedy);
    expect(told).not.toContain('test-key');
    await expectContinues(done);
  });

  it('waits as long as it is asked to', async () => {
    const done = await run({
      script: [
        { error: { status: 429 }, serve: { headers: { 'retry-after': '1' } } },
        'served after all',
      ],
    });
    expect(done.exitCode).toBe(0);
    const retry = done.frames.find((frame) => frame.subtype === 'api_retry');
    expect(retry).toMatchObject({ error_status: 429, attempt: 1, max_retries: 1 });
    expect(retry?.retry_delay_ms).toBeGreaterThanOrEqual(1000);
  });

  it('does not wait when it is asked to wait too long', async () => {
    const done = await run({
      format: 'text',
      script: [{ error: { status: 429 }, serve: { headers: { 'retry-after': '3600' } } }],
    });
    expect(done.exitCode).toBe(1);
    expect(done.stdout).toContain('a pause of 3600 s');
  });

  it('goes on with the fallback model, and says so', async () => {
    const error = { status: 529, retryAfterMs: 1 };
    const done = await run({
      args: ['--model', 'first-model', '--fallback-model', 'second-model'],
      script: [{ error }, { error }, 'from the second'],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.requests.at(-1)?.body).toMatchObject({ model: 'second-model' });
    expect(done.frames).toContainEqual(
      expect.objectContaining({
        subtype: 'informational',
        content: expect.stringContaining('going on with second-model'),
      }),
    );
  });
});
