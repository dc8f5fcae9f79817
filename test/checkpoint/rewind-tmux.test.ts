import { afterEach, expect, it } from 'vitest';
import { openTerminal, type Terminal } from '../e2e/terminal.js';
import { describeWith } from '../support/programs.js';

const open: Terminal[] = [];
afterEach(async () => {
  for (const terminal of open.splice(0)) await terminal.close();
});

const DELETE = { tool: 'Bash', input: { command: 'rm kept.txt; echo new > made.txt' } } as const;

describeWith(['tmux'], 'going back in a terminal', () => {
  it('Esc Esc shows the points, restores files and conversation, and gives the prompt back', async () => {
    const shell = await openTerminal({
      files: { 'kept.txt': 'kept\n' },
      args: ['--allowedTools', 'Bash'],
      script: ['First answer.', DELETE, 'Deleted.', 'Third answer.'],
    });
    open.push(shell);
    await shell.shows('/help lists commands');
    shell.line('remember the number 17');
    await shell.shows('First answer.');
    shell.line('delete it');
    await shell.shows('Deleted.');
    expect(shell.project.exists('kept.txt')).toBe(false);

    shell.press('Escape', 'Escape');
    const points = await shell.shows('Rewind to before which prompt?');
    expect(points).toContain('remember the number 17');
    await shell.shows('Answer [1-2/c]');
    shell.line('1');
    const preview = await shell.shows('Answer [1-3/c]');
    expect(preview).toMatch(/create +kept\.txt/);
    expect(preview).toMatch(/delete +made\.txt/);
    shell.line('1');
    await shell.shows('The conversation is back where it was.');
    expect(shell.project.read('kept.txt')).toBe('kept\n');
    expect(shell.project.exists('made.txt')).toBe(false);

    // The prompt stands in the line again, behind the sign: Enter sends it.
    await shell.shows(/\n> delete it\s*$/);
    shell.press('Enter');
    await shell.shows('Third answer.');
    const sent = JSON.stringify(shell.server.requests.at(-1)?.body);
    expect(sent).toContain('remember the number 17');
    expect(sent).toContain('delete it');
    expect(sent).not.toContain('Deleted.');
    shell.line('/changes');
    await shell.shows('a rewind');
    shell.press('C-d');
    expect(await shell.exitCode()).toBe(0);
  }, 300_000);

  it('leaves everything as it is when the person chooses nothing', async () => {
    const shell = await openTerminal({
      files: { 'kept.txt': 'kept\n' },
      args: ['--allowedTools', 'Bash'],
      script: [DELETE, 'Deleted.'],
    });
    open.push(shell);
    await shell.shows('/help lists commands');
    shell.line('delete it');
    await shell.shows('Deleted.');
    shell.line('/rewind 1');
    await shell.shows('Answer [1-3/c]');
    shell.line('');
    shell.line('/rewind 7');
    await shell.shows('there is no point 7');
    expect(shell.project.exists('kept.txt')).toBe(false);
    shell.press('C-d');
    expect(await shell.exitCode()).toBe(0);
  }, 300_000);
});
