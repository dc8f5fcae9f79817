import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { InputMessage } from '../../src/app.js';
import { runBuilt as run } from '../e2e/worlds.js';
import {
  type AgentsOptions,
  type AgentsSession,
  agent,
  bash,
  definition,
  openAgentsSession,
} from './core-rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

async function opened(options: AgentsOptions): Promise<AgentsSession> {
  open = await openAgentsSession(options);
  return open;
}

const textOf = (messages: readonly InputMessage[]): string => JSON.stringify(messages);
const background = { run_in_background: true };

describe('an agent in the background', () => {
  it('is acknowledged at once and arrives by itself', async () => {
    const world = await opened({
      main: [agent('TASKWORD', background), 'waiting', 'heard'],
      agents: { TASKWORD: [{ text: 'THE REPORT', delayMs: 200 }] },
    });
    await world.say('go');
    const { text, structured } = world.result();
    expect(text).toMatch(/You will be told when it has ended.*Do not poll/s);
    expect(structured).toMatchObject({ status: 'async_launched', agentId: expect.any(String) });
    expect(world.news('task_started')[0]?.agent?.background).toBe(true);
    expect(await world.session.waitForBackground()).toBe(true);
    const arrived = world.session.takeBackgroundInput();
    expect(textOf(arrived)).toMatch(/<task-notification>.*completed.*THE REPORT/s);
    await world.session.run(arrived);
    const { outputFile } = world.news('task_finished')[0] ?? { outputFile: '' };
    expect(readFileSync(outputFile, 'utf8')).toContain('THE REPORT');
  });

  it('is not passed over by a wait that comes too late', async () => {
    const world = await opened({
      main: [
        agent('TASKWORD', background),
        {
          blocks: [
            { tool: 'Bash', input: { command: 'sleep 1' } },
            { tool: 'WaitForAgents', input: {} },
          ],
        },
        { tool: 'WaitForAgents', input: {} },
        'end',
      ],
      agents: { TASKWORD: ['THE REPORT'] },
      config: { allowedTools: ['Bash'] },
    });
    await world.say('go');
    const told = world.news('tool_result').map(({ result }) => String(result.block.content));
    expect(told[2]).toMatch(/done\. Its report comes with this message/);
    expect(told[3]).toBe('There are no agents to wait for.');
    const last = world.requests('THE REPORT').at(-1) ?? '';
    expect(last.split('THE REPORT')).toHaveLength(2);
  });

  it('is not called completed when it was cut off', async () => {
    const world = await opened({
      files: { '.claude/agents/a.md': definition('name: a\ndescription: d\nmaxTurns: 1') },
      main: [
        agent('FIRST', { ...background, subagent_type: 'a' }),
        { tool: 'WaitForAgents', input: { timeout_seconds: 20 } },
        agent('SECOND', { ...background, subagent_type: 'a' }),
        'waiting',
      ],
      agents: { FIRST: [bash('echo one'), 'x'], SECOND: [bash('echo two'), 'x'] },
      config: { allowedTools: ['Bash'] },
    });
    await world.say('go');
    expect(world.requests('<agent-report id=').at(-1)).toContain('status=\\"cut-off\\"');
    await world.session.waitForBackground();
    const told = textOf(world.session.takeBackgroundInput());
    expect(told).toContain('<status>cut-off</status>');
    expect(told).not.toContain('completed');
    // Hosts know the word of the wire, and how it was beside it.
    const end = { kind: 'cut-off', by: 'turns', reason: expect.any(String) };
    expect(world.news('task_finished')).toMatchObject([
      { status: 'completed', end },
      { status: 'completed', end },
    ]);
  });

  it('goes on when the turn is interrupted', async () => {
    const world = await opened({
      main: [agent('TASKWORD', background), bash('sleep 30')],
      agents: { TASKWORD: [{ text: 'STILL HERE', delayMs: 400 }] },
      config: { allowedTools: ['Bash'] },
    });
    const running = world.say('go');
    while (world.news('task_started').length === 0) await pause(10);
    await pause(50);
    world.session.interrupt();
    await running;
    expect(await world.session.waitForBackground()).toBe(true);
    expect(textOf(world.session.takeBackgroundInput())).toContain('STILL HERE');
  });

  it('is waited for where its kind says so, and the model is told', async () => {
    const world = await opened({
      files: {
        '.claude/agents/a.md': definition(
          'name: slow\ndescription: d\nportcullis:\n  foreground-only: true',
        ),
        '.claude/agents/b.md': definition('name: aside\ndescription: d\nbackground: true'),
      },
      main: [
        agent('ONE', { ...background, subagent_type: 'slow' }),
        'end',
        agent('TWO', { subagent_type: 'aside' }),
        'end',
      ],
      agents: { ONE: ['FIRST REPORT'], TWO: ['SECOND REPORT'] },
    });
    await world.say('go');
    expect(world.result().text).toMatch(/FIRST REPORT.*did not run in the background/s);
    await world.say('again');
    expect(world.result().structured).toMatchObject({ status: 'async_launched' });
  });

  it('is ended by TaskStop, with those that it started', async () => {
    const world = await opened({
      main: [
        agent('OUTER', background),
        (view) => ({ tool: 'TaskStop', input: { task_id: idIn(view.lastUser) } }),
        'end',
      ],
      agents: {
        INNER: [{ text: 'too late', delayMs: 30_000 }],
        OUTER: [agent('INNER')],
      },
    });
    await world.say('go');
    expect(world.result().text).toContain('Stopped the agent');
    await world.session.waitForBackground();
    // It arrives with the results of the turn, or after it.
    const arrived = textOf(world.session.takeBackgroundInput());
    expect(arrived + world.requests('task-notification').join('')).toContain('stopped');
    expect(world.news('task_updated')).toHaveLength(world.news('task_started').length);
    expect(world.news('task_updated').map(({ status }) => status)).toEqual(
      expect.arrayContaining(['killed']),
    );
  });

  it('leaves its report to the nearest one above that still lives', async () => {
    const world = await opened({
      main: [agent('OUTER'), 'end', 'heard'],
      agents: {
        INNER: [{ text: 'INNER REPORT', delayMs: 300 }],
        OUTER: [agent('INNER', background), 'outer left'],
      },
    });
    await world.say('go');
    expect(await world.session.waitForBackground()).toBe(true);
    expect(textOf(world.session.takeBackgroundInput())).toContain('INNER REPORT');
  });

  it('tells the agent that started it while that one works', async () => {
    const world = await opened({
      main: [agent('OUTER'), 'end'],
      agents: {
        INNER: ['INNER REPORT'],
        OUTER: [agent('INNER', background), bash('sleep 0.5'), 'outer heard'],
      },
      config: { allowedTools: ['Bash'] },
    });
    await world.say('go');
    const told = world.requests('INNER REPORT').filter((text) => text.includes('You are an agent'));
    expect(told.at(-1)?.includes('<task-notification>')).toBe(true);
    expect(world.session.takeBackgroundInput()).toEqual([]);
  });

  it('ends with the session', async () => {
    const world = await opened({
      main: [agent('TASKWORD', background), 'end'],
      agents: { TASKWORD: [{ text: 'never', delayMs: 60_000 }] },
    });
    await world.say('go');
    await world.session.close();
    expect(world.news('task_updated')).toMatchObject([{ status: 'killed' }]);
    expect(world.notices.join('\n')).toContain('was still running and was ended');
  });
});

describe('a headless run', () => {
  it('waits for agents, tells of them in a turn of their own, and ends', async () => {
    const done = await run({
      actors: [
        {
          name: 'child',
          match: { firstUser: 'TASKWORD' },
          replies: [{ text: 'LATE REPORT', delayMs: 1_000 }],
        },
        { name: 'main', replies: [agent('TASKWORD', background), 'first end', 'second end'] },
      ],
    });
    expect(done.exitCode).toBe(0);
    const results = done.frames.filter(({ type }) => type === 'result');
    expect(results.map(({ result }) => result)).toEqual(['first end', 'second end']);
    const subtypes = done.frames.map(({ subtype }) => subtype);
    expect(subtypes).toEqual(
      expect.arrayContaining([
        'background_tasks_changed',
        'task_started',
        'task_updated',
        'task_notification',
      ]),
    );
    const start = done.frames.find(({ subtype }) => subtype === 'task_started');
    expect(start).toMatchObject({
      is_backgrounded: true,
      task_type: 'local_agent',
      spawn_depth: 1,
    });
  });
});

function idIn(text: string): string {
  return /agentId: (a[0-9a-f]+)/.exec(text)?.[1] ?? '';
}
