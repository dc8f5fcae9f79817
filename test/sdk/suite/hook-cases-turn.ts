import type { HookJSONOutput } from '@anthropic-ai/claude-agent-sdk';
import { expect } from 'vitest';
import { completed, type HookCase, refused, write } from './hook-cases.js';

const single = { subtype: 'success', is_error: false, result: 'final answer', num_turns: 1 };

export const TURN_CASES: readonly HookCase[] = [
  {
    name: 'decision: block',
    event: 'UserPromptSubmit',
    answer: () => ({ decision: 'block', reason: 'REASON' }),
    expected: {
      requests: 0,
      result: {
        subtype: 'success',
        is_error: false,
        num_turns: 0,
        stop_reason: null,
        result: expect.stringMatching(/REASON\n\nOriginal prompt: go$/),
      },
      told: [{ subtype: 'informational', level: 'warning', prevent_continuation: true }],
    },
  },
  {
    name: 'additionalContext',
    event: 'UserPromptSubmit',
    answer: () => ({
      hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'CONTEXT' },
    }),
    expected: {
      requests: 1,
      result: { ...single, terminal_reason: 'completed', stop_reason: 'end_turn' },
      shown: ['CONTEXT'],
    },
  },
  {
    name: 'continue: false',
    event: 'UserPromptSubmit',
    answer: () => ({ continue: false, stopReason: 'STOPREASON' }),
    expected: {
      requests: 0,
      result: {
        subtype: 'success',
        is_error: false,
        num_turns: 0,
        stop_reason: null,
        result: expect.stringMatching(/STOPREASON/),
      },
      told: [{ subtype: 'informational', level: 'warning', prevent_continuation: true }],
    },
  },
  {
    name: 'decision: block, once',
    event: 'Stop',
    answer: (times) => (times === 0 ? { decision: 'block', reason: 'REASON' } : {}),
    expected: {
      fired: 2,
      requests: 2,
      result: { ...single, num_turns: 2, terminal_reason: 'completed', stop_reason: 'end_turn' },
      shown: ['Stop hook feedback', 'REASON'],
    },
  },
  {
    name: 'additionalContext, once',
    event: 'Stop',
    answer: (times) =>
      times === 0
        ? { hookSpecificOutput: { hookEventName: 'Stop', additionalContext: 'CONTEXT' } }
        : {},
    expected: {
      fired: 2,
      requests: 2,
      // The answer to what a hook adds is part of the same turn.
      result: { ...single, num_turns: 1, terminal_reason: 'completed' },
      shown: ['CONTEXT'],
    },
  },
  {
    name: 'continue: false',
    event: 'Stop',
    answer: () => ({ continue: false, stopReason: 'STOPREASON' }),
    expected: {
      fired: 1,
      requests: 1,
      result: { ...single, terminal_reason: 'stop_hook_prevented', stop_reason: 'end_turn' },
    },
  },
  {
    name: 'systemMessage',
    event: 'Stop',
    answer: () => ({ systemMessage: 'SYSMSG' }),
    expected: {
      fired: 1,
      requests: 1,
      result: { ...single, terminal_reason: 'completed' },
      told: [
        {
          subtype: 'informational',
          level: 'notice',
          content: expect.stringMatching(/^Stop.*SYSMSG$/),
        },
      ],
    },
  },
];

const decide = (decision: object): HookJSONOutput =>
  ({
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision },
  }) as HookJSONOutput;

export const PERMISSION_CASES: readonly HookCase[] = [
  {
    name: 'allow',
    event: 'PermissionRequest',
    call: write,
    answer: () => decide({ behavior: 'allow' }),
    expected: { requests: 2, result: completed, denials: 0, written: true },
  },
  {
    name: 'deny',
    event: 'PermissionRequest',
    call: write,
    answer: () => decide({ behavior: 'deny', message: 'REASON' }),
    expected: { ...refused, prompts: undefined, written: false },
  },
  {
    name: 'deny and interrupt',
    event: 'PermissionRequest',
    call: write,
    answer: () => decide({ behavior: 'deny', message: 'REASON', interrupt: true }),
    expected: {
      requests: 1,
      toolError: true,
      denials: 1,
      result: {
        subtype: 'error_during_execution',
        is_error: true,
        terminal_reason: 'aborted_tools',
        stop_reason: 'tool_use',
      },
      written: false,
    },
  },
];
