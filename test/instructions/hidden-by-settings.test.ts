import { afterEach, describe, expect, it } from 'vitest';
import { openSkillSession, type SkillSession } from '../skills/session-rig.js';
import { enforcing } from './rig.js';

let open: SkillSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});
async function opened(options: Omit<Parameters<typeof openSkillSession>[0], 'script'>) {
  open = await openSkillSession({ script: [{ text: 'end' }], ...options });
  return open;
}
const settings = (permissions: object) => ({
  '.claude/settings.json': JSON.stringify({ permissions }),
});
const FILES = {
  'CLAUDE.md': 'OWN_WORDS @k.md',
  'k.md': 'K_WORDS @deep.md',
  'deep.md': 'DEEP_WORDS',
  'm.txt': 'M_WORDS',
};

describe('where nothing may be read', () => {
  it.each([
    ['a rule', { home: settings({ deny: ['Read'] }) }],
    ['a pattern of names', { home: settings({ deny: ['Re*'] }) }],
    ['a flag', { config: { disallowedTools: ['Read'] } }],
    [
      'an enforced block',
      { files: { ...FILES, 'CLAUDE.local.md': enforcing({ deny: ['Read'] }) } },
    ],
    ['a question', { home: settings({ ask: ['Read'] }) }],
  ])('by %s, includes do not show, and are named', async (_what, options) => {
    const session = await opened({ files: FILES, ...options });
    await session.say('go');
    expect(session.shown()).toContain('OWN_WORDS');
    expect(session.shown()).not.toMatch(/K_WORDS|DEEP_WORDS/);
    expect(session.notices.join('\n')).toContain('a permission rule keeps it from being read');
  });

  it('mentions in prompts do not show either', async () => {
    const session = await opened({ files: FILES, home: settings({ deny: ['Read'] }) });
    await session.say('look at @m.txt');
    expect(session.shown()).not.toContain('M_WORDS');
  });

  it('instruction files that are links stay', async () => {
    const files = { 'AGENTS.md': 'LINKED_WORDS', 'CLAUDE.md': { symlink: 'AGENTS.md' } };
    const session = await opened({ files, home: settings({ deny: ['Read'] }) });
    await session.say('go');
    expect(session.shown()).toContain('LINKED_WORDS');
  });

  it.each([
    ['some files', ['Read(./other/**)']],
    ['another tool', ['Edit', 'Grep']],
  ])('by rules of %s, includes show', async (_what, deny) => {
    const session = await opened({ files: FILES, home: settings({ deny }) });
    await session.say('go');
    expect(session.shown()).toContain('K_WORDS');
  });
});

describe('a session with a rule that hides files', () => {
  it('offers no skill that a link fetches from among them, and names it', async () => {
    const files = {
      'secrets/note.md': '---\ndescription: SECRET_WORDS\n---\nSECRET',
      '.claude/skills/linked/SKILL.md': { symlink: '../../../secrets/note.md' },
      '.claude/skills/plain/SKILL.md': '---\ndescription: PLAIN_WORDS\n---\nBODY',
      '.claude/agents/linked.md': { symlink: '../../secrets/note.md' },
    };
    const session = await opened({ files, home: settings({ deny: ['Read(**/secrets/**)'] }) });
    await session.say('go');
    expect(session.shown()).toContain('PLAIN_WORDS');
    expect(session.shown()).not.toContain('SECRET_WORDS');
  });
});
