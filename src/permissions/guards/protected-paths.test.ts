import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { protectedPart, staysClosed } from './protected-paths.js';

const at = (path: string) => ({ literal: path, real: path, resolved: [path] });
const place = { roots: ['/p'], own: ['/opt/settings', '/h/.portcullis'] };

describe('protected names', () => {
  it.each([
    '.git/config',
    '.git/hooks/pre-commit',
    'sub/.git/config',
    '.GIT/config',
    '.Git/HOOKS/x',
    '.git./config',
    '.git /config',
    '.git::$INDEX_ALLOCATION/config',
    'git~1/config',
    '.g\u200cit/config',
    '.ｇｉｔ/config',
    '.hg/hgrc',
    '.Rprofile',
    '.vscode/tasks.json',
    '.vscode/settings.json',
    '.idea/workspace.xml',
    '.run/x.run.xml',
    '.husky/pre-commit',
    '.devcontainer/devcontainer.json',
    '.claude/settings.json',
    '.claude/hooks/x.sh',
    '.CLAUDE/settings.json',
    '.portcullis/trust.json',
    '.cursor/mcp.json',
    '.codex/config.toml',
    '.gemini/settings.json',
    '.windsurf/x',
    '.roo/mcp.json',
    '.aider.conf.yml',
    '.bashrc',
    '.zshenv',
    '.profile',
    'sub/.envrc',
    '.npmrc',
    '.yarnrc.yml',
    '.pnpmfile.cjs',
    'bunfig.toml',
    '.pypirc',
    '.netrc',
    '.mcp.json',
    '.gitmodules',
    '.gitattributes',
    '.gitconfig',
    '.config/git/config',
    '.config/fish/config.fish',
    'x.code-workspace',
    'lefthook.yml',
    '.pre-commit-config.yaml',
    'gradle/wrapper/gradle-wrapper.properties',
    '.ssh/authorized_keys',
    '.baſhrc',
  ])('%s is protected', (name) => {
    expect(protectedPart(at(`/p/${name}`), place)).toBeDefined();
    expect(protectedPart(at(`/elsewhere/${name}`), place)).toBeDefined();
  });

  it.each([
    'CLAUDE.md',
    '.env',
    'package.json',
    '.gitignore',
    'src/git/config',
    'git.config',
    '.github/workflows/ci.yml',
    '.claude/worktrees/a/src/x.ts',
    'docs/.bashrc.md',
    'config/git',
    '.eslintrc.json',
  ])('%s is not', (name) => {
    expect(protectedPart(at(`/p/${name}`), place)).toBeUndefined();
  });

  it('counts what is below a working directory that lies in such a place', () => {
    const roots = ['/h/.claude/worktrees/x'];
    expect(protectedPart(at('/h/.claude/worktrees/x/src/a.ts'), { roots })).toBeUndefined();
    expect(protectedPart(at('/h/.claude/worktrees/x/.git/a'), { roots })).toBe('.git');
  });

  it('knows our own places by where they are', () => {
    expect(protectedPart(at('/opt/settings/settings.json'), place)).toBe('/opt/settings');
    expect(protectedPart(at('/opt/settings2/x'), place)).toBeUndefined();
    const working = { ...place, roots: ['/opt/settings'] };
    expect(protectedPart(at('/opt/settings/x'), working)).toBeUndefined();
  });

  it.each([
    ['/p/.claude/settings.json', true],
    ['/p/.claude/settings.local.json', true],
    ['/p/.claude/hooks/guard.sh', true],
    ['/p/.claude', true],
    ['/h/.portcullis/journal.jsonl', true],
    ['/opt/settings/settings.json', true],
    ['/opt/Settings/settings.json', true],
    ['/OPT/settingſ./settings.json', true],
    ['/opt/settings\u200b/settings.json', true],
    ['/h/.portculliſ/journal.jsonl', true],
    ['/h/PORTCU~1/journal.jsonl', true],
    ['/p/．ｃｌａｕｄｅ/settings.json', true],
    ['/p/.Claude /SETTINGS.json', true],
    ['/opt/settings-of-others/settings.json', false],
    ['/p/.claude/agents/x.md', false],
    ['/p/.git/config', true],
    ['/h/.bashrc', true],
    ['/p/.vscode/tasks.json', false],
    ['/p/.npmrc', false],
    ['/p/settings.json', false],
  ])('%s stays closed in every mode: %s', (path, expected) => {
    expect(staysClosed(at(path), place)).toBe(expected);
  });
});

describe('protected paths in every mode', () => {
  let project: TempProject;
  beforeAll(() => {
    project = makeTempProject({ files: { 'a.txt': 'a', '.claude/settings.json': '{}' } });
  });
  afterAll(() => project.remove());
  const rig = (mode: 'acceptEdits' | 'bypassPermissions' | 'default') =>
    gateRig({ cwd: project.directory, home: project.home, mode, allow: ['Bash', 'Edit', 'Write'] });

  it.each([
    ['Edit', { file_path: '.npmrc', old_string: 'a', new_string: 'b' }],
    ['Bash', { command: 'tee .vscode/tasks.json < a.txt' }],
    ['Bash', { command: 'mv a.txt .mcp.json' }],
  ])('%s %j asks in spite of allow rules', async (tool, input) => {
    expect(await rig('default').outcome(tool, input)).toBe('asks');
    expect(await rig('acceptEdits').outcome(tool, input)).toBe('asks');
    expect(await rig('bypassPermissions').outcome(tool, input)).toBe('runs');
  });

  it.each([
    ['Write', { file_path: '.git/hooks/x', content: '' }],
    ['Bash', { command: 'echo x > .git/config' }],
    ['Bash', { command: "cp a.txt $'.git/config'" }],
    ['Bash', { command: 'cp a.txt .g\\it/config' }],
    ['Bash', { command: 'cd .git && touch hooks/x' }],
    ['Bash', { command: 'bash -c "echo x > .bashrc"' }],
    ['Write', { file_path: '.claude/settings.json', content: '{}' }],
    ['Bash', { command: 'echo {} > .claude/settings.local.json' }],
    ['Bash', { command: 'rm -rf .claude' }],
    ['Bash', { command: 'sed -i s/deny/allow/ .claude/settings.json' }],
  ])('%s %j asks even with all questions off', async (tool, input) => {
    expect(await rig('bypassPermissions').outcome(tool, input)).toBe('asks');
  });
});
