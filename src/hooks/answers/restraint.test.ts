import { describe, expect, it } from 'vitest';
import { ended, hook, json, specific } from '../../../test/support/hook-answers.js';
import type { Hook, HookEventName, HookRaw } from '../registry/hook.js';
import { readRaw } from './read.js';

const after = (event: HookEventName = 'PostToolUse'): Hook => ({
  ...hook(event),
  role: 'block',
  onFailure: 'continue',
});
const masks = (value: unknown, event = 'PostToolUse'): string =>
  json(specific({ updatedToolOutput: value }, event));
const redacts = (raw: HookRaw, event?: HookEventName) => readRaw(after(event), raw).redacts;

describe('a replacement of an output', () => {
  it('that is one is read, also for calls that failed', () => {
    for (const event of ['PostToolUse', 'PostToolUseFailure'] as const) {
      for (const given of ['x', '', 0, false, {}, []]) {
        const reading = readRaw(after(event), ended(0, masks(given, event)));
        expect(reading).toMatchObject({ answer: { fields: { updatedToolOutput: given } } });
        expect(reading.redacts).toBeUndefined();
      }
    }
    expect(redacts(ended(2, masks('x')))).toBeUndefined();
  });

  it.each<[string, HookRaw]>([
    ['null', ended(0, masks(null))],
    ['at the top', ended(0, '{"updatedToolOutput":"x"}')],
    ['at the top, as a value', { kind: 'value', value: { updatedMCPToolOutput: 'x' } }],
    ['for another event', ended(0, masks('x', 'PreToolUse'))],
    ['without an event', ended(0, '{"hookSpecificOutput":{"updatedToolOutput":"x"}}')],
    ['exit code 1', ended(1, masks('x'))],
    ['exit code 3', ended(3, masks('x'))],
    ['exit code 2, broken', ended(2, masks('x').slice(0, -3))],
    ['a signal', ended(0, masks('x'), { exitCode: null, signal: 'SIGKILL' })],
    ['behind a log line', ended(0, `log\n${masks('x')}`)],
    ['broken', ended(0, masks('x').slice(0, -3))],
    ['cut', ended(0, masks('x').slice(0, -3), { cut: true })],
    ['UTF-16', ended(0, [...masks('x')].join('\0'))],
    ['beside async', ended(0, json({ async: true, ...JSON.parse(masks('x')) }))],
    ['behind async', ended(0, `{"async":true}\n${masks('x')}`)],
    ['beside a wrong field', ended(0, json({ decision: 'no', ...JSON.parse(masks('x')) }))],
    ['twice', ended(0, '{"updatedToolOutput":1,"updatedToolOutput":2}')],
    ['an escaped key', ended(0, '{"\\u0075pdatedToolOutput":"x"}')],
    ['another spelling', ended(0, '{"updated_tool_output":"x"}')],
    ['deeper', { kind: 'value', value: { output: JSON.parse(masks('x')) } }],
    ['text of a tool', { kind: 'text', text: `see ${masks('x')}` }],
    [
      'too late',
      { kind: 'failed', failure: { cause: 'timeout', message: 'late' }, printed: masks('x') },
    ],
  ])('%s is known to have been meant', (_name, raw) => {
    expect(redacts(raw)).toBe(true);
    expect(redacts(raw, 'Stop')).toBeUndefined();
  });

  it('of which nothing is said is not meant', () => {
    const context = specific({ additionalContext: 'use updatedToolOutput' }, 'PostToolUse');
    const failure = { cause: 'timeout', message: 'late' } as const;
    for (const raw of [
      ended(0, 'a log line'),
      ended(1, 'a log line'),
      ended(0, json(context)),
      { kind: 'value', value: { updatedToolOutput: undefined } },
      { kind: 'value', value: undefined },
      { kind: 'failed', failure },
    ] as const) {
      expect(redacts(raw)).toBeUndefined();
    }
  });

  it('may be in what cannot be looked at', () => {
    const trap = {
      get decision(): string {
        throw new Error('BOOM');
      },
    };
    expect(redacts({ kind: 'value', value: trap })).toBe(true);
  });
});
