import { expect, it } from 'vitest';
import { endOf } from './report.js';

it.each(['hook_stopped', 'stop_prevented', 'prompt_blocked'] as const)(
  'an agent that a hook stops (%s) was cut off by the hook',
  (kind) => {
    const outcome = { reason: { kind, message: 'x' }, text: '' } as Parameters<typeof endOf>[0];
    const facts = { cancelled: undefined, missing: [], refused: false };
    expect(endOf(outcome, facts)).toMatchObject({ kind: 'cut-off', by: 'hook' });
  },
);
