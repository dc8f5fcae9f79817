import type { HookCallback, HookEvent, HookJSONOutput } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import type { Client } from './client.js';
import { asked, ofKind, resultOf, shown, toolResult } from './look.js';
import { play } from './play.js';

const call = { tool: 'Write', input: { file_path: 'z.txt', content: 'z' }, id: 'toolu_1' };
const script = [call, 'end'];
const failing: HookCallback = async () => {
  throw new Error('BROKEN');
};
const silent: HookCallback = () => new Promise<HookJSONOutput>(() => undefined);
const wrongEvent: HookCallback = async () => ({
  hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'x' },
});
const garbage: HookCallback = async () =>
  ({ decision: 'perhaps', hookSpecificOutput: 7 }) as unknown as HookJSONOutput;

interface Registration {
  readonly timeout?: number;
  readonly onFailure?: 'block' | 'continue';
}

/** Row 6 of the checklist. A guard that cannot answer refuses, whatever went wrong with it. */
export function hookFailures(client: Client): void {
  const withHook = (event: HookEvent, hook: HookCallback, registration: Registration = {}) =>
    play(client, {
      script,
      options: {
        allowedTools: ['Write'],
        permissionMode: 'acceptEdits',
        hooks: { [event]: [{ hooks: [hook], ...registration }] },
      },
    });

  describe('a PreToolUse hook that', () => {
    const failures = {
      throws: [failing, {}],
      'does not answer in time': [silent, { timeout: 0.3 }],
      'answers for another event': [wrongEvent, {}],
      'answers garbage': [garbage, {}],
      'throws and is registered to block': [failing, { onFailure: 'block' }],
      'answers garbage and is registered to block': [garbage, { onFailure: 'block' }],
      'does not answer in time though registered to go on': [
        silent,
        { timeout: 0.3, onFailure: 'continue' },
      ],
    } as const satisfies Record<string, readonly [HookCallback, Registration]>;
    for (const [name, [hook, registration]] of Object.entries(failures)) {
      it(`${name} refuses the call`, async () => {
        const played = await withHook('PreToolUse', hook, registration);
        expect(played.world.project.exists('z.txt')).toBe(false);
        expect(toolResult(played)).toMatchObject({ id: 'toolu_1', isError: true });
        expect(resultOf(played)).toMatchObject({
          subtype: 'success',
          result: 'end',
          permission_denials: [{ tool_name: 'Write', tool_use_id: 'toolu_1' }],
        });
      });
    }

    it('throws, but is registered to go on, is passed over with a warning', async () => {
      const played = await withHook('PreToolUse', failing, { onFailure: 'continue' });
      expect(played.world.project.exists('z.txt')).toBe(true);
      expect(ofKind(played, 'system/informational')).toContainEqual(
        expect.objectContaining({ level: 'warning', tag: 'hook_callback_failed' }),
      );
    });

    it('is told when it is no longer waited for', async () => {
      const aborted: boolean[] = [];
      await withHook(
        'PreToolUse',
        (_input, _id, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              aborted.push(true);
              // Too late: nobody listens any more.
              resolve({});
            });
          }),
        { timeout: 0.3 },
      );
      expect(aborted).toEqual([true]);
    });
  });

  describe('hooks of other events', () => {
    it('UserPromptSubmit that throws keeps the prompt from the model', async () => {
      const played = await withHook('UserPromptSubmit', failing);
      expect(asked(played.world)).toHaveLength(0);
      expect(resultOf(played)).toMatchObject({ num_turns: 0 });
    });

    it('PostToolUse that throws leaves the result as it is, and says so', async () => {
      const played = await withHook('PostToolUse', failing);
      expect(played.world.project.exists('z.txt')).toBe(true);
      expect(toolResult(played).isError).toBe(false);
      expect(resultOf(played)).toMatchObject({ subtype: 'success', result: 'end' });
      expect(JSON.stringify(ofKind(played, 'system')) + shown(played.world, 1)).toContain('BROKEN');
    });

    it('Stop that throws does not keep the turn from ending', async () => {
      const played = await withHook('Stop', failing, { onFailure: 'block' });
      expect(resultOf(played)).toMatchObject({ subtype: 'success', result: 'end' });
    });

    it('an event that nobody knows is passed over', async () => {
      const played = await withHook('NoSuchEvent' as HookEvent, failing);
      expect(played.world.project.exists('z.txt')).toBe(true);
      expect(resultOf(played)).toMatchObject({ subtype: 'success', result: 'end' });
    });
  });
}
