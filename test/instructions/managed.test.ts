import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { instructionSettings } from '../../src/context/instructions/settings.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { loadSettings } from '../../src/settings/files/load.js';
import { bookWorld, type Files } from '../context/book-rig.js';

const KEY = JSON.stringify({ claudeMd: 'MANAGED_WORDS' });

/** What is shown when these files are read by the real loader of settings. */
async function shownWith(files: Files): Promise<{ texts: readonly string[]; problems: number }> {
  const world = bookWorld(files);
  const { settings, problems } = await loadSettings({
    fs: nodeFileSystem,
    cwd: path.join(world.root, 'project'),
    configDir: path.join(world.root, 'home/.claude'),
    managedDir: path.join(world.root, 'managed'),
    sources: ['user', 'project', 'local'],
    trustProject: true,
    env: { HOME: path.join(world.root, 'home') },
  });
  const book = world.book({ settings: instructionSettings(settings.values).settings });
  return { texts: world.texts(await book.open()), problems: problems.length };
}

describe('claudeMd', () => {
  it('of an administrator is shown first', async () => {
    const files = { 'managed/managed-settings.json': KEY, 'project/CLAUDE.md': 'PROJECT' };
    expect(await shownWith(files)).toEqual({ texts: ['MANAGED_WORDS', 'PROJECT'], problems: 0 });
  });

  it.each(['home/.claude/settings.json', 'project/.claude/settings.json'])(
    'of %s is nobody’s word',
    async (file) => {
      const { texts, problems } = await shownWith({ [file]: KEY, 'project/CLAUDE.md': 'PROJECT' });
      expect(texts).toEqual(['PROJECT']);
      expect(problems).toBeGreaterThan(0);
    },
  );
});
