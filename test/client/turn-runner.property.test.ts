import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentSession, AskRequest } from '../../src/app.js';
import { defineCommand, text } from '../../src/client/commands/command.js';
import { ALL_QUESTIONS, connectClient } from '../../src/client/local-client.js';
import { TurnRunner } from '../../src/client/turn-runner.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';

const ticks = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

const clear = defineCommand({
  name: 'clear',
  summary: 'Start over',
  needsIdle: true,
  async run({ runner }) {
    await runner.clear();
    return text('cleared');
  },
});

const show = defineCommand({ name: 'show', summary: 'Show it', run: async () => text('shown') });

/** Sessions in memory that take a while for everything, ask in every turn, and are all closed in the end. */
class Sessions {
  opened = 0;
  readonly open = new Set<string>();
  /** Turns that had nothing to do, or ran in a session that was not open. */
  readonly wrong: string[] = [];
  allowed = 0;

  create(slow: number, ask: (request: AskRequest) => Promise<{ behavior: string }>): AgentSession {
    const id = `s${++this.opened}`;
    this.open.add(id);
    let mode = 'default';
    let running: AbortController | undefined;
    return {
      id,
      info: () => ({ sessionId: id, mode, model: 'm' }),
      setMode: (wanted: string) => {
        mode = wanted;
      },
      news: () => undefined,
      interrupt: () => {
        running?.abort();
        return running !== undefined;
      },
      takeBackgroundInput: () => [],
      waitForBackground: async () => false,
      onBackgroundInput: () => undefined,
      begin: async () => {
        await ticks(slow);
        return [];
      },
      mcp: { answered: () => ticks(slow) },
      requests: { onCommands: () => undefined, stopAgents: () => undefined },
      run: async (messages: readonly unknown[]) => {
        if (messages.length === 0) this.wrong.push('a turn without a prompt');
        if (!this.open.has(id)) this.wrong.push('a turn of a closed session');
        running = new AbortController();
        const { signal } = running;
        const { behavior } = await ask(request(signal));
        if (behavior === 'allow') this.allowed++;
        await ticks(slow);
        running = undefined;
        const kind = signal.aborted ? 'aborted' : 'completed';
        return { outcome: { reason: { kind, during: 'tools' }, text: '', lastAnswer: undefined } };
      },
      close: async () => {
        await ticks(slow);
        this.open.delete(id);
      },
    } as unknown as AgentSession;
  }
}

function request(signal: AbortSignal): AskRequest {
  const call = {
    tool: { name: 'Bash' },
    subject: { summary: 'ls' },
    input: {},
    toolUseId: 't',
    workspace: { cwd: '/' },
    agent: MAIN_AGENT,
    signal,
  };
  return { call, reason: 'no rule' } as unknown as AskRequest;
}

const step = fc.record({
  do: fc.constantFrom(
    'prompt',
    'prompt',
    'cancel',
    'interrupt',
    '/clear',
    '/show',
    'allow',
    'deny',
    'nonsense',
    'plan',
    'leave',
  ),
  client: fc.nat(1),
  wait: fc.nat(6),
});

describe('a turn runner under random clients', () => {
  it('ends, settles every command, closes every session, and allows only what a client allowed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        fc.nat(4),
        fc.constantFrom('stop', 'finish', 'now'),
        fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
        async (steps, slow, end, failing) => {
          const sessions = new Sessions();
          let uuids = 0;
          const runner = new TurnRunner({
            env: {},
            clock: { now: Date.now, uuid: () => `u${++uuids}` },
            commands: {
              find: (line) => {
                const command = [clear, show].find(({ name }) => line === `/${name}`);
                return command && { command, argument: '' };
              },
              complete: async () => [],
            },
            async open(ports) {
              await ticks(slow);
              if (sessions.opened + 1 === failing) throw new Error('refused');
              return sessions.create(slow, ports.asker);
            },
          });
          const clients = ['a', 'b'].map((name) =>
            connectClient(runner, { name, answers: ALL_QUESTIONS }),
          );
          const pending: Promise<unknown>[] = [];
          let yes = 0;
          const running = runner.run().catch(() => undefined);
          for (const { do: what, client: nth, wait } of steps) {
            const client = clients[nth];
            const [question] = runner.questions.open;
            if (what === 'leave') client?.close();
            else if (what === 'allow' || what === 'deny' || what === 'nonsense') {
              const answer = { behavior: what === 'nonsense' ? 'perhaps' : what } as never;
              const given = client?.answer(question?.id ?? 'none', answer);
              const isTaken = (await given?.catch(() => 'rejected')) === 'accepted';
              if (isTaken && what === 'allow') yes++;
              expect(isTaken && what === 'nonsense').toBe(false);
            } else if (what === 'plan') {
              void runner.session?.then((one) => one.setMode('plan')).catch(() => undefined);
            } else if (client !== undefined) {
              const content = [{ type: 'text' as const, text: 'x' }];
              const sent =
                what === 'prompt'
                  ? client.send('prompt', { content })
                  : what === 'cancel'
                    ? client.send('cancelPrompt', { id: runner.queue.first?.message.uuid ?? '' })
                    : what === 'interrupt'
                      ? client.send('interrupt', {})
                      : client.send('command', { line: what });
              pending.push(sent.catch(() => undefined));
            }
            await ticks(wait);
          }
          for (const client of clients) client.close();
          if (end === 'stop') runner.stop();
          else runner.endInput(end === 'now' ? 'now' : 'finish');
          await running;
          await Promise.all(pending);
          expect(sessions.wrong).toEqual([]);
          expect([...sessions.open]).toEqual([]);
          expect(sessions.allowed).toBe(yes);
          expect(runner.questions.open).toEqual([]);
        },
      ),
      { numRuns: 300, timeout: 10_000 },
    );
  });
});
