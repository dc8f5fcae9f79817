import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openWorld } from './rig.js';

describe('links that leave the project', () => {
  const outside = {
    'secret/key.txt': 'KEY',
    'secret/notes.md': 'NOTES',
    'secret/sk/SKILL.md': 'SHARED',
  };
  const links = (home: string) => ({
    key: path.join(home, 'secret/key.txt'),
    notes: path.join(home, 'secret/notes.md'),
    sk: path.join(home, 'secret/sk'),
  });
  const made = (options: Parameters<typeof openWorld>[0] = {}) => {
    const world = openWorld({ ...options, home: outside });
    const { key, notes, sk } = links(world.project.home);
    const at = (name: string) => world.project.at(`.claude/skills/${name}`);
    for (const name of ['key', 'notes']) mkdirSync(at(name), { recursive: true });
    symlinkSync(key, at('key/SKILL.md'));
    symlinkSync(notes, at('notes/SKILL.md'));
    symlinkSync(sk, at('dir'));
    mkdirSync(world.project.at('.claude/commands'));
    symlinkSync(notes, world.project.at('.claude/commands/cmd.md'));
    return world;
  };

  it('are not followed in a folder that nobody trusts', async () => {
    const { names, reason } = made();
    expect(await names()).toEqual([]);
    for (const name of ['notes', 'dir', 'cmd'])
      expect(await reason(name)).toContain('trust the folder');
    expect(await reason('key')).toContain('no Markdown');
  });

  it('are followed in a trusted one, to Markdown only', async () => {
    const { names } = made({ trusts: async () => true });
    expect(await names()).toEqual(['dir', 'notes']);
  });

  it('are followed to an added directory', async () => {
    const added: string[] = [];
    const { project, names } = made({ additionalDirectories: () => added });
    added.push(path.join(project.home, 'secret/sk'));
    expect(await names()).toEqual(['dir']);
  });

  it('are the user’s own business in the user’s directory', async () => {
    const world = openWorld({ home: outside });
    mkdirSync(path.join(world.project.home, '.claude/skills'), { recursive: true });
    symlinkSync(links(world.project.home).sk, path.join(world.project.home, '.claude/skills/mine'));
    expect(await world.names()).toEqual(['mine']);
  });

  it('a link to the whole directory is looked through as well', async () => {
    const world = openWorld({ home: { 'secret/skills/s/SKILL.md': 'S' } });
    mkdirSync(world.project.at('.claude'));
    symlinkSync(path.join(world.project.home, 'secret/skills'), world.project.at('.claude/skills'));
    expect(await world.names()).toEqual([]);
  });

  it('a link that is answered by an exception is no trust', async () => {
    const { names } = made({ trusts: () => Promise.reject(new Error('no')) });
    expect(await names()).toEqual([]);
  });
});
