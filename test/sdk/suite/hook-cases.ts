import type { HookEvent, HookInput, HookJSONOutput } from '@anthropic-ai/claude-agent-sdk';
import { expect } from 'vitest';

/** What a hook's answer does to a turn with one call, or none. */
export interface HookCase {
  readonly name: string;
  readonly event: HookEvent;
  /** The hook's answer, by how often it was asked before. */
  readonly answer: (times: number, input: HookInput) => HookJSONOutput;
  /** The model's one call; none: it only answers. */
  readonly call?: { readonly tool: string; readonly input: Record<string, unknown> };
  readonly expected: HookEffect;
}

export interface HookEffect {
  /** How often the hook was asked. */
  readonly fired?: number;
  /** Tools that the host was asked about. */
  readonly prompts?: readonly string[];
  /** Requests to the model. */
  readonly requests: number;
  /** What the call came to. */
  readonly toolText?: string | RegExp;
  readonly toolError?: boolean;
  readonly structured?: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>>;
  /** How many refused calls the result lists. */
  readonly denials?: number;
  /** `system` frames that must be there. */
  readonly told?: readonly Readonly<Record<string, unknown>>[];
  /** What the model must be shown in its last request. */
  readonly shown?: readonly string[];
  readonly notShown?: readonly string[];
  /** `z.txt` is there afterwards. */
  readonly written?: boolean;
}

const echo = { tool: 'Bash', input: { command: 'echo hi', description: 'd' } };
export const write = { tool: 'Write', input: { file_path: 'z.txt', content: 'z' } };

const done = { subtype: 'success', is_error: false, result: 'final answer', num_turns: 2 };
export const completed = { ...done, terminal_reason: 'completed', stop_reason: 'end_turn' };
const ran = { requests: 2, toolText: 'hi', toolError: false, result: completed, denials: 0 };
export const refused = {
  requests: 2,
  toolText: /REASON/,
  toolError: true,
  result: completed,
  denials: 1,
  prompts: [],
};
const pre = (fields: object): HookJSONOutput => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields },
});
const post = (fields: object): HookJSONOutput => ({
  hookSpecificOutput: { hookEventName: 'PostToolUse', ...fields },
});

export const PRE_CASES: readonly HookCase[] = [
  {
    name: 'deny',
    event: 'PreToolUse',
    call: echo,
    answer: () => pre({ permissionDecision: 'deny', permissionDecisionReason: 'REASON' }),
    expected: { ...refused, shown: ['REASON'] },
  },
  {
    name: 'allow',
    event: 'PreToolUse',
    call: write,
    answer: () => pre({ permissionDecision: 'allow' }),
    expected: { prompts: [], requests: 2, result: completed, denials: 0, written: true },
  },
  {
    name: 'ask, for a call that nobody would be asked about',
    event: 'PreToolUse',
    call: echo,
    answer: () => pre({ permissionDecision: 'ask', permissionDecisionReason: 'REASON' }),
    expected: { ...ran, prompts: ['Bash'] },
  },
  {
    name: 'defer',
    event: 'PreToolUse',
    call: echo,
    answer: () => pre({ permissionDecision: 'defer' }),
    expected: {
      prompts: [],
      requests: 1,
      denials: 0,
      result: {
        subtype: 'success',
        is_error: false,
        result: '',
        num_turns: 1,
        terminal_reason: 'tool_deferred',
        stop_reason: 'tool_deferred',
        deferred_tool_use: { id: 'toolu_1', name: 'Bash', input: echo.input },
      },
    },
  },
  {
    name: 'updatedInput without a decision',
    event: 'PreToolUse',
    call: echo,
    answer: () => pre({ updatedInput: { command: 'echo CHANGED' } }),
    expected: { ...ran, fired: 1, toolText: 'CHANGED', structured: { stdout: 'CHANGED' } },
  },
  {
    name: 'updatedInput with allow',
    event: 'PreToolUse',
    call: echo,
    answer: () => pre({ permissionDecision: 'allow', updatedInput: { command: 'echo CHANGED' } }),
    expected: { ...ran, fired: 1, prompts: [], toolText: 'CHANGED' },
  },
  {
    name: 'additionalContext',
    event: 'PreToolUse',
    call: echo,
    answer: () => pre({ additionalContext: 'CONTEXT' }),
    expected: { ...ran, shown: ['CONTEXT'] },
  },
  {
    // The reference runs the call first; who wants to stop does not want the call.
    name: 'continue: false',
    event: 'PreToolUse',
    call: write,
    answer: () => ({ continue: false, stopReason: 'STOPREASON' }),
    expected: {
      prompts: [],
      requests: 1,
      toolError: true,
      result: {
        subtype: 'success',
        is_error: false,
        result: '',
        terminal_reason: 'hook_stopped',
        stop_reason: 'tool_use',
      },
      written: false,
    },
  },
  {
    name: 'decision: block (older form)',
    event: 'PreToolUse',
    call: echo,
    answer: () => ({ decision: 'block', reason: 'REASON' }),
    expected: refused,
  },
  {
    name: 'decision: approve (older form)',
    event: 'PreToolUse',
    call: write,
    answer: () => ({ decision: 'approve' }),
    expected: { prompts: [], requests: 2, result: completed, denials: 0, written: true },
  },
  {
    name: 'systemMessage',
    event: 'PreToolUse',
    call: echo,
    answer: () => ({ systemMessage: 'SYSMSG' }),
    expected: {
      ...ran,
      told: [
        {
          subtype: 'informational',
          level: 'notice',
          content: expect.stringMatching(/^PreToolUse:Bash.*SYSMSG$/),
        },
      ],
      notShown: ['SYSMSG'],
    },
  },
];

export const POST_CASES: readonly HookCase[] = [
  {
    name: 'decision: block',
    event: 'PostToolUse',
    call: echo,
    answer: () => ({ decision: 'block', reason: 'REASON' }),
    expected: { ...ran, shown: ['REASON'] },
  },
  {
    name: 'additionalContext',
    event: 'PostToolUse',
    call: echo,
    answer: () => post({ additionalContext: 'CONTEXT' }),
    expected: { ...ran, shown: ['CONTEXT'] },
  },
  {
    name: 'updatedToolOutput',
    event: 'PostToolUse',
    call: echo,
    answer: () =>
      post({ updatedToolOutput: { stdout: 'REPLACED', stderr: '', interrupted: false } }),
    expected: {
      ...ran,
      toolText: 'REPLACED',
      structured: { stdout: 'REPLACED', stderr: '', interrupted: false },
      shown: ['REPLACED'],
    },
  },
  {
    name: 'updatedToolOutput of another shape',
    event: 'PostToolUse',
    call: echo,
    answer: () => post({ updatedToolOutput: { nothing: 'like it' } }),
    // Who wanted the original hidden does not see it go out; the reference shows it.
    expected: { ...ran, toolText: '{"nothing":"like it"}', notShown: ['"hi"'] },
  },
  {
    name: 'continue: false',
    event: 'PostToolUse',
    call: echo,
    answer: () => ({ continue: false, stopReason: 'STOPREASON' }),
    expected: {
      requests: 1,
      toolText: 'hi',
      toolError: false,
      denials: 0,
      result: {
        subtype: 'success',
        is_error: false,
        result: '',
        terminal_reason: 'hook_stopped',
        stop_reason: 'tool_use',
      },
    },
  },
  {
    name: 'additionalContext after a failure',
    event: 'PostToolUseFailure',
    call: { tool: 'Bash', input: { command: 'exit 3', description: 'd' } },
    answer: () => ({
      hookSpecificOutput: { hookEventName: 'PostToolUseFailure', additionalContext: 'CONTEXT' },
    }),
    expected: {
      requests: 2,
      toolText: /^Exit code 3/,
      toolError: true,
      result: completed,
      denials: 0,
      shown: ['CONTEXT'],
    },
  },
  {
    name: 'additionalContext after the batch',
    event: 'PostToolBatch',
    call: echo,
    answer: () => ({
      hookSpecificOutput: { hookEventName: 'PostToolBatch', additionalContext: 'CONTEXT' },
    }),
    expected: { ...ran, shown: ['CONTEXT'] },
  },
  {
    name: 'decision: block after the batch',
    event: 'PostToolBatch',
    call: echo,
    answer: () => ({ decision: 'block', reason: 'REASON' }),
    expected: {
      requests: 1,
      toolText: 'hi',
      toolError: false,
      result: { subtype: 'success', result: '', terminal_reason: 'hook_stopped' },
    },
  },
];
