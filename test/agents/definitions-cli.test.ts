import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';
import { agentText } from './definitions-rig.js';

let project: TempProject | undefined;
afterEach(() => project?.remove());

const AT = '.claude/agents';
const [node = '', program = ''] = PROGRAM;

function agents(files: ProjectFiles, ...args: readonly string[]) {
  return agentsOf({ files }, ...args);
}

function agentsOf(made: { files?: ProjectFiles; home?: ProjectFiles }, ...args: readonly string[]) {
  project?.remove();
  project = makeTempProject(made);
  const { status, stdout, stderr } = spawnSync(node, [program, 'agents', ...args], {
    cwd: project.directory,
    env: { PATH: process.env.PATH, HOME: project.home },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const FILES = {
  [`${AT}/rev.md`]: agentText(
    'rev',
    'Reviews',
    'tools: Read, Bash(git *)\nmodel: haiku\nmemory: user\n',
  ),
  [`${AT}/bad.md`]: agentText('bad', 'd', 'maxTurns: none\n'),
  [`${AT}/README.md`]: 'text',
};

describe('portcullis agents', () => {
  it('list: what is in force, with place, tools and model, and what is not', () => {
    const { status, stdout } = agents(FILES, 'list', '--all');
    expect(status).toBe(0);
    expect(stdout).toContain(
      `rev  (project)  ${AT}/rev.md:2\n  Reviews\n  tools: Read, Bash(git *)\n  model: haiku\n  held back, as the folder is not trusted: memory\n`,
    );
    expect(stdout).toContain(`${AT}/bad.md:4: error: "maxTurns" is not a whole number above 0`);
    expect(stdout).toContain(`files without a name\n  ${AT}/README.md\n`);
    expect(stdout).toContain('Explore  (builtin)');
  });

  it('list: the teams that there are', () => {
    const record = {
      name: 'session-1',
      createdAt: 1,
      lead: { sessionId: 'abcdefgh-1', cwd: '/made/up', process: { pid: 1 } },
      members: [],
    };
    const text = JSON.stringify(record);
    const home = { '.claude/teams/session-1/config.json': { text, mode: 0o600 } };
    expect(agents({}, 'list').stdout).not.toContain('Teams');
    const { stdout } = agentsOf({ home }, 'list');
    expect(stdout).toContain('\nTeams\n  session-1  team-lead: session abcdefgh');
  });

  it('list --json: the same for machines', () => {
    const host = JSON.stringify({ x: { description: 'd', prompt: 'p', tools: [] } });
    const { stdout } = agents(FILES, 'list', '--json', '--trust', '--agents', host);
    const report = JSON.parse(stdout) as Record<string, readonly Record<string, unknown>[]>;
    expect(report.agents).toContainEqual(expect.objectContaining({ name: 'rev', memory: 'user' }));
    expect(report.agents).toContainEqual(
      expect.objectContaining({ name: 'x', source: 'flag', tools: [] }),
    );
    expect(report.agents).toContainEqual(expect.objectContaining({ name: 'Plan', tools: '*' }));
    expect(report.problems).toMatchObject([{ name: 'bad', line: 4 }]);
  });

  it('show: one, or why not', () => {
    expect(agents(FILES, 'show', 'REV').stdout).toMatch(
      /^rev \(project, not trusted\)[\s\S]*P_Reviews/,
    );
    expect(agents(FILES, 'show', 'Plan', '--json').stdout).toContain('"prompt": "You work out');
    const bad = agents(FILES, 'show', 'bad');
    expect([bad.status, bad.stderr]).toEqual([2, expect.stringContaining('line 4: "maxTurns"')]);
    expect(agents(FILES, 'show', 'rew').stderr).toContain('did you mean rev?');
  });

  it('validate: errors by file and line, and an exit code', () => {
    const all = agents(FILES, 'validate');
    expect(all.status).toBe(1);
    expect(all.stdout).toBe(
      `${AT}/bad.md:4: error: "maxTurns" is not a whole number above 0\n1 agent, 1 errors, 0 warnings\n`,
    );
    expect(agents(FILES, 'validate', `${AT}/rev.md`)).toMatchObject({ status: 0 });
    expect(agents(FILES, 'validate', AT, '--json').stdout).toContain('"line": 4');
    expect(agents(FILES, 'validate', 'nowhere').status).toBe(2);
    const empty = { [`${AT}/e.md`]: '---\nname: e\ndescription: d\n---\n' };
    expect(agents(empty, 'validate').stdout).toContain('warning: it has no prompt');
    expect(agents({}, 'validate', '--agents', '{"x": {}}').status).toBe(2);
  });

  it('shows nothing that a terminal would act on', () => {
    const text = agentText('a', '"x \\u001b[31m \\u202e"', 'color: "\\u001b]0;t\\u0007"\n');
    const { stdout } = agents({ [`${AT}/a.md`]: text }, 'list');
    expect(stdout).toContain('\\u001b[31m');
    expect(stdout).not.toMatch(/[\u001b\u202e\u0007]/);
  });
});
