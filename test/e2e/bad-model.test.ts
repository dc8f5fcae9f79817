import { describe, expect, it } from 'vitest';
import { blocksOf, expectContinues, run, transcript } from './worlds.js';

const WRITING = ['--allowedTools', 'Write', 'WriteDraft', 'Bash'];

describe.concurrent('a model that calls wrongly', () => {
  it('hears of an unknown tool, and of none that is merely inherited', async () => {
    const done = await run({
      script: [
        { tool: 'LaunchRocket', input: {} },
        { tool: 'constructor', input: {} },
        { tool: '__proto__', input: {} },
        { tool: 'toString', input: {} },
        'I see.',
      ],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.toolResult(0)).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^No such tool available: LaunchRocket\. Known tools: .*Bash/),
    });
    for (const index of [1, 2, 3]) {
      expect(done.toolResult(index)).toMatchObject({
        isError: true,
        text: expect.stringContaining('No such tool available'),
      });
    }
    await expectContinues(done);
  });

  it('hears that its input is no JSON, with the beginning of it', async () => {
    const done = await run({
      args: WRITING,
      script: [{ tool: 'Bash', rawInput: '{"command": "touch made", }}' }, 'Sorry.'],
    });
    expect(done.exitCode).toBe(0);
    expect(done.toolResult(0)).toEqual({
      isError: true,
      text: expect.stringContaining('not valid JSON'),
    });
    expect(done.toolResult(0).text).toContain('{"command": "touch made", }}');
    expect(done.project.exists('made')).toBe(false);
    // What is sent back must be acceptable to the API: an object as input.
    expect(blocksOf(done.requests[1]?.body, 'assistant').at(-1)).toMatchObject({
      type: 'tool_use',
      input: {},
    });
    await expectContinues(done);
  });

  it.each(['[1, 2]', '"touch made"', 'null', '7'])(
    'hears that its input is not an object: %s',
    async (rawInput) => {
      const done = await run({ args: WRITING, script: [{ tool: 'Bash', rawInput }, 'ok'] });
      expect(done.exitCode).toBe(0);
      expect(done.toolResult(0)).toEqual({
        isError: true,
        text: expect.stringContaining('not a JSON object'),
      });
    },
  );

  it('hears which parameter is missing, too many or of the wrong type', async () => {
    const done = await run({
      args: WRITING,
      script: [
        { tool: 'Write', input: { content: 'x' } },
        { tool: 'Write', input: { file_path: 'a.txt', content: 'x', encoding: 'latin1' } },
        { tool: 'Write', input: { file_path: 7, content: 'x' } },
        { tool: 'Write', input: { file_path: 'a.txt', content: '' } },
        'ok',
      ],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.toolResult(0)).toMatchObject({
      isError: true,
      text: expect.stringMatching(/`file_path`.*(missing|required)/),
    });
    expect(done.toolResult(1)).toMatchObject({
      isError: true,
      text: expect.stringContaining('encoding'),
    });
    expect(done.toolResult(2)).toMatchObject({
      isError: true,
      text: expect.stringMatching(/`file_path`.*string/),
    });
    // Empty is not absent.
    expect(done.toolResult(3).isError).toBe(false);
    expect(done.project.read('a.txt')).toBe('');
  });

  it('is stopped as stuck when it sends the same broken call three times', async () => {
    const done = await run({
      args: [...WRITING, '--max-turns', '20'],
      script: [
        { tool: 'Write', input: {} },
        { tool: 'Write', input: {} },
        { tool: 'Write', input: {} },
      ],
    });
    expect(done).toMatchObject({ exitCode: 7, scriptProblems: [] });
    expect(done.requests).toHaveLength(3);
    expect(done.result).toMatchObject({
      subtype: 'error_during_execution',
      is_error: true,
      terminal_reason: 'malformed_tool_use_exhausted',
      errors: [expect.stringContaining('Write was called 3 times in a row')],
    });
    await expectContinues(done);
  });

  it('is not stuck when it learns in between', async () => {
    const done = await run({
      args: WRITING,
      script: [
        { tool: 'Write', input: {} },
        { tool: 'Write', input: {} },
        { tool: 'Write', input: { file_path: 'a.txt', content: 'x' } },
        { tool: 'Write', input: {} },
        { tool: 'Write', input: {} },
        'done',
      ],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
  });

  it('cannot write to the terminal through a refusal', async () => {
    const done = await run({
      format: 'text',
      script: [{ tool: 'Bash', input: { command: 'touch "\u001b]0;OWNED\u0007\u202e"' } }, 'ok'],
    });
    expect(done.exitCode).toBe(4);
    expect(done.stderr).toContain('refused: Bash');
    expect(done.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  it('may say nothing at all', async () => {
    const done = await run({ script: [{ blocks: [] }, { blocks: [] }] });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.result).toMatchObject({ result: '' });
    await expectContinues(done);
  });
});

describe.concurrent('an answer that is cut at the output limit', () => {
  it('loses nothing of a long Write: the draft is kept and completed', async () => {
    const content = Array.from(
      { length: 1200 },
      (_, n) => `${n} "quoted" \\ tab\t ü 🎉 ${'x'.repeat(20)}\n`,
    )
      .join('')
      .slice(0, 60 * 1024);
    const whole = JSON.stringify({ file_path: 'big.txt', content });
    const prefix = whole.slice(0, Math.floor(whole.length / 2));
    const done = await run({
      args: WRITING,
      script: [
        { tool: 'Write', rawInput: prefix, stopReason: 'max_tokens' },
        (view) => {
          const length = Number(/The (\d+) characters that arrived/.exec(view.lastUser)?.[1]);
          const draft = /kept as draft ([^;]+);/.exec(view.lastUser)?.[1] ?? '';
          return { tool: 'WriteDraft', input: { draft_id: draft, append: content.slice(length) } };
        },
        'Written.',
      ],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.toolResult(0)).toMatchObject({
      isError: true,
      text: expect.stringContaining('output limit'),
    });
    expect(done.project.read('big.txt') === content).toBe(true);
    await expectContinues(done);
  });

  it('keeps a draft of a Write with millions of escapes', async () => {
    const rawInput = `{"file_path":"big.txt","content":"${'\\u00e9'.repeat(2_500_000)}`;
    const done = await run({
      args: WRITING,
      timeoutMs: 60_000,
      script: [{ tool: 'Write', rawInput, stopReason: 'max_tokens' }, 'I see.'],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.toolResult(0)).toMatchObject({
      isError: true,
      text: expect.stringContaining('The 2500000 characters that arrived are kept as draft'),
    });
  });

  it('is asked to go on when it was text', async () => {
    const done = await run({
      script: [{ text: 'The first half, ', stopReason: 'max_tokens' }, 'the second half.'],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(JSON.stringify(done.requests[1]?.body)).toContain('cut off at the output limit');
  });
});

describe.concurrent('an answer that is very large', () => {
  it('gets a result for each of 2,000 calls', async () => {
    const count = 2000;
    const done = await run({
      files: { 'a.txt': 'hello\n' },
      timeoutMs: 60_000,
      script: [
        {
          blocks: Array.from({ length: count }, (_, n) => ({
            tool: 'Read',
            id: `toolu_${n}`,
            input: { file_path: 'a.txt' },
          })),
        },
        'Enough.',
      ],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    const results = blocksOf(done.requests[1]?.body, 'user').filter(
      (block) => block.type === 'tool_result',
    );
    expect(results.map((block) => block.tool_use_id)).toEqual(
      Array.from({ length: count }, (_, n) => `toolu_${n}`),
    );
    expect(done.requests[1]?.raw.length).toBeLessThan(2_000_000);
    await expectContinues(done);
  }, 300_000);

  it('prints and keeps 1 MB of text', async () => {
    const text = `${'All work and no play. '.repeat(50_000)}END`;
    const done = await run({ format: 'text', script: [text] });
    expect(done.exitCode).toBe(0);
    expect(done.stdout === `${text}\n`).toBe(true);
    expect(transcript(done).text.includes(text)).toBe(true);
    await expectContinues(done);
  });

  it('is shortened in the frame, never in the transcript, for a client with a line buffer', async () => {
    const text = `${'ü'.repeat(700_000)}END`;
    const done = await run({ script: [text] });
    expect(done.exitCode).toBe(0);
    for (const line of done.stdout.split('\n')) {
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(1_000_000);
    }
    expect(transcript(done).text.includes(text)).toBe(true);
  });
});
