import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { SourcedRule } from '../../settings/types.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { agentPattern, createAgentRules } from './agent-rules.js';
import { NO_RULES } from './rule.js';

function agent(path: string): AgentRef {
  const last = path.split('/').at(-1) ?? path;
  const depth = path.split('/').length - 1;
  return { id: path, type: last.replace(/#\d+$/, ''), path, depth, background: false };
}

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'a.txt': 'a' } });
});
afterAll(() => project.remove());

describe('patterns over agents', () => {
  it.each([
    ['main', 'main', true],
    ['main', 'main/reviewer#1', false],
    ['reviewer', 'main/reviewer#1', true],
    ['reviewer', 'main/planner#2/reviewer#1', true],
    ['Reviewer', 'main/reviewer#1', true],
    ['reviewer', 'main/reviewer-2#1', false],
    ['review*', 'main/reviewer#1', true],
    ['general-purpose', 'main/claude#1', true],
    ['claude', 'main/general-purpose#1', true],
    ['**/claude#*', 'main/a#1/general-purpose#2', true],
    ['claude', 'main/claude#1/fork#1', true],
    ['general-purpose', 'main/claude#1/fork#1', true],
    ['claude', 'main/claude#1/reviewer#1', false],
    ['*', 'main', true],
    ['*', 'main/x#1', true],
    ['main/*', 'main/reviewer#1', true],
    ['main/*', 'main', false],
    ['main/*', 'main/a#1/b#1', false],
    ['main/**', 'main/a#1/b#1', true],
    ['main/**', 'main', true],
    ['**/reviewer#*', 'main/reviewer#1', true],
    ['**/reviewer#*', 'main/planner#2/reviewer#17', true],
    ['**/reviewer#*', 'main/reviewers#1', false],
    ['main/planner#2/reviewer#1', 'main/planner#2/reviewer#1', true],
    ['main/planner#2/reviewer#1', 'main/planner#3/reviewer#1', false],
    ['main/planner#*/*', 'main/planner#3/x#1', true],
    ['**', 'main/a#1/b#2', true],
    ['reviewer#1', 'main/reviewer#1', false],
    ['**/reviewer#1', 'main/reviewer#1', true],
    ['re\u0301v', 'main/r\u00e9v#1', true],
    ['r\u00e9v', 'main/re\u0301v#1', true],
    ['**/RE\u0301V#*', 'main/r\u00e9v#1', true],
    ['main', 'main/fork#1', true],
    ['main', 'main/fork#1/fork#2', true],
    ['main', 'main/fork#1/reviewer#1', false],
    ['reviewer', 'main/reviewer#1/fork#1', true],
    ['reviewer', 'main/reviewer#1/fork#1/fork#1', true],
    ['reviewer', 'main/reviewer#1/planner#1', false],
    ['reviewer', 'main/reviewer#1/forker#1', false],
    ['**/reviewer#1', 'main/reviewer#1/fork#1', true],
    ['main/reviewer#*', 'main/fork#1/reviewer#1', true],
    ['main/reviewer#*', 'main/fork#1/reviewer#1/fork#2', true],
    ['main/planner#1/*', 'main/planner#1/fork#1/reviewer#1', true],
    ['fork', 'main/reviewer#1/fork#1', true],
  ])('%s names %s: %s', (pattern, path, expected) => {
    expect(agentPattern(pattern)(agent(path))).toBe(expected);
  });
});

describe('rules for some agents', () => {
  const outcome = (
    options: Omit<Parameters<typeof gateRig>[0], 'cwd' | 'home'>,
    tool: string,
    input: Record<string, unknown>,
  ) => gateRig({ cwd: project.directory, home: project.home, ...options }).outcome(tool, input);
  const fetch = { url: 'https://docs.example/' };
  const reviewer = agent('main/reviewer#1');

  it('bind only whom they name', async () => {
    const options = { allow: ['WebFetch'], agents: { main: { deny: ['WebFetch'] } } };
    expect(await outcome(options, 'WebFetch', fetch)).toBe('denied');
    expect(await outcome({ ...options, agent: reviewer }, 'WebFetch', fetch)).toBe('runs');
  });

  it('grant only whom they name', async () => {
    const options = { agents: { reviewer: { allow: ['Bash(npm test:*)'] } } };
    expect(await outcome(options, 'Bash', { command: 'npm test' })).toBe('asks');
    const mine = { ...options, agent: reviewer };
    expect(await outcome(mine, 'Bash', { command: 'npm test' })).toBe('runs');
    expect(await outcome(mine, 'Bash', { command: 'npm publish' })).toBe('asks');
  });

  it('never lift a ban for everybody', async () => {
    const options = {
      deny: ['Bash(git push:*)'],
      agents: { '**': { allow: ['Bash'] }, reviewer: { allow: ['Bash(git push:*)'] } },
      agent: reviewer,
    };
    expect(await outcome(options, 'Bash', { command: 'git push' })).toBe('denied');
    expect(await outcome(options, 'Bash', { command: 'git fetch' })).toBe('runs');
  });

  it('never lift a ban for a group the agent is in', async () => {
    const options = {
      agents: { 'main/*': { deny: ['Write'] }, reviewer: { allow: ['Write'] } },
      agent: reviewer,
    };
    expect(await outcome(options, 'Write', { file_path: 'x', content: '' })).toBe('denied');
  });

  it('make an agent ask where others need not', async () => {
    const options = { allow: ['Bash'], agents: { reviewer: { ask: ['Bash(npm:*)'] } } };
    expect(await outcome(options, 'Bash', { command: 'npm test' })).toBe('runs');
    expect(await outcome({ ...options, agent: reviewer }, 'Bash', { command: 'npm test' })).toBe(
      'asks',
    );
  });
});

describe('a fork of an agent that rules name', () => {
  const outcome = (agents: Record<string, object>, path: string, allow: string[] = []) =>
    gateRig({
      cwd: project.directory,
      home: project.home,
      allow,
      agents,
      agent: agent(path),
    }).outcome('Bash', { command: 'npm test' });

  it.each([
    ['reviewer', 'main/reviewer#1/fork#1'],
    ['main', 'main/fork#1'],
  ])('is held by the rules for %s', async (pattern, path) => {
    expect(await outcome({ [pattern]: { deny: ['Bash'] } }, path, ['Bash'])).toBe('denied');
    expect(await outcome({ [pattern]: { ask: ['Bash'] } }, path, ['Bash'])).toBe('asks');
  });

  it('is not granted what its original is', async () => {
    const agents = { reviewer: { allow: ['Bash'] } };
    expect(await outcome(agents, 'main/reviewer#1')).toBe('runs');
    expect(await outcome(agents, 'main/reviewer#1/fork#1')).toBe('asks');
    expect(await outcome({ fork: { allow: ['Bash'] } }, 'main/reviewer#1/fork#1')).toBe('runs');
  });
});

describe('rules for agents that cannot be', () => {
  const deny: SourcedRule = {
    value: { text: 'Write', root: '/p' },
    source: 'user',
    file: '/p/settings.json',
    line: 3,
    trusted: true,
  };
  const compile = (pattern: string, lists: { deny?: SourcedRule[]; allow?: SourcedRule[] }) =>
    createAgentRules(NO_RULES, [{ pattern, allow: [], ask: [], deny: [], ...lists }], {
      cwd: '/p',
      home: '/h',
    });

  it.each([
    '',
    ' main',
    'main/',
    '/reviewer',
    'reviewer/x#1',
    'a b',
    'reviewer#1',
    'reviewer#*',
    '*#1',
    'main#1',
    'main/reviewer',
    '**/reviewer',
    'main/reviewer#x',
    'main/main',
    'mian',
    'all',
    'main|reviewer',
    'main,reviewer',
    '{main,reviewer}',
    '.*',
    'rev.*',
    '^main$',
    '!reviewer',
    '"main"',
  ])('refuse the start when they restrict: %j', (pattern) => {
    expect(compile(pattern, { deny: [deny] }).problems).toMatchObject([
      { severity: 'fatal', file: '/p/settings.json', line: 3 },
    ]);
  });

  it.each(['**', '**/main', 'main/**', '**/**/reviewer#*', 'main/*/reviewer#2', '*/x#1'])(
    'do not seem to be such: %j',
    (pattern) => {
      expect(compile(pattern, { deny: [deny] }).problems).toEqual([]);
    },
  );

  it('warn when they only grant', () => {
    expect(compile('reviewer/x', { allow: [deny] }).problems).toMatchObject([
      { severity: 'warning' },
    ]);
  });

  it('give nothing to an agent that no pattern names', () => {
    const { rulesOf } = compile('main', { deny: [deny] });
    expect(rulesOf(agent('main/x#1'))).toEqual(NO_RULES);
  });
});
