import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import type { AskRequest, Suggestions } from '../gate/types.js';
import { describeRule } from './suggest.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'a.txt': 'a\n' } });
});
afterAll(() => project.remove());

async function asked(tool: string, input: Record<string, unknown>): Promise<AskRequest> {
  const requests: AskRequest[] = [];
  await gateRig({
    cwd: project.directory,
    home: project.home,
    asker: async (request) => {
      requests.push(request);
      return { behavior: 'deny', message: 'no' };
    },
  }).call(tool, input);
  const [request] = requests;
  if (request === undefined) throw new Error('nobody was asked');
  return request;
}

const rulesFor = async (command: string): Promise<Suggestions> =>
  (await asked('Bash', { command })).suggestions ?? {};

describe('rules for commands', () => {
  it.each([
    ['git push origin main', 'Bash(git push *)'],
    ['git stash pop', 'Bash(git stash pop *)'],
    ['npm test', 'Bash(npm test *)'],
    ['npm run build -- --watch', 'Bash(npm run build *)'],
    ['cargo build --release', 'Bash(cargo build *)'],
    ['docker compose up -d', 'Bash(docker compose up *)'],
    ['kubectl get pods -A', 'Bash(kubectl get *)'],
    ['gh pr create --fill', 'Bash(gh pr create *)'],
    ['aws s3 ls s3://x', 'Bash(aws s3 ls *)'],
    ['timeout 60 npm test', 'Bash(npm test *)'],
    ['pytest tests/x.py', 'Bash(pytest *)'],
  ])('%s: %s', async (command, prefix) => {
    expect((await rulesFor(command)).prefix).toBe(prefix);
  });

  it.each([
    'python3 x.py',
    'python3.12 -m http.server',
    'node x.js',
    'bash x.sh',
    'sudo systemctl restart x',
    'npx cowsay hi',
    'npm exec cowsay',
    'xargs rm',
    'env FOO=1 make',
    'docker run -it ubuntu sh',
    'kubectl exec pod -- sh',
    'go run ./cmd',
    'uv run x',
    'git -c core.pager=x log',
    'git config --global alias.x y',
    'git submodule foreach x',
    'gh api -X DELETE /x',
    'ssh host',
    'rm -rf build',
    'chmod +x a.txt',
    'curl https://x.example',
    'tee out',
    './run.sh x',
    '/usr/bin/git push',
    'FOO=1 npm test',
    'npm test > out.txt',
    'npm test && npm publish',
    'eval "$X"',
    'npm $CMD x',
    'find . -delete',
    'awk -f x a.txt b',
    'watch ls',
    'psql -c x',
    'hyperfine ls',
    'fakeroot make',
    'docker-compose exec web sh',
  ])('offers no prefix for %s', async (command) => {
    expect((await rulesFor(command)).prefix).toBeUndefined();
  });

  it('offers no exact rule for what does not fit one', async () => {
    expect((await rulesFor(`frob ${'x'.repeat(300)}`)).exact).toBeUndefined();
    expect((await rulesFor('frob a\nfrob b')).exact).toBeUndefined();
    expect((await rulesFor('frob "(a*)"')).exact).toBe('Bash(frob "\\(a\\*\\)")');
  });

  it('offers a subcommand first, and otherwise the very command', async () => {
    expect((await asked('Bash', { command: 'git push -f' })).suggestion).toBe('Bash(git push *)');
    expect((await asked('Bash', { command: 'pytest -q' })).suggestion).toBe('Bash(pytest -q)');
  });
});

describe('rules for other calls', () => {
  it('names the file, or its directory', async () => {
    const suggestions = async (tool: string, file_path: string) =>
      (await asked(tool, { file_path })).suggestions;
    expect(await suggestions('Write', 'src/deep/n.ts')).toEqual({
      exact: 'Edit(./src/deep/n.ts)',
      prefix: 'Edit(./src/deep/**)',
    });
    expect(await suggestions('Write', 'n.ts')).toEqual({
      exact: 'Edit(./n.ts)',
      prefix: 'Edit(./*)',
    });
    expect(await suggestions('Read', '/etc/ssl/x')).toEqual({
      exact: 'Read(//etc/ssl/x)',
      prefix: 'Read(//etc/ssl/**)',
    });
    expect(await suggestions('Read', `${project.home}/x`)).toEqual({
      exact: `Read(/${project.home}/x)`,
    });
  });

  it('names the host, or the tool', async () => {
    expect((await asked('WebFetch', { url: 'https://a.example/x' })).suggestions).toEqual({
      prefix: 'WebFetch(domain:a.example)',
      tool: 'WebFetch',
    });
    expect((await asked('mcp__s__t', {})).suggestions).toEqual({ tool: 'mcp__s__t' });
    expect((await asked('AskUserQuestion', {})).suggestions).toEqual(undefined);
  });

  it('names the skill, with its words and with any', async () => {
    const bare = await asked('Skill', { skill: 'team:deploy' });
    expect(bare.suggestions).toEqual({
      exact: 'Skill(team:deploy)',
      prefix: 'Skill(team:deploy *)',
    });
    expect(bare.suggestion).toBe('Skill(team:deploy)');
    const words = await asked('Skill', { skill: 'deploy', args: 'prod (now) *' });
    expect(words.suggestions).toEqual({ prefix: 'Skill(deploy *)' });
    expect(words.suggestion).toBe('Skill(deploy *)');
    expect((await asked('Skill', { skill: 'a b*' })).suggestions).toEqual({});
  });

  it.each([
    [{ skill: 'deploy' }],
    [{ skill: 'deploy', args: 'prod (now) * \\(' }],
    [{ skill: 'team:deploy', args: '--x="1 2"' }],
  ])('for a skill fit the call: %j', async (input) => {
    const { exact, prefix } = (await asked('Skill', input)).suggestions ?? {};
    for (const rule of [exact, prefix].filter((one) => one !== undefined)) {
      const rig = gateRig({ cwd: project.directory, home: project.home, allow: [rule] });
      expect((await rig.call('Skill', input)).kind).toBe('allowed');
      const other = { ...input, skill: 'other' };
      expect((await rig.call('Skill', other)).kind).toBe('refused');
    }
  });
});

describe('describeRule', () => {
  it.each([
    ['Bash(git push *)', 'every command that begins with `git push`'],
    ['Bash(git push:*)', 'every command that begins with `git push`'],
    ['Bash(echo \\(a\\*\\))', 'the command `echo (a*)` alone'],
    ['Bash(git * main)', 'every command like `git * main`'],
    ['Edit(./src/**)', 'changing every file below ./src'],
    ['Edit(./*)', 'changing every file directly in the working directory'],
    ['Read(//etc/ssl/x)', 'reading /etc/ssl/x'],
    ['WebFetch(domain:a.example)', 'pages of a.example'],
    ['mcp__s__t', 'every call of mcp__s__t'],
    ['Agent(reviewer)', 'every call of Agent for reviewer'],
  ])('%s: %s', (rule, words) => {
    expect(describeRule(rule)).toBe(words);
  });
});
