import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { oneSkill as one, openWorld, skillText } from './rig.js';

describe('who may use what', () => {
  it('goes by skillOverrides', async () => {
    const files = { ...one('a'), ...one('b'), ...one('c') };
    const overrides = new Map([
      ['a', 'off'],
      ['b', 'user-invocable-only'],
    ] as const);
    const world = openWorld({ files, override: (name) => overrides.get(name as 'a' | 'b') });
    expect(await world.names()).toEqual(['b', 'c']);
    expect(await world.book.find('a')).toBeUndefined();
    expect(await world.reason('a')).toContain('skillOverrides');
    expect((await world.book.find('b'))?.head.disableModelInvocation).toBe(true);
  });

  it('asks about trust anew when a skill is used', async () => {
    let trusted = true;
    const { book } = openWorld({ files: one('a'), trusts: async () => trusted });
    expect((await book.find('a'))?.trusted).toBe(true);
    trusted = false;
    expect((await book.find('a'))?.trusted).toBe(false);
  });

  it.skipIf(process.platform === 'win32')(
    'a managed skill that others can write is none',
    async () => {
      const { project, names, reason } = openWorld();
      const directory = path.join(project.root, 'managed/.claude/skills/p');
      mkdirSync(directory, { recursive: true });
      writeFileSync(path.join(directory, 'SKILL.md'), 'x');
      chmodSync(path.join(directory, 'SKILL.md'), 0o666);
      expect(await names()).toEqual([]);
      expect(await reason('p')).toContain('others than the administrator');
    },
  );
});

describe('changes on disk', () => {
  it('are seen when a skill is used, and when the book is read again', async () => {
    const { book, project, names } = openWorld({ files: { ...one('a', 'first') } });
    const [before] = await book.list();
    project.write('.claude/skills/a/SKILL.md', skillText('description: second', 'NEW BODY'));
    await expect(before?.body()).rejects.toThrow('has changed');
    const now = await book.find('/a');
    expect(now?.head.description).toBe('second');
    expect(await now?.body()).toBe('NEW BODY');
    expect(await book.refresh()).toBe(false);
    project.write('.claude/skills/b/SKILL.md', 'B');
    expect(await names()).toEqual(['a']);
    expect(await book.refresh()).toBe(true);
    expect(await names()).toEqual(['a', 'b']);
    rmSync(project.at('.claude/skills/a'), { recursive: true });
    expect(await book.find('a')).toBeUndefined();
  });

  it('can be refused', async () => {
    const asked: string[] = [];
    const { book, project, names, reason } = openWorld({
      files: { ...one('a'), ...one('b') },
      veto: async (file) => {
        asked.push(file);
        if (file.includes('/c/')) throw new Error('silence');
        return 'no changes today';
      },
    });
    expect(await names()).toEqual(['a', 'b']);
    expect(asked).toEqual([]);
    project.write('.claude/skills/a/SKILL.md', 'CHANGED');
    project.write('.claude/skills/c/SKILL.md', 'NEW');
    // The version from before stays in force.
    expect(await (await book.find('a'))?.body()).toBe('B_a');
    expect(await book.refresh()).toBe(false);
    expect(asked).toEqual([
      project.at('.claude/skills/a/SKILL.md'),
      project.at('.claude/skills/c/SKILL.md'),
    ]);
    expect(await names()).toEqual(['a', 'b']);
    expect(await reason('c')).toContain('silence');
  });
});
