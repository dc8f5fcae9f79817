import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { skillText } from '../skills/rig.js';
import {
  openSkillSession,
  type SkillSession,
  type SkillSessionOptions,
} from '../skills/session-rig.js';

let open: SkillSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});
async function start(options: SkillSessionOptions): Promise<SkillSession> {
  open = await openSkillSession(options);
  return open;
}
const decisions = ({ receipts }: SkillSession) => receipts.map(({ decision }) => decision);
const hooked = (event: string, command: string) => ({
  '.claude/settings.json': {
    json: { hooks: { [event]: [{ matcher: 'Read', hooks: [{ type: 'command', command }] }] } },
  },
});
const uuid = '00000000-0000-4000-8000-00000000000a';
const sayBlocks = async ({ session }: SkillSession, ...texts: string[]) =>
  await session.run([{ uuid, content: texts.map((text) => ({ type: 'text', text })) }]);

describe('rules that were written since the last turn', () => {
  const FILES = { 'a.txt': 'TEXT A', '.claude/settings.json': '{}', 'CLAUDE.md': 'Be kind' };
  const deny = (rule: string) => JSON.stringify({ permissions: { deny: [rule] } });
  const block = (rule: string) =>
    `Be kind\n\`\`\`portcullis\n${JSON.stringify({ deny: [rule] })}\n\`\`\`\n`;

  it.each([
    ['.claude/settings.json', deny('Read(a.txt)')],
    ['CLAUDE.md', block('Read(a.txt)')],
  ])('hold for what a prompt names: %s', async (file, text) => {
    const session = await start({ files: FILES, script: ['one', 'two'] });
    await session.say('hi');
    writeFileSync(session.project.at(file), text);
    await session.say('see @a.txt');
    expect(decisions(session)).toEqual(['deny']);
    expect(session.shown()).not.toContain('TEXT A');
  });

  it('hold for the commands of a skill that is typed', async () => {
    const skill = skillText('description: d\nallowed-tools: Bash(echo *)', '!`echo RAN-IT`');
    const session = await start({
      files: { ...FILES, '.claude/skills/s/SKILL.md': skill },
      script: ['one', 'two'],
    });
    await session.say('hi');
    writeFileSync(session.project.at('.claude/settings.json'), deny('Bash(echo *)'));
    await session.say('/s');
    expect(decisions(session)).toEqual(['deny']);
  });

  it('hold for what the host asks for', async () => {
    const session = await start({ files: FILES, script: ['one'] });
    await session.say('hi');
    writeFileSync(session.project.at('.claude/settings.json'), deny('Read(a.txt)'));
    const { signal } = new AbortController();
    const { requests } = session.session;
    expect(await requests.readFile({ path: 'a.txt', maxBytes: 99 }, signal)).toMatchObject({
      ok: false,
    });
  });
});

describe('a prompt of several blocks', () => {
  it.each([
    ['ends a name with its block', ['see @a.txt', 'and tell me']],
    ['begins a name with its block', ['see', '@a.txt']],
    ['ends code with its block', ['```\ncode', 'see @a.txt, and @a.txt']],
  ])('%s', async (_name, texts) => {
    const session = await start({ files: { 'a.txt': 'TEXT A' }, script: ['done'] });
    await sayBlocks(session, ...texts);
    expect(session.shown()).toContain('1\\tTEXT A');
    expect(session.receipts).toHaveLength(1);
  });
});

describe('instructions near a file that is named', () => {
  const FILES = { 'sub/CLAUDE.md': 'NEAR IT', 'sub/a.txt': 'TEXT A', 'b.txt': 'TEXT B' };

  it('are shown once', async () => {
    const session = await start({ files: FILES, script: ['one', 'two'] });
    await session.say('see @sub/a.txt');
    await session.say('again @sub/a.txt');
    expect(session.shown().split('NEAR IT')).toHaveLength(2);
  });

  it('come with the next one where a hook kept the first from the agent', async () => {
    const stop = `echo '${JSON.stringify({ continue: false, stopReason: 'ENOUGH' })}'`;
    const session = await start({
      files: { ...FILES, ...hooked('PostToolUse', `grep -q b.txt && ${stop}; true`) },
      script: ['one'],
    });
    await session.say('see @sub/a.txt and @b.txt');
    expect(session.asked()).toEqual([]);
    await session.say('see @sub/a.txt');
    expect(session.shown()).toContain('NEAR IT');
  });

  it('come with the next one where the first went to the agent of a skill', async () => {
    const skill = skillText('description: d\ncontext: fork', 'Do $ARGUMENTS');
    const seen: string[] = [];
    const session = await start({
      files: { ...FILES, '.claude/skills/s/SKILL.md': skill },
      script: [
        (view) => {
          seen.push(view.lastUser);
          return 'a report';
        },
        'one',
        'two',
      ],
    });
    await session.say('/s @sub/a.txt');
    expect(seen[0]).toContain('NEAR IT');
    expect(session.shown()).not.toContain('NEAR IT');
    await session.say('see @sub/a.txt');
    expect(session.shown()).toContain('NEAR IT');
  });

  it('come with the next one where the host read the first', async () => {
    const session = await start({ files: FILES, script: ['one'] });
    const { signal } = new AbortController();
    const path = 'sub/a.txt';
    expect(await session.session.requests.readFile({ path, maxBytes: 99 }, signal)).toMatchObject({
      ok: true,
    });
    await session.say('see @sub/a.txt');
    expect(session.shown()).toContain('NEAR IT');
  });
});

describe('an interrupt while a hook judges a file', () => {
  it('is told once, as what it is', async () => {
    const session = await start({
      files: {
        'a.txt': 'TEXT A',
        'b.txt': 'TEXT B',
        ...hooked('PreToolUse', 'touch asked; sleep 20'),
      },
      script: ['one'],
    });
    const said = session.say('see @a.txt and @b.txt');
    await expect.poll(() => session.project.exists('asked'), { timeout: 10_000 }).toBe(true);
    session.session.interrupt();
    await said;
    expect(session.notices.filter((text) => text.includes('attached'))).toEqual([
      '@a.txt and what is named behind it was not attached: interrupted',
    ]);
    expect(session.notices.join()).not.toContain('guard failed');
  });
});
