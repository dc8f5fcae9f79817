import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { Reply, ReplyFunction } from '../../src/model/scripted/format.js';
import { type FakeModelServer, startFakeModelServer } from '../../src/testing/fake-model-server.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';
import { endTmux } from '../e2e/terminal.js';
import { describeWith } from '../support/programs.js';
import { agent, reacting, requestIn, say } from './team-rig.js';

const open: Stage[] = [];
afterEach(async () => {
  for (const stage of open.splice(0)) await stage.close();
});

/** The program in a real terminal, with room for teammates beside it. */
class Stage {
  readonly project: TempProject = makeTempProject();
  readonly server: FakeModelServer;
  readonly #own: readonly string[];

  private constructor(server: FakeModelServer) {
    this.server = server;
    this.#own = ['-S', path.join(this.project.root, 'tmux'), '-f', '/dev/null'];
  }

  static async open(options: {
    readonly main: readonly (Reply | ReplyFunction)[];
    readonly mates: Readonly<Record<string, readonly (Reply | ReplyFunction)[]>>;
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  }): Promise<Stage> {
    const mates = Object.entries(options.mates).map(([name, replies]) => ({
      name,
      match: { system: `You are the teammate "${name}"` },
      replies,
    }));
    const server = await startFakeModelServer({
      actors: [...mates, { name: 'main', replies: options.main }],
    });
    const stage = new Stage(server);
    open.push(stage);
    stage.#start(options);
    await stage.shows('/help lists commands');
    return stage;
  }

  #start({ args = [], env = {} }: { args?: readonly string[]; env?: object }): void {
    const variables = {
      HOME: this.project.home,
      TMPDIR: this.project.root,
      ANTHROPIC_BASE_URL: this.server.url,
      ANTHROPIC_API_KEY: 'secret-key',
      CLAUDE_CODE_MAX_RETRIES: '0',
      CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1',
      ...env,
    };
    const words = [...PROGRAM, '--plain', '--teammate-mode', 'tmux', ...args].map(quoted).join(' ');
    const set = Object.entries(variables).map(
      ([name, value]) => `${name}=${quoted(String(value))}`,
    );
    this.tmux(
      'new-session',
      '-d',
      '-s',
      'main',
      '-x',
      '220',
      '-y',
      '50',
      '-c',
      this.project.directory,
      'sh',
    );
    this.line(`env ${set.join(' ')} ${words}; echo "left with $?."`);
  }

  tmux(...args: readonly string[]): string {
    return execFileSync('tmux', [...this.#own, ...args], { encoding: 'utf8' });
  }

  line(text: string): void {
    this.tmux('send-keys', '-t', 'main:0.0', '-l', '--', text);
    this.tmux('send-keys', '-t', 'main:0.0', 'Enter');
  }

  screen(pane = 'main:0.0'): string {
    return this.tmux('capture-pane', '-p', '-J', '-S', '-', '-t', pane);
  }

  panes(): number {
    return this.tmux('list-panes', '-t', 'main').trim().split('\n').length;
  }

  async shows(text: string | RegExp): Promise<string> {
    return await this.until(() => {
      const seen = this.screen();
      return (typeof text === 'string' ? seen.includes(text) : text.test(seen)) ? seen : undefined;
    }, String(text));
  }

  async until<T>(look: () => T | undefined | false, what = 'it'): Promise<T> {
    for (const end = Date.now() + 45_000; Date.now() < end; await pause(50)) {
      const found = look();
      if (found !== undefined && found !== false) return found;
    }
    throw new Error(`never came: ${what}\n${this.screen()}`);
  }

  /** The members of the only team, as its file has them. */
  members(): readonly { name: string; state: string; process: { pid: number } }[] {
    const teams = path.join(this.project.home, '.claude/teams');
    const [team] = existsSync(teams) ? readdirSync(teams) : [];
    const file = path.join(teams, team ?? '', 'config.json');
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).members : [];
  }

  async close(): Promise<void> {
    await endTmux(this.#own);
    await this.server.close();
    this.project.remove();
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

const touch = (name: string): Reply => ({ tool: 'Bash', input: { command: `touch ${name}` } });

describeWith(['tmux'], 'a teammate in a pane of its own', () => {
  it('works in its own process, asks at the lead, reports, and dies without taking tasks along', async () => {
    const stage = await Stage.open({
      main: reacting({
        go: agent('PANEWORK', { name: 'ann' }),
        'PANE RESULT': say('ann', 'NEXT ORDER'),
      }),
      mates: {
        ann: reacting({ PANEWORK: touch('made'), 'NEXT ORDER': 'NEXT RESULT', touch: 'x' }),
      },
    });
    stage.line('go');
    await stage.until(() => stage.panes() === 2, 'a second pane');
    await stage.shows(/asked by session-[\da-f]{8}\/ann[\s\S]*│ touch made\n[\s\S]*Answer \[/);
    stage.line('y');
    await stage.until(() => existsSync(path.join(stage.project.directory, 'made')), 'the file');
    await stage.shows('(idle)');
    const [ann] = stage.members();
    const command = readFileSync(`/proc/${ann?.process.pid}/cmdline`, 'utf8');
    expect(command).toContain('--team-name');
    expect(command).toContain('--permission-mode\0default');
    expect(command).not.toContain('secret-key');
    stage.line('/team');
    await stage.shows(/ann {2}\w+ {2}\(general-purpose/);
    process.kill(ann?.process.pid ?? 0, 'SIGKILL');
    await stage.until(() => stage.members()[0]?.state === 'ended', 'its end');
    stage.line('/exit');
    await stage.shows('left with 0.');
    expect(stage.members()).toEqual([]);
  }, 300_000);

  it('plans first and gets no bypass; stops when it is asked and agrees', async () => {
    const stage = await Stage.open({
      args: ['--dangerously-skip-permissions'],
      env: { IS_SANDBOX: '1' },
      main: reacting({
        go: agent('PLANWORK', { name: 'bob', mode: 'plan' }),
        'MY PLAN': (view) =>
          say('bob', {
            type: 'plan_approval_response',
            request_id: requestIn(view),
            approve: true,
          }),
        'MADE IT': say('bob', { type: 'shutdown_request' }),
      }),
      mates: {
        bob: reacting({
          PLANWORK: touch('early'),
          'The user said no': say('team-lead', { type: 'plan_approval_request', plan: 'MY PLAN' }),
          'The lead has approved': touch('late'),
          shutdown_request: (view) =>
            say('team-lead', {
              type: 'shutdown_response',
              request_id: requestIn(view),
              approve: true,
            }),
        }),
      },
    });
    stage.line('go');
    const bob = await stage.until(() => stage.members().find(({ state }) => state !== 'starting'));
    const command = readFileSync(`/proc/${bob.process.pid}/cmdline`, 'utf8');
    expect(command).toContain('--permission-mode\0plan');
    expect(command).toContain('--plan-mode-required');
    expect(command).not.toContain('skip-permissions');
    await stage.shows(/asked by session-[\da-f]{8}\/bob[\s\S]*│ touch early\n[\s\S]*Answer \[/);
    stage.line('n plan first');
    // Approved, it asks again: nobody gave it the bypass.
    await stage.shows(/asked by session-[\da-f]{8}\/bob[\s\S]*│ touch late\n[\s\S]*Answer \[/);
    expect(existsSync(path.join(stage.project.directory, 'early'))).toBe(false);
    stage.line('y');
    await stage.until(() => existsSync(path.join(stage.project.directory, 'late')), 'the file');
    stage.line('MADE IT');
    await stage.until(() => stage.members()[0]?.state === 'ended', 'its end');
    await stage.until(() => stage.panes() === 1, 'the end of its pane');
    await stage.shows('(ended)');
  }, 300_000);

  it('is nobody without the word of the lead', () => {
    const project = makeTempProject();
    const env = { PATH: process.env.PATH ?? '', HOME: project.home };
    const [node = '', ...program] = PROGRAM;
    const start = (team: string, name: string): string => {
      const flags = ['--team-name', team, '--agent-name', name, '--agent-id', 'a1'];
      const args = [...program, ...flags, '--parent-session-id', 'x'];
      const done = spawnSync(node, args, { cwd: project.directory, env, encoding: 'utf8' });
      expect(done.status).toBe(2);
      return done.stderr;
    };
    expect(start('session-12345678', 'ann')).toContain('there is no team "session-12345678"');
    expect(start('../../elsewhere', 'ann')).toContain('the name of a team has');
    project.write('../home/.claude/teams/forged/config.json', '{}');
    expect(start('forged', 'ann')).toContain('the team "forged" cannot be used');
    const half = spawnSync(node, [...program, '--agent-name', 'ann'], { env, encoding: 'utf8' });
    expect(half.stderr).toContain('--agent-name needs --team-name');
    project.remove();
  }, 300_000);
});
