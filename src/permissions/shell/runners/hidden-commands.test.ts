// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are shell code
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, type Rig } from '../../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../../testing/temp-project.js';

let project: TempProject;
let gate: Rig;
let reader: Rig;
beforeAll(() => {
  project = makeTempProject({
    files: { 'a.txt': 'a', '.env': 'X=1', link: { symlink: '../home' } },
  });
  const deny = ['Bash(rm:*)', 'Read(./.env)'];
  reader = gateRig({ cwd: project.directory, home: project.home });
  gate = gateRig({ cwd: project.directory, home: project.home, allow: ['Bash'], deny });
});
afterAll(() => project.remove());

describe('a denied program that bash finds and the parser does not', () => {
  it.each([
    'echo ${PWD/$(ls /; rm a.txt)}',
    'echo ${PWD/$(ls /; rm a.txt)/b}',
    'echo "${PWD//$(ls /; rm a.txt)/b}"',
    'echo ${PWD/`ls /; rm a.txt`}',
    'echo ${PWD/<(ls /; rm a.txt)/b}',
    'echo ${PWD/#$(ls (/); rm a.txt)/b}',
  ])('is not run behind a slash of a replacement: %s', async (command) => {
    expect(await gate.bash(command)).not.toBe('runs');
  });

  it.each(['sh rm a.txt', 'bash -p rm a.txt', 'sh<<<d -p rm'])(
    'is not run as a script that a shell looks up: %s',
    async (command) => {
      expect(await gate.bash(command)).not.toBe('runs');
      expect(await gate.bash(command.replace('rm', './rm'))).toBe('runs');
    },
  );

  it.each([
    "((cat <<'E'\nrm a.txt\nE\n) )",
    "(('cat' <<'E'; ls\nrm a.txt\nE\n) )",
    'ls; ((cat <<E; ls); ls\nrm a.txt\nE\n)',
    '(("$(cat <<\'E\'\nrm a.txt\nE\n)") )',
    "echo $((cat <<'E'\nrm a.txt\nE\n) )",
    'echo "$(((cat <<E\nrm a.txt\nE\n) ) )"',
  ])('is not run as text of a document in two brackets: %s', async (command) => {
    expect(await gate.bash(command)).not.toBe('runs');
    expect(await reader.bash(command)).not.toBe('runs');
  });

  it.each([
    "e[|$(rm)]''",
    'e[a|$(rm a.txt)]""',
    "e[;`rm`]''",
    "e[<(rm a.txt)]''",
    'ls; e[|$(rm)]""',
    "echo $(e[|$(rm)]'')",
  ])('is not run in a subscript of a word that is no assignment: %s', async (command) => {
    expect(await gate.bash(command)).not.toBe('runs');
  });

  it.each([
    'exec -a ls ${x}rm a.txt',
    'env -u A ${x}rm a.txt',
    'env -C . ${x}rm a.txt',
    'timeout -s KILL 5 ${x}rm a.txt',
    'timeout --signal KILL 5 $x rm a.txt',
    'sudo -u root ${x}rm a.txt',
    'sudo -nu root ${x}rm a.txt',
    'sudo --user root ${x}rm a.txt',
    'xargs -d x ${x}rm a.txt',
    'flock a.txt ${x}rm a.txt',
    'chroot / ${x}rm a.txt',
    'stdbuf -i L ${x}rm a.txt',
    'sudo -p x ${x}rm a.txt',
    'nice flock a.txt ${x}rm a.txt',
    'nice env -u A ${x}rm a.txt',
  ])('is not run by a wrapper behind the value of an option: %s', async (command) => {
    expect(await gate.bash(command)).not.toBe('runs');
  });

  it.each([
    "BASH_ENV='$(rm a.txt)' bash x.sh",
    "BASH_ENV='$( (rm a.txt) )' bash x.sh",
    "BASH_ENV='`rm`' bash x.sh",
    'BASH_ENV="$x" bash x.sh',
    "BASH_ENV='${x}' bash x.sh",
    "export BASH_ENV='$(rm)'; bash x.sh",
    "env BASH_ENV='$(rm)' bash x.sh",
    "env PS4='$(rm)' bash -x x.sh",
    "ENV='$(rm)' sh -i x.sh",
  ])('is not run by a variable that a shell expands when it starts: %s', async (command) => {
    expect(await gate.bash(command)).not.toBe('runs');
  });

  it.each([
    'echo ${PWD/a/b}',
    '( (ls) )',
    '(ls; (pwd))',
    '[[ a =~ ^(a|b)$ ]] && ls',
    'ls a[bc] [!a]* [a-z]"x y"',
    'echo a\\;b a\\(b "a;b|c" \'a(b\' $ a$ 5% {a,b}',
    "cat <<'E'\nf((1, 2))\nE",
    'cat <<E\nf((1, 2))\nE',
    'git log --format="%h (%an)" HEAD@{1}',
    'echo "${PWD//\\//-}"',
    'sudo -n ls $x',
    'sudo -E make $x',
    'xargs -0 echo $x',
    'xargs -n1 echo $x',
    'xargs -r echo $x',
    'timeout 5 ls $x',
    'timeout --foreground 5 ls $x',
    'nice -n 10 make $x',
    'env A=b make $x',
    'env -u A make all',
    'ENV=$x make',
    'ENV=production make',
    'BASH_ENV=x.sh bash y.sh',
  ])('does not make an honest command ask: %s', async (command) => {
    expect(await gate.bash(command)).toBe('runs');
  });
});

describe('a denied file', () => {
  it.each([
    'cd -P link && cd .. && cat project/.env',
    'cd -P link; cd ../project; cat .env',
    'cd -LP link && cd ../project && grep -r x .',
    'set -P; cd link; cd ../project; cat .env',
  ])('is not read from a directory that a link has led to: %s', async (command) => {
    expect(await gate.bash(command)).not.toBe('runs');
  });
});

it('a ban of a whole command holds against a wildcard in front of what is not known', async () => {
  const deny = ['Bash(git add a.txt)'];
  const mine = gateRig({ cwd: project.directory, home: project.home, allow: ['Bash'], deny });
  expect(await mine.bash('git add a.t*$x')).toBe('asks');
  expect(await mine.bash('git add a.[t]xt"$x"')).toBe('asks');
  expect(await mine.bash('git add a.* $x')).toBe('asks');
  expect(await mine.bash('git add * "$x"')).toBe('asks');
  expect(await mine.bash('git add b*$x')).toBe('runs');
  expect(await mine.bash('git add b* $x')).toBe('runs');
});

it('a pattern that fits nothing counts as the name it is passed on as', async () => {
  const mine = gateRig({ cwd: project.directory, home: project.home });
  expect(await mine.bash('cat link/[a]')).toBe('asks');
  expect(await mine.bash('cat link/*.none')).toBe('asks');
  expect(await mine.bash('cat *.none')).toBe('runs');
});

it.each([
  "env -S 'sort & -o.claude/settings.json'",
  "env --split-string 'sort | -o .claude/settings.json'",
  "env -S 'ls # rm a.txt'",
])('what env makes of a text with signs of the shell is not known: %s', async (command) => {
  expect(await gate.bash(command)).toBe('asks');
});
