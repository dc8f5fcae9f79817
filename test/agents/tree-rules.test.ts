// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of skills are what is tested
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Reply, ReplyFunction } from '../../src/model/scripted/format.js';
import {
  type AgentsOptions,
  type AgentsSession,
  agent,
  bash,
  openAgentsSession,
} from './core-rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const apart = { isolation: 'worktree' };
const allowedTools = ['Bash', 'Read', 'Write', 'Edit', 'Grep', 'Glob', 'Agent', 'Skill'];
const read = (file_path: string): Reply => ({ tool: 'Read', input: { file_path } });
const write = (file_path: string): Reply => ({ tool: 'Write', input: { file_path, content: 'x' } });

const FILES = {
  'a.txt': 'plain text\n',
  'secret/key.txt': 'TOPSECRET\n',
  'migrations/1.sql': 'first\n',
  'sub/b.txt': 'below\n',
  '.gitignore': '.env.local\n',
  '.worktreeinclude': '.env.local\n',
};

const deny = ['Read(./.env.local)', 'Read(/secret/**)', 'Edit(./migrations/**)'];

/** A project under git; what is ignored, and what is written after that, is in no commit. */
async function opened(options: AgentsOptions): Promise<AgentsSession> {
  const settings = JSON.stringify({ permissions: { deny } });
  open = await openAgentsSession({
    ...options,
    files: { ...FILES, '.claude/settings.json': settings, ...options.files },
    config: { allowedTools, ...options.config },
  });
  const cwd = open.project.directory;
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.email=a', '-c', 'user.name=a', ...args], { cwd });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-qm', 'first');
  writeFileSync(join(cwd, '.env.local'), 'TOPSECRET\n');
  return open;
}

async function decisions(
  replies: readonly (Reply | ReplyFunction)[],
  options: Partial<AgentsOptions> = {},
): Promise<readonly string[]> {
  const world = await opened({
    main: [agent('APART', apart), 'end'],
    agents: { APART: [...replies, 'done'] },
    ...options,
  });
  await world.say('MAINWORD');
  expect(world.requests('TOPSECRET')).toEqual([]);
  return world.receipts
    .filter(({ agent: path }) => path !== 'main')
    .map(({ decision, reason = '' }) => `${decision} ${reason.replace(/[:;].*/s, '')}`);
}

describe('an agent in a tree of its own', () => {
  it('is held by the path rules of the project, whatever they are anchored at', async () => {
    const found = await decisions([
      read('.env.local'),
      bash('cat .env.local'),
      read('secret/key.txt'),
      { tool: 'Grep', input: { pattern: 'TOP', path: 'secret', output_mode: 'content' } },
      bash('grep -r TOP .'),
      bash('git show HEAD:secret/key.txt'),
      write('migrations/2.sql'),
      bash('rm -rf migrations'),
    ]);
    expect(found).toEqual([
      'deny Read(./.env.local)',
      'deny Read(./.env.local)',
      'deny Read(/secret/**)',
      'deny Read(/secret/**)',
      expect.stringMatching(/^deny Read\(/),
      'deny Read(/secret/**)',
      'deny Edit(./migrations/**)',
      'deny Edit(./migrations/**)',
    ]);
  });

  it('finds by a search what is not restricted, and works with the rest', async () => {
    const found = await decisions([
      { tool: 'Grep', input: { pattern: 'TOP|plain', output_mode: 'content' } },
      read('a.txt'),
      write('new.txt'),
    ]);
    expect(found.every((one) => one.startsWith('allow'))).toBe(true);
    expect(open?.requests('more left out')).toEqual([]);
  });

  it('is held by rules of the command line, also in the tree of an agent of its own', async () => {
    const world = await opened({
      main: [agent('APART', apart), 'end'],
      agents: { APART: [agent('NESTED', apart), 'done'], NESTED: [read('a.txt'), 'done'] },
      config: { disallowedTools: ['Read(./a.txt)'] },
    });
    await world.say('MAINWORD');
    expect(world.receipts.at(-1)).toMatchObject({ decision: 'deny', reason: 'Read(./a.txt)' });
  });

  it('is held by an enforced block that no commit holds yet', async () => {
    const world = await opened({
      main: [agent('APART', apart), 'end'],
      agents: { APART: [write('sub/b.txt'), bash('echo x > sub/b.txt'), 'done'] },
    });
    const block = '```portcullis\n{ "deny": ["Edit(./b.txt)"] }\n```\n';
    mkdirSync(join(world.project.directory, 'sub'), { recursive: true });
    writeFileSync(join(world.project.directory, 'sub/CLAUDE.md'), block);
    await world.say('MAINWORD');
    const own = world.receipts.filter(({ agent: path }) => path !== 'main');
    expect(own.map(({ decision }) => decision)).toEqual(['deny', 'deny']);
  });

  it('leaves a tree whose files are kept from the others too', async () => {
    const world = await opened({
      main: [
        agent('APART', apart),
        bash('cat .claude/worktrees/*/secret/key.txt'),
        bash('grep -r TOP .claude/worktrees'),
        'end',
      ],
      agents: { APART: [write('new.txt'), 'done'] },
    });
    await world.say('MAINWORD');
    expect(existsSync(join(world.project.directory, '.claude/worktrees'))).toBe(true);
    expect(world.receipts.slice(-2).map(({ decision }) => decision)).toEqual(['deny', 'deny']);
    expect(world.requests('TOPSECRET')).toEqual([]);
  });

  it('runs the commands of a skill that names the project by its directory', async () => {
    const head = 'name: ck\ndescription: d\nallowed-tools: Bash(${CLAUDE_PROJECT_DIR}/check.sh *)';
    const files = {
      '.claude/skills/ck/SKILL.md': `---\n${head}\n---\nResult: !\`\${CLAUDE_PROJECT_DIR}/check.sh x\`\n`,
      'check.sh': '#!/bin/sh\necho checked\n',
    };
    const found = await decisions([{ tool: 'Skill', input: { skill: 'ck' } }], {
      files,
      config: { allowedTools: ['Skill', 'Agent'] },
    });
    expect(found.at(-1)).toBe('allow every command is covered');
  });
});
