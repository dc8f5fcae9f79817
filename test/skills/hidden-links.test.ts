import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentBook } from '../../src/agents/definitions/definitions.js';
import { hiddenBy, type IsHidden } from '../../src/permissions/paths/hidden-files.js';
import { parseRules } from '../../src/permissions/rules/rules.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { openWorld, type WorldOptions } from './rig.js';

const FILES = {
  'secrets/note.md': '---\nname: note\ndescription: d\n---\nSECRET',
  'secrets/s/SKILL.md': 'SECRET',
  'open/s/SKILL.md': 'OPEN',
  'open/other.md': 'OTHER',
  'open/note.md': '---\nname: open\ndescription: d\n---\nOPEN',
  '.claude/skills/plain/SKILL.md': 'PLAIN',
};

/** A trusted project with links to files that a rule hides, and to such that none does. */
function linked(deny: string, options: WorldOptions = {}) {
  let isHidden: IsHidden = async () => false;
  const world = openWorld({
    files: FILES,
    trusts: async () => true,
    isHidden: (file) => isHidden(file),
    ...options,
  });
  const { project } = world;
  const rule = { value: { text: deny, root: project.directory }, source: 'user', trusted: true };
  const { rules } = parseRules(
    { allow: [], ask: [], deny: [{ ...rule, source: 'user' as const }] },
    { cwd: project.directory, home: project.home },
  );
  const place = { fs: nodeFileSystem, roots: [project.directory], home: project.home };
  isHidden = hiddenBy(rules, place) ?? isHidden;
  const link = (at: string, to: string) => {
    mkdirSync(path.dirname(project.at(at)), { recursive: true });
    symlinkSync(project.at(to), project.at(at));
  };
  return { ...world, link, isHidden: (file: string) => isHidden(file) };
}

describe('a link to a file that a Read rule hides', () => {
  it('shows it as no skill and no command', async () => {
    const { link, names, reason } = linked('Read(./secrets/**)');
    link('.claude/skills/file/SKILL.md', 'secrets/note.md');
    link('.claude/skills/folder', 'secrets/s');
    link('.claude/commands/command.md', 'secrets/note.md');
    link('.claude/commands/folder', 'secrets');
    link('.claude/skills/shown/SKILL.md', 'open/note.md');
    link('.claude/commands/offered.md', 'open/other.md');
    expect(await names()).toEqual(['plain', 'shown', 'offered']);
    for (const name of ['file', 'folder', 'command', 'folder:note'])
      expect(await reason(name)).toContain('a permission rule keeps from');
  });

  it('shows it neither where all of the directory is a link', async () => {
    const { link, names } = linked('Read(./moved/b/**)', {
      files: { 'moved/a/SKILL.md': 'A', 'moved/b/SKILL.md': 'B' },
    });
    link('.claude/skills', 'moved');
    expect(await names()).toEqual(['a']);
  });

  it('hides it as well by the name of the link', async () => {
    const { link, names } = linked('Read(.claude/skills/file/**)');
    link('.claude/skills/file/SKILL.md', 'open/note.md');
    expect(await names()).toEqual(['plain']);
  });

  it('is none where the project itself is reached by a link', async () => {
    const { project, isHidden } = linked('Read(./.claude/**)');
    symlinkSync(project.directory, path.join(project.root, 'way'));
    const { names } = openWorld({ cwd: path.join(project.root, 'way'), isHidden });
    expect(await names()).toEqual(['plain']);
  });

  it('shows it as no agent', async () => {
    const { link, project, isHidden } = linked('Read(./secrets/**)');
    link('.claude/agents/hidden.md', 'secrets/note.md');
    link('.claude/agents/below', 'secrets');
    link('.claude/agents/shown.md', 'open/note.md');
    const book = new AgentBook({
      fs: nodeFileSystem,
      cwd: project.directory,
      configDir: path.join(project.home, '.claude'),
      managedDir: path.join(project.root, 'managed'),
      sources: ['user', 'project', 'local'],
      additionalDirectories: () => [],
      trusts: async () => true,
      isHidden,
    });
    const found = await book.list();
    const ours = found.filter(({ file }) => file?.startsWith(project.directory));
    expect(ours.map(({ name }) => name)).toEqual(['open']);
  });
});
