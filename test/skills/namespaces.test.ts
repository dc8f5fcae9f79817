import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { skillNotice } from '../../src/skills/listing/listing.js';
import { oneSkill, openWorld, skillText } from './rig.js';

const noticeOf = async ({ book }: ReturnType<typeof openWorld>): Promise<string | undefined> =>
  skillNotice(await book.list(), await book.skipped());

describe('commands in folders', () => {
  it('are called by their folders and their file, with colons between', async () => {
    const world = openWorld({
      files: {
        '.claude/commands/sc/implement.md': 'Implement it.',
        '.claude/commands/a/b/c.md': 'Deep.',
        '.claude/commands/gsd:plan.md': 'Plan.',
        '.claude/commands/top.md': 'Top.',
      },
    });
    expect(await world.names()).toEqual(['a:b:c', 'gsd:plan', 'sc:implement', 'top']);
    expect((await world.book.find('/sc:implement'))?.head.description).toBe('Implement it.');
    expect(await world.book.find('implement')).toBeUndefined();
    expect(await noticeOf(world)).toBeUndefined();
  });

  it('of one file name in two folders are two commands', async () => {
    const files = { '.claude/commands/a/go.md': 'A.', '.claude/commands/b/go.md': 'B.' };
    expect(await openWorld({ files }).names()).toEqual(['a:go', 'b:go']);
  });

  it.each(['a::b.md', ':a.md', 'a:.md', 'x y/c.md', 'mcp__s/c.md', 'a*b.md'])(
    'are told of when no command can be called so: %s',
    async (file) => {
      const world = openWorld({ files: { [`.claude/commands/${file}`]: 'Text.' } });
      expect(await world.names()).toEqual([]);
      expect(await noticeOf(world)).toContain(world.project.at(`.claude/commands/${file}`));
    },
  );

  it('that clash are told at the start with both files', async () => {
    const world = openWorld({
      files: { '.claude/commands/a/b.md': 'One.', '.claude/commands/a:b.md': 'Two.' },
    });
    expect(await world.names()).toEqual(['a:b']);
    const notice = await noticeOf(world);
    expect(notice).toContain(world.project.at('.claude/commands/a/b.md'));
    expect(notice).toContain(world.project.at('.claude/commands/a:b.md'));
  });
});

describe('skills and commands of a plugin', () => {
  const plugin = (world: { readonly root: string }) => ({
    name: 'hookify',
    directory: path.join(world.root, 'hookify'),
    trusted: true,
  });
  const open = (files: Record<string, string>, project: Record<string, string> = {}) => {
    const at = openWorld({
      files: {
        ...project,
        ...Object.fromEntries(
          Object.entries(files).map(([name, text]) => [`hookify/${name}`, text]),
        ),
      },
    });
    const place = { root: at.project.directory };
    return openWorldAgain(at, plugin(place));
  };
  const openWorldAgain = (
    { project }: ReturnType<typeof openWorld>,
    place: { readonly name: string; readonly directory: string; readonly trusted: boolean },
  ) => openWorld({ plugins: [place], cwd: project.directory });

  it('have their folders in their names', async () => {
    const world = open({ 'commands/a/c.md': 'C.', 'commands/top.md': 'Top.' });
    expect(await world.names()).toEqual(['hookify:a:c', 'hookify:top']);
  });

  it('are found by the name of the head and by that of the directory', async () => {
    const text = skillText('name: writing-hookify-rules\ndescription: d');
    const world = open({ 'skills/writing-rules/SKILL.md': text });
    expect(await world.names()).toEqual(['hookify:writing-hookify-rules']);
    for (const name of ['hookify:writing-hookify-rules', 'hookify:writing-rules', 'writing-rules'])
      expect((await world.book.find(name))?.name).toBe('hookify:writing-hookify-rules');
  });

  it('give their directory name to the skill whose own name it is', async () => {
    const world = open({
      'skills/one/SKILL.md': skillText('name: two\ndescription: First'),
      'skills/three/SKILL.md': skillText('name: one\ndescription: Second'),
    });
    expect((await world.book.find('hookify:one'))?.head.description).toBe('Second');
  });

  it('keep their names from commands in a folder called like the plugin, which is told', async () => {
    const world = open(
      { 'commands/go.md': 'Of the plugin.' },
      { '.claude/commands/hookify/go.md': 'Of the project.' },
    );
    expect((await world.book.find('hookify:go'))?.head.description).toBe('Of the plugin.');
    expect(await noticeOf(world)).toContain('.claude/commands/hookify/go.md');
  });
});

describe('the notice at the start', () => {
  it('names a misspelt restriction with its line and the right spelling', async () => {
    const files = {
      '.claude/skills/s/SKILL.md': skillText('description: d\ndisallowed-tool: Bash'),
      ...oneSkill('fine'),
    };
    const world = openWorld({ files });
    expect(await world.names()).toEqual(['fine']);
    const notice = await noticeOf(world);
    expect(notice).toContain('write disallowed-tools');
    expect(notice).toContain('line 3');
  });

  it('names a grant that cannot be read, and says nothing about unknown fields', async () => {
    const head = 'description: Use when: asked\nallowed-tools: "Bash';
    const files = {
      '.claude/skills/s/SKILL.md': skillText(head),
      '.claude/skills/t/SKILL.md': skillText('description: d\nversion: 1\ntags: [a]'),
    };
    const notice = await noticeOf(openWorld({ files }));
    expect(notice).toContain('SKILL.md:3: "allowed-tools" is not clear');
    expect(notice).not.toContain('/t/');
  });
});
