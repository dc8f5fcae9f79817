import { afterEach, describe, expect, it } from 'vitest';
import type { ProjectFiles } from '../../src/testing/temp-project.js';
import {
  type AgentsOptions,
  type AgentsSession,
  agent,
  definition,
  openAgentsSession,
} from '../agents/core-rig.js';
import { enforcing } from './rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});
async function opened(options: AgentsOptions): Promise<AgentsSession> {
  open = await openAgentsSession(options);
  return open;
}

const kind = (name: string, more = ''): string =>
  definition(`name: ${name}\ndescription: d${more === '' ? '' : `\n${more}`}`);
const FILES = { 'CLAUDE.md': 'OWN_WORDS @k.md @i.md', 'k.md': 'K_WORDS @deep.md' };
const files = (more: ProjectFiles): ProjectFiles => ({
  ...FILES,
  'deep.md': 'DEEP_WORDS',
  'i.md': 'I_WORDS',
  ...more,
});

/** What a child of a type was asked first. */
async function firstOf(type: string, more: ProjectFiles): Promise<string> {
  const world = await opened({
    files: files(more),
    main: [agent('TASKW', { subagent_type: type }), 'end'],
    agents: { TASKW: ['ran'] },
  });
  await world.say('go');
  return firstWith(world, 'TASKW');
}

function firstWith(world: AgentsSession, word: string): string {
  const children = world.server.requests.map(({ body }) => JSON.stringify(body));
  return children.find((text, at) => at > 0 && text.includes(word)) ?? '';
}

describe('what the definition of an agent takes from it', () => {
  it.each(['Read', 'Re*', '"*"'])(
    'is not brought in for it by an instruction file, and that is told once: %s',
    async (ban) => {
      const world = await opened({
        files: files({ '.claude/agents/rev.md': kind('rev', `disallowedTools: ${ban}`) }),
        main: [
          agent('TASKW', { subagent_type: 'rev' }),
          agent('TASKW', { subagent_type: 'rev' }),
          'end',
        ],
        agents: { TASKW: ['ran', 'ran'] },
      });
      await world.say('go');
      const first = firstWith(world, 'TASKW');
      expect(first).toContain('OWN_WORDS');
      expect(first).not.toMatch(/K_WORDS|DEEP_WORDS|I_WORDS/);
      const told = world.notices.filter((text) => text.includes('type rev less is shown'));
      expect(told.length).toBe(3);
    },
  );

  it('is left out file by file where only some may not be read', async () => {
    const first = await firstOf('rev', {
      '.claude/agents/rev.md': kind('rev', 'disallowedTools: Read(k.md)'),
    });
    expect(first).toContain('I_WORDS');
    expect(first).not.toMatch(/K_WORDS|DEEP_WORDS/);
  });

  it('is shown to others, and where another tool is meant', async () => {
    for (const ban of ['Edit', 'Grep, Write', 'Read(other/**)']) {
      const first = await firstOf('rev', {
        '.claude/agents/rev.md': kind('rev', `disallowedTools: ${ban}`),
      });
      expect(first, ban).toMatch(/K_WORDS.*I_WORDS/);
      await open?.close();
      open = undefined;
    }
    const first = await firstOf('fix', {
      '.claude/agents/fix.md': kind('fix'),
      '.claude/agents/rev.md': kind('rev', 'disallowedTools: Read'),
    });
    expect(first).toContain('K_WORDS');
  });

  it('is not brought in for those that it starts either', async () => {
    const world = await opened({
      files: files({
        '.claude/agents/rev.md': kind('rev', 'disallowedTools: Read'),
        '.claude/agents/fix.md': kind('fix'),
      }),
      main: [agent('OUTERW', { subagent_type: 'rev' }), 'end'],
      agents: {
        INNERW: ['ran'],
        OUTERW: [agent('INNERW', { subagent_type: 'fix' }), 'ran'],
      },
    });
    await world.say('go');
    const inner = world.server.requests
      .map(({ body }) => JSON.stringify(body))
      .find((text) => text.includes('INNERW') && !text.includes('OUTERW'));
    expect(inner).toContain('OWN_WORDS');
    expect(inner).not.toContain('K_WORDS');
  });
});

describe('a session that runs as an agent', () => {
  const runs = (ban: string, more: ProjectFiles = {}): AgentsOptions => ({
    files: files({
      '.claude/agents/lead.md': kind('lead', `disallowedTools: ${ban}`),
      '.claude/agents/fix.md': kind('fix'),
      ...more,
    }),
    config: { agent: 'lead' },
    main: [agent('TASKW', { subagent_type: 'fix' }), 'end'],
    agents: { TASKW: ['ran'] },
  });

  it.each([
    ['Read', /K_WORDS|DEEP_WORDS|I_WORDS/],
    ['Read(k.md)', /K_WORDS|DEEP_WORDS/],
  ])('is not shown what its definition takes from it, nor are its agents: %s', async (ban, not) => {
    const world = await opened(runs(ban));
    await world.say('go');
    const all = world.server.requests.map(({ body }) => JSON.stringify(body));
    expect(all.length).toBe(3);
    for (const text of all) {
      expect(text).toContain('OWN_WORDS');
      expect(text).not.toMatch(not);
    }
    expect(world.notices.join('\n')).toContain('k.md, which');
  });

  it('is held to what files say that are not shown to it', async () => {
    const world = await opened({
      ...runs('Read', { 'k.md': enforcing({ deny: ['Write'] }) }),
      main: [{ tool: 'Write', input: { file_path: 'x.txt', content: 'x' } }, 'end'],
      config: { agent: 'lead', permissionMode: 'acceptEdits' },
    });
    await world.say('go');
    expect(world.result().isError).toBe(true);
  });
});
