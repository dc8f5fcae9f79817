import { existsSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { openSkillSession, type SkillSession, skill } from './session-rig.js';

let open: SkillSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const bash = (command: string) => ({ tool: 'Bash', input: { command } });
const guard = (command: string, matcher = 'Bash') => ({
  PreToolUse: [{ matcher, hooks: [{ type: 'command', command }] }],
});

async function play(
  hooks: unknown,
  script: Parameters<typeof openSkillSession>[0]['script'],
  config: { readonly trust?: boolean } = {},
): Promise<SkillSession> {
  const head = JSON.stringify({ description: 'd', hooks });
  open = await openSkillSession({
    files: { '.claude/skills/g/SKILL.md': `---\n${head}\n---\nBODY\n` },
    script,
    config: { allowedTools: ['Skill', 'Bash'], ...config },
  });
  return open;
}

describe('hooks of a skill', () => {
  it('hold from its start to the end of the session', async () => {
    const no = 'cat > /dev/null; echo NOT_NOW >&2; exit 2';
    const session = await play(guard(no), [
      bash('touch before'),
      skill('g'),
      bash('touch in'),
      'one',
      bash('touch after'),
      'two',
    ]);
    await session.say('go');
    await session.say('on');
    const made = ['before', 'in', 'after'].map((name) => existsSync(session.project.at(name)));
    expect(made).toEqual([true, false, false]);
    expect(session.shown().includes('NOT_NOW')).toBe(true);
  });

  it('are asked once for each call, however often it is started', async () => {
    const note = 'echo x >> "$CLAUDE_PROJECT_DIR/log"';
    const session = await play(guard(note), [skill('g'), skill('g'), bash('touch in'), 'one']);
    await session.say('go');
    expect(readFileSync(session.project.at('log'), 'utf8')).toBe('x\n');
  });

  it.each([
    ['Bsh', /^The skill g is not in force: line 5: .*Did you mean Bash\?.*SKILL\.md\)\.$/],
    ['Deployer', /^skill g: .*SKILL\.md:5: hooks: the matcher "Deployer" .* no such tool now/],
  ])('for %s, a tool that there is not, are told with file and line', async (matcher, told) => {
    const head = `description: d\nhooks:\n  PreToolUse:\n    - matcher: ${matcher}\n      hooks: []`;
    open = await openSkillSession({
      files: { '.claude/skills/g/SKILL.md': `---\n${head}\n---\nBODY\n` },
      script: ['one'],
    });
    await open.say('/g');
    expect(open.notices).toContainEqual(expect.stringMatching(told));
  });

  it('of a folder without trust are not run, and that is told', async () => {
    const made = 'touch "$CLAUDE_PROJECT_DIR/ran"';
    const script = [skill('g'), bash('touch in'), 'one'];
    const session = await play(guard(made), script, { trust: false });
    await session.say('go');
    expect(existsSync(session.project.at('ran'))).toBe(false);
    expect(session.notices.join('\n')).toMatch(/is not run/);
  });

  it('at an event that there is not take it out', async () => {
    const hooks = { PreTooluse: guard('x').PreToolUse };
    const session = await play(hooks, [skill('g'), 'one']);
    await session.say('go');
    expect(session.shown().includes('Unknown skill: g')).toBe(true);
  });

  it.each<[string, unknown]>([
    ['no map', 7],
    ['a matcher that cannot be read', guard('x', '(')],
    ['no list', { PreToolUse: 'x' }],
    ['a kind that there is not', { PreToolUse: [{ hooks: [{ type: 'comand', command: 'x' }] }] }],
    ['no command', { PreToolUse: [{ hooks: [{ type: 'command' }] }] }],
  ])('that cannot be read let no call through: %s', async (_what, hooks) => {
    const session = await play(hooks, [skill('g'), bash('touch in'), 'one']);
    await session.say('go');
    expect(existsSync(session.project.at('in'))).toBe(false);
  });
});
