import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type AgentsOptions,
  type AgentsSession,
  agent,
  bash,
  openAgentsSession,
} from '../agents/core-rig.js';
import { skillText } from './rig.js';
import { skill } from './session-rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const HEADS = {
  fence: 'description: d\nportcullis:\n  fence-tools: [Read, Agent, SendMessage]',
  'disallowed-tools': 'description: d\ndisallowed-tools: Bash(touch *)',
};

async function started(head: string, options: AgentsOptions): Promise<AgentsSession> {
  open = await openAgentsSession({
    files: { '.claude/skills/held/SKILL.md': skillText(head, 'BODY') },
    config: { allowedTools: ['Skill', 'Bash', 'Agent', 'SendMessage'] },
    ...options,
  });
  return open;
}

const isThere = (name: string): boolean => existsSync(open?.project.at(name) ?? '');
const settled = (session: AgentsSession): Promise<void> =>
  vi.waitFor(
    () => expect(session.news('task_finished').length).toBe(session.news('task_started').length),
    { timeout: 20_000, interval: 20 },
  );

describe.each(Object.entries(HEADS))('%s of a skill', (_, head) => {
  it('holds when a report wakes the model, and ends when the user speaks', async () => {
    const session = await started(head, {
      main: [skill('held'), 'over', bash('touch early'), 'end', bash('touch late'), 'end'],
    });
    await session.say('go');
    const uuid = '00000000-0000-4000-8000-0000000000aa';
    const report = { type: 'text' as const, text: 'an agent has finished' };
    await session.session.run([{ uuid, content: [report], meta: true }]);
    expect(isThere('early')).toBe(false);
    await session.say('go on');
    expect(isThere('late')).toBe(true);
  });

  it('holds for an agent that has ended and is resumed before the user speaks', async () => {
    const resume = () => ({
      tool: 'SendMessage',
      input: { to: open?.news('task_started')[0]?.taskId ?? '', message: 'go on' },
    });
    const session = await started(head, {
      main: [agent('KIDW'), resume, 'end', 'end', resume, 'end', 'end'],
      agents: {
        KIDW: [skill('held'), 'ended', bash('touch early'), 'end', bash('touch late'), 'x'],
      },
    });
    await session.say('go');
    await expect.poll(() => session.news('task_started')).toHaveLength(2);
    await settled(session);
    expect(isThere('early')).toBe(false);
    await session.say('go on');
    await expect.poll(() => session.news('task_started')).toHaveLength(3);
    await settled(session);
    expect(isThere('late')).toBe(true);
  });
});
