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
  return opened;
}

const TOUCH = { tool: 'Bash', input: { command: 'touch made' } } as const;

const bodyOf = (shell: Terminal, index: number): string =>
  JSON.stringify(shell.server.requests[index]?.body);

describeWith(['tmux'], 'the terminal interface', () => {
  it('shows what a folder would run before the first prompt, and starts after a yes', async () => {
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: 'touch ran' }] }] };
    const shell = await terminal({
      script: ['Hello.'],
      files: { '.claude/settings.json': { json: { hooks } } },
    });
    const seen = await shell.shows(ASKS);
    expect(seen).toContain('Trust this folder?');
    expect(seen).toContain('touch ran');
    expect(shell.project.exists('ran')).toBe(false);
    shell.press('y');
    await shell.shows(READY);
    shell.line('hi');
    await shell.shows('Hello.');
    expect(shell.project.exists('ran')).toBe(true);
  });

  it.each(['n', 'C-c'])('starts nothing in a folder that is not trusted (%s)', async (key) => {
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: 'touch ran' }] }] };
    const shell = await terminal({
      script: [],
      files: { '.claude/settings.json': { json: { hooks } } },
    });
    await shell.shows(ASKS);
    shell.press(key);
    expect(await shell.exitCode()).toBe(1);
    expect(shell.screen()).toContain('Not trusted; nothing was started.');
    expect(shell.project.exists('ran')).toBe(false);
  });

  it('shows an answer while it is written, and goes on after a resize in the middle', async () => {
    const rows = Array.from({ length: 40 }, (_, index) => `Row <${index}> of the answer.`);
    const shell = await terminal({
      script: [rows.join('\n\n'), 'Second.'],
      slowly: { bytes: 100, ms: 40 },
    });
    await shell.shows(READY);
    shell.line('go');
    const first = await shell.shows('<3>');
    expect(first).not.toContain('<39>');
    expect(first).toMatch(/Writing \d+s/);
    shell.resize(60, 20);
    await shell.shows('<20>');
    shell.resize(100, 30);
    const seen = await shell.shows(/<39>[\s\S]*\n> /);
    const ids = [...seen.matchAll(/<(\d+)>/g)].map(([, id]) => Number(id));
    expect(ids).toEqual(Array.from({ length: 40 }, (_, id) => id));
  });

  it('leaves no copies of a question behind when the window changes', async () => {
    const shell = await terminal({ script: [TOUCH] });
    await shell.shows(READY);
    shell.line('make it');
    await shell.shows(ASKS);
    for (const [columns, rows] of [
      [100, 20],
      [100, 30],
      [60, 30],
      [110, 16],
      [110, 40],
    ] as const) {
      shell.resize(columns, rows);
      await pause(400);
      expect(shell.screen().match(/Yes, this once/g)).toHaveLength(1);
    }
  });

  it('sends a paste of 1 MB as one prompt', async () => {
    const shell = await terminal({ script: ['Got it.'] });
    await shell.shows(READY);
    const pasted = Array.from({ length: 20_000 }, (_, row) => `${row} ${'x'.repeat(44)}`).join(
      '\n',
    );
    shell.paste(pasted);
    const bytes = Buffer.byteLength(pasted).toLocaleString('en-US');
    await shell.shows(`[Pasted text #1: 20,000 lines, ${bytes} bytes]`);
    shell.press('Enter');
    await shell.shows('Got it.');
    expect(shell.server.requests).toHaveLength(1);
    expect(bodyOf(shell, 0)).toContain(JSON.stringify(pasted).slice(1, -1));
  });

  it('breaks lines of a prompt and completes commands', async () => {
    const shell = await terminal({ script: ['Fine.'] });
    await shell.shows(READY);
    shell.type('/stat');
    await shell.shows(/\/status +Show the session/);
    shell.press('Tab', 'Enter');
    await shell.shows(/session +[0-9a-f-]{36}/);
    shell.type('first\\');
    shell.press('Enter');
    shell.type('second');
    shell.press('M-Enter');
    shell.type('third');
    await shell.shows('> first\n  second\n  third');
    shell.press('Enter');
    await shell.shows('Fine.');
    expect(bodyOf(shell, 0)).toContain('first\\nsecond\\nthird');
  });

  it.each([
    ['y', 'once'],
    ['a', 'again, as long as it is the same'],
  ])('%s allows a call %s, and saves no rule', async (key) => {
    const shell = await terminal({ script: [TOUCH, TOUCH, 'Done.'] });
    await shell.shows(READY);
    shell.line('make it');
    const seen = await shell.shows(ASKS);
    expect(seen).toContain('│ touch made');
    expect(shell.project.exists('made')).toBe(false);
    shell.press(key);
    if (key === 'y') {
      await shell.shows(/✓ Bash touch made[\s\S]*Esc refuses/);
      shell.press('y');
    }
    await shell.shows('Done.');
    expect(shell.project.exists('made')).toBe(true);
    expect(shell.project.exists('.claude/settings.local.json')).toBe(false);
  });

  it('shows the rule that an answer for the project saves, and saves it', async () => {
    const shell = await terminal({
      script: [() => write(shell, 'first.txt'), () => write(shell, 'second.txt'), 'Written.'],
    });
    await shell.shows(READY);
    shell.line('write them');
    const seen = await shell.shows(ASKS);
    expect(seen).toContain('rule Edit(./*) → .claude/settings.local.json');
    shell.press('p');
    await shell.shows('Written.');
    expect(shell.project.exists('second.txt')).toBe(true);
    expect(shell.project.read('.claude/settings.local.json')).toContain('Edit(./*)');
  });

  it('allows all edits of the session, and shows the change against the file', async () => {
    const shell = await terminal({
      files: { 'a.txt': 'one\ntwo\nthree\n' },
      script: [
        () => ({ tool: 'Read', input: { file_path: `${shell.project.directory}/a.txt` } }),
        () => edit(shell, 'two', 'TWO'),
        () => edit(shell, 'three', 'THREE'),
        'Edited.',
      ],
    });
    await shell.shows(READY);
    shell.line('edit it');
    const seen = await shell.shows(ASKS);
    expect(seen).toMatch(/2 - two\n2 \+ TWO\n3 {3}three/);
    shell.press('e');
    await shell.shows('Edited.');
    expect(shell.project.read('a.txt')).toBe('one\nTWO\nTHREE\n');
    await shell.shows(/· acceptEdits/);
  });

  it('refuses with a comment for the model', async () => {
    const shell = await terminal({ script: [TOUCH, 'Then not.'] });
    await shell.shows(READY);
    shell.line('make it');
    await shell.shows(ASKS);
    shell.press('n');
    await shell.shows('What should it do instead?');
    shell.line('use another name');
    await shell.shows('Then not.');
    expect(bodyOf(shell, 1)).toContain('use another name');
    expect(shell.project.exists('made')).toBe(false);
  });

  it.each(['y', 'a', 'p'])(
    'does not take a %s typed before the question for an answer',
    async (key) => {
      const shell = await terminal({
        script: [{ tool: 'Bash', input: { command: 'sleep 2' } }, TOUCH, 'After it.'],
        args: ['--allowedTools', 'Bash(sleep *)'],
      });
      await shell.shows(READY);
      shell.line('make it');
      await shell.shows('● Bash sleep 2');
      shell.press(key);
      await shell.shows(ASKS);
      shell.press('Enter', 'Enter');
      await pause(500);
      expect(shell.screen()).toMatch(ASKS);
      expect(shell.screen()).toContain(`> ${key}`);
      expect(shell.project.exists('made')).toBe(false);
      shell.press('Escape');
      await shell.shows(/Not run|Interrupted/);
      expect(shell.project.exists('made')).toBe(false);
    },
  );

  it('answers the questions of the model', async () => {
    const option = (label: string) => ({ label, description: `about ${label}` });
    const questions = [
      {
        question: 'Which colour?',
        header: 'Colour',
        multiSelect: false,
        options: [option('red'), option('blue')],
      },
      {
        question: 'Which sizes?',
        header: 'Sizes',
        multiSelect: true,
        options: [option('S'), option('M'), option('L')],
      },
    ];
    const shell = await terminal({
      script: [{ tool: 'AskUserQuestion', input: { questions } }, 'Chosen.'],
    });
    await shell.shows(READY);
    shell.line('ask me');
    await shell.shows(ASKS);
    shell.press('2');
    await shell.shows('Sizes (2 of 2)');
    shell.press('Space', 'Down', 'Down', 'Space', 'Enter');
    await shell.shows('Chosen.');
    expect(bodyOf(shell, 1)).toMatch(/blue[\s\S]*S, L/);
  });

  it('shows the question of a background agent and answers it there', async () => {
    const shell = await terminal({
      script: [
        (view) =>
          view.firstUser.includes('make the file')
            ? TOUCH
            : {
                tool: 'Agent',
                input: {
                  description: 'makes it',
                  prompt: 'make the file',
                  subagent_type: 'general-purpose',
                  run_in_background: true,
                },
              },
        (view) => (view.firstUser.includes('make the file') ? TOUCH : 'Started it.'),
        (view) => (view.firstUser.includes('make the file') ? TOUCH : 'Started it.'),
        'Next.',
        'Last.',
      ],
    });
    await shell.shows(READY);
    shell.line('start an agent');
    const seen = await shell.shows(/asked by main\/\S+ \(background\)[\s\S]*Esc refuses/);
    expect(seen).toContain('│ touch made');
    shell.press('y');
    await shell.shows(/completed/);
    expect(shell.project.exists('made')).toBe(true);
  });

  it('starts a turn by itself when work in the background is finished', async () => {
    const shell = await terminal({
      args: ['--allowedTools', 'Bash(sleep *)'],
      script: [
        { tool: 'Bash', input: { command: 'sleep 1', run_in_background: true } },
        'It runs.',
        'It has ended.',
      ],
    });
    await shell.shows(READY);
    shell.line('in the background');
    await shell.shows('It runs.');
    await shell.shows('It has ended.');
  });

  it('interrupts a tool with Esc and goes on', async () => {
    const shell = await terminal({
      args: ['--allowedTools', 'Bash(sleep *)'],
      script: [{ tool: 'Bash', input: { command: 'sleep 60' } }, 'Going on.'],
    });
    await shell.shows(READY);
    shell.line('sleep');
    await shell.shows(/● Bash sleep 60 [1-9]/);
    shell.press('Escape');
    await shell.shows('Interrupted');
    shell.line('go on');
    await shell.shows('Going on.');
  });

  it('clears with Ctrl+C, leaves with a second one, and leaves with Ctrl+D', async () => {
    const shell = await terminal({ script: [] });
    await shell.shows(READY);
    shell.type('half a prompt');
    await shell.shows('> half a prompt');
    shell.press('C-c');
    await shell.shows(/>\s*\nPress Ctrl\+C again to quit\./);
    shell.press('C-c');
    expect(await shell.exitCode()).toBe(130);
    const other = await terminal({ script: [] });
    await other.shows(READY);
    other.press('C-d');
    expect(await other.exitCode()).toBe(0);
  });

  it('stops with Ctrl+Z and comes back with fg', async () => {
    const shell = await terminal({ script: ['Back again.'] });
    await shell.shows(READY);
    shell.type('a draft');
    await shell.shows('> a draft');
    shell.press('C-z');
    await shell.shows(/Stopped/);
    shell.line('fg');
    await shell.shows(/fg\n[\s\S]*> a draft/);
    shell.press('Enter');
    await shell.shows('Back again.');
  });

  it('shows the conversation that it resumes', async () => {
    const shell = await terminal({ script: ['The first answer.', 'The second answer.'] });
    await shell.shows(READY);
    shell.line('remember this');
    await shell.shows('The first answer.');
    shell.press('C-d');
    const seen = await shell.shows(/--resume [0-9a-f-]{36}/);
    const [, id = ''] = /--resume ([0-9a-f-]{36})/.exec(seen) ?? [];
    await shell.exitCode();
    shell.line(`clear; ${shell.command('--resume', id)}`);
    await shell.shows(/> remember this[\s\S]*The first answer\.[\s\S]*\n> /);
    shell.line('and now');
    await shell.shows('The second answer.');
    expect(bodyOf(shell, 1)).toContain('remember this');
  });

  it('restores a file that Bash deleted, after it has shown what would be restored', async () => {
    const shell = await terminal({
      files: { 'kept.txt': 'kept\n' },
      args: ['--allowedTools', 'Bash'],
      script: [{ tool: 'Bash', input: { command: 'rm kept.txt' } }, 'Deleted.'],
    });
    await shell.shows(READY);
    await pause(1000);
    shell.line('delete it');
    await shell.shows('Deleted.');
    expect(shell.project.exists('kept.txt')).toBe(false);
    shell.press('Escape');
    await pause(200);
    shell.press('Escape');
    await shell.shows('Rewind to');
    shell.press('Enter');
    await shell.shows(/to be restored[\s\S]*kept\.txt[\s\S]*Files only/);
    expect(shell.project.exists('kept.txt')).toBe(false);
    shell.press('Down', 'Enter');
    await shell.shows('/rewind redo takes it back');
    expect(shell.project.read('kept.txt')).toBe('kept\n');
  });

  it('leaves the terminal as it was when it is killed', async () => {
    const shell = await terminal({ script: [] });
    await shell.shows(READY);
    shell.press('C-o');
    await shell.shows('q closes');
    spawnSync('kill', ['-TERM', String(shell.pid())]);
    expect(await shell.exitCode()).toBe(143);
    expect(shell.screen()).not.toContain('q closes');
    shell.line('stty -a | tr ";" "\\n" | grep -c -- "-icanon\\|-echo "');
    await shell.shows(/\n0\n/);
  });

  it('never lets control characters of the model through', async () => {
    const shell = await terminal({
      script: ['before \u001b]0;owned\u0007\u001b[2J\u001b[8mafter'],
    });
    await shell.shows(READY);
    shell.line('go');
    await shell.shows(/before .*after/);
    expect(shell.title()).not.toContain('owned');
  });
});

function write(shell: Terminal, name: string) {
  const file_path = `${shell.project.directory}/${name}`;
  return { tool: 'Write', input: { file_path, content: 'text\n' } };
}

function edit(shell: Terminal, from: string, to: string) {
  return {
    tool: 'Edit',
    input: { file_path: `${shell.project.directory}/a.txt`, old_string: from, new_string: to },
  };
}
