import { afterEach, describe, expect, it } from 'vitest';
import type { Reply } from '../../src/model/scripted/format.js';
import type { AskAnswer } from '../../src/permissions/gate/types.js';
import {
  type AgentsOptions,
  type AgentsSession,
  agent,
  bash,
  definition,
  openAgentsSession,
} from './core-rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

async function opened(options: AgentsOptions): Promise<AgentsSession> {
  open = await openAgentsSession(options);
  return open;
}

const world = (): AgentsSession => {
  if (open === undefined) throw new Error('no session');
  return open;
};
const at = (name: string): string => world().project.at(name);
const read = (name: string) => (): Reply => ({ tool: 'Read', input: { file_path: at(name) } });
const edit = (name: string, from: string, to: string) => (): Reply => ({
  tool: 'Edit',
  input: { file_path: at(name), old_string: from, new_string: to },
});
const write = (name: string, content: string) => (): Reply => ({
  tool: 'Write',
  input: { file_path: at(name), content },
});
/** Results of all calls, by the path of whoever made them. */
const results = (): readonly (readonly [string, boolean, string])[] =>
  world().events.flatMap((event) => {
    const [path, told] = event.type === 'child' ? [event.agent.path, event.event] : ['main', event];
    if (told.type !== 'tool_result') return [];
    const { content, is_error } = told.result.block;
    return [[path, is_error !== true, JSON.stringify(content)] as const];
  });
const first = (word: string): Record<string, unknown> =>
  JSON.parse(
    world()
      .requests(word)
      .find((body) => !body.includes('"tool_use"')) ?? '{}',
  );

describe('the context of an agent', () => {
  it('begins with what its parent has read, and gives nothing back', async () => {
    await opened({
      files: { 'a.txt': 'one\n', 'b.txt': 'one\n' },
      main: [read('a.txt'), agent('TASKWORD'), write('b.txt', 'lost'), 'end'],
      agents: { TASKWORD: [edit('a.txt', 'one', 'two'), read('b.txt'), 'done'] },
      config: { permissionMode: 'acceptEdits' },
    });
    await world().say('go');
    expect(world().project.read('a.txt')).toBe('two\n');
    // That the child has read it does not mean that this one knows it.
    expect(world().project.read('b.txt')).toBe('one\n');
    expect(results().at(-1)).toMatchObject(['main', false, expect.stringMatching(/read/i)]);
  });

  it('lets nobody write over what another one has changed, and says who', async () => {
    await opened({
      files: { 'a.txt': 'one\n' },
      main: [read('a.txt'), agent('TASKWORD'), write('a.txt', 'lost'), 'end'],
      agents: { TASKWORD: [edit('a.txt', 'one', 'two'), 'done'] },
      config: { permissionMode: 'acceptEdits' },
    });
    await world().say('go');
    expect(world().project.read('a.txt')).toBe('two\n');
    const [, isDone, text] = results().at(-1) ?? [];
    expect(isDone).toBe(false);
    expect(text).toContain('main/general-purpose#1');
  });

  it.each(['Explore', 'Plan', 'general-purpose'])(
    'has instructions unless it only looks: %s',
    async (type) => {
      await opened({
        files: { 'CLAUDE.md': 'PROJECTRULE' },
        main: [agent('TASKWORD', { subagent_type: type }), 'end'],
        agents: { TASKWORD: ['done'] },
      });
      await world().say('go');
      const shown = JSON.stringify(first('TASKWORD').messages);
      expect(shown.includes('PROJECTRULE')).toBe(type === 'general-purpose');
    },
  );

  it('names those beside it that have a name, and nobody else', async () => {
    await opened({
      main: [
        agent('FIRST', { name: 'scout', run_in_background: true }),
        agent('SECOND', { run_in_background: true }),
        agent('THIRD', { name: 'third' }),
        { tool: 'WaitForAgents', input: { timeout_seconds: 20 } },
        'end',
      ],
      agents: {
        FIRST: [agent('BELOW'), { text: 'x', delayMs: 1_500 }],
        BELOW: ['x'],
        SECOND: [{ text: 'x', delayMs: 1_500 }],
        THIRD: ['x'],
      },
    });
    await world().say('go');
    const shown = JSON.stringify(first('THIRD').messages);
    expect(shown.match(/- \w+ \(general-purpose\)/g)).toEqual(['- scout (general-purpose)']);
    expect(JSON.stringify(first('FIRST').messages)).not.toContain('beside you');
    expect(JSON.stringify(first('BELOW').messages)).not.toContain('beside you');
  });

  it('holds the skills that its definition names', async () => {
    await opened({
      files: {
        '.claude/skills/house/SKILL.md': '---\nname: house\ndescription: d\n---\nHOUSERULES',
        '.claude/skills/own/SKILL.md':
          '---\nname: own\ndescription: d\ndisable-model-invocation: true\n---\nOWNRULES',
        '.claude/agents/a.md': definition('name: a\ndescription: d\nskills: house, own, nosuch'),
      },
      main: [agent('TASKWORD', { subagent_type: 'a' }), 'end'],
      agents: { TASKWORD: ['done'] },
    });
    await world().say('go');
    const shown = JSON.stringify(first('TASKWORD').messages);
    expect(shown).toContain('HOUSERULES');
    expect(shown).not.toContain('OWNRULES');
    expect(world().notices.join('\n')).toContain('nosuch');
  });

  it('has its own model and effort, as the environment, the call or its definition say', async () => {
    const file = definition('name: a\ndescription: d\nmodel: claude-haiku-4-5\neffort: low');
    const models = async (env: Readonly<Record<string, string>>) => {
      await open?.close();
      await opened({
        files: { '.claude/agents/a.md': file },
        main: [
          agent('FIRST', { subagent_type: 'a' }),
          agent('SECOND', { subagent_type: 'a', model: 'claude-sonnet-4-5' }),
          agent('THIRD', { model: 'inherit' }),
          'end',
        ],
        agents: { FIRST: ['x'], SECOND: ['x'], THIRD: ['x'] },
        env,
        config: { model: 'claude-opus-4-5' },
      });
      await world().say('go');
      return ['FIRST', 'SECOND', 'THIRD'].map((word) => first(word).model);
    };
    expect(await models({})).toEqual(['claude-haiku-4-5', 'claude-sonnet-4-5', 'claude-opus-4-5']);
    expect(await models({ CLAUDE_CODE_SUBAGENT_MODEL: 'claude-haiku-4-5' })).toEqual(
      Array(3).fill('claude-haiku-4-5'),
    );
  });
});

describe('an answer for the session', () => {
  const asks = async (background: boolean): Promise<readonly string[]> => {
    const asked: string[] = [];
    await opened({
      main: [
        agent('TASKWORD', background ? { run_in_background: true } : {}),
        ...(background ? [{ tool: 'WaitForAgents', input: { timeout_seconds: 20 } }] : []),
        bash('touch made'),
        'end',
      ],
      agents: { TASKWORD: [bash('touch made'), bash('touch made'), 'done'] },
      config: {
        asker: async ({ call }): Promise<AskAnswer> => {
          asked.push(call.agent.path);
          return { behavior: 'allow', scope: { what: 'exact', until: 'session' } };
        },
      },
    });
    await world().say('go');
    return asked;
  };

  it('that an agent got which is waited for holds for its parent too', async () => {
    expect(await asks(false)).toEqual(['main/general-purpose#1']);
  });

  it('that one in the background got stays its own', async () => {
    expect(await asks(true)).toEqual(['main/general-purpose#1', 'main']);
  });
});
