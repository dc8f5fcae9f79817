import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parseRules, type RuleSet } from '../../src/permissions/rules/rules.js';
import { systemClock } from '../../src/platform/clock.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';
import { type AgentRef, MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import { Finder } from '../../src/sandbox/policy/find.js';
import { type PolicyOrder, sandboxPolicy } from '../../src/sandbox/policy/policy.js';
import { sandboxSettings } from '../../src/sandbox/policy/settings.js';
import { SessionFence } from '../../src/sandbox/session/guard.js';
import { openSandbox } from '../../src/sandbox/session/sandbox.js';
import { fencedSupervisor } from '../../src/sandbox/session/supervisor.js';
import type { Sandbox, SandboxPolicy } from '../../src/sandbox/types.js';
import { loadSettings } from '../../src/settings/files/load.js';
import type { EffectiveSettings } from '../../src/settings/types.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { BASE, missing, why } from './rig.js';

type Settings = Readonly<Record<string, unknown>>;

interface World {
  readonly project: TempProject;
  readonly settings: EffectiveSettings;
  policyFor(order: PolicyOrder): Promise<SandboxPolicy>;
  fence(open?: () => Promise<Sandbox>): SessionFence;
}

const made: TempProject[] = [];
afterEach(() => {
  for (const project of made.splice(0)) project.remove();
});

interface Given {
  readonly user?: Settings;
  readonly projectFile?: Settings;
  readonly managed?: Settings;
  readonly flag?: Settings;
  readonly trusted?: boolean;
  readonly rules?: { allow?: readonly string[]; deny?: readonly string[] };
  readonly ofAgents?: { allow?: readonly string[]; deny?: readonly string[] };
  readonly git?: boolean;
  /** Below the root of the repository. */
  readonly cwd?: string;
}

async function world(given: Given = {}): Promise<World> {
  const project = makeTempProject({
    under: BASE,
    git: given.git === true,
    files:
      given.projectFile === undefined
        ? {}
        : { '.claude/settings.json': { json: given.projectFile } },
    home: {
      '.claude/settings.json': { json: given.user ?? { sandbox: { enabled: true } } },
      ...(given.managed === undefined
        ? {}
        : { 'managed/managed-settings.json': { json: given.managed } }),
    },
  });
  made.push(project);
  const place = {
    cwd: path.join(project.directory, given.cwd ?? ''),
    home: project.home,
    configDir: path.join(project.home, '.claude'),
  };
  const { settings } = await loadSettings({
    fs: nodeFileSystem,
    ...place,
    managedDir: path.join(project.home, 'managed'),
    sources: ['user', 'project', 'local'],
    trustProject: given.trusted ?? true,
    env: { HOME: project.home },
    knownTools: [],
    ...(given.flag === undefined ? {} : { flagSettings: JSON.stringify(given.flag) }),
  });
  const rulesOf = (texts: Given['rules'] = {}): RuleSet => {
    const sourced = (list: readonly string[] = []) =>
      list.map((text) => ({
        value: { text, root: project.directory },
        source: 'user' as const,
        trusted: true,
      }));
    const lists = { allow: sourced(texts.allow), ask: [], deny: sourced(texts.deny) };
    return parseRules(lists, { cwd: project.directory, home: project.home }).rules;
  };
  const parts = {
    fs: nodeFileSystem,
    ...place,
    stateDirectory: path.join(project.home, '.portcullis'),
  };
  const rules = (agent: AgentRef): RuleSet =>
    rulesOf(agent.depth === 0 ? given.rules : (given.ofAgents ?? given.rules));
  return {
    project,
    settings,
    policyFor: (order) =>
      sandboxPolicy(
        {
          ...parts,
          finder: new Finder(nodeFileSystem, systemClock.now),
          rules,
          settings: sandboxSettings(settings.values, place),
        },
        order,
      ),
    fence(open) {
      return new SessionFence({
        ...parts,
        now: systemClock.now,
        tell: () => undefined,
        rules: Promise.resolve(rules),
        settings,
        open:
          open ?? (() => openSandbox({ env: process.env, stateDirectory: parts.stateDirectory })),
        roots: () => [project.directory],
        kept: { outputs: path.join(project.root, 'out'), transcript: path.join(project.root, 't') },
      });
    },
  };
}

const main = (project: TempProject) => ({ agent: MAIN_AGENT, roots: [project.directory] });

const read = async (given: Given) => {
  const { settings, project } = await world(given);
  return sandboxSettings(settings.values, {
    cwd: project.directory,
    home: project.home,
    configDir: path.join(project.home, '.claude'),
  });
};

describe('who has the say', () => {
  it('a project switches it on, trusted or not, and never off', async () => {
    const on = { sandbox: { enabled: true } };
    const off = { sandbox: { enabled: false, failIfUnavailable: false } };
    expect((await read({ user: {}, projectFile: on, trusted: false })).enabled).toBeDefined();
    expect((await read({ user: on, projectFile: off })).enabled).toBeDefined();
    expect((await read({ user: on, projectFile: off })).required).toBe(true);
    expect((await read({ user: off, projectFile: {} })).enabled).toBeUndefined();
    expect((await read({ user: on, flag: off })).enabled).toBeUndefined();
  });

  it('a sandbox that is asked for is needed unless he who asks says otherwise', async () => {
    const lax = { sandbox: { enabled: true, failIfUnavailable: false } };
    expect((await read({})).required).toBe(true);
    expect((await read({ user: lax })).required).toBe(false);
    const strict = { sandbox: { failIfUnavailable: true } };
    expect((await read({ user: lax, managed: strict })).required).toBe(true);
    expect((await read({ user: {}, projectFile: lax, trusted: false })).required).toBe(true);
  });

  it('a pattern opens nothing, and the settings say so', async () => {
    const filesystem = { allowWrite: ['/srv/*.log', '/srv/cache/**'], allowRead: ['~/[a-z]'] };
    const settings = await read({ user: { sandbox: { enabled: true, filesystem } } });
    expect(settings.allowWrite).toEqual(['/srv/cache']);
    expect(settings.allowRead).toEqual([]);
    expect(settings.problems).toMatchObject([
      { severity: 'warning', source: 'user', message: expect.stringContaining('"/srv/*.log"') },
      { severity: 'warning', message: expect.stringContaining('"~/[a-z]"') },
    ]);
  });

  it('a lock from above lets no project widen it', async () => {
    const wide = {
      sandbox: {
        network: { allowedDomains: ['a.example'], allowAllUnixSockets: true },
        filesystem: { allowWrite: ['/srv'], allowRead: ['~/.ssh'] },
        excludedCommands: ['x *'],
        allowUnsandboxedCommands: true,
      },
    };
    const open = await read({ projectFile: wide });
    expect([open.allowedDomains.length, open.allowWrite.length, open.unixSockets]).toEqual([
      1,
      1,
      'all',
    ]);
    const locks = [
      { managed: { sandbox: { allowUnsandboxedCommands: false } } },
      { flag: { sandbox: { allowUnsandboxedCommands: false } } },
      { managed: { sandbox: { network: { allowManagedDomainsOnly: true } } } },
    ];
    for (const lock of locks) {
      const locked = await read({ projectFile: wide, ...lock });
      expect(locked).toMatchObject({
        allowedDomains: [],
        allowWrite: [],
        allowRead: [],
        excluded: [],
        unixSockets: [],
      });
    }
  });

  it('an administrator keeps domains and reopened paths to himself', async () => {
    const user = {
      sandbox: {
        enabled: true,
        network: { allowedDomains: ['user.example'] },
        filesystem: { allowRead: ['~/.aws'] },
      },
    };
    const managed = {
      sandbox: {
        network: { allowManagedDomainsOnly: true, allowedDomains: ['company.example'] },
        filesystem: { allowManagedReadPathsOnly: true },
      },
    };
    const settings = await read({ user, managed });
    expect(settings.allowedDomains.map(({ labels }) => labels.join('.'))).toEqual([
      'company.example',
    ]);
    expect(settings.allowRead).toEqual([]);
  });
});

describe('the network', () => {
  const allows = async (given: Given, host: string): Promise<boolean> => {
    const { policyFor, project } = await world(given);
    const { network } = await policyFor(main(project));
    return network.kind === 'filtered' ? await network.allows(host, 443) : network.kind === 'open';
  };
  const sandbox = (network: Settings) => ({ user: { sandbox: { enabled: true, network } } });

  it('is none where nobody allows anything', async () => {
    const { policyFor, project } = await world();
    expect((await policyFor(main(project))).network).toEqual({ kind: 'none' });
  });

  it('is what lists and rules for WebFetch say, and a ban goes first', async () => {
    const given = {
      ...sandbox({ allowedDomains: ['*.a.example', 'b.example'], deniedDomains: ['x.a.example'] }),
      rules: { allow: ['WebFetch(domain:c.example)'], deny: ['WebFetch(domain:b.example)'] },
    };
    const hosts = [
      'w.a.example',
      'a.example',
      'x.a.example',
      'b.example',
      'c.example',
      'd.example',
    ];
    const open = await Promise.all(hosts.map((host) => allows(given, host)));
    expect(open).toEqual([true, false, false, false, true, false]);
  });

  it('names only hosts that are written out', async () => {
    const { policyFor, project } = await world(
      sandbox({ allowedDomains: ['127.0.0.1', '*.a.example', '*'] }),
    );
    const { network } = await policyFor(main(project));
    const named = (host: string) => network.kind === 'filtered' && network.named?.(host, 80);
    expect([named('127.0.0.1'), named('x.a.example'), named('10.0.0.1')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('files', () => {
  it('a rule for everything opens no fence', async () => {
    const { policyFor, project } = await world({
      rules: {
        allow: ['Edit', 'Edit(//**)', 'Edit(~/**)', 'Edit(//opt/cache/**)', 'Edit(**/*.md)'],
      },
    });
    const { writable } = await policyFor(main(project));
    expect(writable).toEqual([project.directory, '/opt/cache']);
  });

  it('patterns and plain paths of restrictions are both found', async () => {
    const { policyFor, project } = await world({
      rules: { deny: ['Read(.env)', 'Read(./a/*.key)', 'Read(Secret/**)', 'Edit(/fixed.txt)'] },
    });
    for (const name of ['.env', 'sub/.env', 'a/x.key', 'a/y.txt', 'Secret/x']) {
      project.write(name, 'x');
    }
    const { hidden, protected: kept } = await policyFor(main(project));
    const below = hidden
      .filter((one) => one.startsWith(project.directory))
      .map((one) => path.relative(project.directory, one));
    expect(new Set(below)).toEqual(new Set(['.env', 'sub/.env', 'a/x.key', 'Secret']));
    expect(kept).toContain(project.at('fixed.txt'));
  });

  it('a link to a credential is hidden with what it leads to', async () => {
    const { policyFor, project } = await world();
    mkdirSync(path.join(project.home, 'real'));
    symlinkSync(path.join(project.home, 'real'), path.join(project.home, '.ssh'));
    const { hidden } = await policyFor(main(project));
    expect(hidden).toContain(path.join(project.home, 'real'));
  });

  it('finds a file among more than 20,000 others', async () => {
    const { policyFor, project } = await world({ rules: { deny: ['Read(**/*.pem)'] } });
    mkdirSync(project.at('many/z'), { recursive: true });
    for (let n = 0; n < 20_100; n++) writeFileSync(project.at(`many/${n}`), '');
    writeFileSync(project.at('many/z/key.pem'), '');
    expect((await policyFor(main(project))).hidden).toContain(project.at('many/z/key.pem'));
  });

  it('without a fence around files there is still one around the network', async () => {
    const { policyFor, project } = await world({
      user: { sandbox: { enabled: true, filesystem: { disabled: true } } },
    });
    expect(await policyFor(main(project))).toMatchObject({
      writable: ['/'],
      hidden: [],
      network: { kind: 'none' },
    });
  });
});

describe('agents', () => {
  const child: AgentRef = {
    id: 'a',
    type: 'worker',
    path: 'main/worker#1',
    depth: 1,
    background: false,
  };

  it('have no more than the session and the rules for them both allow', async () => {
    const { policyFor, project } = await world({
      rules: {
        allow: ['Edit(//opt/one/**)', 'Edit(//opt/two/**)'],
        deny: ['Read(//opt/secret/**)'],
      },
      ofAgents: { allow: ['Edit(//opt/two/**)', 'Edit(//opt/three/**)'], deny: ['Edit(/x.txt)'] },
    });
    const policy = await policyFor({ agent: child, roots: [project.directory] });
    expect(policy.writable).toEqual([project.directory, '/opt/two']);
    expect(policy.hidden).toContain('/opt/secret');
    expect(policy.protected).toContain(project.at('x.txt'));
  });

  it('with a tree of their own write there, and to the shared repository', async () => {
    const { policyFor, project } = await world({
      git: true,
      rules: { allow: ['Edit(/src/**)', 'Edit(//opt/cache/**)'] },
    });
    const workspace = project.at('.claude/worktrees/w');
    execFileSync('git', ['worktree', 'add', '-q', workspace], { cwd: project.directory });
    const agent: AgentRef = { ...child, workspace, isolation: 'worktree' };
    const policy = await policyFor({ agent, roots: [project.directory] });
    expect(new Set(policy.writable)).toEqual(
      new Set([workspace, project.at('.git'), '/opt/cache']),
    );
    for (const name of ['.git/hooks', '.git/config', '.git/HEAD', '.claude/worktrees/w/.git']) {
      expect(policy.protected).toContain(project.at(name));
    }
  });

  it('with a tree of their own stay out of the whole checkout of a session in a part of it', async () => {
    const { policyFor, project } = await world({
      git: true,
      cwd: 'packages/a',
      rules: { allow: ['Edit(/packages/b/**)'] },
    });
    const workspace = project.at('.claude/worktrees/w');
    execFileSync('git', ['worktree', 'add', '-q', workspace], { cwd: project.directory });
    const agent: AgentRef = { ...child, workspace, isolation: 'worktree' };
    const policy = await policyFor({ agent, roots: [], hidesCheckout: true });
    expect(new Set(policy.writable)).toEqual(new Set([workspace, project.at('.git')]));
    expect(policy.hidden).toContain(project.directory);
  });

  it('are kept from what rules keep in the checkout, in every tree of it', async () => {
    const { policyFor, project } = await world({
      git: true,
      rules: { deny: ['Read(./.env.local)', 'Read(./keys/*.pem)', 'Edit(/migrations/**)'] },
    });
    const [workspace, other] = ['w', 'v'].map((name) => project.at(`.claude/worktrees/${name}`));
    if (workspace === undefined || other === undefined) throw new Error('no places');
    for (const tree of [workspace, other]) {
      execFileSync('git', ['worktree', 'add', '-q', tree], { cwd: project.directory });
      mkdirSync(path.join(tree, 'keys'));
      for (const name of ['keys/a.pem', 'keys/a.pub']) writeFileSync(path.join(tree, name), 'k');
    }
    writeFileSync(path.join(workspace, '.env.local'), 'e');
    const agent: AgentRef = { ...child, workspace, isolation: 'worktree' };
    const policy = await policyFor({ agent, roots: [workspace] });
    const within = (tree: string) => (paths: readonly string[]) =>
      paths.filter((one) => one.startsWith(`${tree}/`)).map((one) => path.relative(tree, one));
    expect(within(workspace)(policy.hidden).sort()).toEqual(['.env.local', 'keys/a.pem']);
    expect(within(other)(policy.hidden)).toEqual(['keys/a.pem']);
    expect(policy.protected).toContain(path.join(workspace, 'migrations'));
    const main = await policyFor({ agent: MAIN_AGENT, roots: [project.directory] });
    expect(within(other)(main.hidden)).toEqual(['keys/a.pem']);
  });

  it('do not reach a repository that does not know of their tree', async () => {
    const { policyFor, project } = await world({ git: true });
    const workspace = project.at('.claude/worktrees/w');
    mkdirSync(workspace, { recursive: true });
    writeFileSync(path.join(workspace, '.git'), `gitdir: ${project.at('.git')}/worktrees/w\n`);
    const agent: AgentRef = { ...child, workspace, isolation: 'worktree' };
    expect((await policyFor({ agent, roots: [] })).writable).toEqual([workspace]);
  });
});

describe('where there is no sandbox', () => {
  const closed = async (): Promise<Sandbox> => ({
    availability: { kind: 'unavailable', missing: 'no bwrap', remedy: 'Install bubblewrap.' },
    wrap: () => Promise.reject(new Error('must not be asked')),
    close: async () => undefined,
  });
  const order = (cwd: string) => ({ command: 'true', args: [], cwd, env: {}, owner: {} });

  it('nothing starts, and what is missing is said', async () => {
    const { fence, project } = await world();
    const opened = fence(closed);
    expect(await opened.problems()).toMatchObject([
      {
        severity: 'fatal',
        message: expect.stringContaining('no bwrap'),
        remedy: expect.stringMatching(/Install bubblewrap.*failIfUnavailable/),
      },
    ]);
    await expect(opened.enter('shell', order(project.directory))).rejects.toThrow('no bwrap');
  });

  it('programs run without one only where that was said, with a warning', async () => {
    const { fence, project } = await world({
      user: { sandbox: { enabled: true, failIfUnavailable: false } },
    });
    const opened = fence(closed);
    expect(await opened.problems()).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('WITHOUT') },
    ]);
    expect(await opened.enter('hook', order(project.directory))).toBeUndefined();
  });

  it('a program that cannot be fenced in is one that cannot be started', async () => {
    const { fence, project } = await world();
    const opened = fence(closed);
    const processes = fencedSupervisor(createProcessSupervisor(), (one) =>
      opened.enter('shell', one),
    );
    const request = { ...order(project.directory), label: 'x' };
    const result = await processes.run(request);
    expect(result).toMatchObject({
      exitCode: null,
      startError: expect.stringContaining('no bwrap'),
    });
    const line = processes.open(request);
    expect(line.write('kept')).toBe(true);
    expect(await line.started).toBeUndefined();
    expect(await line.exited).toMatchObject({ startError: expect.stringContaining('no bwrap') });
    expect(line.write('late')).toBe(false);
  });
});

describe.skipIf(missing !== undefined)(`the fenced supervisor${why}`, () => {
  const processesOf = (opened: SessionFence, kind: 'shell' | 'hook' | 'mcp') =>
    fencedSupervisor(createProcessSupervisor(), (one) => opened.enter(kind, one));
  const env = { PATH: process.env.PATH ?? '' };

  it('speaks line by line with a program inside', async () => {
    const { fence, project } = await world();
    const opened = fence();
    const child = processesOf(opened, 'mcp').open({
      command: 'sh',
      args: ['-c', 'while read line; do echo "got $line"; touch ~/x 2>/dev/null || true; done'],
      cwd: project.directory,
      env: { ...env, HOME: project.home },
      label: 'x',
      owner: { server: 's' },
    });
    const lines: string[] = [];
    child.onLine((line) => lines.push(line));
    child.write('one');
    expect(await child.started).toBeGreaterThan(0);
    child.write('two');
    child.closeInput();
    expect(await child.exited).toMatchObject({ exitCode: 0 });
    expect(lines).toEqual(['got one', 'got two']);
    expect(project.exists('../home/x')).toBe(false);
    await opened.close();
  });

  it('leaves out servers that are excluded by name', async () => {
    const { fence, project } = await world({
      user: {
        sandbox: { enabled: true },
        portcullis: { sandbox: { excludedMcpServers: ['free'] } },
      },
    });
    const opened = fence();
    for (const server of ['free', 'held']) {
      const child = processesOf(opened, 'mcp').open({
        command: 'sh',
        args: ['-c', `touch ${path.join(project.home, server)}`],
        cwd: project.directory,
        env,
        label: 'x',
        owner: { server },
      });
      await child.exited;
    }
    expect(project.exists('../home/free')).toBe(true);
    expect(project.exists('../home/held')).toBe(false);
    await opened.close();
  });

  it('ends what is ended before it has begun', async () => {
    const { fence, project } = await world();
    const opened = fence();
    const running = processesOf(opened, 'shell').start({
      command: 'sh',
      args: ['-c', 'touch began; sleep 60'],
      cwd: project.directory,
      env,
      label: 'x',
    });
    await running.kill();
    expect((await running.result).exitCode).not.toBe(0);
    await opened.close();
  });

  it('keeps an agent in its tree, with the shared repository but for what git runs', async () => {
    const { fence, project } = await world({ git: true });
    project.write('README.md', 'main\n');
    const workspace = project.at('.claude/worktrees/w');
    execFileSync('git', ['worktree', 'add', '-q', workspace], { cwd: project.directory });
    const opened = fence();
    const agent: AgentRef = {
      id: 'a',
      type: 'worker',
      path: 'main/worker#1',
      depth: 1,
      background: false,
      workspace,
      isolation: 'worktree',
    };
    const script = [
      'echo x >> ../../../README.md',
      'echo x > "$(git rev-parse --git-common-dir)/hooks/pre-commit"',
      'git config core.hooksPath /x',
      'echo a > a && git add a && git -c user.name=a -c user.email=a@b commit -qm a && echo COMMITTED',
    ].join('; ');
    const result = await processesOf(opened, 'shell').run({
      command: 'bash',
      args: ['-c', script],
      cwd: workspace,
      env: { ...env, HOME: project.home },
      label: 'x',
      owner: { agent, roots: [project.directory] },
    });
    expect(result.stdout).toContain('COMMITTED');
    expect(project.read('README.md')).toBe('main\n');
    expect(project.exists('.git/hooks/pre-commit')).toBe(false);
    expect(project.read('.git/config')).not.toContain('hooksPath');
    await opened.close();
  });

  describe('of an agent in a tree of its own', () => {
    const worktree = { worktree: { symlinkDirectories: ['node_modules'] } };
    const setup = async (flag: Settings = {}) => {
      const user = { sandbox: { enabled: true }, ...worktree };
      const { fence, project } = await world({ git: true, user, flag });
      for (const name of ['own.txt', 'sub/secret.txt', 'node_modules/lib/index.js']) {
        project.write(name, 'of the checkout\n');
      }
      const [workspace, other] = ['w', 'v'].map((name) => project.at(`.claude/worktrees/${name}`));
      if (workspace === undefined || other === undefined) throw new Error('no places');
      for (const tree of [workspace, other]) {
        execFileSync('git', ['worktree', 'add', '-q', tree], { cwd: project.directory });
      }
      writeFileSync(path.join(other, 'theirs.txt'), 'of the other tree\n');
      symlinkSync(project.at('node_modules'), path.join(workspace, 'node_modules'));
      symlinkSync(project.at('own.txt'), path.join(workspace, 'absolute'));
      symlinkSync('../../../sub', path.join(workspace, 'relative'));
      const opened = fence();
      const agent: AgentRef = {
        id: 'a',
        type: 'worker',
        path: 'main/worker#1',
        depth: 1,
        background: false,
        workspace,
        isolation: 'worktree',
      };
      const run = async (
        script: string,
        more: Partial<AgentRef> = {},
        kind: 'shell' | 'hook' = 'shell',
      ) => {
        const owner = { agent: { ...agent, ...more }, roots: [project.directory] };
        return await processesOf(opened, kind).run({
          command: 'bash',
          args: ['-c', script],
          cwd: owner.agent.workspace ?? workspace,
          env: { ...env, HOME: project.home },
          label: 'x',
          owner,
        });
      };
      return { project, workspace, other, opened, run };
    };

    it('shows nothing of the checkout, whatever way leads there', async () => {
      const { project, other, opened, run } = await setup();
      for (const command of [
        `cat ${project.at('own.txt')}`,
        'cat ../../../own.txt',
        'cat absolute',
        'cat relative/secret.txt',
        'cd relative && cat secret.txt',
        `cat /proc/self/root${project.at('own.txt')}`,
        `cat ${other}/theirs.txt`,
        `grep -r checkout ${project.directory} --exclude-dir=node_modules --exclude-dir=.git`,
        `ln ${project.at('own.txt')} here && cat here`,
        `echo x > ${project.at('new.txt')}`,
      ]) {
        const { exitCode, stdout } = await run(command);
        expect({ command, failed: exitCode !== 0, stdout }).toEqual({
          command,
          failed: true,
          stdout: '',
        });
      }
      const { stdout } = await run(`ls -A ${project.directory} ${project.at('.claude/worktrees')}`);
      expect(stdout.split(/\s+/)).not.toEqual(expect.arrayContaining(['own.txt']));
      expect(stdout).not.toMatch(/\bv\b/);
      expect(project.exists('new.txt')).toBe(false);
      await opened.close();
    });

    it('lets git work in the tree', async () => {
      const { project, workspace, opened, run } = await setup();
      const as = 'git -c user.name=a -c user.email=a@b';
      const { stdout, stderr } = await run(
        `pwd && git status --short && echo a > a && git add a && ${as} commit -qm one && git log --oneline | wc -l && git branch --show-current`,
      );
      expect(stderr).toBe('');
      expect(stdout).toMatch(/\?\? absolute/);
      expect(stdout.trim().split('\n').slice(-2)).toEqual(['2', 'w']);
      expect(stdout.split('\n')[0]).toBe(workspace);
      const seen = execFileSync('git', ['show', 'w:a'], { cwd: project.directory });
      expect(String(seen)).toBe('a\n');
      await opened.close();
    });

    it('keeps what git knows of trees that it cannot see', async () => {
      const { project, opened, run, other } = await setup();
      await run('git worktree prune -v; rm -rf "$(git rev-parse --git-common-dir)/worktrees/v"');
      for (const name of ['HEAD', 'index', 'gitdir']) {
        expect(project.exists(`.git/worktrees/v/${name}`)).toBe(true);
      }
      expect(String(execFileSync('git', ['status', '--short'], { cwd: other }))).toBe(
        '?? theirs.txt\n',
      );
      await opened.close();
    });

    it('shows directories that the tree has as links, to be read', async () => {
      const { project, opened, run } = await setup();
      const { stdout } = await run('cat node_modules/lib/index.js; echo x > node_modules/new');
      expect(stdout).toBe('of the checkout\n');
      expect(project.exists('node_modules/new')).toBe(false);
      await opened.close();
    });

    it('shows no more where a setting opens the checkout', async () => {
      const { project, opened, run } = await setup({
        sandbox: {
          enabled: true,
          filesystem: { allowRead: ['//', '.', 'sub'], allowWrite: ['//', '.', 'sub'] },
        },
        permissions: { allow: ['Edit(//**)'] },
      });
      const named = await run(`cat ${project.at('sub/secret.txt')}; cat ../../../own.txt`);
      expect(named.stdout).toBe('');
      await opened.close();
    });

    it('says that a file is hidden', async () => {
      const { project, opened, run } = await setup();
      const { fenced } = await run(`cat ${project.at('own.txt')}`);
      expect(fenced).toContain(`${project.at('own.txt')} cannot be read here`);
      await opened.close();
    });

    it('works in a directory of the tree, with git to be read', async () => {
      const { opened, run, workspace } = await setup();
      mkdirSync(path.join(workspace, 'part'));
      writeFileSync(path.join(workspace, 'part/p'), 'p');
      const part = { workspace: path.join(workspace, 'part') };
      const { stdout } = await run('git status --short .; cat ../../../../own.txt', part);
      expect(stdout.trim()).toBe('?? ./');
      await opened.close();
    });

    it('does not hide the checkout from its hooks, nor from agents that share it', async () => {
      const { opened, run, project } = await setup();
      const read = `cat ${project.at('own.txt')}`;
      const hook = await run(read, {}, 'hook');
      expect(hook.stdout).toBe('of the checkout\n');
      const shared = await run(read, { workspace: undefined, isolation: undefined });
      expect(shared.stdout).toBe('of the checkout\n');
      await opened.close();
    });
  });
});

describe('a configuration of git that cannot be read', () => {
  it('keeps every program from running, because its hooks could not be protected', async () => {
    const { project, policyFor } = await world({ git: true });
    await expect(policyFor(main(project))).resolves.toBeDefined();
    truncateSync(project.at('.git/config'), 17 * 1024 * 1024);
    await expect(policyFor(main(project))).rejects.toThrow(/\.git\/config cannot be read/);
  });
});

it('rules and protected names hold however deep a file lies', async () => {
  const deep = Array.from({ length: 15 }, (_, at) => `d${at}`).join('/');
  const { project, policyFor } = await world({
    rules: { deny: ['Read(.env)'] },
  });
  mkdirSync(project.at(`${deep}/nested/.git`), { recursive: true });
  writeFileSync(project.at(`${deep}/.env`), '');
  const policy = await policyFor(main(project));
  expect(policy.hidden).toContain(project.at(`${deep}/.env`));
  expect(policy.protected).toContain(project.at(`${deep}/nested/.git/hooks`));
});

it('protected names hold at any depth of a tree that a setting opens', async () => {
  const opened = makeTempProject({ under: BASE });
  const deep = opened.at(Array.from({ length: 9 }, (_, at) => `d${at}`).join('/'));
  mkdirSync(`${deep}/nested/.git`, { recursive: true });
  writeFileSync(`${deep}/.bashrc`, '');
  const { project, policyFor } = await world({
    user: { sandbox: { enabled: true, filesystem: { allowWrite: [opened.directory] } } },
  });
  const policy = await policyFor(main(project));
  opened.remove();
  expect(policy.writable).toContain(opened.directory);
  expect(policy.protected).toContain(`${deep}/nested/.git/hooks`);
  expect(policy.protected).toContain(`${deep}/.bashrc`);
});
