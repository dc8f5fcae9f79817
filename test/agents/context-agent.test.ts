import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';
import { run } from '../e2e/worlds.js';

const projects: TempProject[] = [];
afterEach(() => {
  for (const project of projects.splice(0)) project.remove();
});

const file = '.claude/agents/rev.md';
const rev =
  '---\nname: rev\ndescription: d\ntools: Read, Bash(git *)\ninitialPrompt: FIRST\n---\nOWN WORDS\n';

interface Shown {
  readonly tools: readonly string[];
  readonly system: number;
}

/** The tools that `portcullis context` names, and the size of the system prompt. */
function shown(files: Record<string, string>, ...argv: string[]): Shown {
  const project = makeTempProject({ files, git: true });
  projects.push(project);
  const [node = '', ...program] = PROGRAM;
  const text = execFileSync(node, [...program, 'context', '--json', ...argv], {
    cwd: project.directory,
    env: { PATH: process.env.PATH ?? '', HOME: project.home },
    encoding: 'utf8',
    stdio: 'pipe',
  });
  const report = JSON.parse(text);
  const part = (name: string) =>
    report.parts.find((one: { readonly name: string }) => one.name === name);
  return {
    tools: report.tools.map((one: { readonly name: string }) => one.name),
    system: part('system prompt').tokens,
  };
}

describe('portcullis context for an agent', () => {
  it('shows the tools and words that a session that runs as it sends', async () => {
    const session = shown({ [file]: rev }, '-p');
    const own = shown({ [file]: rev }, '-p', '--agent', 'rev');
    expect(session.tools).toContain('Write');
    expect(own.tools).not.toContain('Write');
    expect(own.system).toBeLessThan(session.system);
    const done = await run({ files: { [file]: rev }, args: ['--agent', 'rev'], script: ['done'] });
    const body = done.requests[0]?.body as { readonly tools: readonly { readonly name: string }[] };
    const sent = body.tools.map(({ name }) => name);
    expect([...own.tools].sort()).toEqual([...sent].sort());
  });

  it('goes by the setting, too, and says when there is no such agent', () => {
    const settings = JSON.stringify({ agent: 'rev' });
    const own = shown({ [file]: rev, '.claude/settings.json': settings }, '-p', '--trust');
    expect(own.tools).not.toContain('Write');
    expect(() => shown({ [file]: rev }, '--agent', 'nosuch')).toThrow(/there is no agent/);
  });
});
