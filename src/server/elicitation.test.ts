import { describe, expect, it } from 'vitest';
import type { ElicitQuestion } from '../protocol/elicitation.js';
import { readForm } from '../util/elicit-form.js';
import { elicitHost } from './elicitation.js';
import { createHostChannel } from './host-channel.js';
import type { Frame } from './wire.js';

const requestedSchema = {
  type: 'object',
  properties: { b: { type: 'string' }, a: { type: 'string' } },
};
const form = readForm(requestedSchema);
const QUESTION: ElicitQuestion = {
  server: 'srv',
  message: 'Hi',
  mode: 'form',
  fields: form.ok ? form.value : [],
  warnings: ['careful'],
  elicitationId: 'e1',
  requestedSchema,
};

/** A host that gives one answer to whatever it is asked. */
function host(response: Readonly<Record<string, unknown>> | undefined) {
  const frames: Frame[] = [];
  const channel = createHostChannel((frame) => {
    frames.push(frame);
    if (response === undefined || frame.type !== 'control_request') return;
    queueMicrotask(() => channel.settle({ ...response, request_id: frame.request_id }));
  });
  const controller = new AbortController();
  return {
    frames,
    channel,
    controller,
    ask: () => elicitHost(channel, QUESTION, controller.signal),
  };
}

const says = (response: unknown) => host({ subtype: 'success', response });

describe('a question of a server on the wire', () => {
  it('has the shape that hosts know', async () => {
    const { ask, frames } = says({ action: 'accept', content: { a: 'x' } });
    expect(await ask()).toEqual({ action: 'accept', content: { a: 'x' } });
    expect(frames).toMatchObject([
      {
        type: 'control_request',
        request: {
          subtype: 'elicitation',
          mcp_server_name: 'srv',
          message: 'Hi',
          mode: 'form',
          elicitation_id: 'e1',
          requested_schema: requestedSchema,
          property_order: ['b', 'a'],
          description: 'careful',
        },
      },
    ]);
  });

  it('is declined by every answer that is no clear yes', async () => {
    for (const answer of [
      undefined,
      null,
      'accept',
      {},
      { action: 'yes' },
      { action: 'accept', content: 'x' },
      { action: 'accept', content: [1] },
      { action: 'decline', content: { a: 'x' } },
    ]) {
      expect(await says(answer).ask(), JSON.stringify(answer)).toEqual({ action: 'decline' });
    }
    expect(await says({ action: 'cancel' }).ask()).toEqual({ action: 'cancel' });
    expect(await says({ action: 'accept' }).ask()).toEqual({ action: 'accept' });
  });

  it('has no answer when the host cannot give one', async () => {
    expect(await host({ subtype: 'error', error: 'Unsupported' }).ask()).toBeUndefined();
    const gone = host(undefined);
    const asking = gone.ask();
    gone.channel.close();
    expect(await asking).toBeUndefined();
    const withdrawn = host(undefined);
    const waiting = withdrawn.ask();
    withdrawn.controller.abort();
    expect(await waiting).toEqual({ action: 'cancel' });
    expect(withdrawn.frames.at(-1)).toMatchObject({ type: 'control_cancel_request' });
  });
});
