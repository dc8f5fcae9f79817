import { describe, expect, it } from 'vitest';
import { gateRig } from '../../test/support/gate-rig.js';
import type { SourcedRule } from '../settings/types.js';
import { parseRules, type RuleKind } from './rules.js';

function problemsOf(kind: RuleKind, text: string) {
  const rule: SourcedRule = { value: { text, root: '/p' }, source: 'user', trusted: true };
  const texts = { allow: [], ask: [], deny: [], [kind]: [rule] };
  return parseRules(texts, { cwd: '/p', home: '/h' }).problems;
}

describe('rules about skills', () => {
  it.each([
    ['Skill(deploy prod)', 'Skill(args:prod)'],
    ['Skill(deploy prod*)', 'Skill(args:prod*)'],
    ['Skill(deploy --force *)', 'Skill(args:--force*)'],
    ['Skill(deploy: prod)', 'Skill(args:prod)'],
    ['Skill("deploy")', 'Write Skill(deploy).'],
    ["Skill('deploy' *)", 'Write Skill(deploy).'],
    ['Skill(deploy,other)', 'a rule for each'],
    ['Skill(./deploy)', 'Write Skill(deploy).'],
    ['Skill(../deploy:*)', 'Write Skill(deploy).'],
    ['Skill(deploy/)', 'Write Skill(deploy).'],
    ['Skill(//deploy)', 'Write Skill(deploy).'],
    ['Skill(.claude/skills/deploy)', 'Write Skill(deploy).'],
    ['Skill(*/deploy)', 'Write Skill(deploy).'],
    ['Skill(deploy:)', 'Write Skill(deploy).'],
    ['Skill(:*)', 'Write Skill(name).'],
    ['Skill(<deploy>)', 'Write Skill(deploy).'],
    ['Skill(dep\\*loy)', 'Write Skill('],
    ['Skill(de\u00adploy)', 'Type it anew.'],
    ['Skill(skill:deploy)', 'Write Skill(deploy).'],
    ['Skill(name:deploy)', 'Write Skill(deploy).'],
    ['Agent(subagent_type:reviewer)', 'Write Agent(reviewer).'],
    ['Agent(Explore, reviewer)', 'a rule for each'],
    ['Task(Explore,reviewer)', 'a rule for each'],
    ['Agent(re viewer)', 'Agent(type)'],
    ['Agent("reviewer")', 'Write Agent(reviewer).'],
  ])('that can never match stop the start: %s', (text, remedy) => {
    const said = { remedy: expect.stringContaining(remedy) };
    expect(problemsOf('deny', text)).toMatchObject([{ severity: 'fatal', ...said }]);
    expect(problemsOf('ask', text)).toMatchObject([{ severity: 'fatal', ...said }]);
  });

  it.each(['Skill(deploy prod)', 'Skill(./deploy)', 'Skill("deploy")', 'Skill(name:deploy)'])(
    'that grant nothing are lost with a warning: %s',
    (text) => {
      expect(problemsOf('allow', text)).toMatchObject([{ severity: 'warning' }]);
    },
  );

  it.each([
    ['Skill(deploy)', 'deploy'],
    ['Skill( /deploy )', 'deploy'],
    ['Skill(deploy *)', 'deploy'],
    ['Skill(deploy:*)', 'deploy'],
    ['Skill(dep*)', 'deploy'],
    ['Skill(*:deploy)', 'plugin:deploy'],
    ['Skill(plugin:deploy)', 'plugin:deploy'],
    ['Skill(sub/dir:deploy)', 'sub/dir:deploy'],
    ['Skill(sub/dir:*)', 'sub/dir:deploy'],
    ['Skill(sub/*)', 'sub/dir:deploy'],
    ['Skill(my*dir:deploy)', 'my dir:deploy'],
    ["Skill(it's)", "it's"],
    ['Skill(café)'.normalize('NFD'), 'café'],
    ['Skill(caf\u0065\u0301:*)', 'café'],
    ['Skill(args:prod)', 'whatever'],
  ])('%s holds %s', async (rule, skill) => {
    const rig = gateRig({ cwd: '/p', home: '/h', allow: ['Skill'], deny: [rule] });
    expect(await rig.outcome('Skill', { skill, args: 'prod' })).toBe('denied');
  });

  it('are compared in one form of Unicode, as those about agents are', async () => {
    const rule = 'Agent(café)'.normalize('NFD');
    const rig = gateRig({ cwd: '/p', home: '/h', allow: ['Agent'], deny: [rule] });
    expect(await rig.outcome('Agent', { subagent_type: 'café'.normalize('NFC') })).toBe('denied');
    const grant = gateRig({ cwd: '/p', home: '/h', allow: ['Skill(café)'.normalize('NFD')] });
    expect(await grant.outcome('Skill', { skill: 'café'.normalize('NFC') })).toBe('runs');
  });

  it('grant a skill in a directory with a blank in its name, as is suggested', async () => {
    const rig = gateRig({ cwd: '/p', home: '/h', allow: ['Skill(my dir:deploy)'] });
    expect(await rig.outcome('Skill', { skill: 'my dir:deploy' })).toBe('runs');
  });

  it('grant arguments that begin so', async () => {
    const rig = gateRig({ cwd: '/p', home: '/h', allow: ['Skill(deploy --dry-run *)'] });
    expect(await rig.outcome('Skill', { skill: 'deploy', args: '--dry-run now' })).toBe('runs');
    expect(await rig.outcome('Skill', { skill: 'deploy', args: 'now' })).toBe('asks');
  });
});
