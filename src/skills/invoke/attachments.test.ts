import { expect, it } from 'vitest';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { Skill } from '../skill.js';
import { attachedFiles } from './attachments.js';

const skill = (more: Partial<Skill>): Skill => ({
  name: 's',
  origin: 'project',
  source: 'project',
  file: '/p/.claude/skills/s/SKILL.md',
  directory: '/p/.claude/skills/s',
  head: { keys: [] },
  trusted: true,
  bodyLine: 1,
  problems: [],
  body: async () => '',
  ...more,
});

async function read(body: string, more: Partial<Skill> = {}) {
  const paths: string[] = [];
  const parts = {
    home: '/h',
    isFile: async () => true,
    opensOwn: async () => true,
    read: async ({ path, ownDirectory }: { path: string; ownDirectory?: string }) => {
      paths.push(ownDirectory === undefined ? path : `own ${path}`);
      return { kind: 'read' as const, text: 'T', isCut: false };
    },
  };
  const result = await attachedFiles(parts, {
    skill: skill(more),
    body,
    values: { args: '', names: [], variables: new Map() },
    projectDir: '/p',
    beside: [skill(more).directory],
    agent: MAIN_AGENT,
    signal: new AbortController().signal,
  });
  return { paths, result };
}

it('reads nothing for a prompt of a server', async () => {
  const { paths, result } = await read('@a.md @~/b.md', { origin: 'mcp', source: 'mcp' });
  expect(paths).toEqual([]);
  expect(result).toEqual({ ok: true, value: { text: '', notes: [] } });
});

it('opens what lies beside the skill alone, and nothing for a command', async () => {
  const body = '@a.md @../t/b.md @~/c.md @/d.md';
  expect((await read(body)).paths).toEqual([
    'own /p/.claude/skills/s/a.md',
    '/p/.claude/skills/t/b.md',
    '/h/c.md',
    '/d.md',
  ]);
  const command = {
    origin: 'command',
    isCommand: true,
    directory: '/p/.claude/commands',
  } as const;
  expect((await read('@a.md', command)).paths).toEqual(['/p/a.md']);
});

it('looks up no more names than a text would have', async () => {
  const names = Array.from({ length: 300 }, (_, at) => `@n${at}.md`).join(' ');
  const { paths, result } = await read(names);
  expect(paths).toHaveLength(10);
  expect(result.ok && result.value.notes[0]).toBe(
    'only the first 200 names with an @ are looked up',
  );
});
