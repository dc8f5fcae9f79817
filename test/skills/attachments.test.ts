import { symlinkSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { skillText } from './rig.js';
import {
  openSkillSession,
  type SkillSession,
  type SkillSessionOptions,
  skill,
} from './session-rig.js';

let open: SkillSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});
async function start(options: SkillSessionOptions): Promise<SkillSession> {
  open = await openSkillSession(options);
  return open;
}

const skillFile = (name: string, body: string, head = 'description: d') => ({
  [`.claude/skills/${name}/SKILL.md`]: skillText(head, body),
});
const permissions = (value: unknown) => ({
  '.claude/settings.json': { json: { permissions: value } },
});
const ATTACHED = 'Contents of ';

describe('@path in the text of a skill', () => {
  it('attaches the file, seen from the skill first and then from the project', async () => {
    const session = await start({
      files: {
        ...skillFile('s', 'Follow @style.md and @docs/guide.md for @nobody.'),
        '.claude/skills/s/style.md': 'OWN STYLE',
        'style.md': 'STYLE OF THE PROJECT',
        'docs/guide.md': 'GUIDE',
      },
      script: [skill('s'), 'done'],
    });
    await session.say('go');
    const shown = session.shown();
    expect(shown).toContain('OWN STYLE');
    expect(shown).not.toContain('STYLE OF THE PROJECT');
    expect(shown).toContain('(@docs/guide.md):\\n\\nGUIDE');
    expect(shown.split(ATTACHED)).toHaveLength(3);
    expect(session.receipts.filter(({ tool }) => tool === 'Read')).toHaveLength(2);
  });

  it('takes an argument and a variable for a name, and not for more', async () => {
    const session = await start({
      files: {
        ...skillFile('s', `Look at @$0 and @$\{CLAUDE_SKILL_DIR}/own.md. Words: $1`),
        '.claude/skills/s/own.md': 'OWN',
        'a.txt': 'TEXT A',
        'b.txt': 'TEXT B',
      },
      script: [skill('s', 'a.txt @b.txt'), 'done'],
    });
    await session.say('go');
    expect(session.shown()).toContain('TEXT A');
    expect(session.shown()).toContain('OWN');
    expect(session.shown()).not.toContain('TEXT B');
  });

  it('is a word in code and in comments', async () => {
    const body = 'Use `@a.txt`.\n\n```\n@a.txt\n```\n\n<!-- @a.txt -->\n\nmail me@a.txt';
    const session = await start({
      files: { ...skillFile('s', body), 'a.txt': 'TEXT A' },
      script: ['done'],
    });
    await session.say('/s');
    expect(session.shown()).not.toContain('TEXT A');
  });

  it('works for a skill of the user, beside it and nowhere else', async () => {
    const home = {
      '.claude/skills/mine/SKILL.md': skillText('description: d', 'See @ref.md'),
      '.claude/skills/mine/ref.md': 'REFERENCE',
      '.claude/skills/other/SKILL.md': skillText('description: d', 'See @../mine/ref.md'),
      '.claude/skills/linked/SKILL.md': skillText('description: d', 'See @out.md'),
      'out.md': 'OUTSIDE',
    };
    const session = await start({ home, script: ['one', 'two', 'three'] });
    symlinkSync(
      `${session.project.home}/out.md`,
      `${session.project.home}/.claude/skills/linked/out.md`,
    );
    await session.say('/mine');
    expect(session.shown()).toContain('REFERENCE');
    expect(await session.say('/other')).toContain('its file @../mine/ref.md was refused');
    expect(await session.say('/linked')).toContain('its file @out.md was refused');
    expect(session.shown()).not.toContain('OUTSIDE');
  });

  it('is refused beside a skill of the project that is a link to elsewhere, trusted or not', async () => {
    const session = await start({
      home: {
        'else/s/SKILL.md': skillText('description: d', 'See @ref.md'),
        'else/s/ref.md': 'REFERENCE',
      },
      files: {
        ...permissions({ allow: ['Skill'] }),
        '.claude/skills/s': { symlink: '../../../home/else/s' },
      },
      script: ['one'],
    });
    expect(await session.say('/s')).toContain('its file @ref.md was refused');
  });

  it('works in a directory below the one that holds the skill', async () => {
    const session = await start({
      files: {
        '.git/HEAD': 'ref: refs/heads/main\n',
        ...skillFile('s', 'See @ref.md'),
        '.claude/skills/s/ref.md': 'REFERENCE',
        'sub/x': '',
      },
      start: 'sub',
      script: ['one'],
    });
    expect(await session.say('/s')).toBe('one');
    expect(session.shown()).toContain('REFERENCE');
  });

  it.each([
    ['deny', 'was refused: Read(secret.md)'],
    ['ask', 'no person is asked'],
  ])('is refused where a rule says %s, and then the skill does not start', async (list, why) => {
    const session = await start({
      files: {
        ...permissions({ allow: ['Skill'], [list]: ['Read(secret.md)'] }),
        ...skillFile('s', 'BODY @secret.md !`touch ran`'),
        'secret.md': 'SECRET',
      },
      script: [skill('s'), 'done'],
    });
    await session.say('go');
    expect(session.shown()).toContain(
      'The skill s was not started: its file @secret.md was refused',
    );
    expect(session.shown()).toContain(why);
    expect(session.shown()).not.toContain('SECRET');
    expect(session.shown()).not.toContain('BODY');
  });

  it('says what is not a text, too large or too many', async () => {
    const many = Array.from({ length: 12 }, (_, at) => `n${at}.txt`);
    const session = await start({
      files: {
        ...skillFile('s', 'See @pic.png and @long.txt and @huge.txt'),
        ...skillFile('many', many.map((name) => `@${name}`).join(' ')),
        'pic.png': 'no picture',
        'long.txt': `${'x'.repeat(900)}\n`.repeat(50),
        'huge.txt': 'y\n'.repeat(200_000),
        ...Object.fromEntries(many.map((name) => [name, `TEXT ${name}`])),
      },
      script: ['one', 'two'],
    });
    await session.say('/s');
    expect(session.shown()).toContain('[@pic.png is not attached: it is not a text]');
    expect(session.shown()).toContain('(@long.txt, its beginning)');
    expect(session.shown()).toContain('[@huge.txt is not attached: ');
    expect(session.notices.join('\n')).toContain('skill s: only the beginning of @long.txt');
    await session.say('/many');
    expect(session.shown()).toContain('TEXT n9.txt');
    expect(session.shown()).not.toContain('TEXT n10.txt');
    expect(session.shown()).toContain('[@n10.txt is not attached: no more than 10 files are]');
  });
});
