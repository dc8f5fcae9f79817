// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are shell code
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { classify, readShell } from '../../../test/support/shell-class.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: {
      'a.txt': 'a\n',
      'b.txt': 'b\n',
      'sub/x.ts': 'x\n',
      'link-out': { symlink: '../outside/secret' },
      'dir-out': { symlink: '../outside' },
      back: { symlink: 'nowhere/..' },
    },
    home: { '.ssh/id_rsa': 'k' },
  });
});
afterAll(() => project.remove());

async function classOf(command: string): Promise<string> {
  const { directory, home } = project;
  const place = { cwd: directory, roots: [directory], home, fs: nodeFileSystem };
  return (await classify(command.replaceAll('@P', directory), place)).kind;
}

describe('commands that only look', () => {
  it.each([
    'echo "$(pwd)"',
    'echo at $(git log -1 --format=%h)',
    'ls & pwd & wait',
    'ls',
    'ls -la sub',
    '\\ls',
    "'ls'",
    'l""s',
    'ls a.txt b.txt 2>/dev/null',
    'ls > /dev/null 2>&1',
    'ls *.txt',
    'cat a.txt | wc -l',
    'cat < a.txt',
    "cat <<'EOF'\n$(rm x)\nEOF",
    'cat <<< word',
    'pwd',
    'echo hello > /dev/null',
    'echo "a && b; c" \'$(x)\'',
    'echo a\\;b',
    'echo $HOME "$HOME" ${HOME}',
    'echo done $?',
    "printf '%s\\n' x",
    'head -n 5 a.txt',
    'head -5 a.txt',
    'tail -c +3 a.txt',
    'grep -rn "export const" sub --include=*.ts',
    "grep '/api/v1' sub/x.ts",
    'grep -e x a.txt',
    "rg -n --glob '!node_modules' x sub",
    "find . -name '*.ts' -type f",
    'find . \\( -name a -o -name b \\) -print',
    'sort -u -k1,1 a.txt',
    'sort -t/ -k2 a.txt',
    'cut -d / -f 1 a.txt',
    'tr / _',
    'uniq -c a.txt',
    'diff -u a.txt b.txt',
    'stat a.txt',
    'file a.txt',
    'du -sh sub',
    'df -h',
    'date +%F',
    'date -u',
    'whoami',
    'id -u',
    'uname -a',
    'which node',
    'type ls',
    'command -v node',
    'basename sub/x.ts',
    'dirname /etc/passwd',
    'realpath sub',
    'true',
    'false || true',
    'test -f a.txt && echo yes',
    '[ -d sub ] && ls sub',
    'seq 1 3 1>&2; exit 4',
    "jq '.a' a.txt",
    "sed -n '1,2p' a.txt",
    "sed -n '/x/p;$p' a.txt",
    'git status',
    'git log --oneline -3',
    'git diff HEAD~1 -- a.txt',
    'git show HEAD:a.txt',
    'git branch -a',
    'git rev-parse --abbrev-ref HEAD',
    'git ls-files',
    'git blame a.txt',
    'git remote -v',
    'git config --get user.name',
    'node --version',
    'timeout 5 ls',
    'nice -n 5 ls',
    'time ls',
    'NODE_ENV=test ls',
    'LC_ALL=C sort a.txt',
    'cd sub && pwd',
    'cd @P && pwd',
    'cd @P/sub && ls',
    'cd sub && ls && cd .. && ls',
    'cd -',
    'if true; then ls; fi',
    'for i in 1 2; do ls; done',
    '! ls',
    '(cd sub; ls)',
    '{ ls; pwd; }',
    'ls # note; rm x',
    'ls \\\n  -la',
    'cd . && git status',
    'ls @P/sub/../a.txt',
  ])('%s', async (command) => {
    expect(await classOf(command)).toBe('read-only');
  });
});

describe('simple file commands and redirections', () => {
  it.each([
    'mkdir -p out/reports',
    'touch new.txt',
    'rm a.txt',
    'mv a.txt sub/',
    'cp a.txt c.txt',
    "sed -i 's/a/b/g' a.txt",
    'echo x > out.txt',
    'echo x >> out.txt',
    'echo x >| out.txt',
    'echo x &> out.txt',
    'echo x >& out.txt',
    'echo x 1>o 2>e',
    'mkdir d && touch d/x',
    'cd sub && echo x > y',
    'timeout 5 mkdir out',
  ])('%s', async (command) => {
    expect(await classOf(command)).toBe('writes');
  });
});

describe('everything else is not known', () => {
  it.each([
    // loops whose variable decides what runs
    'for PATH in ./evil; do ls; done',
    'for LD_PRELOAD in ./evil.so; do ls; done',
    'for PATH in $(echo ./evil); do ls; done',
    'for BASH_ENV in x; do for i in 1; do ls; done; done',
    "for i in 'a[$(touch x)]'; do ls; done",
    // programs and options that run, write or leave
    'npm test',
    'env',
    'env ls',
    'sudo ls',
    './ls',
    '/bin/ls',
    'LS',
    'sleep $(touch x)',
    'awk -f a.txt',
    'tail -f a.txt',
    'sort -o out a.txt',
    'sort -ro out a.txt',
    'sort --outp=out a.txt',
    'sort --compress-program=./x a.txt',
    'sort \\-o out a.txt',
    "sort '-o' out a.txt",
    'uniq a.txt out',
    'find . -exec touch x \\;',
    'find . -name a -delete',
    "find . -ex''ec touch x \\;",
    'find . -fprint out',
    'find -L . -name x',
    'find . -newpredicate',
    'rg --pre ./x a',
    'rg -""-pre ./x a',
    'rg --pre=./x a',
    'rg --hostname-bin ./x a',
    'rg -z a',
    'rg x *',
    'sed -n 1w\\ out a.txt',
    "sed 's/a/b/w out' a.txt",
    "sed 's/a/b/e' a.txt",
    "sed '1e touch x' a.txt",
    "sed -n '1,2p;w out' a.txt",
    'sed -f script a.txt',
    'printf -v x y',
    'test -v a[0]',
    'date -s 2020-01-01',
    'date 01010000',
    'date -f a.txt',
    'file -C -m magic',
    'wc --files0-from=a.txt',
    'grep -R x .',
    'grep -f /etc/passwd a.txt',
    'jq -n env',
    "jq -n '$ENV.HOME'",
    'jq -f prog a.txt',
    'tar cf /dev/null sub --checkpoint-action=exec=./x',
    'git -c core.pager=x log',
    'git -C sub status',
    'git --git-dir=x status',
    'git -p log',
    'git log --output=x',
    'git log --outpu=x',
    'git diff --ext-diff',
    'git diff --no-index /dev/null /etc/passwd',
    'git diff /etc/passwd a.txt',
    'git branch new',
    'git branch -D x',
    'git tag v1',
    'git stash',
    'git remote add x y',
    'git config user.name x',
    'git reflog expire --all',
    'git grep -Ox y',
    'git fetch',
    'hostname evil',
    'tee out',
    'xargs ls',
    'echo a | xargs rm',
    // other code
    'bash -c ls',
    "sh -c 'ls'",
    'eval ls',
    'source a.txt',
    '. a.txt',
    "trap 'ls' EXIT",
    'exec ls',
    'alias ls=rm; ls',
    'f() { ls; }; f',
    'ls() { rm x; }; ls',
    'hash -p ./x ls; ls',
    'cat a.txt | sh',
    "sh <<< 'ls'",
    // the environment
    'FOO=1 ls',
    'PATH=. ls',
    'LD_PRELOAD=./x ls',
    'LANG=$(x) ls',
    'IFS=x; ls',
    'export X=1',
    'set -a; ls',
    // what is decided at run time
    '$x',
    'x=ls; $x',
    'l$x',
    'ls$IFS-la',
    'cat $FILE',
    'cat "$FILE"',
    'echo $(touch x y $z)',
    'echo $(touch ../x)',
    'echo $HOME$(pwd)$X',
    'echo $(npm i)',
    'echo `npm i`',
    'ls $(pwd)',
    'cat "$(pwd)/a.txt"',
    'echo `touch x`',
    'ls & pwd; wait',
    'ls & wait $X',
    'ls & wait > a.txt.new',
    'npm i & wait',
    'cat <(ls)',
    'ls > >(cat)',
    'cat <<EOF\n$(touch x)\nEOF',
    '{ls,-la}',
    'ls {a,b}',
    'echo ${x:-$(touch y)}',
    'echo ${x@P}',
    'echo ${!x}',
    'echo ${HOME:1}',
    'echo $((x+1))',
    'echo $[1+1]',
    '((x=1))',
    'a[0]=1',
    'a=(1 2)',
    "echo $'\\x41'",
    'echo $"x"',
    'ls @(a|b)',
    '[[ -f a.txt ]]',
    'select x in 1; do ls; done',
    'coproc ls',
    'case x in x) ls;; esac',
    'HOME=/ ; ls $HOME',
    'ls ~root',
    'ls &',
    'ls & pwd',
    // lines and odd characters
    'ls\ntouch x y z; npm i',
    'ls; npm i',
    'ls || npm i',
    'ls | npm i',
    'ls |& npm i',
    'ls &&& ls',
    'ls "',
    'ls $(',
    'ls\r',
    'ls\u0000',
    'ls\u001b[0m',
    'ls\u00a0-la',
    'ls \u202e',
    'ls\u2028pwd',
    // places
    'ls /etc',
    'cat /etc/passwd',
    'cat ~/.ssh/id_rsa',
    'cat $HOME/.ssh/id_rsa',
    'cat ../outside/x',
    'cat sub/../../outside/x',
    'cat link-out',
    'cat back/link-out link-out',
    'cat back/link-out; cat link-out',
    'ls dir-out',
    'cat dir-out/../secret',
    'cat < /etc/passwd',
    'head -c 40 /dev/zero',
    'cd',
    'cd ~',
    'cd ..',
    'cd .. && ls',
    'cd /tmp && pwd',
    'cd dir-out && ls',
    'cd $(echo sub)',
    'cd "$x"',
    'cd - && cat a.txt',
    'pushd sub && pwd',
    'cd sub && git status',
    'cd sub; cd ..; cd .. && ls',
    'for i in 1 2; do cd ..; ls; done',
    'echo x > /tmp/x',
    'echo x > ../x',
    'echo x > ~/x',
    'echo x > "$HOME/x"',
    'echo x > $F',
    'echo x > *.txt',
    'echo x > r{1,2}',
    'echo x > /dev/tcp/127.0.0.1/9',
    'echo x <> a.txt > ../y',
    'echo x > .git/config',
    'echo x > .GIT/config',
    'echo x > dir-out/y',
    'if true; then ls; fi > ../y',
    'ls {fd}> y',
    'mkdir .claude/hooks',
    'cp a.txt .husky/pre-commit',
    'rm -rf .',
    'rm -rf *',
    'rm -rf ../project',
    'rm /etc/passwd',
    'touch dir-out/x',
    "sed -i 's/a/b/w out' a.txt",
    'chmod +x a.txt',
    'ln -s a b',
  ])('%j', async (command) => {
    expect(await classOf(command)).toBe('unknown');
  });

  it('says why', async () => {
    const long = `echo ${'x'.repeat(70_000)}`;
    const { directory: cwd, home } = project;
    expect((await readShell(long, { cwd, home })).opaque).toContain('longer than');
    expect((await readShell('echo $((x))', { cwd, home })).opaque).toBe('it uses arithmetic');
    expect((await readShell('ls "', { cwd, home })).opaque).toContain('syntax');
    expect((await readShell('$x', { cwd, home })).opaque).toContain('run time');
    const joined = 'echo `cat <<-"E"\n\\\nE\n\\\nE\nls\nE\n`';
    expect((await readShell(joined, { cwd, home })).opaque).toContain('between backquotes');
  });

  it('survives nesting without end', async () => {
    const { directory: cwd, home } = project;
    const deep = '$('.repeat(3000) + ')'.repeat(3000);
    expect((await readShell(`echo ${deep}`, { cwd, home })).opaque).toBeDefined();
  });
});

describe('commands inside others', () => {
  it.each([
    ['sudo -u me chmod +x a', 'chmod +x a'],
    ['env -i A=1 chmod +x a', 'chmod +x a'],
    ["bash -lc 'chmod +x a'", 'chmod +x a'],
    ["env -S 'chmod +x a'", 'chmod +x a'],
    ['echo $(chmod +x a)', 'chmod +x a'],
    ['cat <(chmod +x a)', 'chmod +x a'],
    ['f() { chmod +x a; }', 'chmod +x a'],
    ['eval chmod +x a', 'chmod +x a'],
    ['sudo sh -c \'eval "chmod +x a"\'', 'chmod +x a'],
    ['a && (b || { chmod +x a; })', 'chmod +x a'],
  ])('%s holds %s', async (command, inner) => {
    const reading = await readShell(command, { cwd: project.directory, home: project.home });
    const texts = reading.commands.flatMap(({ views }) =>
      views.map((view) => view.map((word) => word.value).join(' ')),
    );
    expect(texts).toContain(inner);
  });

  it('knows the text of a quoted here-document', async () => {
    const code = 'git commit -m "$(cat <<\'EOF\'\nfix: a; b\nEOF\n)"';
    const reading = await readShell(code, { cwd: project.directory, home: project.home });
    expect(reading.opaque).toBeUndefined();
    expect(reading.commands.at(-1)?.words.map((word) => word.value)).toEqual([
      'git',
      'commit',
      '-m',
      'fix: a; b',
    ]);
  });
});
