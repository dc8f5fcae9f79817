import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { Reply } from '../../src/model/scripted/format.js';
import { canonical } from '../e2e/canonical.js';
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

const ON = { CLAUDE_CODE_FORK_SUBAGENT: '1' };
const allowBash = { allowedTools: ['Bash'] };
const fork = (prompt: string, more: Readonly<Record<string, unknown>> = {}) => ({
  tool: 'Agent',
  input: { description: `the ${prompt}`, prompt, subagent_type: 'fork', ...more },
});

async function opened(options: AgentsOptions): Promise<AgentsSession> {
  open = await openAgentsSession({ env: ON, config: allowBash, ...options });
  return open;
}

/** Who waits for a fork asks nothing meanwhile, so one list of answers serves both. */
const bodies = (world: AgentsSession): readonly string[] =>
  world.server.requests.map(({ body }) => canonical(body).join('\n'));
const last = (world: AgentsSession, index: number): string => {
  const { messages } = (world.server.requests.at(index)?.body ?? { messages: [] }) as {
    messages: unknown[];
  };
  return JSON.stringify(messages.at(-1));
};

describe('a fork', () => {
  it('begins with all that a provider has hashed of the request before', async () => {
    const world = await opened({
      files: { 'CLAUDE.md': 'PROJECT WORDS', 'a.txt': 'a\n' },
      env: { ...ON, MAX_THINKING_TOKENS: '2000', CLAUDE_CODE_SUBAGENT_MODEL: 'haiku' },
      config: { ...allowBash, effort: 'high' },
      main: [
        { thinking: 'A thought.', tool: 'Bash', input: { command: 'echo before' } },
        {
          blocks: [
            'Two at once.',
            { tool: 'Bash', input: { command: 'echo beside' } },
            {
              tool: 'Agent',
              input: {
                description: 'side task',
                prompt: 'FORKTASK',
                subagent_type: 'fork',
                model: 'haiku',
                effort: 'low',
              },
            },
          ],
        },
        bash('echo in the fork'),
        'FORK REPORT',
        'end',
      ],
    });
    await world.say('MAINPROMPT');
    const [, parent = '', first = '', second = ''] = bodies(world);
    expect(first.startsWith(parent)).toBe(true);
    expect(second.startsWith(first)).toBe(true);
    // What is not hashed for the prefix but keys the cache all the same.
    const fixed = world.server.requests.map(({ body }) => {
      const { messages: _messages, system, tools, ...rest } = body as Record<string, unknown>;
      return JSON.stringify({ rest, system, tools });
    });
    expect(new Set(fixed).size).toBe(1);
    const told = last(world, 2);
    expect(told.match(/"tool_result"/g)).toHaveLength(2);
    expect(told).not.toContain('beside\\n');
    expect(told).toMatch(/"text":"<fork-notice>.*FORKTASK"/);
    expect(world.result()).toMatchObject({
      isError: false,
      text: expect.stringContaining('FORK REPORT'),
      structured: { agentType: 'fork', totalToolUseCount: 1, status: 'completed' },
    });
    expect(world.result().text).toContain('`model` and `effort` did not count');
    expect(last(world, 4)).toContain('FORK REPORT');
    expect(bodies(world).at(4)?.startsWith(parent)).toBe(true);
  });

  it('cannot fork, although its tools say so; nor can whom it starts', async () => {
    const world = await opened({
      main: [fork('FORKTASK'), fork('AGAIN'), agent('SUBTASK'), 'fork report', 'end'],
      agents: { SUBTASK: [fork('BELOW'), 'sub report'] },
    });
    const run = await world.say('MAINPROMPT');
    expect(run.outcome.text).toBe('end');
    const refused = world.news('child').flatMap(({ event }) => {
      if (event.type !== 'tool_result' || event.result.block.is_error !== true) return [];
      return [String(event.result.block.content)];
    });
    expect(refused).toEqual([
      expect.stringContaining('A fork cannot fork'),
      expect.stringContaining('A fork cannot fork'),
    ]);
  });

  it('is known by its mark where its conversation is gone on with', async () => {
    const { forkedTalk, forkNotice, forkRefusal } = await import(
      '../../src/agents/runtime/fork.js'
    );
    const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }) as const;
    const main = { path: 'main' };
    expect(forkRefusal(main, [user('hello')])).toBeUndefined();
    expect(forkRefusal(main, [user(`read this: ${forkNotice()}`)])).toBeUndefined();
    expect(forkRefusal(main, [user(`${forkNotice()}\n\ntask`)])).toContain('cannot fork');
    expect(forkRefusal({ path: 'main/fork#1/x#1' }, [])).toContain('cannot fork');
    expect(forkedTalk([user('hello')], 'nope')).toMatchObject({ ok: false });
  });

  it('is not there unless it was asked for, and can be denied', async () => {
    const world = await opened({ env: {}, main: [fork('FORKTASK'), 'end'] });
    await world.say('MAINPROMPT');
    expect(world.result()).toMatchObject({ isError: true });
    expect(world.result().text).toContain('no agent "fork"');
    expect(world.requests('- fork:')).toHaveLength(0);
    await world.close();
    const denied = await opened({
      config: { disallowedTools: ['Agent(fork)'] },
      main: [agent('FORKTASK', { subagent_type: 'Fork' }), 'end'],
    });
    await denied.say('MAINPROMPT');
    expect(denied.result()).toMatchObject({ isError: true });
    expect(denied.news('task_started')).toHaveLength(0);
  });

  it('is offered by a setting of the user', async () => {
    const world = await opened({
      env: {},
      home: { '.claude/settings.json': { json: { portcullis: { forks: true } } } },
      main: [fork('FORKTASK'), 'fork report', 'end'],
    });
    await world.say('MAINPROMPT');
    expect(world.result().text).toContain('fork report');
    expect(world.requests('- fork:').length).toBeGreaterThan(0);
  });

  it('may not do what is the main agent’s alone', async () => {
    const world = await opened({
      main: [fork('FORKTASK'), { tool: 'AskUserQuestion', input: QUESTION }, 'fork report', 'end'],
      config: {
        ...allowBash,
        asker: async () => ({ decision: 'allow' as const }) as never,
      },
    });
    await world.say('MAINPROMPT');
    const refused = world.news('denied').map(({ message }) => message);
    expect(refused.join('\n')).toContain('AskUserQuestion is for the agent that a person talks to');
  });

  it('runs in the background where that is asked for, and has seen what its original has', async () => {
    const world = await opened({
      files: { 'a.txt': 'one\n' },
      config: { allowedTools: ['Edit'], waitForBackground: true },
      main: [
        { tool: 'Read', input: { file_path: 'a.txt' } },
        fork('FORKTASK', { run_in_background: true }),
        {
          when: 'FORKTASK',
          tool: 'Edit',
          input: { file_path: 'a.txt', old_string: 'one', new_string: 'two' },
        },
        { when: 'background', text: 'waiting' },
        { when: 'updated', text: 'fork report' },
        { when: 'task-notification', text: 'told' },
      ].map((reply) => reply as Reply),
    });
    await world.say('MAINPROMPT');
    await expect.poll(() => world.news('task_finished').length, { timeout: 10_000 }).toBe(1);
    const file = readFileSync(`${world.project.directory}/a.txt`, 'utf8');
    expect(file).toBe('two\n');
  });

  it('of an agent keeps to what that agent keeps to', async () => {
    const world = await opened({
      files: {
        '.claude/agents/w.md': definition(
          'name: w\ndescription: d\ntools: Bash(echo *), Agent\nportcullis:\n  asks: deny',
          'WWORDS',
        ),
      },
      main: [agent('WTASK', { subagent_type: 'w' }), 'end'],
      agents: {
        WTASK: [fork('FORKTASK'), bash('echo fine'), bash('touch no.txt'), 'fork report', 'w done'],
      },
    });
    await world.say('MAINPROMPT');
    const started = world.news('task_started').map(({ agent: ref }) => ref?.path);
    expect(started).toEqual(['main/w#1', 'main/w#1/fork#1']);
    expect(world.news('denied').map(({ message }) => message)).toEqual([
      expect.stringContaining('tools of the agent w'),
    ]);
  });
});

describe('a fork that has ended', () => {
  it('is gone on with as what it was, and still cannot fork', async () => {
    const world = await opened({
      config: { ...allowBash, waitForBackground: true },
      main: [
        fork('FORKTASK'),
        'FIRST REPORT',
        ({ anyUser }) => ({
          tool: 'SendMessage',
          input: { to: /agentId: (a[\da-f]+)/.exec(anyUser)?.[1] ?? '?', message: 'MORE' },
        }),
        { when: 'agent-message', ...fork('AGAIN') },
        { when: 'goes on', text: 'waiting' },
        { when: 'cannot fork', text: 'SECOND REPORT' },
        { when: 'SECOND REPORT', text: 'read' },
      ],
    });
    await world.say('MAINPROMPT');
    await expect.poll(() => world.news('task_finished').length, { timeout: 10_000 }).toBe(2);
    const [parent = '', first = ''] = bodies(world);
    const again = world.server.requests.find(({ body }) => {
      const text = JSON.stringify(body);
      return text.includes('agent-message') && !text.includes('SECOND REPORT');
    });
    const goesOn = canonical(again?.body).join('\n');
    expect(goesOn.startsWith(parent)).toBe(true);
    expect(goesOn.startsWith(first)).toBe(true);
  });
});

const QUESTION = {
  questions: [
    {
      question: 'Which?',
      header: 'Which',
      multiSelect: false,
      options: [
        { label: 'a', description: 'a' },
        { label: 'b', description: 'b' },
      ],
    },
  ],
};
