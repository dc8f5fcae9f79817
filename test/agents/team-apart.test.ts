import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { ProjectFiles } from '../../src/testing/temp-project.js';
import { type AgentsOptions, type AgentsSession, bash, openAgentsSession } from './core-rig.js';
import { agent, call, reacting } from './team-rig.js';

const open: AgentsSession[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function lead(way: 'tmux' | 'in-process', options: AgentsOptions): Promise<AgentsSession> {
  const session = await openAgentsSession({
    files: FILES,
    ...options,
    env: { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' },
    config: { team: { kind: 'lead', way, program: ['false'] }, ...options.config },
  });
  open.push(session);
  return session;
}

/** Refuses every command. */
const GUARD = `hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - {type: command, command: exit 2}`;
const file = (name: string, more: string): string =>
  `---\nname: ${name}\ndescription: d\n${more}\n---\nWork.\n`;
const FILES: ProjectFiles = {
  '.claude/agents/guarded.md': file('guarded', GUARD),
  '.claude/skills/judging/SKILL.md': file('judging', GUARD),
  '.claude/skills/banning/SKILL.md': file('banning', 'disallowed-tools: Bash'),
};
const start = agent('WORKER', { name: 'ann' });
const results = (session: AgentsSession): readonly string[] =>
  session.news('tool_result').map(({ result }) => JSON.stringify(result.block.content));

describe('a teammate in a pane', () => {
  const refusal = (what: string) =>
    expect.stringMatching(`process of its own: .*${what}.*teammateMode`);

  it('is not started by a session that runs as an agent, whose hooks would not judge it', async () => {
    const config = { agent: 'guarded' };
    const session = await lead('tmux', { config, main: reacting({ go: start }) });
    await session.say('go');
    expect(results(session)).toEqual([refusal('agent guarded')]);
  });

  it.each(['banning', 'judging'])('is not started while the skill %s holds', async (skill) => {
    const config = { allowedTools: ['Skill'] };
    const main = [call('Skill', { skill }), start, 'end'];
    const session = await lead('tmux', { config, main });
    await session.say('go');
    expect(results(session)[1]).toEqual(refusal(`skill ${skill}`));
  });
});

describe('a teammate in the process of a lead that runs as an agent', () => {
  it('is started, and judged by the hooks of that agent', async () => {
    const session = await lead('in-process', {
      config: { agent: 'guarded', allowedTools: ['Bash'] },
      main: reacting({ go: start }),
      agents: { WORKER: [bash('touch made'), 'done'] },
    });
    await session.say('go');
    expect(results(session)[0]).toContain('is at work');
    for (const end = Date.now() + 20_000; session.news('denied').length === 0; await pause(20)) {
      if (Date.now() > end) throw new Error('nothing was refused');
    }
    expect(existsSync(session.project.at('made'))).toBe(false);
  });
});
