import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Reply, ReplyFunction } from '../../src/model/scripted/format.js';
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

const everything = { allowedTools: ['Bash', 'Write', 'Edit', 'Read'] };

/** A project under git, with all of it committed once the session is open. */
async function opened(options: AgentsOptions): Promise<AgentsSession> {
  open = await openAgentsSession({ config: everything, ...options });
  const cwd = open.project.directory;
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.email=a', '-c', 'user.name=a', ...args], { cwd });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-qm', 'first');
  return open;
}

const apart = { isolation: 'worktree' };
const write =
  (file: () => string, content = 'x'): ReplyFunction =>
  () => ({
    tool: 'Write',
    input: { file_path: file(), content },
  });
const here = (name: string) => (): string => join(open?.project.directory ?? '', name);
const shell =
  (command: () => string): ReplyFunction =>
  () =>
    bash(command());

/** What the model was sent for one agent. The main agent's conversation speaks of it too. */
function sentFor(world: AgentsSession, word: string): readonly string[] {
  return world.requests(word).filter((text) => !text.includes('MAINWORD'));
}

describe('an agent in a tree of its own', () => {
  it('leaks neither by file tools nor by the shell, and is told what is meant', async () => {
    const world = await opened({
      files: { 'a.txt': 'a\n' },
      main: [agent('APART', apart), 'end'],
      agents: {
        APART: [
          write(here('leak1.txt')),
          shell(() => `cd ${here('')()} && touch leak2.txt`),
          shell(() => `cat ${here('a.txt')()}`),
          bash('cd .. ; pwd'),
          bash('touch inside.txt && pwd'),
          'done',
        ],
      },
    });
    await world.say('MAINWORD');
    const project = world.project.directory;
    expect(readdirSync(project).sort()).toEqual(['.claude', '.git', 'a.txt']);
    const [tree = ''] = readdirSync(join(project, '.claude/worktrees'));
    const path = join(project, '.claude/worktrees', tree);
    expect(existsSync(join(path, 'inside.txt'))).toBe(true);
    const seen = sentFor(world, 'APART').at(-1);
    expect(seen).toContain(`use ${join(path, 'leak1.txt')}`);
    expect(seen).toContain(`use ${join(path, 'a.txt')}`);
    expect(world.result().text).toContain('inside.txt');
    const [first = ''] = sentFor(world, 'APART');
    expect(first).toContain(path);
    expect(first.replaceAll(path, '')).not.toContain(`${project}"`);
    expect(first.replaceAll(path, '')).not.toContain(`${project}\\n`);
  });

  it('reads a file again before it edits it, and gives its tree back unchanged', async () => {
    const edit: Reply = {
      tool: 'Edit',
      input: { file_path: 'a.txt', old_string: 'a', new_string: 'b' },
    };
    const world = await opened({
      files: { 'a.txt': 'a\n' },
      main: [{ tool: 'Read', input: { file_path: 'a.txt' } }, agent('APART', apart), 'end'],
      agents: { APART: [edit, 'done'] },
    });
    await world.say('MAINWORD');
    expect(sentFor(world, 'APART').at(-1)).toContain('was not read yet');
    expect(readdirSync(join(world.project.directory, '.claude/worktrees'))).toEqual([]);
  });

  it('is named with what a program of its wrote elsewhere', async () => {
    const world = await opened({
      files: { 'a.txt': 'a\n', 'go.sh': 'touch "$(dirname "$0")/../../../stray.txt"\n' },
      main: [agent('APART', apart), 'end'],
      agents: { APART: [bash('sh go.sh'), 'done'] },
    });
    await world.say('MAINWORD');
    expect(world.result().text).toContain(here('stray.txt')());
  });
});

describe('hooks that make trees', () => {
  it('take the place of git, and are asked to remove what is unchanged', async () => {
    const hook = (run: string) => [{ hooks: [{ type: 'command', command: run }] }];
    const world = await opened({
      files: {
        '.claude/settings.json': JSON.stringify({
          hooks: {
            WorktreeCreate: hook(
              'd="$HOME/made"; git init -q "$d" && git -C "$d" -c user.email=a -c user.name=a commit -q --allow-empty -m x; echo "$d"',
            ),
            WorktreeRemove: hook('cat > "$HOME/removed.json"'),
          },
        }),
      },
      main: [agent('APART', apart), 'end'],
      agents: { APART: [bash('pwd'), 'done'] },
    });
    await world.say('MAINWORD');
    const made = join(world.project.home, 'made');
    expect(sentFor(world, 'APART').at(-1)).toContain(made);
    const removed = JSON.parse(readFileSync(join(world.project.home, 'removed.json'), 'utf8'));
    expect(removed).toMatchObject({ hook_event_name: 'WorktreeRemove', worktree_path: made });
  });
});

describe('other workspaces', () => {
  it('keeps agents with a directory in it, and those they start', async () => {
    const world = await opened({
      files: {
        'part/p.txt': 'p',
        '.claude/agents/part.md': definition(
          'name: part\ndescription: d\nportcullis:\n  workspace:\n    directory: part',
        ),
      },
      main: [agent('OUTER', { subagent_type: 'part' }), 'end'],
      agents: {
        OUTER: [bash('touch ../out1.txt'), bash('touch in1.txt'), agent('INNER'), 'done'],
        INNER: [write(here('out2.txt')), bash('touch ../out3.txt'), bash('touch in2.txt'), 'done'],
      },
    });
    await world.say('MAINWORD');
    expect(readdirSync(world.project.directory).sort()).toEqual(['.claude', '.git', 'part']);
    expect(readdirSync(join(world.project.directory, 'part')).sort()).toEqual([
      'in1.txt',
      'in2.txt',
      'p.txt',
    ]);
  });

  it('has skills whose files and commands are those of its own tree', async () => {
    const skill = ['SKILLTEXT @notes.md @beside.md', '!`cat notes.md && pwd`'].join('\n');
    const world = await opened({
      files: {
        'notes.md': 'COMMITTED NOTES',
        '.claude/skills/s/SKILL.md': `---\ndescription: d\n---\n${skill}\n`,
        '.claude/skills/s/beside.md': 'COMMITTED BESIDE',
      },
      main: [agent('APART', apart), 'end'],
      agents: { APART: [{ tool: 'Skill', input: { skill: 's' } }, 'done'] },
      config: { allowedTools: ['Skill', 'Bash(cat *)', 'Bash(pwd)'] },
    });
    writeFileSync(here('notes.md')(), 'CHANGED NOTES');
    writeFileSync(here('.claude/skills/s/beside.md')(), 'CHANGED BESIDE');
    await world.say('MAINWORD');
    const seen = sentFor(world, 'APART').at(-1) ?? '';
    expect(seen).toContain('COMMITTED NOTES');
    expect(seen).toContain('COMMITTED BESIDE');
    expect(seen).not.toContain('CHANGED');
    expect(seen.match(/COMMITTED NOTES/g)).toHaveLength(2);
  });

  it('tells who changed a file', async () => {
    const world = await opened({
      files: { 'a.txt': 'a\n' },
      main: [
        { tool: 'Read', input: { file_path: 'a.txt' } },
        agent('CHILD'),
        { tool: 'Write', input: { file_path: 'a.txt', content: 'of main' } },
        'end',
      ],
      agents: {
        CHILD: [{ tool: 'Write', input: { file_path: 'a.txt', content: 'of child' } }, 'x'],
      },
    });
    await world.say('MAINWORD');
    expect(world.result().text).toContain('the agent main/general-purpose#1 wrote it');
    expect(readFileSync(here('a.txt')(), 'utf8')).toBe('of child');
  });
});
