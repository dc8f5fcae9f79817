import { describe, expect, it } from 'vitest';
import { drive, type Frame, isAssistant, isQuestion, isResult, kindOf } from './host.js';
import { blocksOf, expectContinues, run, userTexts } from './worlds.js';

const SLEEP = { tool: 'Bash', input: { command: 'sleep 30.25' } } as const;
const ASKS = ['--permission-prompt-tool', 'stdio'];
const TOUCH = [{ tool: 'Bash', input: { command: 'touch made' } }, 'ok'] as const;

describe.concurrent('control requests', () => {
  it('initialize is answered, also when the first prompt follows at once', async () => {
    const done = await drive({ script: ['one'] }, async (host) => {
      const answer = host.request({ subtype: 'initialize', hooks: null });
      host.prompt('FIRST');
      expect(await answer).toMatchObject({
        subtype: 'success',
        response: {
          commands: expect.arrayContaining([expect.objectContaining({ name: 'compact' })]),
          models: expect.anything(),
          account: expect.anything(),
          output_style: 'default',
          available_output_styles: ['default', 'Explanatory', 'Learning'],
        },
      });
      expect(await host.next(isResult)).toMatchObject({ result: 'one' });
      host.end();
    });
    expect(done).toMatchObject({ exitCode: 0, stderr: '' });
    expect(kindOf(done.frames[0] ?? {})).toBe('control_response');
  });

  it('initialize can set the system prompt', async () => {
    const done = await drive({ script: ['one'] }, async (host) => {
      await host.request({ subtype: 'initialize', systemPrompt: ['YOU ARE A PARROT.'] });
      host.prompt('FIRST');
      await host.next(isResult);
      host.end();
    });
    expect(done.requests[0]?.body).toMatchObject({ system: [{ text: 'YOU ARE A PARROT.' }] });
  });

  it('initialize of a start that is refused has no answer: the run ends with a result', async () => {
    const done = await drive({ files: { '.claude/settings.json': '{ broken' } }, async (host) => {
      host.send({
        type: 'control_request',
        request_id: 'first',
        request: { subtype: 'initialize' },
      });
      host.end();
    });
    expect(done.frames.filter(({ type }) => type === 'control_response')).toEqual([]);
    expect(done.exitCode).toBe(1);
    expect(done.result).toMatchObject({
      subtype: 'error_during_execution',
      errors: [expect.stringContaining('settings.json')],
    });
  });

  it('an unknown one is answered with an error code', async () => {
    const done = await drive({ script: ['one'] }, async (host) => {
      expect(await host.request({ subtype: 'read_my_mind' })).toMatchObject({
        subtype: 'error',
        error_code: 'unsupported_request',
        error: expect.stringContaining('read_my_mind'),
      });
      host.end();
    });
    expect(done.exitCode).toBe(0);
  });

  it('set_model holds from the next request on', async () => {
    const done = await drive(
      { args: ['--model', 'first'], script: ['one', 'two', 'three'] },
      async (host) => {
        for (const model of ['second', undefined]) {
          host.prompt('go');
          await host.next(isResult);
          await host.request({ subtype: 'set_model', ...(model === undefined ? {} : { model }) });
        }
        host.prompt('go');
        await host.next(isResult);
        host.end();
      },
    );
    expect(done.requests.map((request) => (request.body as Frame).model)).toEqual([
      'first',
      'second',
      'first',
    ]);
  });

  it('set_permission_mode changes what is asked, and never to bypass unless armed', async () => {
    const script = [{ tool: 'Write', input: { file_path: 'a.txt', content: 'x' } }, 'ok'] as const;
    const done = await drive({ script }, async (host) => {
      expect(
        await host.request({ subtype: 'set_permission_mode', mode: 'acceptEdits' }),
      ).toMatchObject({ subtype: 'success' });
      for (const mode of ['bypassPermissions', 'nonsense', undefined]) {
        expect(await host.request({ subtype: 'set_permission_mode', mode })).toMatchObject({
          subtype: 'error',
        });
      }
      host.prompt('go');
      expect(await host.next((frame) => frame.subtype === 'init')).toMatchObject({
        permissionMode: 'acceptEdits',
      });
      await host.next(isResult);
      host.end();
    });
    expect(done.exitCode).toBe(0);
    expect(done.project.read('a.txt')).toBe('x');
    const armed = await drive(
      { args: ['--allow-dangerously-skip-permissions'], env: { IS_SANDBOX: '1' } },
      async (host) => {
        expect(
          await host.request({ subtype: 'set_permission_mode', mode: 'bypassPermissions' }),
        ).toMatchObject({ subtype: 'success' });
        host.end();
      },
    );
    expect(armed.exitCode).toBe(0);
  });
});

describe.concurrent('interrupt', () => {
  it('during a tool: answered first, an error result, a mark, then the result', async () => {
    const done = await drive(
      { args: ['--allowedTools', 'Bash'], script: [SLEEP, 'after'] },
      async (host) => {
        host.prompt('FIRST');
        await host.next(isAssistant);
        expect(await host.request({ subtype: 'interrupt' })).toMatchObject({ subtype: 'success' });
        expect(await host.next(isResult)).toMatchObject({
          subtype: 'error_during_execution',
          terminal_reason: 'aborted_tools',
        });
        host.prompt('SECOND');
        expect(await host.next(isResult)).toMatchObject({ result: 'after' });
        host.end();
      },
    );
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.frames.map(kindOf)).toEqual([
      'system/init',
      'assistant',
      'control_response',
      'user',
      'user',
      'result/error_during_execution',
      'system/init',
      'assistant',
      'result/success',
    ]);
    expect(done.toolResult(0)).toMatchObject({
      isError: true,
      text: expect.stringContaining('interrupted'),
    });
    expect(userTexts(done.requests[1]?.body).slice(-2)).toEqual([
      '[Request interrupted by user for tool use]',
      'SECOND',
    ]);
    await expectContinues(done, 'FIRST');
  });

  it('during streaming: nothing half is kept', async () => {
    const done = await drive(
      {
        args: ['--include-partial-messages'],
        script: [{ text: 'HALF OF AN ANSWER', serve: { misbehave: 'hang_midway' } }, 'after'],
      },
      async (host) => {
        host.prompt('FIRST');
        await host.next((frame) => frame.type === 'stream_event');
        await host.request({ subtype: 'interrupt' });
        expect(await host.next(isResult)).toMatchObject({
          subtype: 'error_during_execution',
          terminal_reason: 'aborted_streaming',
        });
        host.prompt('SECOND');
        await host.next(isResult);
        host.end();
      },
    );
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    const kinds = done.frames.map(kindOf);
    expect(kinds.indexOf('control_response')).toBeLessThan(
      kinds.indexOf('result/error_during_execution'),
    );
    expect(userTexts(done.requests[1]?.body).slice(-3)).toEqual([
      'FIRST',
      '[Request interrupted by user]',
      'SECOND',
    ]);
    expect(JSON.stringify(done.requests[1]?.body)).not.toContain('HALF');
    await expectContinues(done, 'FIRST');
  });

  it('before anything runs is answered and harmless', async () => {
    const done = await drive({ script: ['one'] }, async (host) => {
      expect(await host.request({ subtype: 'interrupt' })).toMatchObject({ subtype: 'success' });
      host.prompt('FIRST');
      await host.next(isResult);
      host.end();
    });
    expect(done.exitCode).toBe(0);
  });

  it('as the last thing: exit 1', async () => {
    const done = await drive(
      { args: ['--allowedTools', 'Bash'], script: [SLEEP] },
      async (host) => {
        host.prompt('FIRST');
        await host.next(isAssistant);
        await host.request({ subtype: 'interrupt' });
        host.end();
      },
    );
    expect(done.exitCode).toBe(1);
    expect(done.frames.filter(isResult)).toHaveLength(1);
  });
});

describe.concurrent('can_use_tool', () => {
  const ask = (
    reply: (question: Frame) => object,
    options: { readonly files?: Record<string, string> } = {},
  ) =>
    drive({ args: ASKS, script: TOUCH, ...options }, async (host) => {
      host.prompt('FIRST');
      const question = await host.next(isQuestion);
      expect(question.request).toMatchObject({
        subtype: 'can_use_tool',
        tool_name: 'Bash',
        input: { command: 'touch made' },
        tool_use_id: expect.any(String),
      });
      host.send({
        type: 'control_response',
        response: { request_id: question.request_id, ...reply(question) },
      });
      await host.next(isResult);
      host.end();
    });
  const success = (response: unknown) => () => ({ subtype: 'success', response });

  it('allow runs the call', async () => {
    const done = await ask(success({ behavior: 'allow', updatedInput: { command: 'touch made' } }));
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.project.exists('made')).toBe(true);
    expect(done.result).toMatchObject({ permission_denials: [] });
  });

  it('deny tells the model why', async () => {
    const done = await ask(success({ behavior: 'deny', message: 'NOT TODAY' }));
    expect(done.project.exists('made')).toBe(false);
    expect(done.toolResult(0)).toMatchObject({
      isError: true,
      text: expect.stringContaining('NOT TODAY'),
    });
    expect(done.result).toMatchObject({ permission_denials: [{ tool_name: 'Bash' }] });
  });

  it('deny with interrupt ends the turn', async () => {
    const done = await ask(success({ behavior: 'deny', message: 'STOP', interrupt: true }));
    expect(done.exitCode).toBe(1);
    expect(done.requests).toHaveLength(1);
    expect(done.result).toMatchObject({ terminal_reason: 'aborted_tools' });
    expect(done.project.exists('made')).toBe(false);
    await expectContinues(done, 'FIRST');
  });

  it('an input of the host runs in place of the model’s', async () => {
    const done = await ask(
      success({ behavior: 'allow', updatedInput: { command: 'touch other' } }),
    );
    expect(done.exitCode).toBe(0);
    expect([done.project.exists('made'), done.project.exists('other')]).toEqual([false, true]);
  });

  it('an input of the host is judged again', async () => {
    const done = await ask(
      success({ behavior: 'allow', updatedInput: { command: 'touch forbidden' } }),
      {
        files: {
          '.claude/settings.json': '{"permissions":{"deny":["Bash(touch forbidden)"]}}',
        },
      },
    );
    expect(done.project.exists('forbidden')).toBe(false);
    expect(done.toolResult(0).isError).toBe(true);
    const odd = await ask(success({ behavior: 'allow', updatedInput: { comand: 'x' } }));
    expect(odd.toolResult(0)).toMatchObject({
      isError: true,
      text: expect.stringContaining('not valid'),
    });
  });

  it.each([
    ['no behaviour', success({})],
    ['another word', success({ behavior: 'perhaps' })],
    ['no object', success('allow')],
    ['an input that is not an object', success({ behavior: 'allow', updatedInput: 'touch made' })],
    ['an error', () => ({ subtype: 'error', error: 'THE CALLBACK THREW' })],
    ['no subtype', () => ({ response: { behavior: 'allow' } })],
  ] as const)('an answer that is not one refuses: %s', async (_name, reply) => {
    const done = await ask(reply);
    expect(done.project.exists('made')).toBe(false);
    expect(done.toolResult(0)).toMatchObject({
      isError: true,
      text: expect.stringMatching(/callback/i),
    });
  });

  it('one that is never answered is withdrawn by an interrupt', async () => {
    const done = await drive({ args: ASKS, script: TOUCH }, async (host) => {
      host.prompt('FIRST');
      const question = await host.next(isQuestion);
      void host.request({ subtype: 'interrupt' });
      const cancel = await host.next((frame) => frame.type === 'control_cancel_request');
      expect(cancel.request_id).toBe(question.request_id);
      await host.next(isResult);
      // Too late: the call must not run any more.
      host.answer(question, { behavior: 'allow' });
      host.end();
    });
    expect(done.exitCode).toBe(1);
    expect(done.project.exists('made')).toBe(false);
    await expectContinues(done, 'FIRST');
  });

  it('one that is open when the host goes away does not run', async () => {
    const done = await drive({ args: ASKS, script: TOUCH }, async (host) => {
      host.prompt('FIRST');
      await host.next(isQuestion);
      host.end();
    });
    expect(done).toMatchObject({ exitCode: 0, stderr: '', scriptProblems: [] });
    expect(done.project.exists('made')).toBe(false);
    expect(done.toolResult(0).text).toContain('closed its end');
    expect(done.frames.filter(isResult)).toHaveLength(1);
  });

  it('is not asked when nobody said that the host answers', async () => {
    const done = await run({
      stdin: [{ type: 'user', message: { role: 'user', content: 'FIRST' } }],
      script: TOUCH,
    });
    expect(done.frames.filter(isQuestion)).toEqual([]);
    expect(done.project.exists('made')).toBe(false);
    expect(blocksOf(done.requests[1]?.body, 'user').at(-1)).toMatchObject({ is_error: true });
  });
});
