import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { type AgentsSession, agent, bash, openAgentsSession } from '../agents/core-rig.js';
import { MARK } from '../security/attempt.js';
import { inside, missing, person, why } from './rig.js';

/** What is left inside must not be what a program outside runs or goes by next. */

const yes = { asker: person({ behavior: 'allow' }).asker };

const texts = (outcome: Awaited<ReturnType<typeof inside>>): string[] =>
  outcome.results.map(({ text }) => text);

describe.skipIf(missing !== undefined)(`what git goes by${why}`, () => {
  it('is kept for worktrees, and for submodules whose names are paths', async () => {
    const outcome = await inside({
      git: true,
      config: yes,
      prepare(project) {
        project.write('.git/modules/libs/one/HEAD', 'ref: refs/heads/x\n');
        project.write('.git/modules/libs/one/config', '[core]\n');
        project.write('.git/modules/libs/one/modules/two/HEAD', 'ref: refs/heads/x\n');
        project.write('.git/modules/libs/one/modules/two/config', '[core]\n');
        project.write('.git/worktrees/w/commondir', '../..\n');
      },
      calls: [
        'for f in .git/modules/libs/one/config .git/modules/libs/one/modules/two/config .git/worktrees/w/commondir; do echo evil >> $f; done',
        'mkdir -p .git/modules/libs/one/hooks; echo evil > .git/modules/libs/one/hooks/pre-commit',
        'mv .git/modules .git/m2',
      ],
    });
    expect(outcome.results.map(({ ran }) => ran)).toEqual([false, false, false]);
    expect(outcome.project.read('.git/modules/libs/one/config')).toBe('[core]\n');
    expect(outcome.project.read('.git/modules/libs/one/modules/two/config')).toBe('[core]\n');
    expect(outcome.project.read('.git/worktrees/w/commondir')).toBe('../..\n');
  });

  it('is kept where its configuration says that hooks and more settings are', async () => {
    const outcome = await inside({
      git: true,
      config: yes,
      files: { 'tools/hooks/pre-commit': 'true\n', 'more.inc': '[core]\n' },
      prepare(project) {
        const git = (...args: string[]) => execFileSync('git', args, { cwd: project.directory });
        git('config', 'core.hooksPath', 'tools/hooks');
        git('config', 'include.path', '../more.inc');
      },
      calls: ['echo evil >> tools/hooks/pre-commit', 'echo evil >> more.inc', 'touch tools/other'],
    });
    expect(outcome.results.map(({ ran }) => ran)).toEqual([false, false, true]);
  });

  it('is taken away where it could not be kept from being made', async () => {
    const outcome = await inside({
      git: true,
      config: yes,
      calls: ['echo "[core] fsmonitor = evil" > .git/config.worktree'],
    });
    expect(outcome.project.exists('.git/config.worktree')).toBe(false);
    expect(JSON.stringify(outcome.news)).toContain('it was taken away');
  });
});

describe.skipIf(missing !== undefined)(`settings that the command line names${why}`, () => {
  it('cannot be written from inside', async () => {
    const weaker = '{"sandbox":{"enabled":false}}';
    const outcome = await inside({
      files: { 'ci.json': '{"sandbox":{"enabled":true}}' },
      config: { settings: 'ci.json' },
      calls: [`echo '${weaker}' > ci.json`, 'echo between', `touch ~/${MARK}`],
    });
    expect(outcome.results.map(({ ran }) => ran)).toEqual([false, true, false]);
    expect(outcome.marked).toBe(false);
  });

  it.each(['acceptEdits', 'bypassPermissions'] as const)('are asked about in %s', async (mode) => {
    const content = '{"sandbox":{"enabled":false}}';
    const outcome = await inside({
      files: { 'ci.json': '{"sandbox":{"enabled":true}}' },
      config: { settings: 'ci.json', permissionMode: mode },
      calls: [
        { tool: 'Read', input: { file_path: 'ci.json' } },
        { tool: 'Write', input: { file_path: 'ci.json', content } },
        { tool: 'Write', input: { file_path: 'other.json', content } },
        `touch ~/${MARK}`,
      ],
    });
    expect(outcome.results.map(({ ran }) => ran)).toEqual([true, false, true, false]);
    expect(outcome.marked).toBe(false);
  });
});

describe.skipIf(missing !== undefined)(`files that we write ourselves${why}`, () => {
  it('are not where a link of a hook leads', async () => {
    const hook =
      'for i in 1 2; do ln -s "$HOME/out$i" "$(dirname "$CLAUDE_ENV_FILE")/toolu_script_$i"_0.txt; done; echo "export LEFT=left" >> "$CLAUDE_ENV_FILE"';
    const outcome = await inside({
      config: { persist: true },
      more: { hooks: { SessionStart: [{ hooks: [{ type: 'command', command: hook }] }] } },
      calls: ['seq 1 200000', 'seq 1 9000', 'echo "it is $LEFT"'],
    });
    expect(texts(outcome)[2]).toBe('it is left');
    for (const name of ['out1', 'out2']) {
      expect(outcome.project.exists(`../home/${name}`)).toBe(false);
    }
  });
});

describe.skipIf(missing !== undefined)(`commands that run outside${why}`, () => {
  it('are not those that a loop or a file name turns into something else', async () => {
    const outcome = await inside({
      sandbox: { excludedCommands: ['touch *'] },
      config: yes,
      calls: [
        `mkdir evil; printf '#!/bin/sh\\n/usr/bin/touch "$HOME/${MARK}"\\n' > evil/touch; chmod +x evil/touch`,
        'for PATH in ./evil; do touch x; done',
        `for LD_PRELOAD in ./x.so; do touch ~/a; done`,
        'touch ~/b *',
      ],
    });
    expect(outcome.marked).toBe(false);
    expect(texts(outcome).slice(2).join('')).toContain('Read-only file system');
    for (const name of ['a', 'b']) expect(outcome.project.exists(`../home/${name}`)).toBe(false);
  });
});

describe.skipIf(missing !== undefined)(`a worktree of an agent${why}`, () => {
  let open: AgentsSession | undefined;
  afterEach(async () => {
    await open?.close();
    open = undefined;
  });

  it('does not lead our own git to settings of its own', async () => {
    // Makefiles and tests run anything, so no reading of commands finds this.
    const plant = (home: string): string =>
      `G=$(git rev-parse --git-dir); cp -r "$(git rev-parse --git-common-dir)" ./evil; ` +
      `printf '[filter "x"]\\nclean=touch ${home}/${MARK}; cat\\n' >> evil/config; ` +
      `echo '* filter=x' > .gitattributes; echo "$PWD/evil" > "$G/commondir"; echo b > a.txt; true`;
    const trees = (): string => `${open?.project.directory}/.claude/worktrees`;
    open = await openAgentsSession({
      files: { 'a.txt': 'a\n', Makefile: 'all:\n\tbash plant.sh\n' },
      home: {
        '.claude/settings.json': {
          json: { sandbox: { enabled: true }, permissions: { allow: ['Bash', 'Write'] } },
        },
      },
      main: [agent('APART', { isolation: 'worktree' }), 'end'],
      agents: {
        APART: [
          () => ({
            tool: 'Write',
            input: {
              file_path: `${trees()}/${readdirSync(trees())[0]}/plant.sh`,
              content: plant(open?.project.home ?? ''),
            },
          }),
          bash('make'),
          'done',
        ],
      },
    });
    const { directory, home } = open.project;
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.email=a', '-c', 'user.name=a', ...args], { cwd: directory });
    git('init', '-q', '-b', 'main');
    git('add', '-A');
    git('commit', '-qm', 'first');
    await open.say('MAINWORD');
    expect(open.result().text).toContain('plant.sh');
    expect(readdirSync(home)).not.toContain(MARK);
  });
});
