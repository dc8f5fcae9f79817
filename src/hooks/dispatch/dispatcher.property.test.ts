import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Behaviour,
  capture,
  command,
  dispatchRig,
  hooksOf,
  occasion,
  settings,
} from '../../../test/support/dispatch-rig.js';
import { readRaw } from '../answers/read.js';
import type { HookRaw } from '../registry/hook.js';

/** All that can come out of a runner, and out of a broken one. */
const output: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({
    kind: fc.constant('process'),
    exitCode: fc.oneof(fc.constant(null), fc.integer({ min: -1, max: 255 })),
    signal: fc.oneof(fc.constant(null), fc.constant('SIGKILL')),
    stdout: fc.oneof(fc.string(), fc.json(), fc.constant('{"decision":"block"'), fc.constant('{}')),
    stderr: fc.string(),
  }),
  fc.record({ kind: fc.constant('value'), value: fc.anything() }),
  fc.record({ kind: fc.constant('text'), text: fc.oneof(fc.string(), fc.json()) }),
  fc.record({ kind: fc.constant('verdict'), ok: fc.boolean() }),
  fc.record({ kind: fc.constant('failed'), failure: fc.anything() }),
  fc.anything(),
);

const behaviour: fc.Arbitrary<Behaviour> = fc.oneof(
  output.map((raw) => async () => raw as HookRaw),
  output.map((thrown) => () => Promise.reject(thrown)),
  output.map((thrown) => () => {
    throw thrown;
  }),
  fc.constant(() => new Promise<HookRaw>(() => {})),
  output.map((raw) => () => raw as Promise<HookRaw>),
);

const EVENTS = ['PreToolUse', 'UserPromptSubmit', 'PermissionRequest', 'ConfigChange'] as const;

describe('a guard', () => {
  it('never passes by failing, whatever becomes of it', async () => {
    await fc.assert(
      fc.asyncProperty(
        behaviour,
        fc.constantFrom(...EVENTS),
        fc.boolean(),
        async (behave, event, isCallback) => {
          const snapshot = isCallback
            ? capture(settings(), {
                callbacks: {
                  registered: () => [{ ids: ['h'], timeoutMs: 20, onFailure: 'block' }],
                },
              })
            : capture(hooksOf(event, [command('x', { timeout: 0.02 })]));
          const { dispatch } = dispatchRig(snapshot, behave, { read: readRaw });
          const { reports } = await dispatch.fire(event, occasion());
          expect(reports).toHaveLength(1);
          for (const { failure, refuses, answer } of reports) {
            expect(refuses === true).toBe(failure !== undefined);
            if (failure !== undefined) expect(answer).toEqual({ decision: 'none', fields: {} });
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('passes by failing only where it was told to, and then it is told', async () => {
    await fc.assert(
      fc.asyncProperty(behaviour, async (behave) => {
        const snapshot = capture(
          hooksOf('PreToolUse', [command('x', { timeout: 0.02, onFailure: 'continue' })]),
        );
        let raw: HookRaw | undefined;
        const heard: Behaviour = async (hook, request) => {
          raw = await behave(hook, request);
          return raw;
        };
        const { dispatch, notices } = dispatchRig(snapshot, heard);
        const { reports } = await dispatch.fire('PreToolUse', occasion());
        const [report] = reports;
        // What it had said no to before it failed stays refused.
        if (report?.refuses === true) expect(JSON.stringify(raw)).toContain('"block');
        const isPassed = report?.failure !== undefined && report.refuses !== true;
        expect(notices('hook_failed')).toHaveLength(isPassed ? 1 : 0);
      }),
      { numRuns: 200 },
    );
  });
});
