import { readFileSync, writeFileSync } from 'node:fs';
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
  await opened.shows(READY);
  return opened;
}

const bodyOf = (shell: Terminal, index: number): string =>
  JSON.stringify(shell.server.requests[index]?.body);

/** One pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

describeWith(['tmux'], 'input in the terminal', () => {
  it('runs a ! command through the gate and tells the model with the next prompt', async () => {
    const shell = await terminal({
      script: ['I see.'],
      files: { '.claude/settings.json': { json: { permissions: { deny: ['Bash(rm *)'] } } } },
    });
    shell.line('!printf "printed-%s" here | tee made');
    await shell.shows('printed-here');
    expect(shell.project.read('made')).toBe('printed-here');
    shell.line('!rm made');
    await shell.shows('Bash(rm *)');
    expect(shell.project.exists('made')).toBe(true);
    shell.line('!sleep 60');
    await shell.shows(/sleep 60[\s\S]*Running tools/);
    shell.press('Escape');
    await shell.shows('✗ Bash sleep 60');
    shell.line('/why');
    await shell.shows('typed by the person');
    shell.line('what did I run?');
    await shell.shows('I see.');
    expect(bodyOf(shell, 0)).toContain('<bash-stdout>printed-here</bash-stdout>');
  });

  it('runs a ! command in append-only mode, too', async () => {
    const shell = await openTerminal({ script: ['I see.'] });
    open.push(shell);
    await shell.shows(/^> ?$/m);
    shell.line('!printf "printed-%s" here');
    await shell.shows('printed-here');
    shell.line('what did I run?');
    await shell.shows('I see.');
    expect(bodyOf(shell, 0)).toContain('<bash-stdout>printed-here</bash-stdout>');
  });

  it('adds a # note to the file that the person chooses', async () => {
    const shell = await terminal({
      script: ['Yes.', 'Tabs it is.'],
      files: { 'CLAUDE.md': 'Be brief.\n' },
    });
    shell.line('hello');
    await shell.shows('Yes.');
    shell.line('# Always use tabs');
    const asked = await shell.shows(ASKS);
    expect(asked).toContain('Add this to the instructions of which file?');
    expect(asked).toContain('CLAUDE.local.md (new file)');
    shell.press('p');
    await shell.shows(/Added to .*CLAUDE\.md/);
    expect(readFileSync(shell.project.at('CLAUDE.md'), 'utf8')).toBe(
      'Be brief.\n- Always use tabs\n',
    );
    shell.line('which?');
    await shell.shows('Tabs it is.');
    expect(bodyOf(shell, 1)).toContain('- Always use tabs');
  });

  it('completes @ files by their letters, without those that are ignored', async () => {
    const shell = await terminal({
      script: ['Read.'],
      files: {
        'src/client/turn-runner.ts': 'const marked = "here";\n',
        'out/turn-runner.js': 'x\n',
        '.gitignore': 'out/\n',
      },
    });
    shell.type('look at @turnrun');
    const menu = await shell.shows('src/client/turn-runner.ts');
    expect(menu).not.toContain('out/turn-runner.js');
    shell.press('Tab');
    await shell.shows('> look at @src/client/turn-runner.ts');
    shell.press('Enter');
    await shell.shows('Read.');
    expect(bodyOf(shell, 0)).toContain('marked');
  });

  it('sends an image whose path is typed, with @ or without', async () => {
    const shell = await terminal({ script: ['A pixel.', 'Again.'] });
    writeFileSync(shell.project.at('a.png'), Buffer.from(PNG, 'base64'));
    shell.line('what is on a.png?');
    await shell.shows('A pixel.');
    expect(bodyOf(shell, 0)).toContain(PNG);
    shell.line('and on @a.png');
    await shell.shows('Again.');
    expect(bodyOf(shell, 1).split(PNG)).toHaveLength(3);
  });
});
