import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startFakeModelServer } from '../../src/testing/fake-model-server.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';
import { run as play } from '../e2e/worlds.js';
import { notices } from '../hooks/e2e-rig.js';
import { place, shown } from './rig.js';

const projects: TempProject[] = [];
afterAll(() => {
  for (const project of projects) project.remove();
});

function enter(files: ProjectFiles, home: ProjectFiles = {}): TempProject {
  const project = makeTempProject({ files, home, git: true });
  projects.push(project);
  return project;
}

interface Ran {
  readonly code: number;
  readonly text: string;
  readonly warned: string;
}

/** The built program in a project, with nothing in its environment but what is given. */
function context(
  { directory, home }: TempProject,
  argv: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const [node = '', ...program] = PROGRAM;
  const options = { cwd: directory, env: { PATH: process.env.PATH ?? '', HOME: home, ...env } };
  return new Promise((resolve) => {
    execFile(node, [...program, 'context', ...argv], options, (error, text, warned) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, text, warned });
    });
  });
}

const json = async (project: TempProject, ...argv: readonly string[]) =>
  JSON.parse((await context(project, ['--json', ...argv])).text) as Record<string, unknown>;

const MARK = 'touch "$HOME/HOOK_RAN"';
const hook = [{ hooks: [{ type: 'command', command: MARK }] }];
const FILES = {
  'CLAUDE.md': 'PROJECT_TEXT @inc.md @../out.md @gone.md',
  'inc.md': 'INCLUDED_TEXT',
  'CLAUDE.local.md': 'LOCAL_TEXT',
  '.claude/rules/always.md': 'RULE_TEXT',
  '.claude/rules/later.md': '---\npaths: src/**\n---\nLATER_TEXT',
  'sub/CLAUDE.md': 'SUB_TEXT',
  'node_modules/x/CLAUDE.md': 'FOREIGN_TEXT',
} as const;

describe('portcullis context', () => {
  it('names every file with kind, size and reason, what waits and for what, and what is left out', async () => {
    const project = enter(FILES, { '.claude/CLAUDE.md': 'USER_TEXT' });
    writeFileSync(path.join(project.directory, '../out.md'), 'OUTSIDE_TEXT');
    const { code, text } = await context(project);
    expect(code).toBe(0);
    expect(text).toMatch(/: about [\d,]+ of [\d,]+ tokens \(\d+\.\d %\)/);
    expect(text).toMatch(/system prompt[\s\S]*tools[\s\S]*instructions[\s\S]*skill listing/);
    expect(text).toMatch(/^ +\d+ {2}Bash$/m);
    const order = [
      /CLAUDE\.md {2}\(user file; from the start\)/,
      /^ +\d+ {2}CLAUDE\.md {2}\(project file; from the start\)/m,
      /inc\.md {2}\(project file; included by CLAUDE\.md\)/,
      /always\.md {2}\(project rule; from the start\)/,
      /CLAUDE\.local\.md {2}\(local file; from the start\)/,
      /^Waiting$/m,
      /later\.md {2}\(project rule; once a file is used that fits src\/\*\*\)/,
      /sub\/CLAUDE\.md {2}\(project file; once a file in sub is used\)/,
      /^Not shown$/m,
      /out\.md, named in CLAUDE\.md: it is outside of the project, and no person has approved/,
      /@gone\.md, named in CLAUDE\.md: there is no such file/,
    ].map((pattern) => text.search(pattern));
    expect(order).not.toContain(-1);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(text).not.toMatch(/_TEXT|node_modules/);
  });

  it('adds up, and agrees with what a session then sends', async () => {
    const world = place(FILES);
    const elsewhere = { ...world.project, directory: world.project.root };
    const report = await json(elsewhere, '--cwd', 'project', '-p');
    const parts = report.parts as { name: string; tokens: number; share: number }[];
    expect(parts.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(report.tokens);
    expect(report.share).toBeCloseTo(Number(report.tokens) / Number(report.window));
    const done = await play({ world, script: ['done'] });
    const body = done.requests[0]?.body as { tools: { name: string }[]; system: unknown[] };
    expect((report.tools as { name: string }[]).map(({ name }) => name)).toEqual(
      body.tools.map(({ name }) => name),
    );
    const sent = shown(done, 0).filter((text) => text.startsWith('<system-reminder>'));
    const reminders = parts.filter(({ name }) => /instructions|listing|notes/.test(name));
    const size = sent.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0);
    const reported = reminders.reduce((sum, { tokens }) => sum + tokens, 0);
    expect(Math.abs(reported - size)).toBeLessThan(size * 0.1);
    const { loaded } = report.instructions as { loaded: { path: string }[] };
    const paths = loaded.map(({ path: file }) => file);
    const positions = paths.map((file) => sent.join('\n').indexOf(`Contents of ${file} `));
    expect(positions).not.toContain(-1);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
  });

  it('runs no hook, asks no model, keeps nothing, and shows no secret', async () => {
    const server = await startFakeModelServer({ script: ['never'] });
    const events = ['SessionStart', 'InstructionsLoaded', 'Setup', 'PreToolUse', 'SessionEnd'];
    const settings = {
      hooks: Object.fromEntries(events.map((event) => [event, hook])),
      portcullis: { probeHooks: true },
      env: { TOKEN: 'SECRET_VALUE' },
    };
    const project = enter(
      { ...FILES, '.env': 'KEY=SECRET_VALUE', 'CLAUDE.md': '@.env' },
      { '.claude/settings.json': { json: settings } },
    );
    const { home, directory } = project;
    const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'SECRET_VALUE' };
    const seen = [
      await context(project, ['--trust'], env),
      await context(project, ['--json', '--trust'], env),
    ];
    expect(seen.map(({ text }) => text).join('')).not.toContain('SECRET_VALUE');
    expect(seen[0]?.text).toContain('.env');
    expect(server.requests).toEqual([]);
    await server.close();
    expect(existsSync(path.join(home, 'HOOK_RAN'))).toBe(false);
    expect(readdirSync(home)).toEqual(['.claude']);
    expect(readdirSync(path.join(home, '.claude'))).toEqual(['settings.json']);
    expect(readdirSync(directory)).not.toContain('.portcullis');
  });

  it('works without a key, with a server that names no model, and says what it does not understand', async () => {
    const project = enter({});
    expect((await context(project)).text).toContain('No instruction files are shown.');
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' };
    expect((await context(project, [], env)).code).toBe(0);
    const refused = async (...argv: readonly string[]) => {
      const { code, warned } = await context(project, argv);
      expect(code).toBe(2);
      return warned;
    };
    expect(await refused('aprove', 'x')).toContain('no subcommand "aprove"');
    expect(await refused('--cwd', 'nowhere')).toContain('is not a directory');
    expect(await refused('--jsn')).toContain('--jsn');
  });
});

describe('portcullis context approve and decline', () => {
  it('are for one resolved file and one project, and count from the next session on', async () => {
    const world = place({ 'CLAUDE.md': 'ROOT @../out.md @../link.md' });
    const { project } = world;
    const { directory } = project;
    const out = path.join(directory, '../out.md');
    writeFileSync(out, 'OUTSIDE_TEXT');
    symlinkSync(out, path.join(directory, '../link.md'));
    const session = () => play({ world, script: ['done'] });
    const first = await session();
    expect(shown(first, 0).join('\n')).not.toContain('OUTSIDE_TEXT');
    expect(notices(first).join('\n')).toMatch(/out\.md.*was not read: .*outside of the project/);
    const link = path.join(directory, '../link.md');
    const said = await context(project, ['approve', link]);
    expect(said.text).toContain('out.md to the model');
    const second = await session();
    expect(shown(second, 0).join('\n').split('OUTSIDE_TEXT')).toHaveLength(2);
    const { approvals } = (await json(project)) as { approvals: { approved: string[] } };
    expect(approvals.approved.map((file) => path.basename(file))).toEqual(['out.md']);
    await context(project, ['decline', out]);
    const third = await session();
    expect(shown(third, 0).join('\n')).not.toContain('OUTSIDE_TEXT');
    // A no needs no reminder.
    expect(notices(third).join('\n')).not.toContain('out.md');
    expect((await context(project)).text).toContain('a person has declined it');
  });

  it('refuse what is no file, lies in the project, or could not be kept safely', async () => {
    const project = enter({ 'in.md': 'x' });
    mkdirSync(path.join(project.directory, '../folder'));
    writeFileSync(path.join(project.home, 'x.md'), 'x');
    const refused = async (argv: readonly string[], env: Readonly<Record<string, string>> = {}) => {
      const { code, warned } = await context(project, ['approve', ...argv], env);
      expect(code).not.toBe(0);
      return warned;
    };
    expect(await refused([])).toContain("missing required argument 'paths'");
    expect(await refused(['../folder'])).toContain('is not a file');
    expect(await refused(['../gone.md'])).toContain('is not a file');
    expect(await refused(['in.md'])).toContain('is inside the project');
    const inside = { PORTCULLIS_HOME: path.join(project.directory, 'state') };
    expect(await refused(['~/x.md'], inside)).toContain('does not count');
  });
});
