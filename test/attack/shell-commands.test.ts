import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workspaceFence } from '../../src/permissions/guards/workspace/fence.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { gateRig, type Rig } from '../support/gate-rig.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: {
      'a.txt': 'a\n',
      '.env': 'KEY=1\n',
      'secrets/key.pem': 'key\n',
      'sub/f': 'f\n',
      'sub/deep/f': 'f\n',
    },
  });
  execFileSync('git', ['init', '-q', project.directory]);
  execFileSync('git', ['-C', project.directory, 'add', '.']);
});
afterAll(() => project.remove());

const rig = (more: Partial<Parameters<typeof gateRig>[0]> = {}): Rig =>
  gateRig({
    cwd: project.directory,
    home: project.home,
    facts: { exported: () => new Set(['PATH', 'HOME']) },
    ...more,
  });

describe('where a command runs', () => {
  it.each([
    'true || cd sub && cat ../outside/secret',
    'true || cd sub && ls ..',
    'false && cd sub || true && ! cd sub && ls ..',
    '! cd gone && cat ../secret',
    '! cd gone/deep && cat ../../secret',
    'true && ! cd sub/none && cat ../x',
    'time ! cd gone && cat ../secret',
  ])('counts the places where it has not moved: %s', async (command) => {
    expect(await rig().bash(command)).toBe('asks');
  });

  it('holds deny rules there', async () => {
    const denied = rig({ allow: ['Bash'], deny: ['Read(./.env)'] });
    expect(await denied.bash('true || cd sub && cat .env')).toBe('denied');
    expect(await denied.bash('! cd gone && cat .env')).toBe('denied');
  });

  it.each([
    'cd sub && cat f',
    'cd sub && cat ../a.txt',
    'false || cd sub && cat f',
    'cd sub && cat f || cat a.txt',
    'cd sub/deep && cd .. && cat ../a.txt && ls',
    '! test -f gone && cat a.txt',
  ])('still runs inside: %s', async (command) => {
    expect(await rig().bash(command)).toBe('runs');
  });
});

describe('files that a word names in another form', () => {
  const denied = (): Rig => rig({ allow: ['Bash'], deny: ['Read(./.env)', 'Read(./secrets/**)'] });

  it.each([
    'uniq .{env,x}',
    'uniq "$x"',
    'uniq $(echo .env)',
    'jq -n --arg a $x "$z"',
    'dd if=~+/.env',
    'dd if=a:~+/.env',
    'dd if=~root/../x',
    'terraform plan -var-file=.{env,x}',
    'git show HEAD:{.env,a.txt}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell code
    'git show HEAD:${x:-.env}',
    'git show --stat HEAD:$x',
    'git show ":*env"',
    'git show ":s*/k*"',
    'NODE_OPTIONS="-r ./.env" node',
    'env NODE_OPTIONS="-r ./.env" node',
    'GREP_OPTIONS="-f .env" grep a b',
    'TZ=:.env date',
  ])('is not allowed: %s', async (command) => {
    expect(await denied().bash(command)).not.toBe('runs');
  });

  it.each([
    'uniq -c a.txt',
    'jq -n --arg a "b c" .',
    'dd if=a.txt',
    'git show HEAD:a.txt',
    'git show HEAD:sub/f',
    'git log --oneline $x..HEAD',
    'git commit -m "fix loading of .env"',
    'NODE_ENV=test npm test',
    'GREETING="a b" make',
  ])('is allowed: %s', async (command) => {
    expect(await denied().bash(command)).toBe('runs');
  });
});

describe('protected files that a command writes', () => {
  const free = (): Rig => rig({ allow: ['Bash'] });

  it.each([
    'cd sub; echo x > ../.g*/config',
    'cd sub && echo x > ../.g?t/config',
    'dd if=a.txt of=.{x,git}/config',
    'dd if=a.txt of=.m{cp,}.json',
    'echo x > .gi{t..t}/config',
    'tee .g{"i",x}t/config',
    'uniq a.txt .{git,g}/config',
    'echo x > $x.git/config',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell code
    'touch ${x}.mcp.json',
    'gunzip .mcp.json.gz',
    'gzip -d .envrc.gz',
    'unxz -k .envrc.xz',
    'zstd -d .envrc.zst',
    `python3 -c "import sys; open(sys.argv[1], 'w')" .git/config`,
    "awk 'BEGIN { print 1 > ARGV[1] }' .mcp.json",
    "awk '{ print > FILENAME }' .mcp.json",
    'node x.js .git/config',
    'python3 x.py .mcp.json',
    'socat - OPEN:.git/config,creat',
  ])('are asked about: %s', async (command) => {
    expect(await free().bash(command)).toBe('asks');
  });

  it.each([
    'mkdir -p a/{b,c}',
    'cp sub/{f,g} /tmp',
    'gunzip data.gz',
    'python3 -m json.tool .mcp.json',
    "awk '{ print $1 }' .git/config",
    "awk '$1 > 5' a.txt",
    'node .yarn/releases/yarn.cjs install',
    'python3 scripts/x.py a.txt',
    'echo x > $x.txt',
  ])('are not meant: %s', async (command) => {
    expect(await free().bash(command)).toBe('runs');
  });
});

describe('programs that start a denied one', () => {
  const denied = (): Rig => rig({ allow: ['Bash'], deny: ['Bash(rm:*)'] });

  it.each([
    "printf 'a:\\n\\trm a\\n' | make -f -",
    "view +':!rm a'",
    'ip netns exec n rm a',
    'systemd-inhibit rm a',
    'schroot -- rm a',
    'pyenv exec rm a',
    'volta run rm a',
    'cmake -E env rm a',
  ])('are not allowed: %s', async (command) => {
    expect(await denied().bash(command)).not.toBe('runs');
  });

  it.each(['make -f Makefile', 'ip addr', 'pyenv versions', 'cmake -S . -B build', 'view a.txt'])(
    'are allowed for other work: %s',
    async (command) => {
      expect(await denied().bash(command)).toBe('runs');
    },
  );
});

describe('links of a working tree that lead to the main checkout', () => {
  const fenced = (): Rig => {
    const { directory, home } = project;
    const workspace = path.join(directory, 'sub');
    return gateRig({
      cwd: workspace,
      home,
      allow: ['Bash'],
      agent: { ...MAIN_AGENT, path: 'main/w#1', type: 'w', workspace, isolation: 'worktree' },
      guards: [workspaceFence({ fs: nodeFileSystem, projectDir: directory })],
    });
  };
  beforeAll(() => symlinkSync('..', path.join(project.directory, 'sub/up')));

  it.each([
    "sed 'w up/new' f",
    'awk \'{ print > "up/new" }\' f',
    `python3 -c "open('up/new', 'w')"`,
    "vim -c 'w up/new' f",
  ])('are not written through by code: %s', async (command) => {
    expect(await fenced().bash(command)).not.toBe('runs');
  });

  it.each(["sed 'w new' f", 'awk \'{ print > "deep/new" }\' f', `python3 -c "open('new', 'w')"`])(
    'do not matter for names inside: %s',
    async (command) => {
      expect(await fenced().bash(command)).toBe('runs');
    },
  );
});
