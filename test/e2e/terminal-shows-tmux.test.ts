import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { describeWith } from '../support/programs.js';
import { ASKS, openTerminal, READY, type Terminal } from './terminal.js';

const open: Terminal[] = [];
afterEach(async () => {
  for (const terminal of open.splice(0)) await terminal.close();
});

async function terminal(options: Parameters<typeof openTerminal>[0]): Promise<Terminal> {
  const opened = await openTerminal({ full: true, ...options });
  open.push(opened);
  await opened.shows(options.files?.['.claude/settings.json'] === undefined ? READY : ASKS);
  return opened;
}

const TOUCH = { tool: 'Bash', input: { command: 'touch made' } } as const;
const SLEEP = ['--allowedTools', 'Bash(sleep *)'];

describeWith(['tmux'], 'what the terminal shows', () => {
  it.each([
    ['s', 'this session', false],
    ['p', '.claude/settings.local.json', true],
  ])(
    '%s saves the rule that it shows; /permissions lists it (%s) and removes it',
    async (key, place, isSaved) => {
      const shell = await terminal({
        script: [
          { tool: 'Bash', input: { command: 'npm run a one' } },
          { tool: 'Bash', input: { command: 'npm run a two' } },
          'Done.',
        ],
        files: { 'package.json': '{"scripts":{"a":"touch"}}' },
      });
      shell.line('run them');
      expect(await shell.shows(ASKS)).toMatch(
        /rule Bash\(npm run a \*\)\n[\s\S]*rule Bash\(npm run a \*\) → /,
      );
      shell.press(key);
      await shell.shows('Done.');
      expect(shell.project.exists('two')).toBe(true);
      expect(shell.project.exists('.claude/settings.local.json')).toBe(isSaved);
      shell.line('/permissions');
      const listed = await shell.shows(/allow {2}Bash\(npm run a \*\) {2}\(.*\)/);
      expect(/Bash\(npm run a \*\) {2}\((.*)\)/.exec(listed)?.[1]).toContain(place);
      shell.line('/permissions remove Bash(npm run a *)');
      await shell.shows(/removed|Removed|no longer/);
      shell.line('/permissions');
      await shell.shows(/No rules\./);
    },
  );

  it('folds thinking, and says why and how long it waits before it tries again', async () => {
    const shell = await terminal({
      script: [
        {
          error: {
            status: 529,
            type: 'overloaded_error',
            message: 'Overloaded',
            retryAfterMs: 900,
          },
        },
        { thinking: 'deep thoughts', text: 'Answered.' },
      ],
    });
    shell.line('go');
    await shell.shows(/verloaded.* · trying again in \d+\.\d s \(1 of \d+\)/);
    const seen = await shell.shows('Answered.');
    expect(seen).toContain('✻ Thought for');
    expect(seen).not.toContain('deep thoughts');
    shell.press('C-o');
    await shell.shows('deep thoughts');
  });

  it('lists tasks, agents with their cost and budget, and background commands', async () => {
    const todos = [
      { content: 'first', activeForm: 'first', status: 'completed' },
      { content: 'second', activeForm: 'second', status: 'in_progress' },
    ];
    const shell = await terminal({
      args: [...SLEEP, '--max-budget-usd', '5'],
      script: [
        (view) =>
          view.firstUser.includes('look at it')
            ? { tool: 'Bash', input: { command: 'sleep 6' } }
            : {
                blocks: [
                  { tool: 'TodoWrite', input: { todos } },
                  { tool: 'Bash', input: { command: 'sleep 30', run_in_background: true } },
                  {
                    tool: 'Agent',
                    input: {
                      description: 'looks',
                      prompt: 'look at it',
                      subagent_type: 'general-purpose',
                    },
                  },
                ],
              },
        { tool: 'Bash', input: { command: 'sleep 6' } },
        'Seen.',
        'Over.',
      ],
    });
    shell.line('go');
    const seen = await shell.shows(
      /└ general-purpose#1 {2}looks {2}Bash · \d+s · 1 call · .* tokens · \$/,
    );
    expect(seen).toMatch(/left: \$[45]\.\d+/);
    expect(seen).toMatch(/1 of 2 tasks done\n {2}▶ second/);
    expect(seen).toMatch(/◷ sleep 30 .*background/);
    await shell.shows('Over.');
  });

  it('takes a queued prompt back', async () => {
    const shell = await terminal({
      args: SLEEP,
      script: [{ tool: 'Bash', input: { command: 'sleep 4' } }, 'Over.'],
    });
    shell.line('go');
    await shell.shows('● Bash sleep 4');
    shell.line('and another thing');
    await shell.shows(/⧗ and another thing\n.*Alt\+Up takes the last one back/);
    shell.press('M-Up');
    await shell.shows(/\n> and another thing\n/);
    await shell.shows('Over.');
    expect(JSON.stringify(shell.server.requests)).not.toContain('and another thing');
  });

  it('says beside a call who allowed it, on request, and sets the title of the window', async () => {
    const shell = await terminal({
      args: SLEEP,
      script: [{ tool: 'Bash', input: { command: 'sleep 0.1' } }, 'Over.'],
    });
    expect(shell.title()).toContain('portcullis · ');
    shell.press('M-r');
    await shell.shows('Calls show who allowed them');
    shell.line('go');
    expect(await shell.shows('Over.')).toMatch(
      /✓ Bash sleep 0\.1.*\n {2}shell commands: .*read-only/,
    );
  });

  it('announces a question in front of the transcript, and takes its answer behind it', async () => {
    const shell = await terminal({
      args: SLEEP,
      script: [{ tool: 'Bash', input: { command: 'sleep 1' } }, TOUCH, 'Done.'],
    });
    shell.line('go');
    await shell.shows('● Bash sleep 1');
    shell.press('C-o');
    await shell.shows('q closes');
    await shell.shows('1 question waits · Esc to answer');
    shell.press('y');
    shell.press('Escape');
    await shell.shows(/Allow Bash\?[\s\S]*Esc refuses/);
    expect(shell.project.exists('made')).toBe(false);
    shell.press('y');
    await shell.shows('Done.');
    expect(shell.project.exists('made')).toBe(true);
  });

  it('interrupts a turn with Ctrl+C and goes on', async () => {
    const shell = await terminal({
      args: SLEEP,
      script: [{ tool: 'Bash', input: { command: 'sleep 60' } }, 'Going on.'],
    });
    shell.line('sleep');
    await shell.shows(/● Bash sleep 60 [1-9]/);
    shell.press('C-c');
    await shell.shows('Interrupted. Press Ctrl+C again to quit.');
    await pause(2_100);
    shell.line('go on');
    await shell.shows('Going on.');
  });

  it('picks a model and an earlier conversation from lists', async () => {
    const shell = await terminal({ script: ['First answer.', 'Second answer.'] });
    shell.line('the first question');
    await shell.shows('First answer.');
    shell.line('/model');
    await shell.shows(/model: [\s\S]*\(current\)/);
    shell.type('haiku');
    shell.press('Enter');
    await shell.shows(/\n\S*haiku\S* · default/);
    shell.line('/clear');
    await shell.shows('New conversation.');
    shell.line('/resume');
    await shell.shows(/Conversations of this directory:[\s\S]*the first question/);
    shell.press('Enter');
    await shell.shows(/New conversation[\s\S]*> the first question[\s\S]*First answer\./);
  });

  it.each([
    ['/context', /Context Usage[\s\S]*\d%|Context Usage[\s\S]*tokens/],
    [
      '/permissions',
      /Mode: default\n[\s\S]*deny {3}Read\(\.\/secret\*\) {2}\(.*settings\.local\.json/,
    ],
    ['/hooks', /PreToolUse[\s\S]*true/],
    ['/mcp', /No MCP servers/],
    ['/agents', /general-purpose/],
    ['/inbox', /No agent waits for an answer/],
    ['/why', /No tool call has been decided yet/],
    ['/tasks', /Nothing runs in the background/],
  ])('shows %s', async (command, expected) => {
    const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'true' }] }] };
    const shell = await terminal({
      script: [],
      args: ['--settings', JSON.stringify({ hooks })],
      files: {
        '.claude/settings.local.json': { json: { permissions: { deny: ['Read(./secret*)'] } } },
      },
    });
    shell.line(command);
    await shell.shows(expected);
  });

  it('runs the status line of a project only where the folder is trusted', async () => {
    const statusLine = { type: 'command', command: 'echo project line' };
    const files = { '.claude/settings.json': { json: { statusLine } } };
    const shell = await terminal({ script: [], files });
    expect(shell.screen()).toContain('echo project line');
    shell.press('y');
    await shell.shows(/>\s*\nproject line/);
  });

  it('prefers the status line of the user, and turns it off with all hooks', async () => {
    const statusLine = { type: 'command', command: 'echo my line' };
    const shell = await openTerminal({
      script: [],
      full: true,
      args: ['--settings', JSON.stringify({ statusLine })],
      files: {
        '.claude/settings.json': {
          json: { statusLine: { type: 'command', command: 'echo project line' } },
        },
      },
    });
    open.push(shell);
    await shell.shows(ASKS);
    shell.press('y');
    await shell.shows(/>\s*\nmy line/);
    const other = await terminal({
      script: [],
      args: ['--settings', JSON.stringify({ statusLine, disableAllHooks: true })],
    });
    await pause(500);
    expect(other.screen()).not.toMatch(/^my line/m);
  });

  it('works in windows of one row and of twenty columns', async () => {
    const shell = await terminal({ script: ['漢字 👩‍👩‍👧 שלום é done.', TOUCH, 'Refused.'] });
    shell.resize(20, 10);
    shell.line('go');
    await shell.shows('done.');
    shell.resize(20, 1);
    await pause(300);
    shell.type('typed');
    await pause(300);
    shell.resize(80, 24);
    await shell.shows(/\n> typed\n/);
    shell.press('C-c');
    shell.resize(20, 10);
    shell.line('again');
    await shell.shows(/touch made[\s\S]*n {2}No/);
    shell.press('Escape');
    await shell.shows(/Not run|Interrupted/);
  });

  it('leaves the terminal as it was when it crashes', async () => {
    const shell = await openTerminal({
      full: true,
      script: [],
      files: { 'crash.cjs': "process.on('SIGUSR2', () => { throw new Error('a bug'); });" },
      env: { NODE_OPTIONS: '--require ./crash.cjs' },
    });
    open.push(shell);
    await shell.shows(READY);
    shell.press('C-o');
    await shell.shows('q closes');
    spawnSync('kill', ['-USR2', String(shell.pid())]);
    expect(await shell.exitCode()).toBeGreaterThan(0);
    expect(shell.screen()).not.toContain('q closes');
    shell.line('stty -a | tr ";" "\\n" | grep -c -- "-icanon\\|-echo "');
    await shell.shows(/\n0\n/);
  });
});
