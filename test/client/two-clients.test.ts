import { describe, expect, it } from 'vitest';
import type { Envelope, SessionEvent } from '../../src/client/events.js';
import { ALL_QUESTIONS, connectClient, type LocalClient } from '../../src/client/local-client.js';
import type { TurnRunner } from '../../src/client/turn-runner.js';
import { wire } from '../wire/host.js';

const touch = (name: string) => ({
  tool: 'Bash',
  input: { command: `touch ${name}`, description: 'Make a file' },
});

const PARTS: readonly string[] = ['stream', 'block', 'transcript'];

/** A host on the wire and a way to join its session in this process. */
async function shared(options: Parameters<typeof wire>[0]) {
  let runner: TurnRunner | undefined;
  const host = await wire({
    asksHost: true,
    ...options,
    serving: {
      onRunner(one) {
        runner = one;
      },
    },
  });
  const join = (name: string, after?: number) => {
    if (runner === undefined) throw new Error('the session has no runner');
    const client = connectClient(runner, { name, answers: ALL_QUESTIONS });
    const seen: Envelope[] = [];
    client.subscribe((envelope) => seen.push(envelope), after === undefined ? {} : { after });
    return { client, seen };
  };
  return { host, join };
}

async function nextEvent<T extends SessionEvent['type']>(
  client: LocalClient,
  type: T,
  after = 0,
): Promise<Extract<SessionEvent, { type: T }>> {
  for await (const { event } of client.events({ after })) {
    if (event.type === type) return event as Extract<SessionEvent, { type: T }>;
  }
  throw new Error(`the session ended before ${type}`);
}

describe('two clients of one session', () => {
  it('see the same events in order, also the one that joins late', async () => {
    const { host, join } = await shared({ script: ['one', 'two'] });
    const early = join('early');
    host.prompt('a');
    await host.next(({ type }) => type === 'result');
    const { client } = early;
    const { id } = await client.send('prompt', { content: [{ type: 'text', text: 'b' }] });
    await host.next(({ type }) => type === 'result');
    const snapshot = await client.snapshot();
    expect(snapshot).toMatchObject({ replayFrom: 1, questions: [], queue: [], calls: [] });
    const late = join('late', 0);
    host.end();
    await host.served;
    // Parts of an answer that has since become whole are not replayed.
    expect(late.seen).toEqual(early.seen.filter(({ event }) => !PARTS.includes(event.type)));
    expect(early.seen.map(({ seq }) => seq)).toEqual(early.seen.map((_, at) => at + 1));
    const prompts = early.seen.flatMap(({ event }) => (event.type === 'prompt' ? [event] : []));
    expect(prompts.some((one) => one.id === id && one.state === 'started')).toBe(true);
    expect(JSON.parse(JSON.stringify(early.seen))).toEqual(early.seen);
    const turns = early.seen.flatMap(({ event }) =>
      event.type === 'turn_finished' ? [event.turn.text] : [],
    );
    expect(turns).toEqual(['one', 'two']);
  });

  it('may both answer: the first answer counts and the other client is told', async () => {
    const { host, join } = await shared({ script: [touch('made'), 'done'] });
    const { client, seen } = join('terminal');
    host.prompt('go');
    const asked = await host.next(({ type }) => type === 'control_request');
    expect(asked.request).toMatchObject({ subtype: 'can_use_tool', tool_name: 'Bash' });
    const { question } = await nextEvent(client, 'question');
    expect(question).toMatchObject({ kind: 'permission', agent: { path: 'main' } });
    expect((await client.snapshot()).questions).toEqual([question]);
    if (question.kind !== 'permission') throw new Error('another kind of question');
    const [yes] = question.options;
    expect(yes).toMatchObject({ key: 'y', answer: { behavior: 'allow' } });
    expect(await client.answer(question.id, yes?.answer ?? { behavior: 'deny' })).toBe('accepted');
    const withdrawn = await host.next(({ type }) => type === 'control_cancel_request');
    expect(withdrawn.request_id).toBe(asked.request_id);
    expect(await client.answer(question.id, { behavior: 'deny' })).toBe('closed');
    await host.next(({ type }) => type === 'result');
    expect(host.project.exists('made')).toBe(true);
    expect(JSON.parse(JSON.stringify(seen))).toEqual(seen);
    expect(seen.map(({ event }) => event)).toContainEqual({
      type: 'question_closed',
      id: question.id,
      outcome: 'answered',
      by: 'terminal',
    });
  });

  it('refuse nothing when one of them dies: the question stays open for the other', async () => {
    const { host, join } = await shared({ script: [touch('made'), 'done'] });
    const { client } = join('terminal');
    host.prompt('go');
    await host.next(({ type }) => type === 'control_request');
    const { question } = await nextEvent(client, 'question');
    // The host closes its end: it can answer nothing any more.
    host.end();
    await new Promise((resolve) => setImmediate(resolve));
    expect((await client.snapshot()).questions).toEqual([question]);
    expect(await client.answer(question.id, { behavior: 'allow' })).toBe('accepted');
    await host.served;
    expect(host.project.exists('made')).toBe(true);
  });

  it('are refused where the last one dies', async () => {
    const { host, join } = await shared({ script: [touch('made'), 'done'] });
    const { client } = join('terminal');
    host.prompt('go');
    await host.next(({ type }) => type === 'control_request');
    client.close();
    host.end();
    const { lastRun } = await host.served;
    expect(host.project.exists('made')).toBe(false);
    expect(lastRun?.denials).toMatchObject([{ tool_name: 'Bash' }]);
  });

  it('share the queue, the mode and the interrupt', async () => {
    const { host, join } = await shared({ script: [{ text: 'slow', delayMs: 20_000 }, 'two'] });
    const { client } = join('terminal');
    host.prompt('a');
    await nextEvent(client, 'turn_started');
    await client.send('prompt', { content: [{ type: 'text', text: 'b' }], priority: 'later' });
    expect((await client.snapshot()).queue).toHaveLength(1);
    await client.send('configure', { mode: 'plan' });
    expect(await client.send('interrupt', { cancelQueued: true })).toEqual({
      interrupted: true,
      stillQueued: [],
    });
    expect(await host.next(({ type }) => type === 'result')).toMatchObject({ is_error: true });
    expect((await client.snapshot()).info?.mode).toBe('plan');
    host.end();
    await host.served;
  });
});
