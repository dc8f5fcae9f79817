import { afterEach, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/lib/own.js';
import type { Reply } from '../../src/model/scripted/format.js';
import { resultFrame } from '../../src/server/result.js';
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
const work = (number: number, tokens = 20_000): Reply => ({
  text: `step ${number}`,
  tool: 'Bash',
  input: { command: `echo ${number}`, description: 'says a number' },
  usage: { input_tokens: tokens, output_tokens: 50 },
});

/** Bodies of the requests whose first message has the word. */
function requestsOf({ server }: BudgetSession, word: string): readonly string[] {
  return server.requests
    .map(({ body }) => (isRecord(body) && Array.isArray(body.messages) ? body.messages : []))
    .filter((messages) => JSON.stringify(messages[0]).includes(word))
    .map((messages) => JSON.stringify(messages));
}

const bodyText = ({ server }: BudgetSession): string =>
  JSON.stringify(server.requests.at(-1)?.body);

describe('the budget of an agent', () => {
  it('gives it one turn to finish and then ends it, with what it had said', async () => {
    const session = await open({
      agents: { worker: agentFile('worker', '{ tokens: 60000 }') },
      main: [start('worker', 'CHILD'), 'done'],
      others: { CHILD: [work(1), { ...Object(work(2)), text: 'all I have' }] },
    });
    await session.say('go');
    const asked = requestsOf(session, 'CHILD');
    expect(asked).toHaveLength(2);
    expect(asked[0]).not.toContain('last turn');
    expect(asked[1]).toContain('This is your last turn: finish now');
    const told = bodyText(session);
    expect(told).toContain('all I have');
    expect(told).toContain('The agent was cut off: the budget of 60,000 tokens of main/worker#1');
  });

  it('is cut off even if it answers in its last turn', async () => {
    const session = await open({
      agents: { worker: agentFile('worker', '{ turns: 2 }') },
      main: [start('worker', 'CHILD'), 'done'],
      others: { CHILD: [work(1, 10), 'my answer'] },
    });
    await session.say('go');
    expect(bodyText(session)).toContain('my answer');
    expect(bodyText(session)).toContain('The agent was cut off: it reached its limit of 2 turns');
  });

  it('covers everybody below it', async () => {
    const session = await open({
      agents: {
        boss: agentFile('boss', '{ turns: 4 }'),
        worker: agentFile('worker', '{ turns: 100 }'),
      },
      main: [start('boss', 'BOSS'), 'done'],
      others: {
        BOSS: [start('worker', 'CHILD'), 'boss ends'],
        CHILD: [work(1, 10), 'child ends'],
      },
    });
    await session.say('go');
    const asked = requestsOf(session, 'CHILD');
    // One turn of the four is the boss's, and one is kept for its last.
    expect(asked).toHaveLength(2);
    expect(asked[1]).toContain('The budget of 4 turns is nearly used up');
    expect(requestsOf(session, 'BOSS')).toHaveLength(2);
    expect(bodyText(session)).toContain('boss ends');
  });

  it('limits how many agents it starts', async () => {
    const session = await open({
      agents: { boss: agentFile('boss', '{ fanOut: 1 }') },
      main: [start('boss', 'BOSS'), 'done'],
      others: {
        BOSS: [start('general-purpose', 'CHILD'), start('general-purpose', 'CHILD'), 'boss ends'],
        CHILD: ['first'],
      },
    });
    await session.say('go');
    expect(requestsOf(session, 'BOSS').at(-1)).toContain(
      'budget of 1 agent of main/boss#1 is used up',
    );
    expect(requestsOf(session, 'CHILD')).toHaveLength(1);
  });

  it('ends it when its time is up, in the middle of a command', async () => {
    const session = await open({
      agents: { worker: agentFile('worker', '{ seconds: 1 }') },
      main: [start('worker', 'CHILD'), 'done'],
      others: {
        CHILD: [{ text: 'so far', tool: 'Bash', input: { command: 'sleep 60' } }],
      },
    });
    const before = Date.now();
    await session.say('go');
    expect(Date.now() - before).toBeLessThan(30_000);
    expect(bodyText(session)).toContain('so far');
    expect(bodyText(session)).toContain(
      'The agent was cut off: the budget of 1 second of main/worker#1 is used up',
    );
  });

  it('in dollars refuses a model whose price is not known', async () => {
    const session = await open({
      agents: { worker: agentFile('worker', '{ usd: 5 }', 'model: strange-model\n') },
      main: [start('worker', 'CHILD'), 'done'],
      others: { CHILD: [] },
    });
    await session.say('go');
    expect(requestsOf(session, 'CHILD')).toEqual([]);
    expect(bodyText(session)).toContain('the price of strange-model is not known');
  });
});

describe('the budget of a session', () => {
  it('is not overspent by agents that run side by side', async () => {
    const names = ['ONE', 'TWO', 'THREE', 'FOUR'];
    const session = await open({
      settings: { portcullis: { budget: { tokens: 250_000 } } },
      main: [{ blocks: names.map((name) => start('general-purpose', `CHILD ${name}`)) }, 'done'],
      others: {
        CHILD: Array.from({ length: 40 }, (_, index) => ({ ...Object(work(index)), delayMs: 5 })),
      },
    });
    const { agents = [], modelUsage } = await session.say('go');
    const tokens = Object.values(modelUsage).reduce<number>(
      (sum, row) => sum + (isRecord(row) ? Number(row.inputTokens) + Number(row.outputTokens) : 0),
      0,
    );
    expect(tokens).toBeGreaterThan(100_000);
    expect(tokens).toBeLessThanOrEqual(250_000);
    expect(agents).toHaveLength(5);
    expect(bodyText(session)).toContain('The agent was cut off');
  });

  it('lets the main agent say what it has, and is used up after that', async () => {
    const session = await open({
      settings: { portcullis: { budget: { turns: 2 } } },
      main: [work(1, 10), 'what I have'],
    });
    const first = await session.say('go');
    expect(first.outcome).toMatchObject({ reason: { kind: 'completed' }, text: 'what I have' });
    expect(bodyText(session)).toContain('This is your last turn');
    const second = await session.say('more');
    expect(second.outcome).toMatchObject({ reason: { kind: 'max_turns', limit: 2 }, turns: 0 });
    expect(session.server.requests).toHaveLength(2);
  });

  it('says so when not even one call fits', async () => {
    const session = await open({
      settings: { portcullis: { budget: { tokens: 100 } } },
      main: [],
    });
    expect((await session.say('go')).outcome.reason).toMatchObject({
      kind: 'budget',
      words: expect.stringContaining('the budget of 100 tokens of the session'),
    });
    expect(session.server.requests).toEqual([]);
  });

  it('of the command line holds agents back too', async () => {
    const session = await open({
      main: [start('general-purpose', 'CHILD'), 'done'],
      others: { CHILD: [] },
      config: { maxBudgetUsd: 0.005 },
    });
    const { outcome } = await session.say('go');
    expect(requestsOf(session, 'CHILD')).toEqual([]);
    expect(bodyText(session)).toContain(
      'The agent was not started: The budget of $0.005 of the session is used up',
    );
    expect(outcome).toMatchObject({ reason: { kind: 'completed' }, text: 'done' });
  });
});

describe('the rows of a result', () => {
  it('add up to its total', async () => {
    const session = await open({
      main: [start('general-purpose', 'CHILD A'), start('general-purpose', 'CHILD B'), 'done'],
      others: {
        CHILD: [work(1, 333), { text: 'a', usage: { input_tokens: 777 } }, work(2, 11), 'b'],
      },
    });
    const run = await session.say('go');
    const { agents = [], cost } = run;
    expect(resultFrame(run, 's', 'u')).toMatchObject({ agents, total_cost_usd: cost.knownUsd });
    expect(agents.map(({ agent }) => agent)).toEqual([
      'main',
      'main/general-purpose#1',
      'main/general-purpose#2',
    ]);
    expect(agents.reduce((sum, row) => sum + Number(row.known_cost_usd), 0)).toBe(cost.knownUsd);
    expect(agents.every(({ cost_usd }) => typeof cost_usd === 'number' && cost_usd > 0)).toBe(true);
  });

  it('are left out while the main agent is alone', async () => {
    const session = await open({ main: ['done'] });
    expect(await session.say('go')).not.toHaveProperty('agents');
  });
});
