import { lstatSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { planInit, writePlan } from '../../src/project/init/plan.js';
import { detectRepository } from '../../src/project/init/repository.js';
import { openProjectPolicy } from '../../src/project/policy/policy.js';
import { findPolicyTables, runPolicyTests } from '../../src/project/policy/policy-tests.js';
import { openProject } from '../../src/project/project.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';

const open: TempProject[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.remove();
});

function makeProject(files: ProjectFiles = {}): TempProject {
  const project = makeTempProject({ files });
  open.push(project);
  return project;
}

const opened = ({ directory, home }: TempProject, trust: 'as it is' | 'given' = 'as it is') =>
  openProject(directory, { env: { PATH: process.env.PATH ?? '', HOME: home }, trust });

/** Plans and writes; returns the names of the files, and what was kept. */
async function init(temp: TempProject) {
  const project = opened(temp);
  const plan = await planInit(project);
  await writePlan(project.places, plan);
  const names = plan.files.map(({ file }) => path.relative(temp.directory, file));
  return { names, kept: plan.kept, rules: plan.rules.map(({ list, rule }) => `${list} ${rule}`) };
}

async function failedTests(temp: TempProject): Promise<readonly (string | undefined)[]> {
  const project = opened(temp, 'given');
  const tables = await findPolicyTables(project.places);
  expect(tables).toHaveLength(1);
  const results = await runPolicyTests(project, tables, () => undefined);
  expect(results.length).toBeGreaterThan(8);
  return results.flatMap(({ failure }) => failure ?? []);
}

describe('detectRepository', () => {
  const SCRIPTS = { test: 'x', build: 'x', lint: 'x', deploy: 'x' };
  it.each<[string, ProjectFiles, readonly string[]]>([
    [
      'npm',
      { 'package.json': { json: { scripts: SCRIPTS } } },
      ['npm run build', 'npm test', 'npm run lint'],
    ],
    [
      'pnpm',
      { 'package.json': { json: { scripts: SCRIPTS } }, 'pnpm-lock.yaml': '' },
      ['pnpm build', 'pnpm test', 'pnpm lint'],
    ],
    [
      'yarn',
      { 'package.json': { json: { scripts: { test: 'x' }, packageManager: 'yarn@4.1.0' } } },
      ['yarn test'],
    ],
    [
      'npm',
      {
        'package.json': {
          json: { scripts: { test: 'echo "Error: no test specified" && exit 1' } },
        },
      },
      [],
    ],
    ['cargo', { 'Cargo.toml': '' }, ['cargo build', 'cargo test', 'cargo clippy']],
    ['go', { 'go.mod': '' }, ['go build ./...', 'go test ./...', 'go vet ./...']],
    [
      'uv',
      { 'pyproject.toml': '[tool.pytest.ini_options]\n[tool.ruff]\n', 'uv.lock': '' },
      ['uv run pytest', 'uv run ruff check .'],
    ],
    ['pip', { 'requirements.txt': '', 'tests/test_x.py': '' }, ['pytest']],
    ['Gradle', { 'build.gradle.kts': '', gradlew: '' }, ['./gradlew build', './gradlew test']],
    ['', { Makefile: 'CC := cc\ntest: all\n\tx\nlint:\n\tx\nall:\n' }, ['make test', 'make lint']],
    ['', {}, []],
  ])('finds the commands of %s', async (manager, files, commands) => {
    const found = await detectRepository(nodeFileSystem, makeProject(files).directory);
    expect(found.packageManagers.join()).toBe(manager);
    expect(found.commands.map(({ command }) => command)).toEqual(commands);
  });

  it('takes broken files for empty ones', async () => {
    const { directory } = makeProject({
      'package.json': '{',
      'pyproject.toml': { directory: true },
    });
    expect((await detectRepository(nodeFileSystem, directory)).commands).toEqual([]);
  });
});

describe('portcullis init', () => {
  it('writes instructions and a policy whose tests pass, and nothing the second time', async () => {
    const project = makeProject({
      'package.json': { json: { description: 'A thing.', scripts: { test: 'x', lint: 'x' } } },
      'src/x.js': '',
    });
    const first = await init(project);
    expect(first.names).toEqual([
      'AGENTS.md',
      'CLAUDE.md',
      '.claude/settings.json',
      '.claude/policy-tests.yaml',
    ]);
    expect(project.read('CLAUDE.md')).toBe('@AGENTS.md\n');
    expect(project.read('AGENTS.md')).toMatch(/A thing\.[\s\S]*`npm test`[\s\S]*`src\/`/);
    expect(first.rules).toContain('allow Bash(npm test)');
    expect(first.rules).toContain('ask Bash(npm publish *)');
    expect(first.rules).toContain('deny Read(.env)');
    expect(await failedTests(project)).toEqual([]);
    expect((await init(project)).names).toEqual([]);
  });

  it.each([
    'x\n\n```portcullis\n{"deny": ["Bash"]}\n```',
    'read @/etc/passwd',
    '# Rules',
    'a\u2028- b',
    'hidden \u202e text',
    '<!-- x',
  ])('leaves out a description that is more than a sentence: %j', async (description) => {
    const project = makeProject({ 'package.json': { json: { description } } });
    await init(project);
    expect(project.read('AGENTS.md')).toMatch(/^# \S+\n\nJavaScript; npm\.\n/);
  });

  it('denies shells what it denies Read', async () => {
    const project = makeProject({ '.env': 'K=1', '.env.staging': 'K=1', id_ecdsa: 'K' });
    const { rules } = await init(project);
    expect(rules).toEqual(
      expect.arrayContaining(['deny Read(.env.staging)', 'deny Read(id_ecdsa)']),
    );
    const evaluate = await openProjectPolicy(opened(project, 'given'), {
      hooks: false,
      warn: () => undefined,
    });
    for (const command of ['cat .en?', 'grep -r K .', 'head -1 < .env', 'cp id_ecdsa x']) {
      const call = { tool: 'Bash', input: { command }, cwd: project.directory };
      expect((await evaluate(call)).decision, command).toBe('deny');
    }
  });

  it('adds to settings without touching another byte, and leaves what conflicts', async () => {
    const settings =
      '{\n\t"model": "opus",\n\t"permissions": { "deny": ["Bash(npm *)"], "allow": [] }\n}';
    const project = makeProject({
      'package.json': { json: { scripts: { test: 'x' } } },
      '.claude/settings.json': settings,
      'AGENTS.md': 'Mine.\n',
    });
    const { names, kept, rules } = await init(project);
    expect(names).toEqual(['CLAUDE.md', '.claude/settings.json', '.claude/policy-tests.yaml']);
    expect(project.read('AGENTS.md')).toBe('Mine.\n');
    expect(kept.join('\n')).toMatch(
      /Not added: allow Bash\(npm test\), because .* denied: Bash\(npm \*\) \(\.claude\/settings\.json:3\)/,
    );
    expect(rules).not.toContain('allow Bash(npm test)');
    const text = project.read('.claude/settings.json');
    expect(text).toContain(
      '{\n\t"model": "opus",\n\t"permissions": { "deny": ["Bash(npm *)", "Read(.env)"',
    );
    expect(text).toContain('"allow": []');
    expect(await failedTests(project)).toEqual([]);
  });

  it('leaves settings that it cannot read, and existing instructions and tests, as they are', async () => {
    const project = makeProject({
      '.claude/settings.json': '{ // mine\n}',
      '.claude/CLAUDE.md': 'Mine.',
    });
    const { names, kept } = await init(project);
    expect(names).toEqual([]);
    expect(kept).toEqual([
      '.claude/CLAUDE.md exists and is left as it is.',
      expect.stringMatching(/^\.claude\/settings\.json is left as it is: it is not valid JSON/),
    ]);
    expect(project.read('.claude/settings.json')).toBe('{ // mine\n}');
  });

  it('does not write through links that lead out of the directory', async () => {
    const project = makeProject();
    symlinkSync(path.join(project.home, 'elsewhere'), project.at('AGENTS.md'));
    symlinkSync(project.home, project.at('.claude'));
    const { names, kept } = await init(project);
    expect(names).toEqual(['CLAUDE.md']);
    expect(kept.join('\n')).toContain('.claude/settings.json is left as it is: it leads to');
    expect(
      lstatSync(path.join(project.home, 'elsewhere'), { throwIfNoEntry: false }),
    ).toBeUndefined();
  });

  it('refuses to write over what appeared meanwhile', async () => {
    const temp = makeProject();
    const project = opened(temp);
    const plan = await planInit(project);
    temp.write('AGENTS.md', 'Just written by somebody else.\n');
    await expect(writePlan(project.places, plan)).rejects.toThrow(/has changed meanwhile/);
    expect(temp.read('AGENTS.md')).toBe('Just written by somebody else.\n');
  });
});
