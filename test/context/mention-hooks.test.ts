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
  await open?.close();
  open = await openSkillSession(options);
  return open;
}

const hooked = (event: string, command: string) => ({
  '.claude/settings.json': {
    json: { hooks: { [event]: [{ hooks: [{ type: 'command', command }] }] } },
  },
});
const FILES = { '.env': 'SECRET', '.env.example': 'EXAMPLE', 'b.txt': 'TEXT B', 'c.txt': 'TEXT C' };
const ID = '00000000-0000-4000-8000-100000000000';

describe('a hook that changes a prompt', () => {
  async function replaced(typed: string, updatedPrompt: string, beside?: string) {
    const output = { hookEventName: 'UserPromptSubmit', updatedPrompt };
    const command = `printf %s '${JSON.stringify({ hookSpecificOutput: output })}'`;
    const session = await start({
      files: { ...FILES, ...hooked('UserPromptSubmit', command) },
      script: ['done'],
    });
    const text = beside === undefined ? typed : `${typed}\n${beside}`;
    await session.session.run([{ uuid: ID, content: [{ type: 'text', text }], typed }]);
    return session.shown().match(/\\t(SECRET|EXAMPLE|TEXT [BC])/g) ?? [];
  }

  it('takes names out of it, and puts none in', async () => {
    expect(await replaced('see @.env and @b.txt.', 'see @b.txt, @c.txt')).toEqual(['\\tTEXT B']);
    expect(await replaced('see @.env', 'see @.env.example')).toEqual([]);
    expect(await replaced('see @.env', 'see `@.env`')).toEqual([]);
    expect(await replaced('see @b.txt#L1', 'see @b.txt#L10')).toEqual([]);
  });

  it('takes them out though they stand in what is piped in beside it', async () => {
    expect(await replaced('see @.env', 'see it\nlog of @.env', 'log of @.env')).toEqual([]);
    expect(await replaced('see @.env', 'see it\nlog @.env', 'log of @.env')).toEqual([]);
    expect(await replaced('see @b.txt', 'look @b.txt\nlog of @.env', 'log of @.env')).toEqual([
      '\\tTEXT B',
    ]);
  });

  it('and one that holds it back leaves nothing to be read', async () => {
    const session = await start({
      files: { ...FILES, ...hooked('UserPromptSubmit', 'exit 2') },
      script: [],
    });
    await session.say('see @b.txt');
    expect(session.receipts).toEqual([]);
  });
});

describe('what ends the turn over a file that a prompt names', () => {
  const ENOUGH = `echo '{"continue":false,"stopReason":"ENOUGH"}'`;

  it.each(['PreToolUse', 'PostToolUse'])('is a hook: %s', async (event) => {
    const session = await start({ files: { ...FILES, ...hooked(event, ENOUGH) }, script: [] });
    const content = [{ type: 'text' as const, text: 'see @b.txt and @c.txt' }];
    const { outcome } = await session.session.run([{ uuid: ID, content }]);
    expect(outcome.reason).toEqual({
      kind: 'prompt_blocked',
      message: 'Stopped by a hook: ENOUGH',
    });
    expect(session.asked()).toEqual([]);
    expect(session.receipts).toHaveLength(1);
    expect(session.notices.join()).toContain('@c.txt was not attached: the turn was stopped');
  });

  it('is whoever is asked', async () => {
    const session = await start({
      home: { 'out.txt': 'OUTSIDE' },
      script: [],
      config: {
        asker: async () => ({ behavior: 'deny', message: 'not that', interrupt: true }),
      },
    });
    const content = [{ type: 'text' as const, text: 'see @~/out.txt' }];
    const { outcome } = await session.session.run([{ uuid: ID, content }]);
    expect(outcome.reason).toMatchObject({ kind: 'prompt_blocked' });
    expect(outcome.text).toContain('not that');
    expect(session.asked()).toEqual([]);
  });

  it('takes back what the typed skill grants', async () => {
    const session = await start({
      files: {
        ...FILES,
        ...hooked('PostToolUse', `grep -q b.txt && ${ENOUGH}; true`),
        '.claude/skills/s/SKILL.md': skillText('description: d\nallowed-tools: Write', 'Do it'),
      },
      script: [{ tool: 'Write', input: { file_path: 'new.txt', content: 'x' } }, 'done'],
    });
    await session.say('/s @b.txt');
    expect(session.asked()).toEqual([]);
    await session.say('go on');
    expect(session.receipts.find(({ tool }) => tool === 'Write')?.decision).toBe('deny');
  });
});

describe('a hook that changes what is read', () => {
  it('is not hidden: the mark names the file that was read', async () => {
    const updatedInput = { file_path: './c.txt' };
    const output = { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput };
    const command = `echo '${JSON.stringify({ hookSpecificOutput: output })}'`;
    const changing = await start({
      files: { ...FILES, ...hooked('PreToolUse', command) },
      script: ['done'],
    });
    await changing.say('see @b.txt');
    expect(changing.shown()).toContain('TEXT C');
    expect(changing.shown()).toContain(`path=\\"${changing.project.at('c.txt')}\\"`);
    expect(changing.shown()).not.toContain(`path=\\"${changing.project.at('b.txt')}\\"`);
  });
});

describe('a file that is named for a skill with an agent of its own', () => {
  it('is shown to that agent, and to no other', async () => {
    const seen: string[] = [];
    const note = (view: { readonly lastUser: string }) => {
      seen.push(view.lastUser);
      return 'a report';
    };
    const session = await start({
      files: {
        ...FILES,
        '.claude/skills/s/SKILL.md': skillText('description: d\ncontext: fork', 'Do $ARGUMENTS'),
      },
      script: [note, { tool: 'Write', input: { file_path: 'b.txt', content: 'x' } }, 'done'],
      config: { permissionMode: 'acceptEdits' },
    });
    await session.say('/s @b.txt');
    expect(seen[0]).toContain('Do @b.txt');
    expect(seen[0]).toContain('1\tTEXT B');
    expect(session.shown()).toContain('a report');
    expect(session.shown()).not.toContain('TEXT B');
    expect(session.receipts.filter(({ tool }) => tool === 'Read')).toHaveLength(1);
    // What another agent was shown, this one has not read.
    expect(session.project.read('b.txt')).toBe('TEXT B');
  });
});
