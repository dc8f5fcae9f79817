import { spawnSync } from 'node:child_process';
import { afterEach, expect, it } from 'vitest';
import type { ReplyFunction } from '../../src/model/scripted/format.js';
import { describeWith } from '../support/programs.js';
import { openTerminal, type Terminal } from './terminal.js';

const open: Terminal[] = [];
afterEach(async () => {
  for (const terminal of open.splice(0)) await terminal.close();
});

async function terminal(...options: Parameters<typeof openTerminal>): Promise<Terminal> {
  const opened = await openTerminal(...options);
  open.push(opened);
  await opened.shows('/help lists commands');
  return opened;
}

// No other test, and no other run of the tests, starts these.
const FIRST_SLEEP = `sleep 81.${process.pid}`;
const SECOND_SLEEP = `sleep 82.${process.pid}`;
const lives = (words: string): boolean => spawnSync('pgrep', ['-f', words]).status === 0;

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}

const TOUCH = { tool: 'Bash', input: { command: 'touch made' } } as const;

describeWith(['tmux'], 'the conversation in a terminal', () => {
  it('greets, answers, and leaves on Ctrl+D with 0', async () => {
    const shell = await terminal({ script: ['A friendly answer.', 'A second one.'] });
    expect(shell.screen()).toMatch(/Portcullis \S+ · \S+ · mode default · /);
    expect(shell.screen()).toContain(shell.project.directory);
    shell.line('hello there');
    await shell.shows('A friendly answer.');
    shell.line('and again');
    await shell.shows('A second one.');
    shell.press('C-d');
    expect(await shell.exitCode()).toBe(0);
    shell.server.assertDone();
  });

  it('asks before a call, and takes yes for yes', async () => {
    const shell = await terminal({ script: [TOUCH, 'It is made.'] });
    shell.line('make it');
    const seen = await shell.shows('Answer [y');
    expect(seen).toContain('? Allow Bash?\n│ touch made');
    expect(shell.project.exists('made')).toBe(false);
    shell.line('y');
    await shell.shows('It is made.');
    expect(shell.project.exists('made')).toBe(true);
    shell.line('/exit');
    expect(await shell.exitCode()).toBe(0);
  });

  it('takes no for no, and passes the reason on', async () => {
    const shell = await terminal({ script: [TOUCH, 'Then not.', TOUCH] });
    shell.line('make it');
    await shell.shows('Answer [y');
    shell.line('n, use another name');
    await shell.shows('Then not.');
    expect(JSON.stringify(shell.server.requests[1]?.body)).toContain('use another name');
    shell.line('make it after all');
    await shell.shows(/Answer \[y[\s\S]*Answer \[y/);
    // Anything but a clear yes is a no.
    shell.line('n');
    await shell.shows('Interrupted while tools were running');
    expect(shell.project.exists('made')).toBe(false);
    shell.press('C-d');
    expect(await shell.exitCode()).toBe(0);
  });

  it('puts questions that arise together one after the other', async () => {
    const shell = await terminal({
      script: [
        {
          blocks: [
            { tool: 'Read', input: { file_path: '/etc/hostname' } },
            { tool: 'Read', input: { file_path: '/etc/hosts' } },
          ],
        },
        'Seen one of them.',
      ],
    });
    shell.line('look');
    expect(await shell.shows(/│ Read \/etc\/hostname[\s\S]*Answer \[/)).not.toMatch(
      /\/etc\/hosts\b/,
    );
    shell.line('y');
    await shell.shows(/│ Read \/etc\/hosts\n[\s\S]*Answer \[/);
    shell.line('n, not that one');
    await shell.shows('Seen one of them.');
    const results = JSON.stringify(shell.server.requests[1]?.body);
    expect(results).toContain('The user said no: not that one');
    expect(results.split('"is_error":true')).toHaveLength(2);
    shell.press('C-d');
    expect(await shell.exitCode()).toBe(0);
  });

  it('does not take what was typed before a question for its answer', async () => {
    const shell = await terminal({
      args: ['--allowedTools', 'Bash(sleep *)'],
      script: [{ tool: 'Bash', input: { command: 'sleep 1' } }, TOUCH, 'It is made.'],
    });
    shell.line('make it');
    await shell.shows('→ Bash sleep 1');
    shell.line('y');
    await shell.shows('Answer [y');
    expect(shell.project.exists('made')).toBe(false);
    shell.line('yes');
    await shell.shows('It is made.');
    expect(shell.project.exists('made')).toBe(true);
    // What was typed ahead has reached the model in the running turn.
    expect(JSON.stringify(shell.server.requests[1]?.body)).toContain('"text":"y"');
    shell.press('C-d');
    expect(await shell.exitCode()).toBe(0);
  });

  it('knows its commands', async () => {
    const shell = await terminal({ args: ['--model', 'first-model'], script: ['ok'] });
    shell.line('/help');
    await shell.shows('/compact [what to keep in mind]');
    shell.line('/model');
    expect(await shell.shows('Answer [1-7/c]')).toContain('model: first-model');
    // A command in the place of a number runs.
    shell.line('/model second-model');
    await shell.shows('model: second-model');
    shell.line('/mode acceptEdits');
    await shell.shows('Mode: acceptEdits');
    shell.line('/mode bypassPermissions');
    await shell.shows(/bypassPermissions was not enabled/);
    shell.line('/mode');
    await shell.shows('Answer [1-5/c]');
    shell.line('');
    shell.line('/nonsense');
    await shell.shows('Unknown command: /nonsense');
    shell.line('go');
    await shell.shows(/\nok/);
    expect(shell.server.requests[0]?.body).toMatchObject({ model: 'second-model' });
    shell.line('/exit');
    expect(await shell.exitCode()).toBe(0);
  });

  it('interrupts a running tool on Ctrl+C and goes on', async () => {
    const shell = await terminal({
      args: ['--allowedTools', 'Bash'],
      script: [
        { tool: 'Bash', input: { command: FIRST_SLEEP } },
        'After the interrupt.',
        { tool: 'Bash', input: { command: SECOND_SLEEP } },
        'After the second.',
      ],
    });
    for (const [index, sleep, after] of [
      [1, FIRST_SLEEP, 'After the interrupt.'],
      [2, SECOND_SLEEP, 'After the second.'],
    ] as const) {
      shell.line('take your time');
      await shell.shows(`→ Bash ${sleep}`);
      await until(() => lives(sleep));
      shell.press('C-c');
      await shell.shows(new RegExp(`(Interrupted while tools were running[^]*){${index}}`));
      expect(lives(sleep)).toBe(false);
      shell.line('go on');
      await shell.shows(after);
    }
    shell.press('C-d');
    expect(await shell.exitCode()).toBe(0);
  });

  it('takes Ctrl+C at a question for no, and the next line for a prompt', async () => {
    const shell = await terminal({ script: [TOUCH, 'A new beginning.'] });
    shell.line('make it');
    await shell.shows('Answer [y');
    shell.press('C-c');
    await shell.shows('Interrupted while tools were running');
    shell.line('y');
    await shell.shows('A new beginning.');
    expect(shell.project.exists('made')).toBe(false);
    shell.press('C-d');
    expect(await shell.exitCode()).toBe(0);
  });

  it('takes a paste as one prompt, and a line that is continued', async () => {
    const shell = await terminal({ script: ['One answer.', 'Another one.'] });
    shell.paste('first\nsecond\nthird');
    await shell.shows('> first⏎second⏎third');
    expect(shell.server.requests).toEqual([]);
    shell.press('Enter');
    await shell.shows('One answer.');
    shell.line('go \\');
    shell.line('on');
    await shell.shows('Another one.');
    const bodies = shell.server.requests.map(({ body }) => JSON.stringify(body));
    expect(bodies[0]).toContain('first\\nsecond\\nthird');
    expect(bodies[1]).toContain('go \\non');
    expect(bodies).toHaveLength(2);
  });

  it('answers the questions of the model', async () => {
    const options = ['Red', 'Blue'].map((label) => ({ label, description: `${label} paint` }));
    const ask = (question: string, multiSelect: boolean) => ({
      question,
      header: 'Paint',
      multiSelect,
      options,
    });
    const questions = [ask('Which colour?', false), ask('Which colours?', true)];
    const shell = await terminal({
      script: [{ tool: 'AskUserQuestion', input: { questions } }, 'Understood.'],
    });
    shell.line('ask me');
    await shell.shows(/2 {2}Blue\n +Blue paint\n[\s\S]*Answer \[a number/);
    shell.line('2');
    await shell.shows('Answer [numbers');
    shell.line('1,2');
    await shell.shows('Understood.');
    const sent = JSON.stringify(shell.server.requests[1]?.body);
    expect(sent).toContain('Which colour?\\n→ Blue');
    expect(sent).toContain('Which colours?\\n→ Red, Blue');
  });

  it('starts a turn for background work that ends while nothing runs', async () => {
    const input = { command: 'sleep 1; echo ENDED', run_in_background: true };
    const shell = await terminal({
      args: ['--allowedTools', 'Bash'],
      script: [{ tool: 'Bash', input }, 'It runs.', 'It has ended.'],
    });
    shell.line('start it');
    await shell.shows('It runs.');
    shell.press('h', 'a', 'l', 'f');
    await shell.shows(/It has ended\.\s+> half/);
    expect(JSON.stringify(shell.server.requests[2]?.body)).toContain('task-notification');
  });

  it('answers a question of a background agent where it appears', async () => {
    const input = {
      description: 'a file',
      prompt: 'AGENT-TASK',
      subagent_type: 'general-purpose',
      run_in_background: true,
    };
    const reply: ReplyFunction = ({ anyUser, lastUser }) => {
      if (anyUser.includes('task-notification')) return 'The agent has reported.';
      if (lastUser.includes('AGENT-TASK')) return TOUCH;
      if (lastUser.includes('PERSON-PROMPT')) return { tool: 'Agent', input };
      return lastUser.includes('no output') ? 'The file is made.' : 'It works.';
    };
    const replies = Array.from({ length: 5 }, () => reply);
    const shell = await terminal({ script: replies });
    shell.line('PERSON-PROMPT');
    const seen = await shell.shows('Answer [y');
    expect(seen).toContain('? Allow Bash? · asked by main/general-purpose#1 (background)');
    shell.line('y');
    await shell.shows('The agent has reported.');
    expect(shell.project.exists('made')).toBe(true);
    shell.press('C-d');
    expect(await shell.exitCode()).toBe(0);
  });

  it('comes back from the background', async () => {
    const shell = await terminal({ script: ['Here again.'] });
    shell.press('C-z');
    await shell.shows('Stopped');
    shell.line('fg');
    await shell.shows(/fg[\s\S]*> /);
    shell.line('hello');
    await shell.shows('Here again.');
  });

  it('starts a new conversation and returns to the old one', async () => {
    const shell = await terminal({ script: ['First words.', 'Second words.', 'Third words.'] });
    shell.line('one');
    await shell.shows('First words.');
    shell.line('/clear');
    await shell.shows('New conversation.');
    shell.line('two');
    await shell.shows('Second words.');
    expect(JSON.stringify(shell.server.requests[1]?.body)).not.toContain('First words.');
    shell.line('/resume');
    await shell.shows('Answer [1/c]');
    shell.line('1');
    await shell.shows(/Answer \[1\/c\][\s\S]*> one\s+First words\./);
    shell.line('three');
    await shell.shows('Third words.');
    const sent = JSON.stringify(shell.server.requests[2]?.body);
    expect(sent).toContain('First words.');
    expect(sent).not.toContain('Second words.');
  });

  it('leaves on the second Ctrl+C when nothing runs', async () => {
    const shell = await terminal({ script: [] });
    shell.press('C-c');
    await shell.shows('Press Ctrl+C again to quit.');
    shell.press('C-c');
    expect(await shell.exitCode()).toBe(130);
  });

  it('never lets control characters of the model or of a file through', async () => {
    const evil = '\u001b]0;OWNED\u0007\u001b[2J\u001b[31mred\u0007\u0008\u009b31m';
    const shell = await terminal({
      files: { 'evil.txt': `${evil}FROM-A-FILE\n` },
      script: [
        { text: `${evil}FROM-THE-MODEL`, tool: 'Read', input: { file_path: 'evil.txt' } },
        { tool: `Bash${evil}`, input: { command: 'x' } },
        { tool: 'Bash', input: { command: `echo ${evil}; touch IN-A-QUESTION` } },
        'The end.',
      ],
    });
    shell.line('go');
    await shell.shows('Answer [y');
    shell.line('n, no');
    await shell.shows('The end.');
    // The whole turn, with what was read.
    shell.press('C-o');
    const seen = await shell.shows(/The end\.[\s\S]*The end\./);
    // A screen that had been cleared, or coloured red, would not hold all of it.
    for (const text of ['FROM-THE-MODEL', 'FROM-A-FILE', 'IN-A-QUESTION', '/help lists commands'])
      expect(seen).toContain(text);
    expect(shell.title()).not.toContain('OWNED');
    shell.press('C-d');
    expect(await shell.exitCode()).toBe(0);
  });
});
