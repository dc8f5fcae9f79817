import { describe, expect, it } from 'vitest';
import {
  capture,
  command,
  dispatchRig,
  hooksOf,
  occasion,
} from '../../../test/support/dispatch-rig.js';
import { finished, OUTPUT } from '../../../test/support/finished-call.js';
import { ended, json, specific } from '../../../test/support/hook-answers.js';
import { readRaw } from '../answers/read.js';
import { createPostToolHooks } from '../events/post-tool-use.js';
import type { Hook, HookEventName, HookRaw } from '../registry/hook.js';

const MASKS = json(specific({ updatedToolOutput: '***' }, 'PostToolUse'));

/** What these hooks after a call make of its output; each says what stands at its place in `raws`. */
function outcome(
  raws: readonly (HookRaw | Promise<HookRaw>)[],
  more: Record<string, unknown> = {},
) {
  const hooks = raws.map((_, index) => command(String(index), more));
  const says = async ({ handler }: Hook): Promise<HookRaw> =>
    raws[handler.type === 'command' ? Number(handler.command) : 0] ?? ended(0);
  const snapshot = capture(hooksOf('PostToolUse', hooks));
  const { dispatch } = dispatchRig(snapshot, says, { read: readRaw });
  return createPostToolHooks(dispatch).after(finished());
}

describe('an output that a hook wanted to replace', () => {
  it('is replaced, or withheld where that fails', async () => {
    expect((await outcome([ended(0, MASKS)])).output.content).toBe('***');
    for (const failed of [
      ended(1, MASKS),
      ended(0, `log\n${MASKS}`),
      ended(0, MASKS.slice(0, -4)),
    ]) {
      const { output } = await outcome([failed]);
      expect(output).toMatchObject({ isError: true, content: expect.stringContaining('withheld') });
      expect(JSON.stringify(output)).not.toContain('SECRET');
    }
    expect((await outcome([ended(1, 'log')])).output).toBe(OUTPUT);
  });

  it('is withheld whatever another hook put in its place', async () => {
    const { output } = await outcome([ended(0, MASKS), ended(0, '{"updatedToolOutput":"x"}')]);
    expect(output.content).toContain('withheld');
  });

  it('is withheld where its time was over with the replacement half printed', async () => {
    const late = (printed: string): Promise<HookRaw> =>
      new Promise((resolve) => {
        const failure = { cause: 'timeout', message: 'no answer' } as const;
        setTimeout(() => resolve({ kind: 'failed', failure, printed }), 100);
      });
    const timeout = { timeout: 0.02 };
    expect((await outcome([late(MASKS.slice(0, -4))], timeout)).output.content).toContain(
      'withheld',
    );
    expect((await outcome([late('log')], timeout)).output).toBe(OUTPUT);
  });
});

describe('exit code 1 of a hook', () => {
  it.each<[HookEventName, Record<string, unknown>, boolean | undefined]>([
    ['PreToolUse', {}, undefined],
    ['PreToolUse', { onFailure: 'continue' }, undefined],
    ['PreToolUse', { onFailure: 'block' }, true],
    ['UserPromptSubmit', { onFailure: 'block' }, true],
    ['PostToolUse', { onFailure: 'block' }, true],
    ['Stop', { onFailure: 'block' }, undefined],
  ])('at %s with %j refuses: %s', async (event, more, refuses) => {
    const snapshot = capture(hooksOf(event, [command('guard', more)]));
    const { dispatch } = dispatchRig(snapshot, async () => ended(1, 'text'), {
      read: readRaw,
    });
    const { reports } = await dispatch.fire(event, occasion());
    expect(reports.map((report) => report.refuses)).toEqual([refuses]);
  });
});
