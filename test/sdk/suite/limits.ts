import { describe, expect, it } from 'vitest';
import type { Client } from './client.js';
import { asked, offered, ofKind, resultOf, toolResults } from './look.js';
import { play } from './play.js';

const echo = { tool: 'Bash', input: { command: 'echo hi' } };
const schema = {
  type: 'object',
  properties: { answer: { type: 'number' } },
  required: ['answer'],
  additionalProperties: false,
};
const giveBack = (input: Record<string, unknown>) => ({ tool: 'StructuredOutput', input });

/** Row 12 of the checklist: what ends a turn that did not end by itself. */
export function limits(client: Client): void {
  describe('limits', () => {
    it('maxTurns', async () => {
      const played = await play(client, { script: [echo, echo], options: { maxTurns: 1 } });
      expect(resultOf(played)).toMatchObject({
        subtype: 'error_max_turns',
        is_error: true,
        terminal_reason: 'max_turns',
        stop_reason: 'tool_use',
        errors: ['Reached maximum number of turns (1)'],
      });
      expect(resultOf(played)).not.toHaveProperty('result');
      expect(asked(played.world)).toHaveLength(1);
      expect(played.error?.message).toContain('Reached maximum number of turns (1)');
    });

    it('maxBudgetUsd', async () => {
      const played = await play(client, {
        script: [echo, echo],
        options: { maxBudgetUsd: 0.0001 },
      });
      expect(resultOf(played)).toMatchObject({
        subtype: 'error_max_budget_usd',
        is_error: true,
        terminal_reason: 'budget_exhausted',
        errors: [expect.stringMatching(/budget/i)],
      });
      expect(asked(played.world)).toHaveLength(1);
    });
  });

  describe("the model's failures", () => {
    it('an error of the model is a result with its status', async () => {
      const error = { status: 400, type: 'invalid_request_error', message: 'BAD REQUEST' };
      const played = await play(client, { script: [{ error }] });
      expect(resultOf(played)).toMatchObject({
        subtype: 'success',
        is_error: true,
        result: expect.stringMatching(/^API Error: .*BAD REQUEST/),
        api_error_status: 400,
        terminal_reason: 'api_error',
      });
      expect(played.error?.message).toContain('BAD REQUEST');
    });

    it('a passing failure is told and tried again', async () => {
      const error = { status: 529, type: 'overloaded_error', message: 'busy', retryAfterMs: 10 };
      const played = await play(client, { script: [{ error }, 'there we are'] });
      expect(ofKind(played, 'system/api_retry')).toMatchObject([
        {
          attempt: 1,
          max_retries: 1,
          retry_delay_ms: expect.any(Number),
          error_status: 529,
          error: expect.any(String),
        },
      ]);
      expect(resultOf(played)).toMatchObject({
        subtype: 'success',
        is_error: false,
        result: 'there we are',
      });
      expect(played.error).toBeUndefined();
    });
  });

  describe('structured output', () => {
    const outputFormat = { type: 'json_schema' as const, schema };

    it('is given back as an object, and as its JSON', async () => {
      const played = await play(client, {
        script: [giveBack({ answer: 42 })],
        options: { outputFormat },
      });
      expect(offered(played.world)).toContain('StructuredOutput');
      expect(resultOf(played)).toMatchObject({
        subtype: 'success',
        is_error: false,
        structured_output: { answer: 42 },
        result: '{"answer":42}',
        stop_reason: 'tool_use',
      });
      expect(asked(played.world)).toHaveLength(1);
    });

    it('that does not fit the schema is asked for again', async () => {
      const played = await play(client, {
        script: [giveBack({ answer: 'many' }), giveBack({ answer: 42 })],
        options: { outputFormat },
      });
      expect(toolResults(played)[0]).toMatchObject({ isError: true });
      expect(resultOf(played)).toMatchObject({ structured_output: { answer: 42 } });
    });

    it('that never comes is an error', async () => {
      const played = await play(client, {
        script: Array.from({ length: 12 }, () => 'I would rather not'),
        options: { outputFormat },
      });
      expect(resultOf(played)).toMatchObject({
        subtype: 'error_max_structured_output_retries',
        is_error: true,
      });
      expect(resultOf(played)).not.toHaveProperty('structured_output');
    });
  });
}
