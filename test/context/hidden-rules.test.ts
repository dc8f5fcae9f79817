import { describe, expect, it } from 'vitest';
import { bookWorld } from './book-rig.js';

const isHidden = async (file: string) => file.includes('/secrets/');

describe('a link in the rules of a project', () => {
  it.each([
    ['a file', { 'project/.claude/rules/x.md': { link: '../../secrets/x.md' } }],
    ['a directory', { 'project/.claude/rules/deep': { link: '../../secrets' } }],
    ['all of them', { 'project/.claude/rules': { link: '../secrets' } }],
    ['the folder of settings', { 'project/.claude': { link: 'secrets/in' } }],
  ])('that leads %s to what a rule hides does not show it', async (_what, links) => {
    const world = bookWorld({
      'project/secrets/x.md': 'SECRET',
      'project/secrets/in/rules/x.md': 'SECRET',
      'project/secrets/in/CLAUDE.md': 'SECRET',
      'project/CLAUDE.md': 'OPEN',
      ...links,
    });
    const found = await world.book({ isHidden, trusted: true }).open();
    expect(world.texts(found)).toEqual(['OPEN']);
  });
});
