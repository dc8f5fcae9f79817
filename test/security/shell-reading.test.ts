// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are shell code
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workspaceFence } from '../../src/permissions/guards/workspace/fence.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { gateRig, type Rig } from '../support/gate-rig.js';

let base = '';
let tree = '';
let bare: Rig;
let editing: Rig;
let banned: Rig;
let fenced: Rig;
let secret: Rig;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'reading-')));
  const main = join(base, 'proj');
  tree = join(main, '.claude/worktrees/agent-1');
  const home = join(base, 'home');
  for (const directory of [join(tree, 'sub'), home]) mkdirSync(directory, { recursive: true });
  for (const file of ['a.txt', 'sub/key']) writeFileSync(join(tree, file), 'x\n');
  const place = { cwd: tree, home, roots: [tree] };
  bare = gateRig(place);
  editing = gateRig({ ...place, mode: 'acceptEdits' });
  banned = gateRig({ ...place, allow: ['Bash'], deny: ['Bash(touch:*)'] });
  secret = gateRig({ ...place, allow: ['Bash'], deny: ['Read(./sub/**)', 'Read(~/key)'] });
  fenced = gateRig({
    ...place,
    mode: 'bypassPermissions',
    agent: {
      id: 'a1',
      type: 'worker',
      path: 'main/worker#1',
      parentId: 'main',
      depth: 1,
      background: false,
      workspace: tree,
      isolation: 'worktree',
    },
    guards: [workspaceFence({ fs: nodeFileSystem, projectDir: main })],
  });
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

/** `@F` is a file in the main checkout, outside the tree that the commands run in. */
const RUNS_TOUCH = [
  'ls 1<(touch @F)',
  'cat {x}<(touch @F)',
  'ls 12>(touch @F)',
  'ls a<(touch @F)',
  'ls "x"<(touch @F)',
  'ls ${x}1<(touch @F)',
  'for i in 1<(touch @F); do ls; done',
  'case 1<(touch @F) in x) ;; esac',
  'cat a.txt "$(ls 1<(touch @F))"',
  'ls `ls 1<(touch @F)`',
  '$!touch @F',
  '${!}touch @F',
  '$*touch @F',
  '$@touch @F',
  '$1touch @F',
  '"$unset"touch @F',
  'find a.txt $!-exec touch @F $!\\;',
  'cat <<-"\tE"\n\tE\ntouch @F',
  "cat <<-'\tE'\n\tE\ntouch @F",
  'cat <<-\\\tE\n\tE\ntouch @F',
  'cat <<\\\n-E\n\tE\ntouch @F',
  "find a.txt $\\\n'\\x2dexec' touch @F \\;",
  'find a.txt $\\\n"-exec" touch @F \\;',
  "echo x >&'$(touch @F)'",
  'echo x >& \\$\\(touch\\ @F\\)',
  'echo x >&"<(touch @F)"',
  'echo x >&"\\`touch @F\\`"',
  "echo x 1>&'$(touch @F)'",
  "echo x >&a\u00a0'$(touch @F)'",
  "echo x >&1\u3000'$(touch @F)'",
  'find a.txt >&--exec touch @F \\;',
  '2>&-touch @F',
  'cat a.txt; >&-touch @F',
  '<&-touch @F',
  '>& -touch @F',
  '>&\\\n-touch @F',
  "cat <<E\n${HOME:+'$(touch @F)'}\nE",
  "cat <<E\n${x:-'`touch @F`'}\nE",
  'cat <<E\n${x:-\'"$(touch @F)"\'}\nE',
  'eval -- "touch @F"',
  'eval -- touch @F',
  'command -- eval -- "touch @F"',
  'x=-exec; find a.txt $x touch @F \\;',
  'x=-exec; find a.txt "$x" touch @F \\;',
  "x='-exec touch @F ;'; find a.txt $x",
  'find a.txt {-exec,touch,@F,\\;}',
  "bash -cO extglob 'touch @F'",
  "bash -co posix 'touch @F'",
  "bash -c +O extglob 'touch @F'",
  "bash -c -- 'touch @F'",
  "bash +O extglob -c 'touch @F'",
  "bash -rcfile x -c 'touch @F'",
  "bash --norc -O extglob -ec 'touch @F'",
  "bash -s x <<< 'touch @F'",
  "bash -O extglob <<< 'touch @F'",
  "bash - <<< 'touch @F'",
  "sh -o errexit <<< 'touch @F'",
  "sh -o errexit -s a <<< 'touch @F'",
  "bash --rcfile x <<< 'touch @F'",
  "bash --init-file x <<< 'touch @F'",
  "command bash -O extglob <<< 'touch @F'",
];

const fileOf = (): string => join(base, `proj/made-${Math.random().toString(36).slice(2)}`);

describe('a command that bash reads differently from the parser', () => {
  it.each(RUNS_TOUCH)('never runs unasked: %j', async (template) => {
    const file = fileOf();
    const command = template.replaceAll('@F', file);
    spawnSync('bash', ['-c', 'c=$1; shift; eval "$c"', 'bash', command], {
      cwd: tree,
      stdio: 'ignore',
    });
    // A process substitution may end after its command.
    spawnSync('sleep', [existsSync(file) ? '0' : '0.3']);
    expect(existsSync(file), 'bash runs it').toBe(true);
    for (const rig of [bare, editing, banned, fenced]) {
      expect(await rig.bash(command)).not.toBe('runs');
    }
    expect(await banned.bash(`bash -c ${JSON.stringify('ls')}; ${command}`)).not.toBe('runs');
  });

  it.each([
    'touch $!@F',
    'cp a.txt 2>&-@F',
    'touch 2>&-@F',
    "touch $\\\n'@F'",
    'touch $\\\n"@F"',
    'touch "$HOME\\\nX@F"',
    'read HOME <<< @D; touch ~/f',
    'printf -v HOME %s @D; touch ~/f',
    'eval HOME=@D; touch ~/f',
    'mapfile -t HOME <<< @D; touch ~/f',
  ])('does not write the main checkout from a worktree: %j', async (template) => {
    const command = template.replaceAll('@F', fileOf()).replaceAll('@D', join(base, 'proj'));
    expect(await fenced.bash(command)).not.toBe('runs');
  });

  it.each([
    'cat $!@F',
    "cat $\\\n'@F'",
    'cat 2>&-@F',
    'cat "$HOME\\\nX@F"',
    'read HOME <<< @D; cat ~/a.txt',
  ])('does not read the main checkout from a worktree: %j', async (template) => {
    const command = template
      .replaceAll('@F', join(base, 'proj/a.txt'))
      .replaceAll('@D', join(base, 'proj'));
    expect(await fenced.bash(command)).not.toBe('runs');
  });
});

describe('a parameter whose value is not known', () => {
  it.each(['!', '1', '@', '*', '-', '_', '0', 'unset', '{!}', '{x[0]}', '?', '#', '$'])(
    'is no made-up value: $%s',
    async (name) => {
      expect(await bare.bash(`cat $${name}/etc/hostname`)).toBe('asks');
      expect(await bare.bash(`cat "$${name}a.txt"`)).toBe('asks');
      expect(await bare.bash(`sort a.txt $${name}-o b`)).toBe('asks');
      expect(await banned.bash(`$${name}touch b`)).not.toBe('runs');
    },
  );

  it.each([
    'cat a.txt; echo $?',
    'cat a.txt; echo "exit: $?"',
    'echo "$$ $#"',
    'cat a.txt; exit $?',
    'cat a.txt; [ $? -eq 0 ] && echo ok',
  ])('may be a number where it is printed or compared: %s', async (command) => {
    expect(await bare.bash(command)).toBe('runs');
  });
});

describe('a variable that a builtin sets', () => {
  it.each([
    'read HOME <<< "$PWD/sub"; cat ~/key',
    'read -r x HOME <<< "a $PWD/sub"; cat ~/key',
    'command read HOME <<< sub; cat ~/key',
    'builtin -- read HOME <<< sub; cat ~/key',
    'printf -v HOME %s "$PWD/sub"; cat ~/key',
    'printf -vHOME %s sub; cat ~/key',
    'o=-v; printf $o HOME %s sub; cat ~/key',
    'mapfile -t HOME <<< sub; cat ~/key',
    'readarray -t HOME <<< sub; cat $HOME/key',
    'set -- -x; getopts x HOME; cat ~/key',
    'declare "HOME=sub"; cat ~/key',
    'export HOM""E=sub; cat ~/key',
    'n=HOME; read $n <<< sub; cat ~/key',
    'n=HOME; export $n=sub; cat ~/key',
    'unset HOME; cat ~/key',
    ': {HOME}>x; cat ~/key',
    'eval HOME=sub; cat ~/key',
    'eval "read HOME <<< sub"; cat $HOME/key',
    "trap 'HOME=sub' DEBUG; cat ~/key",
    'read PWD <<< sub; cat $PWD/key',
    'export HOME=sub; bash -c "cat ~/key"',
    "HOME=sub bash -c 'cat ~/key'",
    "cd sub; bash -c 'cat $PWD/key'",
    "cd sub; eval 'cat $PWD/key'",
    'cd $x; bash -c "cat key"',
    "trap 'cat key' EXIT; cd sub",
    'command -- cd sub; cat key',
    'builtin -- cd sub; cat key',
    'command -p cd sub; cat key',
  ])('is not known any more: %s', async (command) => {
    expect(await secret.bash(command)).not.toBe('runs');
  });

  it.each([
    'read -r line < a.txt; echo "$line"',
    'printf "%s\\n" "$HOME"',
    'cat a.txt | while read -r line; do echo "$line"; done',
    'export X=1; ls ~',
  ])('takes nothing from others: %s', async (command) => {
    expect(await banned.bash(command)).toBe('runs');
  });
});

describe('ordinary text', () => {
  it.each([
    "grep -n 'Vec<(u8, u8)>' a.txt",
    'grep -n "Promise<(string)>" a.txt',
    "grep -rn 'x >&y' a.txt",
    'grep "cout << x" a.txt',
    'cat a.txt 2>&1',
    'cat a.txt 2>&1 | sort >&2',
    'cat a.txt \\\n  | sort \\\n  -u',
    'cat a.txt &&\\\ncat a.txt',
    'cat a.txt |\\\nsort',
    "grep 'a\\\nb' a.txt",
    'cat < a.txt',
  ])('is read as before: %j', async (command) => {
    expect(await bare.bash(command)).toBe('runs');
  });

  it.each([
    "cat > b.rs <<'EOF'\nlet x: Vec<(u8, &'a str)> = y; // it's <<< a >&$b\nlong\\\nline\nEOF",
    'cat > b.txt <<EOF\n$HOME ${USER} ${x:-none}\nEOF',
    'diff <(sort a.txt) <(sort b.txt)',
    'while read -r l; do echo "$l"; done < <(sort a.txt)',
    "git commit -m \"$(cat <<'EOF'\nUse Vec<(a, b)>; don't >&$x\nEOF\n)\"",
    'npm test &> log.txt',
    'npm test >& log.txt',
    'echo x >&2; exec 3>&1 4<&0; exec 3>&-',
    'cat <<\\EOF | sort\nx\nEOF\n',
    'ls ${x:-a} "${y%.txt}" ${z//a/b}',
    'x=1 \\\n  npm \\\n  test',
  ])('is allowed beside a rule that denies something else: %j', async (command) => {
    expect(await banned.bash(command)).toBe('runs');
  });
});

describe('a locale in which a backslash may be half a character', () => {
  it.each([
    'LC_ALL=zh_CN.GBK\ncat a.txt',
    'LC_ALL=zh_CN.GBK; cat a.txt',
    'LANG=zh_TW.BIG5\ncat a.txt',
    'LC_CTYPE=ja_JP.SJIS cat a.txt',
    'LC_ALL=zh_CN\ncat a.txt',
    'LC_ALL=./x/y.UTF-8\ncat a.txt',
    'LC_ALL+=.GBK\ncat a.txt',
    'LC_ALL=$x\ncat a.txt',
    'LOCPATH=sub\ncat a.txt',
    'export LC_ALL=zh_CN.GBK\ncat a.txt',
    'declare -x "LC_ALL=zh_CN.GBK"\ncat a.txt',
    'env LC_ALL=zh_CN.GBK bash -c "cat a.txt"',
    'read LC_ALL <<< zh_CN.GBK\ncat a.txt',
    'printf -v LC_ALL %s zh_CN.GBK\ncat a.txt',
    'printf -vLANG %s zh_CN.GBK\ncat a.txt',
    'for LC_ALL in zh_CN.GBK; do cat a.txt; done',
    ': ${LC_CTYPE:=zh_CN.GBK}\ncat a.txt',
    'mapfile LC_ALL < a.txt\ncat a.txt',
    'n=LC_ALL; export $n=zh_CN.GBK\ncat a.txt',
    'eval LC_ALL=zh_CN.GBK\ncat a.txt',
    'bash -c "LC_ALL=zh_CN.GBK; cat a.txt"',
  ])('is not set unasked: %j', async (command) => {
    for (const rig of [bare, editing, banned, fenced]) expect(await rig.bash(command)).toBe('asks');
  });

  it.each(['LC_ALL=C sort a.txt', 'LANG=en_US.UTF-8 sort a.txt', 'LC_ALL= sort a.txt'])(
    'is none of UTF-8 and C: %s',
    async (command) => {
      expect(await bare.bash(command)).toBe('runs');
      expect(await banned.bash(`export LC_ALL=C.UTF-8; ${command}`)).toBe('runs');
    },
  );
});
