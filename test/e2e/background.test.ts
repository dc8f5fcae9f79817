import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RequestView } from '../../src/model/scripted/format.js';
import { drive, isResult } from './host.js';
import { expectContinues, run, transcript, warnings } from './worlds.js';

const BASH = ['--allowedTools', 'Bash'];
const inBackground = (command: string) => ({
  tool: 'Bash',
  input: { command, run_in_background: true, description: 'the long one' },
});
/** The id that the model was given. */
const idIn = (view: RequestView): string =>
  /background as (\S+?)\./.exec(view.anyUser)?.[1] ?? 'no id was given';
const directoryIn = (view: RequestView): string =>
  /^Primary working directory: (.*)$/m.exec(view.anyUser)?.[1] ?? 'missing';
/** Lets a command that waits for the file `go` end. */
const release = (view: RequestView): void => writeFileSync(path.join(directoryIn(view), 'go'), '');
const WAIT_FOR_GO = 'until [ -e go ]; do sleep 0.02; done; echo released';
/** A command that no other test, and no other run of the tests, starts. */
const longOne = (seconds: number): string => `sleep ${seconds}.${process.pid}`;
const lives = (mark: string): boolean => spawnSync('pgrep', ['-f', mark]).status === 0;

describe.concurrent('a command in the background', () => {
  it('gives its id and its output file at once, and ends in the same world', async () => {
    const done = await run({
      args: BASH,
      script: [
        inBackground(`${WAIT_FOR_GO}; echo err >&2; exit 3`),
        (view) => {
          release(view);
          return 'I wait.';
        },
        { when: 'failed (exit code 3)', text: 'I was told.' },
      ],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    const { text, isError } = done.toolResult(0);
    expect(isError).toBe(false);
    const [, id, file] = /background as (\S+?)\. Its output goes to (\S+?)\. /.exec(text) ?? [];
    expect(readFileSync(String(file), 'utf8')).toBe('released\nerr\n');
    expect(done.frames).toContainEqual(
      expect.objectContaining({ subtype: 'task_notification', task_id: id, status: 'failed' }),
    );
  });

  it('is told to the model between two turns, without being asked for', async () => {
    const done = await run({
      args: BASH,
      script: [
        inBackground(`${WAIT_FOR_GO}; touch over`),
        (view) => {
          release(view);
          const command = 'until [ -e over ]; do sleep 0.02; done; sleep 0.5';
          return { tool: 'Bash', input: { command } };
        },
        'All is told.',
      ],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    const last = JSON.stringify(done.requests[2]?.body);
    expect(last).toContain('<task-notification>');
    expect(last).toContain('completed (exit code 0)');
    expect(last.split('<task-notification>')).toHaveLength(2);
    expect(done.result).toMatchObject({ result: 'All is told.', num_turns: 3 });
    await expectContinues(done);
  });

  it('is told when it ends while the model writes its last answer', async () => {
    const done = await run({
      args: BASH,
      script: [
        inBackground(WAIT_FOR_GO),
        (view) => {
          release(view);
          return { text: 'I wait.', delayMs: 400 };
        },
        { when: 'task-notification', text: 'Now it is done.' },
      ],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.result).toMatchObject({ result: 'Now it is done.' });
    expect(done.frames.filter(isResult)).toHaveLength(1);
  });

  it('is waited for at the end, for a short while', async () => {
    const done = await run({
      format: 'text',
      args: BASH,
      script: [inBackground('sleep 1'), 'I wait.', { when: 'task-notification', text: 'Done.' }],
    });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'Done.\n', scriptProblems: [] });
  });

  it('is ended when it lasts longer than that; the exit code is not its own', async () => {
    const started = Date.now();
    const done = await run({
      args: BASH,
      script: [inBackground(longOne(71)), 'I do not wait.'],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.result).toMatchObject({ subtype: 'success', result: 'I do not wait.' });
    // The four seconds of waiting, whatever the rest takes.
    expect(Date.now() - started).toBeGreaterThanOrEqual(4000);
    expect(lives(longOne(71))).toBe(false);
    expect(done.frames).toContainEqual(
      expect.objectContaining({ subtype: 'task_notification', status: 'stopped' }),
    );
    await expectContinues(done);
  });

  it('that is ended at the end is told to a person', async () => {
    const done = await run({
      format: 'text',
      args: BASH,
      script: [inBackground(longOne(72)), 'I do not wait.'],
    });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'I do not wait.\n' });
    expect(warnings(done)).toEqual([expect.stringContaining(longOne(72))]);
    expect(lives(longOne(72))).toBe(false);
  });

  it('can be looked at and ended by the model', async () => {
    const done = await run({
      args: BASH,
      script: [
        inBackground(`echo first; sleep 0.2; echo second; touch said; ${longOne(73)}`),
        { tool: 'Bash', input: { command: 'until [ -e said ]; do sleep 0.02; done' } },
        (view) => ({ tool: 'BashOutput', input: { task_id: idIn(view) } }),
        (view) => ({ tool: 'BashOutput', input: { task_id: idIn(view) } }),
        (view) => ({ tool: 'TaskStop', input: { task_id: idIn(view) } }),
        (view) => ({ tool: 'TaskStop', input: { task_id: idIn(view) } }),
        { tool: 'BashOutput', input: { task_id: 'b00000000' } },
        'Ended.',
      ],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.toolResult(2).text).toMatch(/: running\nfirst\nsecond$/);
    // What was read once is not given again.
    expect(done.toolResult(3).text).toMatch(/: running\n\(no new output\)$/);
    expect(done.toolResult(4)).toMatchObject({
      isError: false,
      text: expect.stringMatching(/^Ended b/),
    });
    expect(done.toolResult(5).text).toContain('had already ended');
    expect(done.toolResult(6)).toMatchObject({
      isError: true,
      text: expect.stringContaining('No background command has the id'),
    });
    expect(lives(longOne(73))).toBe(false);
    expect(transcript(done).text).toContain('task-notification');
  });

  it('outlives the turn that started it when a host keeps the session open', async () => {
    const done = await drive(
      {
        args: BASH,
        script: [
          inBackground('sleep 0.4; echo late'),
          'It runs.',
          { when: 'task-notification', text: 'It has ended.' },
        ],
      },
      async (host) => {
        host.prompt('FIRST');
        expect(await host.next(isResult)).toMatchObject({ result: 'It runs.' });
        expect(await host.next((frame) => frame.subtype === 'task_notification')).toMatchObject({
          status: 'completed',
          summary: 'the long one',
        });
        // Nobody prompted: the end of the command is the prompt.
        expect(await host.next(isResult)).toMatchObject({ result: 'It has ended.' });
        host.end();
      },
    );
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
  });

  it('is not started when nobody allowed it', async () => {
    const done = await run({ script: [inBackground('touch made'), 'refused'] });
    expect(done.exitCode).toBe(4);
    expect(done.project.exists('made')).toBe(false);
  });
});
