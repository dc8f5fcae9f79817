import { describe, expect, it } from 'vitest';
import { bash, type Finished, finished, OUTPUT } from '../../../test/support/finished-call.js';
import { type ScriptedHook, scriptedHooks } from '../../../test/support/scripted-hooks.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { createPostToolHooks } from './post-tool-use.js';

/** What these PostToolUse hooks make of a call. */
function run(hooks: readonly ScriptedHook[], call: Finished = {}) {
  const { dispatch } = scriptedHooks({ PostToolUse: hooks });
  return createPostToolHooks(dispatch).after(finished(call));
}

describe('hooks after a call', () => {
  it('leave the output as it is when there are none', async () => {
    const done = await createPostToolHooks(scriptedHooks({}).dispatch).after(finished());
    expect(done).toEqual({ output: OUTPUT, contexts: [] });
    expect(done.output).toBe(OUTPUT);
  });

  it('are told what was called, with what, and what came out', async () => {
    const { dispatch, fired, lastFields } = scriptedHooks({ PostToolUse: [{}] });
    await createPostToolHooks(dispatch).after(finished());
    expect(lastFields()).toEqual({
      tool_name: 'Bash',
      tool_input: { command: 'cat key' },
      tool_use_id: 'toolu_1',
      tool_response: { stdout: 'SECRET', stderr: '', interrupted: false },
      duration_ms: 12,
    });
    expect(fired[0]?.occasion).toMatchObject({
      matched: ['Bash'],
      cwd: '/there',
      mode: 'default',
      toolUseId: 'toolu_1',
    });
  });

  it('are shown the text of a tool that gives nothing else', async () => {
    const { dispatch, lastFields } = scriptedHooks({ PostToolUse: [{}] });
    await createPostToolHooks(dispatch).after(finished({ output: { content: 'plain' } }));
    expect(lastFields().tool_response).toBe('plain');
  });

  it('hear of a failed call by its own event, with the error', async () => {
    const output = { content: 'Exit code 1', isError: true };
    const { dispatch, fired, lastFields } = scriptedHooks({
      PostToolUse: [{ context: 'wrong event' }],
      PostToolUseFailure: [{ decision: 'deny', reason: 'look at the log', label: 'lint' }],
    });
    const hooks = createPostToolHooks(dispatch);
    const done = await hooks.after(finished({ output, interrupted: true }));
    expect(fired.map(({ event }) => event)).toEqual(['PostToolUseFailure']);
    expect(lastFields()).toMatchObject({
      error: 'Exit code 1',
      is_interrupt: true,
      duration_ms: 12,
    });
    expect(lastFields()).not.toHaveProperty('tool_response');
    expect(done).toEqual({
      output,
      contexts: ['PostToolUseFailure:Bash hook blocking error from lint: look at the log'],
    });
  });

  it('add words after a result that stays as it is; plain output of a program is not shown', async () => {
    const done = await run([
      { label: 'lint', decision: 'deny', reason: 'run the formatter' },
      { text: 'a log line' },
      { context: 'the build is red' },
    ]);
    expect(done).toEqual({
      output: OUTPUT,
      contexts: [
        'PostToolUse:Bash hook blocking error from lint: run the formatter',
        'PostToolUse:Bash hook additional context: the build is red',
      ],
    });
  });

  it('end the turn with continue: false or the no of a model, and the result is kept', async () => {
    expect(await run([{ stop: 'enough' }])).toEqual({
      output: OUTPUT,
      contexts: [],
      stop: 'enough',
    });
    const judged = await run([{ label: 'judge', decision: 'deny', reason: 'no', endsTurn: true }]);
    expect(judged).toMatchObject({ output: OUTPUT, stop: 'no' });
    expect(judged.contexts).toHaveLength(1);
  });

  it('do not end the turn with a no about a failed call', async () => {
    const { dispatch } = scriptedHooks({
      PostToolUseFailure: [{ decision: 'deny', reason: 'no', endsTurn: true }],
    });
    const output = { content: 'x', isError: true };
    const done = await createPostToolHooks(dispatch).after(finished({ output }));
    expect(done.stop).toBeUndefined();
  });

  it('change nothing when they fail and nobody asked for more', async () => {
    const failure = { cause: 'timeout', message: 'no answer' } as const;
    expect(await run([{ failure }])).toEqual({ output: OUTPUT, contexts: [] });
  });

  it('do not count when they answer later', async () => {
    const done = await run([
      { fields: { updatedToolOutput: 'x' }, asyncMs: 5_000, context: 'c', stop: 's' },
    ]);
    expect(done).toEqual({ output: OUTPUT, contexts: [] });
  });
});

describe('hooks after all calls of an answer', () => {
  const scene = {
    agent: MAIN_AGENT,
    cwd: '/there',
    mode: 'default',
    signal: new AbortController().signal,
  } as const;
  const calls = [{ tool_name: 'Bash', tool_input: {}, tool_use_id: 't', tool_response: 'out' }];
  const batch = (hooks: readonly ScriptedHook[]) =>
    createPostToolHooks(scriptedHooks({ PostToolBatch: hooks }).dispatch).batch(scene, calls);

  it('are asked once, with every call and what the model sees of it', async () => {
    const { dispatch, fired, lastFields } = scriptedHooks({ PostToolBatch: [{ context: 'c' }] });
    const done = await createPostToolHooks(dispatch).batch(scene, calls);
    expect(fired).toHaveLength(1);
    expect(lastFields()).toEqual({ tool_calls: calls });
    expect(done).toEqual({ contexts: ['PostToolBatch hook additional context: c'] });
  });

  it('are not asked when there are none, or no calls', async () => {
    const none = createPostToolHooks(scriptedHooks({}).dispatch);
    expect(await none.batch(scene, calls)).toEqual({ contexts: [] });
    const { dispatch, fired } = scriptedHooks({ PostToolBatch: [{ stop: 's' }] });
    expect(await createPostToolHooks(dispatch).batch(scene, [])).toEqual({
      contexts: [],
    });
    expect(fired).toEqual([]);
  });

  it('end the turn by a no, by continue: false, and by failing where they must not', async () => {
    expect((await batch([{ decision: 'deny', reason: 'red' }])).stop).toBe('red');
    expect((await batch([{ decision: 'deny', reason: 'red' }, { stop: 'enough' }])).stop).toBe(
      'enough',
    );
    const failure = { cause: 'timeout', message: 'no answer' } as const;
    expect((await batch([{ failure }])).stop).toBeUndefined();
    expect((await batch([{ failure, refuses: true }])).stop).toMatch(
      /^guard failed: .* gave no verdict \(timeout: no answer; /,
    );
  });
});

describe('hooks about an input that was not valid', () => {
  it('watch, are told why, and may add words', async () => {
    const { dispatch, fired, lastFields } = scriptedHooks({
      ToolInputInvalid: [{ context: 'smaller pieces', decision: 'deny', stop: 's' }],
    });
    const invalid = {
      agent: MAIN_AGENT,
      cwd: '/there',
      mode: 'default',
      signal: new AbortController().signal,
      toolUseId: 'toolu_1',
      tool: bash,
      input: {},
      malformed: { raw: '{"comm', cause: 'output_limit' },
      problems: [],
      error: 'cut off',
    } as const;
    expect(await createPostToolHooks(dispatch).invalid(invalid)).toEqual([
      'ToolInputInvalid:Bash hook additional context: smaller pieces',
    ]);
    expect(lastFields()).toEqual({
      tool_name: 'Bash',
      tool_input: {},
      tool_use_id: 'toolu_1',
      cause: 'output_limit',
      error: 'cut off',
      problems: [],
      raw: '{"comm',
    });
    expect(fired[0]?.occasion.matched).toEqual(['Bash']);
    const none = createPostToolHooks(scriptedHooks({}).dispatch);
    expect(await none.invalid(invalid)).toEqual([]);
  });
});
