import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { teamFiles } from '../../src/agents/teams/host/files.js';
import { openPane, type PaneOrder } from '../../src/agents/teams/host/panes.js';
import { openTeam } from '../../src/agents/teams/team.js';
import { putLaunch, teammateFlags } from '../../src/agents/teams/teammate-launch.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';
import { describeWith } from '../support/programs.js';

const TEAM = 'session-0a0b0c0d';
const projects: TempProject[] = [];
afterEach(() => {
  for (const project of projects.splice(0)) {
    spawnSync('tmux', ['-L', `portcullis-${TEAM}`, 'kill-server'], { env: envOf(project) });
    project.remove();
  }
});

function setUp(): TempProject {
  const project = makeTempProject();
  projects.push(project);
  return project;
}

const envOf = (project: TempProject): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH ?? '',
  HOME: project.home,
  TMUX_TMPDIR: project.root,
  TERM: 'xterm',
});

/** Opens a pane that says where it is and with what, and waits until it has. */
async function started(
  project: TempProject,
  { cwd, more }: { readonly cwd: string; readonly more?: NodeJS.ProcessEnv },
): Promise<{ readonly cwd: string; readonly value: string }> {
  const said = path.join(project.root, `said-${Object.keys(more ?? {}).length}`);
  const write = `require('fs').writeFileSync(process.argv[1], JSON.stringify({ cwd: process.cwd(), value: process.env.VALUE }))`;
  const order: PaneOrder = {
    way: 'tmux',
    team: TEAM,
    name: 'ann',
    cwd,
    argv: [process.execPath, '-e', `${write}; setInterval(() => 0, 1e6)`, said, 'last;'],
    env: { ...envOf(project), ...more },
    variables: { VALUE: 'a;' },
  };
  const opened = await openPane(order);
  expect(opened).toMatchObject({ ok: true });
  for (const end = Date.now() + 20_000; Date.now() < end; await pause(20)) {
    const text = existsSync(said) ? readFileSync(said, 'utf8') : '';
    if (text.endsWith('}')) return JSON.parse(text);
  }
  throw new Error('it never started');
}

describeWith(['tmux'], 'a pane', () => {
  it.each(['x#(touch pwned)', 'app#Dev', '#{pane_id}#[b]##H', 'ends;', '%H $(touch pwned) \' "'])(
    'is in the very directory that is called %s',
    async (name) => {
      const project = setUp();
      const cwd = path.join(project.directory, name);
      mkdirSync(cwd);
      expect(await started(project, { cwd })).toEqual({ cwd: realpathSync(cwd), value: 'a;' });
      // The same beside a pane that is somewhere else.
      const options = { env: envOf(project), encoding: 'utf8' } as const;
      const server = ['-L', `portcullis-${TEAM}`];
      const shown = '#{socket_path},#{pid},0 #{pane_id}';
      const { stdout } = spawnSync('tmux', [...server, 'list-panes', '-a', '-F', shown], options);
      const [TMUX, TMUX_PANE] = stdout.trim().split(' ');
      const other = path.join(project.directory, `${name}2`);
      mkdirSync(other);
      const beside = await started(project, { cwd: other, more: { TMUX, TMUX_PANE } });
      expect(beside.cwd).toBe(realpathSync(other));
      const all = readdirSync(project.root, { recursive: true });
      expect(all.filter((file) => path.basename(String(file)) === 'pwned')).toEqual([]);
    },
    60_000,
  );
});

describe('a pane of iTerm2', () => {
  it('is not opened where a name would be typed as keys', async () => {
    const order: PaneOrder = {
      way: 'iterm2',
      team: TEAM,
      name: 'ann',
      cwd: '/w/a\u0003touch pwned\rb',
      argv: ['x'],
      env: {},
      variables: {},
    };
    const opened = await openPane(order);
    expect(opened).toMatchObject({ ok: false, error: expect.stringContaining('cannot be typed') });
  });
});

describe('a teammate in a process of its own', () => {
  it('does not start anywhere else than where the lead wants it', async () => {
    const project = setUp();
    const directory = path.join(project.home, '.claude/teams');
    const opened = openTeam(directory, TEAM);
    if (!opened.ok) throw new Error(opened.error);
    const team = opened.value;
    const self = teamFiles.self();
    const who = { team: TEAM, name: 'ann', agentId: 'a1', leadSessionId: 's' };
    await team.create({ sessionId: 's', cwd: project.directory, process: self }, 1);
    await team.join({
      ...who,
      agentType: 'general-purpose',
      description: 'x',
      way: 'tmux',
      state: 'starting',
      planRequired: false,
      process: self,
      model: 'm',
      cwd: project.directory,
      joinedAt: 1,
    });
    const env = { PATH: process.env.PATH ?? '', HOME: project.home };
    const leadMode = 'default';
    const sessionId = '00000000-0000-4000-8000-000000000001';
    putLaunch(team, {
      ...who,
      sessionId,
      leadMode,
      cwd: project.directory,
      env,
      args: [],
    });
    const [node = '', ...program] = PROGRAM;
    const flags = teammateFlags(who, { way: 'tmux', leadMode, planRequired: false });
    const done = spawnSync(node, [...program, ...flags], {
      cwd: project.root,
      env,
      encoding: 'utf8',
    });
    expect(done.stderr).toContain(
      `it must start in ${project.directory}, and started somewhere else`,
    );
    expect(done.status).toBe(2);
  }, 300_000);
});
