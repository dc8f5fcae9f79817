import { describe, expect, it } from 'vitest';
import type { Reply } from '../../src/model/scripted/format.js';
import { own } from '../sdk/own.js';
import { ofKind } from '../sdk/suite/look.js';
import { Prompts, play } from '../sdk/suite/play.js';
import { isResult, wire } from '../wire/host.js';

/** Long enough for the turn that starts the work to end first. */
const WORK_MS = 1_500;
const ENDS: readonly Reply[] = [
  { when: 'background', text: 'It runs.' },
  { when: 'task-notification', text: 'It is over.' },
];
const SHELL: readonly Reply[] = [
  {
    tool: 'Bash',
    input: { command: `sleep ${WORK_MS / 1_000}`, run_in_background: true, description: 'Wait' },
  },
  ...ENDS,
];
const AGENT: readonly Reply[] = [
  {
    tool: 'Agent',
    input: { description: 'wait', prompt: 'TASKWORD', run_in_background: true },
  },
  { when: 'TASKWORD', text: 'THE REPORT', delayMs: WORK_MS },
  { when: 'You will be told', text: 'It runs.' },
  { when: 'THE REPORT', text: 'It is over.' },
];

describe.each([
  ['a background shell', SHELL],
  ['a background agent', AGENT],
])('%s that finishes while the session is idle', (_name, script) => {
  it('starts a turn on the wire', async () => {
    const host = await wire({ script, config: { allowedTools: ['Bash'] } });
    host.prompt('start it');
    expect(await host.next(isResult)).toMatchObject({ result: 'It runs.' });
    expect(await host.next(isResult)).toMatchObject({
      result: 'It is over.',
      origin: { kind: 'task-notification' },
    });
    host.end();
    await host.served;
  });

  it('starts a turn in the SDK', async () => {
    const prompts = new Prompts();
    prompts.send('start it');
    const played = await play(own, {
      script,
      prompt: prompts,
      options: { allowedTools: ['Bash'] },
      onFrame({ type, result }) {
        if (type === 'result' && result === 'It is over.') prompts.end();
      },
    });
    const results = ofKind(played, 'result').map(({ result }) => result);
    expect(results).toEqual(['It runs.', 'It is over.']);
  });
});
