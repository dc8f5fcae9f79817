import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { openTerminal, type Terminal } from '../e2e/terminal.js';
import { userTexts } from '../e2e/worlds.js';
import { describeWith } from '../support/programs.js';

const outside = mkdtempSync(path.join(tmpdir(), 'outside-'));
const out = path.join(outside, 'out.md');
afterAll(() => rmSync(outside, { recursive: true, force: true }));
let terminal: Terminal | undefined;
afterEach(async () => {
  await terminal?.close();
  terminal = undefined;
});

async function open(): Promise<Terminal> {
  writeFileSync(out, `OUTSIDE_TEXT @${outside}/more.md`);
  writeFileSync(path.join(outside, 'more.md'), 'MORE_TEXT');
  terminal = await openTerminal({
    script: ['ANSWERED'],
    files: { 'CLAUDE.md': `ROOT_TEXT @${out}` },
  });
  await terminal.shows(/Include them\?[\s\S]*Answer \[y\/n\/l\]/);
  return terminal;
}

const stored = ({ project }: Terminal): readonly string[] => {
  try {
    return readdirSync(path.join(project.home, '.portcullis/includes'));
  } catch {
    // Nothing was ever kept.
    return [];
  }
};

describeWith(['tmux'], 'includes from outside in a terminal', () => {
  it('are asked about by name, each round of them, and shown after a yes', async () => {
    const shell = await open();
    expect(shell.screen()).toContain(out);
    shell.line('y');
    // What an approved file names is a question of its own.
    await shell.shows(/more\.md[\s\S]*Answer \[/);
    shell.line('n');
    await shell.shows('/help lists commands');
    shell.line('/context');
    const screen = await shell.shows(/Skills: \d+ listed/);
    expect(screen).toMatch(/out\.md {2}\(project file; included by CLAUDE\.md\)/);
    expect(screen).toContain('a person has declined it');
    expect(shell.server.requests).toEqual([]);
    shell.line('hello');
    await shell.shows('ANSWERED');
    const text = userTexts(shell.server.requests[0]?.body).join('\n');
    expect(text).toContain('OUTSIDE_TEXT');
    expect(text).not.toContain('MORE_TEXT');
    shell.line('/context');
    expect(await shell.shows(/ answers {2}/)).toMatch(/prompts {2}\d/);
    expect(stored(shell)).toHaveLength(1);
  });

  it.each([
    ['n', 'Not included.', 1],
    ['yess', 'Not included this time.', 0],
    ['', 'Not included this time.', 0],
  ])('are not shown after %j', async (answer, words, kept) => {
    const shell = await open();
    shell.line(answer);
    await shell.shows(words);
    await shell.shows('/help lists commands');
    shell.line('hello');
    await shell.shows('ANSWERED');
    expect(userTexts(shell.server.requests[0]?.body).join('\n')).not.toContain('OUTSIDE_TEXT');
    expect(stored(shell)).toHaveLength(kept);
  });
});
