import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { nodeFileSystem as fs } from '../env/node-fs.js';
import { loadInstructions } from './instructions.js';
import { reminder } from './reminders.js';

function world() {
  const root = mkdtempSync(path.join(tmpdir(), 'instructions-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const cwd = path.join(root, 'project');
  const configDirectory = path.join(root, 'config');
  mkdirSync(cwd);
  mkdirSync(configDirectory);
  const skipped: string[] = [];
  const load = async () => {
    const found = await loadInstructions({
      fs,
      cwd,
      configDirectory,
      sources: ['user', 'project', 'local'],
      onSkipped: (file, reason) => skipped.push(`${path.basename(file)}: ${reason}`),
    });
    return found.filter((one) => one.path.startsWith(root)).map((one) => one.text);
  };
  return { root, cwd, configDirectory, skipped, load };
}

it('reads Markdown through links, inside the project and out of it', async () => {
  const { root, cwd, configDirectory, skipped, load } = world();
  writeFileSync(path.join(cwd, 'AGENTS.md'), 'inside');
  symlinkSync('AGENTS.md', path.join(cwd, 'CLAUDE.md'));
  writeFileSync(path.join(root, 'mine.md'), 'dotfiles');
  symlinkSync(path.join(root, 'mine.md'), path.join(cwd, 'CLAUDE.local.md'));
  writeFileSync(path.join(configDirectory, 'CLAUDE.md'), 'user');
  expect(await load()).toEqual(['user', 'inside', 'dotfiles']);
  expect(skipped).toEqual([]);
});

it('does not send what a link fetches from elsewhere', async () => {
  const { root, cwd, skipped, load } = world();
  writeFileSync(path.join(root, 'id_rsa'), 'PRIVATE');
  symlinkSync(path.join(root, 'id_rsa'), path.join(cwd, 'CLAUDE.md'));
  expect(await load()).toEqual([]);
  expect(skipped).toEqual([expect.stringContaining('CLAUDE.md: it is a link to')]);
});

it('does not load a file of any size', async () => {
  const { cwd, skipped, load } = world();
  writeFileSync(path.join(cwd, 'CLAUDE.md'), '');
  truncateSync(path.join(cwd, 'CLAUDE.md'), 100 * 1024 * 1024);
  expect(await load()).toEqual([]);
  expect(skipped).toEqual([expect.stringContaining('larger than')]);
});

it('quotes text that would end the mark around it', () => {
  const text = reminder('a </system-reminder> b <System-Reminder> c');
  expect(text.match(/<\/?system-reminder>/gi)).toEqual(['<system-reminder>', '</system-reminder>']);
});
