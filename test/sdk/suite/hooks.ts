import type { HookInput } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import type { Client } from './client.js';
import { type HookCase, POST_CASES, PRE_CASES } from './hook-cases.js';
import { PERMISSION_CASES, TURN_CASES } from './hook-cases-turn.js';
import { asked, ofKind, resultOf, shown, toolResult } from './look.js';
import { play } from './play.js';

/** Row 5 of the checklist: what the answers of hooks do. */
export function hooks(client: Client): void {
  const groups = {
    PreToolUse: PRE_CASES,
    'after a call': POST_CASES,
    'UserPromptSubmit and Stop': TURN_CASES,
    PermissionRequest: PERMISSION_CASES,
  };
  for (const [name, cases] of Object.entries(groups)) {
    describe(`a hook's answer: ${name}`, () => {
      for (const hookCase of cases) {
        it(`${hookCase.event}: ${hookCase.name}`, () => playCase(client, hookCase));
      }
    });
  }
  inputs(client);
  merging(client);
}

async function playCase(client: Client, hookCase: HookCase): Promise<void> {
  const { expected, call } = hookCase;
  const prompts: string[] = [];
  let fired = 0;
  const played = await play(client, {
    script: [...(call === undefined ? [] : [{ ...call, id: 'toolu_1' }]), ...FINAL].slice(
      0,
      expected.requests,
    ),
    options: {
      // A guard that never answers: whoever else decides first is heard.
      canUseTool: async (tool) => {
        prompts.push(tool);
        if (hookCase.event === 'PermissionRequest') await new Promise(() => undefined);
        return { behavior: 'allow' };
      },
      hooks: {
        [hookCase.event]: [
          { hooks: [async (input: HookInput) => hookCase.answer(fired++, input)] },
        ],
      },
    },
  });
  expect(played.world.model.problems()).toEqual([]);
  expect(resultOf(played)).toMatchObject(expected.result);
  expect(asked(played.world)).toHaveLength(expected.requests);
  if (expected.fired !== undefined) expect(fired).toBe(expected.fired);
  if (expected.prompts !== undefined) expect(prompts).toEqual(expected.prompts);
  if (expected.toolText !== undefined) {
    const { text } = toolResult(played);
    if (typeof expected.toolText === 'string') expect(text).toBe(expected.toolText);
    else expect(text).toMatch(expected.toolText);
  }
  if (expected.toolError !== undefined) {
    expect(toolResult(played).isError).toBe(expected.toolError);
  }
  if (expected.structured !== undefined) {
    expect(toolResult(played).structured).toMatchObject(expected.structured);
  }
  if (expected.denials !== undefined) {
    expect(resultOf(played).permission_denials).toHaveLength(expected.denials);
  }
  for (const told of expected.told ?? []) {
    expect(ofKind(played, 'system')).toContainEqual(expect.objectContaining(told));
  }
  const last = shown(played.world, expected.requests - 1);
  for (const text of expected.shown ?? []) expect(last).toContain(text);
  for (const text of expected.notShown ?? []) expect(last).not.toContain(text);
  if (expected.written !== undefined) {
    expect(played.world.project.exists('z.txt')).toBe(expected.written);
  }
}

const FINAL = ['final answer', 'final answer'];
const echo = (text = 'hi') => ({ tool: 'Bash', input: { command: `echo ${text}` }, id: 'toolu_1' });

function inputs(client: Client): void {
  describe('what a hook is told', () => {
    it('before, after and at the end of a turn', async () => {
      const seen: HookInput[] = [];
      const ids: (string | undefined)[] = [];
      const watch = {
        hooks: [
          async (input: HookInput, id: string | undefined) => {
            seen.push(input);
            ids.push(id);
            return {};
          },
        ],
      };
      const played = await play(client, {
        script: [echo(), 'end'],
        options: {
          hooks: {
            UserPromptSubmit: [watch],
            PreToolUse: [watch],
            PostToolUse: [watch],
            Stop: [watch],
          },
        },
      });
      const common = {
        session_id: resultOf(played).session_id,
        cwd: played.world.project.directory,
        transcript_path: expect.stringMatching(/\.jsonl$/),
        permission_mode: 'default',
        prompt_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      };
      const call = {
        tool_name: 'Bash',
        tool_input: { command: 'echo hi' },
        tool_use_id: 'toolu_1',
      };
      expect(seen).toMatchObject([
        { ...common, hook_event_name: 'UserPromptSubmit', prompt: 'go' },
        { ...common, hook_event_name: 'PreToolUse', ...call },
        {
          ...common,
          hook_event_name: 'PostToolUse',
          ...call,
          tool_response: { stdout: 'hi', stderr: '', interrupted: false },
        },
        {
          ...common,
          hook_event_name: 'Stop',
          stop_hook_active: false,
          last_assistant_message: 'end',
        },
      ]);
      expect(ids.slice(1, 3)).toEqual(['toolu_1', 'toolu_1']);
    });

    it('only what its matcher names', async () => {
      const seen: string[] = [];
      const watch = (matcher: string | undefined) => ({
        ...(matcher === undefined ? {} : { matcher }),
        hooks: [
          async () => {
            seen.push(String(matcher));
            return {};
          },
        ],
      });
      await play(client, {
        script: [echo(), 'end'],
        options: {
          hooks: {
            PreToolUse: ['Bash', 'Write|Bash', 'Ba.*', '^Write', 'bash', '*', undefined].map(watch),
          },
        },
      });
      // Case does not matter to us: a guard for `bash` was meant for Bash.
      expect(seen.sort()).toEqual(['*', 'Ba.*', 'Bash', 'Write|Bash', 'bash', 'undefined']);
    });
  });
}

function merging(client: Client): void {
  const answer = (permissionDecision: 'allow' | 'deny' | 'ask') => ({
    hooks: [
      async () => ({
        hookSpecificOutput: {
          hookEventName: 'PreToolUse' as const,
          permissionDecision,
          permissionDecisionReason: `says ${permissionDecision}`,
        },
      }),
    ],
  });
  describe('several voices', () => {
    it('deny outranks ask and allow', async () => {
      const played = await play(client, {
        script: [echo(), 'end'],
        options: { hooks: { PreToolUse: [answer('allow'), answer('deny'), answer('ask')] } },
      });
      expect(toolResult(played)).toMatchObject({
        isError: true,
        text: expect.stringContaining('says deny'),
      });
    });

    it('ask outranks allow, and nobody there to ask is a no', async () => {
      const played = await play(client, {
        script: [echo(), 'end'],
        options: { hooks: { PreToolUse: [answer('allow'), answer('ask')] } },
      });
      expect(toolResult(played).isError).toBe(true);
      expect(resultOf(played).permission_denials).toMatchObject([{ tool_use_id: 'toolu_1' }]);
    });

    it("a deny rule outranks a hook's allow", async () => {
      const played = await play(client, {
        script: [echo(), 'end'],
        options: {
          disallowedTools: ['Bash(echo *)'],
          hooks: { PreToolUse: [answer('allow')] },
        },
      });
      expect(toolResult(played).isError).toBe(true);
    });

    it("an ask rule outranks a hook's allow", async () => {
      const prompts: string[] = [];
      const played = await play(client, {
        script: [echo(), 'end'],
        options: {
          settings: { permissions: { ask: ['Bash(echo *)'] } },
          hooks: { PreToolUse: [answer('allow')] },
          canUseTool: async (tool, _input, { matchedAskRule }) => {
            prompts.push(`${tool}: ${matchedAskRule?.ruleContent}`);
            return { behavior: 'deny', message: 'NO' };
          },
        },
      });
      expect(prompts).toEqual(['Bash: echo *']);
      expect(toolResult(played)).toMatchObject({ isError: true, text: 'NO' });
    });
  });
}
