import { afterEach, describe, expect, it } from 'vitest';
import { bookOf, type SkillRig, skillOf, skillRig } from '../../../test/skills/invoke-rig.js';
import { callTool } from '../../../test/support/permitted-call.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { skillTool } from './skill-tool.js';

let rig: SkillRig | undefined;
afterEach(() => rig?.project.remove());

describe('the Skill tool', () => {
  it('answers in a line and gives the text after it', async () => {
    rig = skillRig(bookOf(skillOf('sk', 'the text of $ARGUMENTS')));
    const { block, structured } = await rig.call('Skill', { skill: 'sk', args: 'x' });
    expect(block).toEqual({
      type: 'tool_result',
      tool_use_id: 'toolu_1',
      content: 'Launching skill: sk',
    });
    expect(structured).toEqual({ success: true, commandName: 'sk' });
    expect(rig.outputs[0]?.followUp).toEqual([
      { text: 'Base directory for this skill: /p/.claude/skills/sk\n\nthe text of x' },
    ]);
  });

  it('takes the name with a slash, and rules see it without', async () => {
    rig = skillRig(bookOf(skillOf('sk', 'text')), { deny: ['Skill(sk)'] });
    expect(await rig.said('Skill', { skill: ' /sk' })).toContain('denied by permission rule');
    expect(rig.verdicts[0]?.receipt.input).toEqual({ skill: 'sk' });
  });

  it('does not ask about what could not be started', async () => {
    rig = skillRig(
      bookOf(
        skillOf('review', 'text'),
        skillOf('man', 'text', { disableModelInvocation: true }),
        skillOf('mcp__s__p', 'text', {}, { origin: 'mcp', source: 'mcp' }),
        skillOf('cond', 'text', { paths: ['src/**'] }),
      ),
      { mode: 'bypassPermissions' },
    );
    expect(await rig.said('Skill', { skill: 'reveiw' })).toContain(
      'Unknown skill: reveiw. Did you mean review?',
    );
    const advice = await rig.said('Skill', { skill: 'man' });
    expect(advice).toContain('Do not imitate it');
    expect(advice).toContain('type /man');
    expect(await rig.said('Skill', { skill: 'mcp__s__p' })).toContain('typed by the user');
    expect(await rig.said('Skill', { skill: 'cond' })).toContain('Unknown skill: cond.');
    expect(await rig.said('Skill', { skill: 7 })).toContain('InputValidationError');
    expect(await rig.said('Skill', { skill: 'review', other: 1 })).toContain(
      'InputValidationError',
    );
    expect(rig.verdicts).toEqual([]);
  });

  it('runs a skill by the name that was judged, not by another name of it', async () => {
    const deploy = skillOf('pkg:deploy', 'text', { keys: ['hooks'] });
    const book = { ...bookOf(deploy), find: () => Promise.resolve(deploy) };
    rig = skillRig(book, { allow: ['Skill(deploy)'], deny: ['Skill(pkg:deploy)'] });
    expect(await rig.said('Skill', { skill: 'deploy' })).toContain('is called pkg:deploy');
    expect(await rig.said('Skill', { skill: 'Pkg:Deploy' })).toContain('is called pkg:deploy');
    expect(await rig.said('Skill', { skill: 'pkg:deploy' })).toContain('denied');
    expect(rig.outputs).toEqual([]);
  });

  it('asks with what there is to know, and starts nothing without a yes', async () => {
    const asked: string[] = [];
    const skill = skillOf('sk', 'text', { allowedTools: ['Bash'], keys: ['allowed-tools'] });
    rig = skillRig(bookOf(skill), {
      asker: (request) => {
        asked.push(request.reason);
        return Promise.resolve({ behavior: 'deny', message: 'no' });
      },
    });
    expect(await rig.said('Skill', { skill: 'sk' })).toBe('no');
    expect(asked).toEqual([`the skill sk (${skill.file}) sets allowed-tools`]);
    expect(rig.grants.rules(MAIN_AGENT).allow).toEqual([]);
  });

  it('starts nothing but the content that was allowed', async () => {
    let text = 'kind words';
    const skill = skillOf('sk', '', { keys: ['hooks'] }, { body: () => Promise.resolve(text) });
    rig = skillRig(bookOf(skill), {
      asker: () => {
        text = '!`touch x`';
        return Promise.resolve({ behavior: 'allow' });
      },
    });
    expect(await rig.said('Skill', { skill: 'sk' })).toContain(
      'changed while its call was decided',
    );
    expect(rig.commands).toEqual([]);
    expect(await rig.said('Skill', { skill: 'sk' })).toContain('was not started');
  });

  it('starts nothing whose content nobody has judged', async () => {
    rig = skillRig(bookOf(skillOf('sk', 'text')));
    const tool = skillTool({ invoker: rig.invoker, approvals: { take: () => undefined } });
    expect(await callTool(tool, { skill: 'sk' })).toMatchObject({ isError: true });
  });

  it('takes the skill back when what belongs to it cannot be put in force', async () => {
    const skill = skillOf('sk', 'text', { allowedTools: ['Bash'], fenceTools: ['Read'] });
    let works = false;
    rig = skillRig(bookOf(skill), {
      allow: ['Skill'],
      onReady: () => {
        if (!works) throw new Error('no hooks');
      },
    });
    expect(await rig.said('Skill', { skill: 'sk' })).toContain('no hooks');
    expect(rig.grants.rules(MAIN_AGENT).allow).toEqual([]);
    expect((await rig.judge('TodoWrite', { todos: [] })).kind).toBe('allowed');
    works = true;
    await rig.call('Skill', { skill: 'sk' });
    expect(rig.outputs.at(-1)?.followUp?.[0]?.text).toContain('text');
    expect((await rig.judge('TodoWrite', { todos: [] })).kind).toBe('refused');
  });

  it('gives back what an agent of its own has said', async () => {
    const skill = skillOf('fk', 'do $0', { context: 'fork', keys: ['context'] });
    rig = skillRig(bookOf(skill), {
      allow: ['Skill'],
      invoker: {
        fork: ({ prompt }) =>
          Promise.resolve({ kind: 'done', text: `<${prompt}>`, isError: false }),
      },
    });
    expect(await rig.said('Skill', { skill: 'fk', args: 'it' })).toContain('do it>');
    expect(rig.outputs[0]?.followUp).toBeUndefined();
  });
});
