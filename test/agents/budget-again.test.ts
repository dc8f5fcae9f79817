import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Reply } from '../../src/model/scripted/format.js';
import { agentFile, type BudgetSession, openBudgetSession } from './budget-rig.js';

let opened: BudgetSession | undefined;
afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

async function open(options: Parameters<typeof openBudgetSession>[0]): Promise<BudgetSession> {
  opened = await openBudgetSession(options);
  return opened;
}

const start = (type: string, prompt: string) => ({
  tool: 'Agent',
  input: { description: 'some work', prompt, subagent_type: type },
});
const work = (number: number, tokens = 1_000): Reply => ({
  text: `step ${number}`,
  tool: 'Bash',
  input: { command: `echo ${number}`, description: 'says a number' },
  usage: { input_tokens: tokens, output_tokens: 50 },
});
const send =
  (word: string, message = 'go on') =>
  (): Reply => ({ tool: 'SendMessage', input: { to: idOf(word), message } });
const wait: Reply = { tool: 'WaitForAgents', input: { timeout_seconds: 20 } };

/** The id of the agent whose transcript has this word in its first lines. */
function idOf(word: string): string {
  if (opened === undefined) throw new Error('no session');
  const { home } = opened.project;
  const files = readdirSync(join(home, '.claude', 'projects'), {
    recursive: true,
    encoding: 'utf8',
  });
  for (const file of files) {
    const id = /agent-(\w+)\.jsonl$/.exec(file)?.[1];
    if (id === undefined) continue;
    const lines = readFileSync(join(home, '.claude', 'projects', file), 'utf8').split('\n');
    const isTask = (line: string): boolean => line.includes(`"content":"${word}`);
    if (lines.some(isTask)) return id;
  }
  throw new Error(`no transcript has ${word}`);
}

/** What the main agent was told last. */
const told = ({ server }: BudgetSession): string => {
  const { messages = [] } = (server.requests.at(-1)?.body ?? {}) as { messages?: unknown[] };
  return JSON.stringify(messages.at(-1));
};
const turnsOf = ({ server }: BudgetSession, word: string): number =>
  server.requests.filter(({ body }) => {
    const { messages } = body as { messages: readonly unknown[] };
    return JSON.stringify(messages[0]).includes(word);
  }).length;

describe('after a restart the budget', () => {
  it('of a session goes on with what was left, whoever used it', async () => {
    const session = await open({
      settings: { portcullis: { budget: { turns: 5 } } },
      main: [start('general-purpose', 'CHILD'), 'first done', 'second', 'third', 'fourth'],
      others: { CHILD: ['said'] },
    });
    await session.say('go');
    await session.again();
    expect((await session.say('more')).outcome.reason.kind).toBe('completed');
    expect((await session.say('and more')).outcome.text).toBe('third');
    const over = await session.say('too much');
    expect(over.outcome.reason.kind).toBe('max_turns');
    expect(session.server.requests).toHaveLength(5);
  });

  it('of a session counts in tokens and agents too, and once each', async () => {
    const session = await open({
      settings: { portcullis: { budget: { tokens: 853_000, fanOut: 1 } } },
      main: [
        start('general-purpose', 'CHILD'),
        { text: 'done', usage: { input_tokens: 400_000, output_tokens: 5 } },
        start('general-purpose', 'OTHER'),
        { text: 'done', usage: { input_tokens: 450_000, output_tokens: 5 } },
        'no more',
      ],
      others: { CHILD: ['said'], OTHER: ['said'] },
    });
    await session.say('go');
    await session.again();
    await session.say('again');
    expect(told(session)).toContain('The budget of 1 agent of the session is used up');
    expect(turnsOf(session, 'OTHER')).toBe(0);
    await session.again();
    const over = await session.say('once more');
    expect(over.outcome.reason.kind).toBe('budget');
  });

  it('of an agent goes on with what was left', async () => {
    const session = await open({
      agents: { worker: agentFile('worker', '{ turns: 3 }') },
      main: [start('worker', 'CHILD'), 'done', send('CHILD'), wait, 'end', send('CHILD'), 'end'],
      others: { CHILD: [work(1), 'so far', work(2), 'never said'] },
    });
    await session.say('go');
    await session.again();
    await session.say('go on');
    expect(turnsOf(session, 'CHILD')).toBe(3);
    expect(told(session)).toContain('cut off');
    await session.say('once more');
    expect(told(session)).toContain('the budget of 3 turns of main/worker#1 is used up');
    expect(turnsOf(session, 'CHILD')).toBe(3);
  });

  it('of an agent that has ended holds those below it', async () => {
    const session = await open({
      agents: { worker: agentFile('worker', '{ turns: 4 }') },
      main: [start('worker', 'CHILD'), 'done', send('BELOW'), wait, 'end'],
      others: {
        CHILD: [start('general-purpose', 'BELOW'), 'said'],
        BELOW: ['one', work(2), 'never said'],
      },
    });
    await session.say('go');
    await session.again();
    await session.say('go on');
    expect(turnsOf(session, 'BELOW')).toBe(2);
    expect(told(session)).toContain('the budget of 4 turns of main/worker#1');
  });

  it('of a copy of the session begins anew', async () => {
    const session = await open({
      settings: { portcullis: { budget: { turns: 2 } } },
      main: ['one', 'two', 'three', 'four'],
    });
    await session.say('go');
    await session.again({ fork: true });
    expect((await session.say('more')).outcome.text).toBe('two');
    await session.again({ fork: false });
    expect((await session.say('more')).outcome.text).toBe('three');
    expect((await session.say('more')).outcome.reason.kind).toBe('max_turns');
  });

  it('of the command line is that of the new process', async () => {
    const model = 'claude-haiku-4-5';
    const dear = { input_tokens: 400_000, output_tokens: 5 };
    const session = await open({
      main: [
        { text: 'one', usage: dear },
        start('general-purpose', 'CHILD'),
        { text: 'two', usage: { input_tokens: 10, output_tokens: 5 } },
      ],
      others: { CHILD: ['said'] },
      config: { maxBudgetUsd: 0.3, model },
    });
    await session.say('go');
    await session.again();
    expect((await session.say('more')).outcome.text).toBe('two');
    expect(turnsOf(session, 'CHILD')).toBe(1);
  });
});
