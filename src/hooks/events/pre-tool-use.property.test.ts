import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FakeHook, Said } from '../../../test/support/fake-hooks.js';
import { command, preToolUseRigs, rewrites, says } from '../../../test/support/pre-tool-use-rig.js';
import { PERMISSION_MODES } from '../../protocol/permissions.js';
import type { HookAnswer } from '../registry/hook.js';

const { rig } = preToolUseRigs();

describe('no mix of reports', () => {
  const COMMANDS = ['rm a.txt', 'true && rm a.txt', 'sh -c "rm a.txt"', 'npm test', 'ls'];
  const input = fc.constantFrom(...COMMANDS).map(command);
  const decision = fc.constantFrom<HookAnswer['decision']>('none', 'allow', 'ask', 'defer', 'deny');
  const full = fc.record(
    {
      decision,
      reason: fc.constantFrom('', 'WHY'),
      stop: fc.constantFrom('', 'ENOUGH'),
      endsTurn: fc.boolean(),
      asyncMs: fc.constant(1000),
      fields: fc.record({ updatedInput: fc.oneof(input, fc.constant('x')) }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  );
  // Mostly what lets a call go on, so that the second look is reached as well.
  const mild = fc.oneof(
    fc.constantFrom<Said>({}, says('allow')(), says('none')()),
    fc
      .tuple(input, fc.constantFrom('none' as const, 'allow' as const))
      .map(([to, yes]) => rewrites(to, yes)()),
  );
  const wild = fc.record(
    {
      answer: full,
      failure: fc.constant({ cause: 'timeout' as const, message: 'late' }),
      complaint: fc.constant('oops'),
    },
    { requiredKeys: [] },
  );
  const report = fc.oneof({ weight: 3, arbitrary: mild }, { weight: 1, arbitrary: wild });
  const hook = fc.record({
    restrictOnly: fc.boolean(),
    onFailure: fc.constantFrom('block' as const, 'continue' as const),
    reports: fc.array(report, { minLength: 1, maxLength: 2 }),
  });
  const world = fc.record({
    text: fc.constantFrom(...COMMANDS),
    mode: fc.constantFrom(...PERMISSION_MODES),
    allow: fc.subarray(['Bash', 'Bash(rm *)', 'Bash(sh *)', 'Bash(npm *)']),
    ask: fc.subarray(['Bash(npm *)']),
    hooks: fc.array(hook, { minLength: 1, maxLength: 3 }),
    rewrite: fc.option(fc.constantFrom(...COMMANDS), { nil: undefined }),
  });

  it('lets a call through that a rule or a hook denied, or whose guard failed', async () => {
    await fc.assert(
      fc.asyncProperty(world, async ({ text, mode, allow, ask, hooks, rewrite }) => {
        let held = false;
        const byLabel = hooks.map(({ reports, ...made }, index): [string, FakeHook] => {
          let asked = 0;
          return [
            `h${index}`,
            {
              ...made,
              says: () => {
                // The last report again: a hook that has changed its mind keeps its new one.
                const said = reports[Math.min(asked++, reports.length - 1)] ?? {};
                const isNo = said.answer?.decision === 'deny' || said.answer?.stop !== undefined;
                if (isNo || (said.failure !== undefined && made.onFailure === 'block')) held = true;
                return said as Said;
              },
            },
          ];
        });
        const updatedInput = rewrite === undefined ? undefined : command(rewrite);
        const { call } = rig(Object.fromEntries(byLabel), {
          mode,
          allow,
          ask,
          deny: ['Bash(rm *)'],
          asker: async () => ({ behavior: 'allow', updatedInput }),
        });
        const verdict = await call('Bash', command(text));
        if (held) expect(verdict.kind).toBe('refused');
        if (verdict.kind === 'allowed') expect(JSON.stringify(verdict.input)).not.toContain('rm');
      }),
      { numRuns: 1000 },
    );
  });
});
