import { afterEach, describe, expect, it } from 'vitest';
import type { ReplyFunction } from '../../src/model/scripted/format.js';
import { readUserMessage } from '../../src/server/user-message.js';
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

const hooked = (event: string, command: string) => ({
  '.claude/settings.json': {
    json: { hooks: { [event]: [{ hooks: [{ type: 'command', command }] }] } },
  },
});
const ENOUGH = `grep -q b.txt && echo '{"continue":false,"stopReason":"ENOUGH"}'; true`;
const skillFile = (head: string, body = 'Do $ARGUMENTS') => ({
  '.claude/skills/s/SKILL.md': skillText(`description: d\n${head}`, body),
});
const ID = '00000000-0000-4000-8000-100000000000';
const said = (text: string) => ({ uuid: ID, content: [{ type: 'text' as const, text }] });
const reads = ({ receipts }: SkillSession) => receipts.filter(({ tool }) => tool === 'Read');

describe('a typed skill whose prompt is held back over a file that it names', () => {
  const held = (head: string, script: SkillSessionOptions['script']) =>
    start({
      files: { 'b.txt': 'TEXT B', ...hooked('PostToolUse', ENOUGH), ...skillFile(head) },
      script,
    });

  it('leaves no model and no effort behind', async () => {
    const session = await held('model: haiku\neffort: low', [
      { tool: 'Glob', input: { pattern: '*.md' } },
      'done',
    ]);
    const waiting = [said('/s @b.txt')];
    await session.session.run([said('go')], { takeInput: () => waiting.splice(0) });
    expect(reads(session)).toHaveLength(1);
    const [first, second] = session.asked();
    expect(second).toBe(first);
  });

  it('leaves no hooks behind', async () => {
    const hooks = `hooks:
  PreToolUse:
    - matcher: Glob
      hooks:
        - type: command
          command: "exit 2"`;
    const session = await held(hooks, [{ tool: 'Glob', input: { pattern: '*' } }, 'done']);
    await session.say('/s @b.txt');
    await session.say('go on');
    expect(session.receipts.at(-1)).toMatchObject({ tool: 'Glob', decision: 'allow' });
    expect(session.session.hooks().set.hooks.PreToolUse).toBeUndefined();
  });
});

describe('a text of which the host says that no person typed it', () => {
  it.each([{ isSynthetic: true }, { parent_tool_use_id: 'toolu_x' }])(
    'starts no skill: %j',
    async (fields) => {
      const session = await start({
        files: skillFile('disable-model-invocation: true\nallowed-tools: Write'),
        script: [{ tool: 'Write', input: { file_path: 'new.txt', content: 'x' } }, 'done'],
      });
      const frame = { ...fields, message: { role: 'user', content: '/s it' } };
      await session.session.run([readUserMessage(frame, () => ID).message]);
      expect(session.shown()).toContain('/s it');
      expect(session.shown()).not.toContain('Do it');
      expect(session.receipts).toMatchObject([{ tool: 'Write', decision: 'deny' }]);
    },
  );
});

describe('a skill with an agent of its own', () => {
  const files = {
    'a.txt': 'TEXT A',
    '.claude/agents/blind.md': '---\nname: blind\ndescription: d\ntools: Grep\n---\nFeel',
  };
  async function child(head: string, prompt: string) {
    const seen: string[] = [];
    const note: ReplyFunction = (view) => {
      seen.push(view.lastUser);
      return 'a report';
    };
    const session = await start({
      files: { ...files, ...skillFile(`context: fork\n${head}`) },
      script: [note, 'done'],
    });
    await session.say(prompt);
    expect(session.shown()).toContain('a report');
    return { session, text: seen[0] ?? '' };
  }

  it('does not start for a prompt that hooks hold back, and nothing is read for it', async () => {
    const session = await start({
      files: { ...files, ...skillFile('context: fork'), ...hooked('UserPromptSubmit', 'exit 2') },
      script: [],
    });
    await session.say('/s @a.txt');
    expect(session.receipts).toEqual([]);
    expect(session.asked()).toEqual([]);
  });

  it('is given of what hooks have let through', async () => {
    const output = { hookEventName: 'UserPromptSubmit', updatedPrompt: '/s without it' };
    const command = `echo '${JSON.stringify({ hookSpecificOutput: output })}'`;
    const session = await start({
      files: { ...files, ...skillFile('context: fork'), ...hooked('UserPromptSubmit', command) },
      script: ['a report', 'done'],
    });
    await session.say('/s @a.txt');
    expect(session.asked()).toHaveLength(2);
    expect(session.receipts).toEqual([]);
  });

  it('whose kind has no Read is shown no file', async () => {
    const { session, text } = await child('agent: blind', '/s @a.txt');
    expect(text).toContain('[@a.txt was not attached: there is no Read tool here]');
    expect(text).not.toContain('TEXT A');
    expect(reads(session)).toEqual([]);
  });

  it.each(['disallowed-tools: Read', 'disallowed-tools: Read(a.txt)', 'fence-tools: Grep'])(
    'is not shown what its head forbids: %s',
    async (head) => {
      const { session, text } = await child(head, '/s @a.txt');
      expect(text).toContain('[@a.txt was not attached: ');
      expect(text).not.toContain('TEXT A');
      expect(reads(session).map(({ decision }) => decision)).toEqual(['deny']);
      // Nor does it hold for anybody else then.
      expect(session.notices.filter((one) => one.includes('not attached'))).toHaveLength(1);
      await session.say('see @a.txt').catch(() => undefined);
      expect(reads(session).at(-1)?.decision).toBe('allow');
    },
  );

  it('is told to start an agent only where it can', async () => {
    const { session, text } = await child('agent: blind', '/s @agent-blind');
    expect(text).not.toContain('asks for the agent');
    expect(session.notices.join()).toContain('there is no Agent tool here');
    await session.close();
    const able = await child('', '/s @agent-blind');
    expect(able.text).toContain('The user asks for the agent blind.');
  });
});
