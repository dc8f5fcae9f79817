import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type AgentsSession, agent, bash, openAgentsSession } from '../agents/core-rig.js';
import { scripted } from '../mcp/connection-rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

/** Children of this process, zombies apart. */
const children = (): readonly string[] =>
  execFileSync('ps', ['-o', 'pid=,stat=,args=', '--ppid', String(process.pid)], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter((line) => line.includes('connection-scripted') && !/\bZ/.test(line));

describe('a session that does not start', () => {
  it('leaves no MCP server running', async () => {
    const opening = openAgentsSession({
      main: [],
      config: {
        tools: ['Bsh'],
        mcpConfig: [JSON.stringify({ mcpServers: { srv: scripted({}) } })],
      },
    });
    await expect(opening).rejects.toThrow('there is no tool "Bsh"');
    await vi.waitUntil(() => children().length === 0, { timeout: 10_000 });
  });
});

describe('a name in --tools', () => {
  it('that means nothing is told', async () => {
    open = await openAgentsSession({ main: [], config: { tools: ['Bash', 'Xyzzy'] } });
    expect(open.notices).toContain('--tools: there is no tool "Xyzzy", so it is not offered');
  });
});

describe('a budget that the last answer passes', () => {
  it('is told', async () => {
    open = await openAgentsSession({ main: ['one'], config: { maxBudgetUsd: 0.000_001 } });
    await open.say('go');
    expect(open.notices).toEqual([expect.stringMatching(/has cost \$.* budget of \$0\.000001/)]);
  });
});

describe('points to come back to', () => {
  it('carry the time of their prompt, not of the first look at the files', async () => {
    open = await openAgentsSession({
      main: ['one', bash('touch made'), 'two'],
      config: { allowedTools: ['Bash'] },
    });
    const before = Date.now();
    await open.say('first');
    await new Promise((resolve) => setTimeout(resolve, 60));
    await open.say('second');
    const points = (await open.session.changes.journal())?.points() ?? [];
    const [first, second] = points.map(({ at }) => at);
    expect(points).toHaveLength(2);
    expect(first).toBeGreaterThanOrEqual(before);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(50);
  });
});

describe('a command that only reads beside one that may write', () => {
  it('is not said to have changed what the other wrote', async () => {
    open = await openAgentsSession({
      main: [
        agent('WRITING', { run_in_background: true }),
        bash('sleep 0.5; ls'),
        bash('sleep 0.3; ls'),
        'end',
        'end',
      ],
      agents: { WRITING: [bash('sleep 0.2; touch from-agent'), 'done'] },
      config: { allowedTools: ['Bash(touch *)', 'Bash(sleep *)'] },
    });
    await open.say('go');
    await open.session.close();
    expect(open.project.exists('from-agent')).toBe(true);
    expect(open.notices.filter((text) => text.includes('may have changed'))).toEqual([]);
  });
});
