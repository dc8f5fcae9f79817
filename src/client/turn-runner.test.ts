import { describe, expect, it } from 'vitest';
import type { AgentSession, AskAnswer, AskRequest, RunResult } from '../app.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import { defineCommand, type SlashCommand, text } from './commands/command.js';
import type { SessionEvent } from './events.js';
import { ALL_QUESTIONS, connectClient } from './local-client.js';
import { TurnRunner } from './turn-runner.js';

const clear = defineCommand({
  name: 'clear',
  summary: 'Start over',
  needsIdle: true,
  async run({ runner }) {
    await runner.clear();
    return text('cleared');
  },
});

/** A runner whose sessions are in memory and open when the test says so. */
function setup({
  opens = async () => undefined as unknown,
}: {
  opens?: (nth: number) => Promise<unknown>;
} = {}) {
  const done: string[] = [];
  let count = 0;
  let now = Date.parse('2030-01-01T00:00:00Z');
  let uuids = 0;
  const session = (id: string): AgentSession => {
    let mode = 'default';
    return {
      id,
      info: () => ({ sessionId: id, mode, model: 'm' }),
      setMode: (wanted: string) => {
        mode = wanted;
      },
      news: () => undefined,
      interrupt: () => false,
      takeBackgroundInput: () => [],
      waitForBackground: async () => false,
      onBackgroundInput: () => undefined,
      begin: async () => [],
      mcp: { answered: async () => undefined },
      requests: { onCommands: () => undefined, stopAgents: () => undefined },
      accounts: () => ({ cost: { knownUsd: 0, unknownModels: [] }, modelUsage: {} }),
      async run(messages: readonly unknown[]) {
        done.push(`${id} runs ${messages.length}`);
        const outcome = { reason: { kind: 'completed' }, text: '', lastAnswer: undefined };
        return { outcome } as unknown as RunResult;
      },
      close: async () => void done.push(`${id} closes`),
    } as unknown as AgentSession;
  };
  const commands: readonly SlashCommand[] = [clear];
  const runner = new TurnRunner({
    env: {},
    clock: { now: () => now, uuid: () => `id-${++uuids}` },
    commands: {
      find: (line) => {
        const command = commands.find(({ name }) => line === `/${name}`);
        return command && { command, argument: '' };
      },
      complete: async () => [],
    },
    async open() {
      const nth = ++count;
      await opens(nth);
      done.push(`s${nth} opens`);
      return session(`s${nth}`);
    },
  });
  const client = connectClient(runner, { name: 'terminal', answers: ALL_QUESTIONS });
  const prompt = (id: string) =>
    client.send('prompt', { content: [{ type: 'text', text: 'go' }], id });
  const advance = (ms: number): void => {
    now += ms;
  };
  return { runner, client, done, prompt, advance };
}

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

const ticks = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

const settled = <T>(promise: Promise<T>): Promise<T | 'pending' | 'rejected'> =>
  Promise.race([promise.catch(() => 'rejected' as const), ticks().then(() => 'pending' as const)]);

const ask = (question?: { readonly id: string; readonly expiresAt: number }): AskRequest =>
  ({
    call: {
      tool: { name: 'Bash' },
      subject: { summary: 'ls' },
      input: { command: 'ls' },
      toolUseId: 't1',
      workspace: { cwd: '/' },
      agent: MAIN_AGENT,
      signal: new AbortController().signal,
    },
    reason: 'no rule',
    question,
  }) as unknown as AskRequest;

describe('a turn runner', () => {
  it.each(['stop', 'cancel'])(
    'runs no turn without a prompt after %s while it opens',
    async (how) => {
      const { open, opened } = gate();
      const { runner, prompt, done } = setup({ opens: () => opened });
      const running = runner.run();
      await prompt('p1');
      await ticks();
      if (how === 'stop') runner.stop();
      else expect(runner.cancel('p1')).toBe(true);
      open();
      await ticks();
      runner.stop();
      await running;
      expect(done).toEqual(['s1 opens', 's1 closes']);
    },
  );

  it('opens no session once it has ended', async () => {
    const { runner, client, done } = setup();
    runner.stop();
    await runner.run();
    for (const line of ['/clear', '/other']) {
      expect(await settled(client.send('command', { line }))).toBe('rejected');
    }
    expect(await settled(client.send('configure', { mode: 'plan' }))).toBe('rejected');
    expect(await settled(client.send('history', {}))).toBe('rejected');
    expect(done).toEqual([]);
  });

  it('answers every command that waits when a session cannot be replaced', async () => {
    const { runner, client, done } = setup({
      opens: async (nth) => {
        if (nth > 1) throw new Error('refused');
      },
    });
    await runner.open();
    const first = client.send('command', { line: '/clear' });
    const second = client.send('command', { line: '/clear' });
    await expect(runner.run()).rejects.toThrow('refused');
    expect(await settled(first)).toMatchObject({ failed: true });
    expect(await settled(second)).toBe('rejected');
    expect(done).toEqual(['s1 opens', 's1 closes']);
  });

  it('ends once, however often it is stopped', async () => {
    const { runner, client, done, prompt } = setup();
    const running = runner.run();
    await prompt('p1');
    await ticks();
    runner.stop();
    runner.stop();
    await client.send('end', {});
    await running;
    expect(done).toEqual(['s1 opens', 's1 runs 1', 's1 closes']);
    expect(await client.answer('x', { behavior: 'allow' })).toBe('closed');
    expect(await runner.questions.askAboutCall(ask())).toMatchObject({ behavior: 'deny' });
  });
});

describe('a question', () => {
  it('is settled although a subscriber fails', async () => {
    const { runner, client } = setup();
    const ids: string[] = [];
    client.subscribe(({ event }) => {
      if (event.type === 'question') ids.push(event.question.id);
    });
    client.subscribe(({ event }: { event: SessionEvent }) => {
      if (event.type === 'question_closed') throw new Error('broken client');
    });
    const asked = runner.questions.askAboutCall(ask());
    await ticks();
    await client.answer(ids[0] ?? '', { behavior: 'deny' }).catch(() => undefined);
    expect(await settled<AskAnswer>(asked)).toMatchObject({ behavior: 'deny' });
    expect(runner.questions.open).toEqual([]);
  });

  it('that no client could be shown is not open', async () => {
    const { runner, client } = setup();
    client.subscribe(({ event }: { event: SessionEvent }) => {
      if (event.type === 'question') throw new Error('broken client');
    });
    expect(await settled(runner.questions.askAboutCall(ask()))).toSatisfy(
      (one) => one === 'rejected' || (one as AskAnswer).behavior === 'deny',
    );
    expect(runner.questions.open).toEqual([]);
  });

  it('never gets the answer to another one of the same id', async () => {
    const { runner, client } = setup();
    const far = { id: 'q', expiresAt: Date.parse('2031-01-01T00:00:00Z') };
    const first = runner.questions.askAboutCall(ask(far));
    const second = runner.questions.askAboutCall(ask(far));
    await ticks();
    expect(await client.answer('q', { behavior: 'allow' })).toBe('accepted');
    expect(await settled<AskAnswer>(first)).toMatchObject({ behavior: 'allow' });
    expect(await settled<AskAnswer>(second)).toMatchObject({ behavior: 'deny' });
  });

  it('takes no answer after it has expired, also where the timer is late', async () => {
    const { runner, client, advance } = setup();
    const soon = { id: 'q', expiresAt: Date.parse('2030-01-01T01:00:00Z') };
    const asked = runner.questions.askAboutCall(ask(soon));
    advance(2 * 3_600_000);
    expect(await client.answer('q', { behavior: 'allow' })).toBe('closed');
    expect(await settled<AskAnswer>(asked)).toMatchObject({ behavior: 'deny' });
  });
});
