import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type AgentsOptions, type AgentsSession, openAgentsSession } from './core-rig.js';
import { agent, call, reacting, requestIn, say } from './team-rig.js';

const open: AgentsSession[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function lead(options: AgentsOptions): Promise<AgentsSession> {
  const session = await openAgentsSession({
    ...options,
    env: { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1', ...options.env },
    config: { team: { kind: 'lead', program: [] }, ...options.config },
  });
  open.push(session);
  return session;
}

async function until<T>(look: () => T | undefined | false): Promise<T> {
  for (const end = Date.now() + 20_000; Date.now() < end; await pause(20)) {
    const found = look();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error('it never came');
}

/** What comes for the lead is told to it, as the program does in a conversation. */
async function arrivals(session: AgentsSession, word: string): Promise<void> {
  const seen = (): boolean =>
    session.events.some(
      (event) => event.type === 'input' && JSON.stringify(event.message.content).includes(word),
    );
  for (const end = Date.now() + 20_000; !seen(); ) {
    if (Date.now() > end) throw new Error(`never told: ${word}`);
    const messages = session.session.takeBackgroundInput();
    if (messages.length > 0) await session.session.run(messages);
    else await pause(20);
  }
}

const members = (session: AgentsSession) => session.session.team?.view()?.members ?? [];
const stateOf = (session: AgentsSession, name: string) =>
  members(session).find((one) => one.name === name)?.state;

describe('a teammate in the process of the lead', () => {
  it('is started by a name, rests, is spoken to, and is let go', async () => {
    const main = reacting({
      go: agent('WORKER', { name: 'ann' }),
      'FIRST RESULT': say('ann', 'SECOND ORDER'),
      'SECOND RESULT': say('ann', { type: 'shutdown_request', reason: 'all done' }),
    });
    const session = await lead({
      main,
      agents: {
        WORKER: [
          'FIRST RESULT',
          'SECOND RESULT',
          (view) =>
            say('team-lead', {
              type: 'shutdown_response',
              request_id: requestIn(view),
              approve: true,
            }),
          'LAST WORDS',
        ],
      },
    });
    await session.say('go');
    expect(session.news('tool_result')[0]?.result.structured).toMatchObject({
      status: 'teammate_spawned',
      name: 'ann',
    });
    const team = session.session.team?.view();
    expect(team?.name).toMatch(/^session-[\da-f]{8}$/);
    const directory = path.join(session.project.home, '.claude/teams', team?.name ?? '');
    const config = path.join(directory, 'config.json');
    expect(statSync(config).mode & 0o777).toBe(0o600);
    await arrivals(session, 'FIRST RESULT');
    await arrivals(session, 'SECOND RESULT');
    expect(session.requests('SECOND ORDER').some((text) => text.includes('WORKER'))).toBe(true);
    await until(() => stateOf(session, 'ann') === 'ended');
    // Nothing waits in the boxes that has been read.
    await until(
      () => readFileSync(path.join(directory, 'inboxes/ann.json'), 'utf8').trim() === '[]',
    );
    await session.session.close();
    expect(existsSync(directory)).toBe(false);
  });

  it('stays in plan mode until the lead approves, and never gets a bypass', async () => {
    const modes: string[] = [];
    const session = await lead({
      env: { IS_SANDBOX: '1' },
      config: {
        team: { kind: 'lead', program: [] },
        permissionMode: 'bypassPermissions',
        bypassArmed: true,
        asker: async ({ mode }) => {
          modes.push(mode);
          return { behavior: 'deny', message: 'asked' };
        },
      },
      main: reacting({
        go: agent('PLANNER', { name: 'pia', mode: 'plan' }),
        'FIRST PLAN': (view) =>
          say('pia', {
            type: 'plan_approval_response',
            request_id: requestIn(view),
            approve: false,
            feedback: 'too vague',
          }),
        'SECOND PLAN': (view) =>
          say('pia', {
            type: 'plan_approval_response',
            request_id: requestIn(view),
            approve: true,
          }),
      }),
      agents: {
        PLANNER: reacting({
          PLANNER: call('Bash', { command: 'touch early' }),
          asked: say('team-lead', { type: 'plan_approval_request', plan: 'FIRST PLAN' }),
          'too vague': say('team-lead', { type: 'plan_approval_request', plan: 'SECOND PLAN' }),
          'The lead has approved': call('Bash', { command: 'touch late' }),
        }),
      },
    });
    await session.say('go');
    await arrivals(session, 'FIRST PLAN');
    await arrivals(session, 'SECOND PLAN');
    await until(() => modes.length === 2);
    expect(modes).toEqual(['plan', 'default']);
  });

  it('has no mode that was taken back from the lead, also after its plan was approved', async () => {
    const modes: string[] = [];
    const session = await lead({
      config: {
        team: { kind: 'lead', program: [] },
        permissionMode: 'acceptEdits',
        asker: async ({ call: { input }, mode }) => {
          modes.push(`${input.file_path} ${mode}`);
          return { behavior: 'deny', message: 'ASKED' };
        },
      },
      main: reacting({
        THEN: agent('PLANNER', { name: 'pia', mode: 'plan' }),
        BEGIN: agent('WORKER', { name: 'ann' }),
        APPROVE: (view) =>
          say('pia', {
            type: 'plan_approval_response',
            request_id: requestIn(view),
            approve: true,
          }),
        ORDER: say('ann', 'WRITE AGAIN'),
      }),
      agents: {
        PLANNER: reacting({
          PLANNER: say('team-lead', { type: 'plan_approval_request', plan: 'MY PLAN' }),
          'The lead has approved': call('Write', { file_path: 'planned', content: '' }),
        }),
        WORKER: reacting({
          WORKER: call('Write', { file_path: 'before', content: '' }),
          'WRITE AGAIN': call('Write', { file_path: 'after', content: '' }),
        }),
      },
    });
    await session.say('BEGIN');
    await until(() => existsSync(path.join(session.project.directory, 'before')));
    await session.say('THEN');
    await arrivals(session, 'MY PLAN');
    session.session.setMode('default');
    await session.say('APPROVE');
    await session.say('ORDER');
    await until(() => modes.length === 2);
    const inProject = (name: string) => path.join(session.project.directory, name);
    expect(modes.sort()).toEqual([
      `${inProject('after')} default`,
      `${inProject('planned')} default`,
    ]);
    expect(existsSync(path.join(session.project.directory, 'planned'))).toBe(false);
    expect(existsSync(path.join(session.project.directory, 'after'))).toBe(false);
  });

  it('is refused answers that are not its own to give or get', async () => {
    const session = await lead({
      main: reacting({
        go: agent('MATE', { name: 'ann' }),
        READY: say('ann', {
          type: 'plan_approval_response',
          request_id: 'r000000000000',
          approve: true,
        }),
        'no plan that waits': say('nobody', { type: 'shutdown_request' }),
        'not in a team': say('../../x', 'hello'),
      }),
      agents: {
        MATE: reacting({
          MATE: say('team-lead', { type: 'plan_approval_request', plan: 'x' }),
          'no plan is wanted': say('ann', 'me'),
          'That is you': say('team-lead', {
            type: 'shutdown_response',
            request_id: 'r000000000000',
            approve: true,
          }),
          'were not asked to stop': say('*', { type: 'shutdown_request' }),
          'has one addressee': 'READY',
        }),
      },
    });
    await session.say('go');
    await arrivals(session, 'READY');
    const results = () => session.requests('is_error').join('\n');
    for (const word of [
      'no plan is wanted',
      'That is you',
      'were not asked to stop',
      'has one addressee',
      'no plan that waits',
      'not in a team',
      'there is no agent ../../x',
    ]) {
      await until(() => results().includes(word));
    }
  });

  it.each([
    ['a/../evil', 'the name of a teammate has'],
    ['team-lead', 'is not free for a teammate'],
    ['a b', 'the name of a teammate has'],
  ])('is not called %s', async (name, why) => {
    const session = await lead({ main: [agent('X', { name }), 'ok'] });
    await session.say('go');
    expect(session.result().text.toLowerCase()).toContain(why.toLowerCase());
    expect(session.result().isError).toBe(true);
  });

  it('shares the list of tasks, speaks with others, and cannot have what is theirs', async () => {
    const seen: string[] = [];
    const mate = (name: string, other: string) =>
      reacting({
        [name]: call('TaskUpdate', { taskId: '2', status: 'in_progress' }),
        'waits for 1': call('TaskUpdate', { taskId: '1', status: 'in_progress' }),
        'you cannot have it': say(other, `${name} LOST`),
        'Task 1 updated': say('*', `${name} WON`),
        Sent: 'DONE',
      });
    const session = await lead({
      main: [
        call('TaskCreate', { subject: 'one', description: 'x' }),
        call('TaskCreate', { subject: 'two', description: 'y' }),
        call('TaskUpdate', { taskId: '2', addBlockedBy: ['1'] }),
        {
          blocks: [
            { tool: 'Agent', input: { description: 'a', prompt: 'MATEANN', name: 'ann' } },
            { tool: 'Agent', input: { description: 'b', prompt: 'MATEBOB', name: 'bob' } },
          ],
        },
        ...reacting({}),
      ],
      agents: { MATEANN: mate('MATEANN', 'bob'), MATEBOB: mate('MATEBOB', 'ann') },
      files: {
        '.claude/settings.json': JSON.stringify({
          hooks: { TaskCreated: [{ hooks: [{ type: 'command', command: 'cat >> created.log' }] }] },
        }),
      },
    });
    await session.say('go');
    await arrivals(session, 'WON');
    await until(() => session.requests('LOST').length > 0);
    seen.push(...session.requests('you cannot have it'));
    expect(seen.length).toBeGreaterThan(0);
    const created = readFileSync(path.join(session.project.directory, 'created.log'), 'utf8');
    expect(created).toContain('"teammate_name":"team-lead"');
    expect(created).toContain('"team_name":"session-');
    const file = path.join(
      session.project.home,
      '.claude/tasks',
      `${session.session.team?.view()?.name}.json`,
    );
    const { tasks } = JSON.parse(readFileSync(file, 'utf8'));
    expect(tasks[0]).toMatchObject({
      status: 'in_progress',
      owner: expect.stringMatching(/ann|bob/),
    });
    expect(tasks[1]).toMatchObject({ status: 'pending' });
  });

  it('goes on when a TeammateIdle hook wants it, and ends when it must', async () => {
    const script =
      'if [ -e told ]; then echo \'{"continue":false,"stopReason":"enough"}\'; else touch told; cat > idle.json; echo "look again" >&2; exit 2; fi';
    const session = await lead({
      main: [agent('IDLER', { name: 'ida' }), ...reacting({})],
      agents: { IDLER: ['ONE', 'TWO', 'THREE'] },
      files: {
        '.claude/settings.json': JSON.stringify({
          hooks: { TeammateIdle: [{ hooks: [{ type: 'command', command: script }] }] },
        }),
      },
    });
    await session.say('go');
    await until(() => stateOf(session, 'ida') === 'ended');
    expect(session.requests('look again').length).toBeGreaterThan(0);
    const input = readFileSync(path.join(session.project.directory, 'idle.json'), 'utf8');
    expect(JSON.parse(input)).toMatchObject({
      hook_event_name: 'TeammateIdle',
      teammate_name: 'ida',
    });
    expect(session.requests('THREE')).toEqual([]);
  });

  it('waits for the agents that it starts itself, and makes no team of its own', async () => {
    const session = await lead({
      main: [agent('BOSSY', { name: 'ann' }), ...reacting({})],
      agents: {
        BOSSY: reacting({
          BOSSY: agent('LOWLY', { name: 'low', run_in_background: true }),
          'LOW RESULT': 'BOSSY DONE',
        }),
        LOWLY: ['LOW RESULT'],
      },
    });
    await session.say('go');
    await arrivals(session, 'BOSSY DONE');
    expect(session.requests('teammates wait for the agents that they start').length).toBe(1);
    expect(members(session).map(({ name }) => name)).toEqual(['ann']);
  });

  it('is none without the switch, or where nobody converses', async () => {
    for (const config of [{ team: undefined }, { team: { kind: 'lead', program: [] } as const }]) {
      const env: Record<string, string> =
        config.team === undefined ? {} : { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '0' };
      const session = await lead({
        main: [agent('PLAIN', { name: 'ann' }), 'ok'],
        agents: { PLAIN: ['PLAINLY'] },
        config,
        env,
      });
      await session.say('go');
      expect(session.result().text).toContain('PLAINLY');
      expect(session.session.team?.view()).toBeUndefined();
    }
  });
});
