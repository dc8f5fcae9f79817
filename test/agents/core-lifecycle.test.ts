import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { runBuilt as run } from '../e2e/worlds.js';
import { cases } from '../support/counts.js';
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

const allowed = { allowedTools: ['Bash', 'TodoWrite'] };
const HOOKED = definition(
  [
    'name: hooked',
    'description: d',
    'hooks:',
    '  PostToolUse:',
    '    - hooks:',
    '        - type: command',
    "          command: 'true'",
  ].join('\n'),
);
const background: AgentsOptions['main'][number] = {
  tool: 'Bash',
  input: { command: 'sleep 60', run_in_background: true },
};

/** Descriptors of this process that lead to transcripts of agents. */
function openTranscripts(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('/subagents/');
    } catch {
      // Gone between the look at the directory and the look at the link.
      return false;
    }
  }).length;
}

describe('what an agent leaves behind', () => {
  it.each([
    ['it is done', ['done']],
    ['its model fails', [{ error: { status: 400, message: 'no' } }]],
    ['it is interrupted', [bash('sleep 30')]],
  ] as const)('is nothing, when %s', async (_how, last) => {
    const world = await opened({
      files: { '.claude/agents/a.md': HOOKED },
      main: [agent('TASKWORD', { subagent_type: 'hooked' }), 'end'],
      agents: { TASKWORD: [background, ...last] },
      config: allowed,
    });
    const running = world.say('go');
    if (last[0] !== 'done' && typeof last[0] === 'object' && 'tool' in last[0]) {
      while (world.news('task_progress').length < 2) await pause(10);
      world.session.interrupt();
    }
    await running;
    const shells = world.news('task_started').filter(({ agent: ref }) => ref === undefined);
    expect(shells).toHaveLength(1);
    // Its command ended with it, and nobody is bothered with that.
    const ended = world.news('task_finished').find(({ taskId }) => taskId === shells[0]?.taskId);
    expect(ended?.status).toBe('stopped');
    expect(world.session.takeBackgroundInput()).toEqual([]);
    expect(world.session.hooks().set.hooks.PostToolUse).toBeUndefined();
    expect(openTranscripts()).toBe(0);
  });

  it('does not grow with their number', async () => {
    const count = cases(200, 1_000);
    const atOnce = 10;
    const rounds = count / atOnce;
    const blocks = Array.from({ length: atOnce }, (_, at) => ({
      tool: 'Agent',
      input: { description: 'one of many', prompt: `TASKWORD ${at}`, subagent_type: 'hooked' },
    }));
    const world = await opened({
      files: { '.claude/agents/a.md': HOOKED },
      main: Array.from({ length: rounds + 1 }, (_, at) => (at < rounds ? { blocks } : 'end')),
      agents: { TASKWORD: Array.from({ length: count }, () => 'x') },
      config: { ...allowed, persist: false, emit: () => undefined },
    });
    const result = await world.say('go');
    expect(result.outcome.reason).toMatchObject({ kind: 'completed' });
    expect(world.server.problems()).toEqual([]);
    const { session } = world;
    expect(session.hooks().set.hooks.PostToolUse).toBeUndefined();
    expect(session.hooks().stats.length).toBeLessThan(10);
    expect(openTranscripts()).toBe(0);
    expect(process.listenerCount('exit')).toBeLessThan(20);
  }, 300_000);
});

describe('skills that are agents', () => {
  it('run as the kind that they name, and give their report back', async () => {
    const world = await opened({
      files: {
        '.claude/agents/a.md': definition(
          'name: helper\ndescription: d\ntools: Read',
          'HELPER BODY',
        ),
        '.claude/skills/forked/SKILL.md':
          '---\ndescription: d\ncontext: fork\nagent: helper\n---\nSKILLBODY $ARGUMENTS',
      },
      main: [{ tool: 'Skill', input: { skill: 'forked', args: 'ARGS' } }, 'end'],
      agents: { SKILLBODY: ['FORK REPORT'] },
      config: { allowedTools: ['Skill'] },
    });
    await world.say('go');
    const [first = ''] = world.requests('HELPER BODY');
    expect(first).toContain('SKILLBODY ARGS');
    expect(world.result()).toMatchObject({
      isError: false,
      text: expect.stringContaining('FORK REPORT'),
    });
  });
});

describe('hooks of a skill that is an agent', () => {
  const guard = (name: string) => {
    const command = `echo ${name} >> "$CLAUDE_PROJECT_DIR/log"`;
    return { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] };
  };
  const head = (fields: object, body: string) => `---\n${JSON.stringify(fields)}\n---\n${body}`;
  const files = {
    '.claude/agents/a.md': head(
      { name: 'helper', description: 'd', hooks: guard('agent') },
      'HELPER',
    ),
    '.claude/skills/forked/SKILL.md': head(
      {
        description: 'd',
        context: 'fork',
        agent: 'helper',
        'allowed-tools': 'Bsh',
        hooks: guard('skill'),
      },
      'SKILLBODY',
    ),
  };
  const play = async (trust: boolean) => {
    const world = await opened({
      files,
      main: [{ tool: 'Skill', input: { skill: 'forked' } }, bash('echo outside'), 'end'],
      agents: { SKILLBODY: [bash('echo inside'), 'REPORT'] },
      config: { allowedTools: ['Skill', 'Bash'], trust },
    });
    await world.say('go');
    return world;
  };

  it('stand beside those of its kind while it runs, and what of it does not count is told', async () => {
    const world = await play(true);
    expect(readFileSync(world.project.at('log'), 'utf8').split('\n').sort()).toEqual([
      '',
      'agent',
      'skill',
    ]);
    expect(world.session.hooks().set.hooks.PreToolUse).toBeUndefined();
    expect(world.notices.join('\n')).toContain('"Bsh" is not in force');
  });

  it('of a folder without trust are not run, and that is told', async () => {
    const world = await play(false);
    expect(existsSync(world.project.at('log'))).toBe(false);
    expect(world.notices.join('\n')).toMatch(/forked[^\n]*is not run/);
  });
});

describe('a session that runs as an agent', () => {
  const files = {
    '.claude/agents/a.md': definition(
      'name: runner\ndescription: d\ntools: Read, Bash(echo *)\nmodel: haiku\ninitialPrompt: FIRST OF ALL',
      'RUNNER BODY',
    ),
  };

  it('has its words, tools and model', async () => {
    const world = await opened({
      files,
      main: [bash('echo fine'), bash('touch no'), 'end'],
      config: { agent: 'runner', allowedTools: ['Bash'] },
    });
    await world.say('THE PROMPT');
    const [first = ''] = world.requests('RUNNER BODY');
    const body = JSON.parse(first);
    expect(body.model).toContain('haiku');
    expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(['Bash', 'Read']);
    expect(first.indexOf('FIRST OF ALL')).toBeGreaterThan(0);
    expect(first.indexOf('FIRST OF ALL')).toBeLessThan(first.indexOf('THE PROMPT'));
    expect(world.project.exists('no')).toBe(false);
  });

  it('does not start as one that does not exist', async () => {
    const done = await run({ args: ['--agent', 'nosuch'], script: [] });
    expect(done.exitCode).not.toBe(0);
    expect(done.stderr).toContain('no agent "nosuch"');
  });
});
