// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are shell code
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workspaceFence } from '../../src/permissions/guards/workspace/fence.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { gateRig, type Rig } from '../support/gate-rig.js';

let base = '';
let tree = '';
let banned: Rig;
let bare: Rig;
let fenced: Rig;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'evaluated-')));
  tree = join(base, 'proj/.claude/worktrees/agent-1');
  const home = join(base, 'home');
  for (const directory of [tree, home]) mkdirSync(directory, { recursive: true });
  const place = { cwd: tree, home, roots: [tree] };
  banned = gateRig({ ...place, allow: ['Bash'], deny: ['Bash(touch *)', 'Bash(touch)'] });
  bare = gateRig(place);
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
    guards: [workspaceFence({ fs: nodeFileSystem, projectDir: join(base, 'proj') })],
  });
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Text that runs `touch` once something counts it out, in one piece and in two. */
const WHOLE = "x='a[$(touch @F)]'; ";
const PIECES = "x='a['; x=$x'$(touch @F)]'; ";

const COUNTED = [
  '[[ x -gt 0 ]]',
  '[[ $x -gt 0 ]]',
  '[[ 1 -eq 1 && 2 -ne x ]]',
  'if ! [[ 0 -eq 0+x ]]; then :; fi',
  'while [[ x -le 1 ]]; do break; done',
  '[[ -v q[x] ]]',
  "n='q[x]'; [[ ! ( -v $n ) ]]",
  'declare -i y=x',
  'typeset -i y=x',
  'declare -r -i y=x',
  'declare -ix y=x',
  'declare -i w; w=x',
  'declare -i w; read w <<< x',
  'declare -i w; : ${w:=x}',
  'v=-i; declare $v y=x',
  'command declare -i y=x',
  'builtin -- declare -i y=x',
  'command -p declare -i y=x',
  'time declare -i y=x',
  '\\declare -i y=x',
  'eval declare -i y=x',
  "trap -- 'declare -i y=x' EXIT",
  'declare "y[x]=1"',
  "declare -a 'y=([x]=1)'",
  "declare -n r='q[x]'; r=1",
  'let x',
  'let y=x',
  "read 'q[x]' <<< 1",
  "read -rp x 'q[x]' <<< 1",
  'set -- q; read "$1[x]" <<< 1',
  "printf -v 'q[x]' 1",
  "printf -v'q[x]' 1",
  "o=-v; printf $o 'q[x]' 1",
  'f() { printf "$@"; }; f -v \'q[x]\' 1',
  "test -v 'q[x]'",
  "[ ! -v 'q[x]' ]",
  'o=-v; [ $o q[x] ]',
  "a='-v q[x]'; [ $a ]",
  'f() { test "$@"; }; f -v \'q[x]\'',
  "q=1; unset 'q[x]'",
  "q=1; o='q[x]'; unset $o",
  "sleep 0 & wait -n -p 'q[x]'",
  "p=-p; sleep 0 & wait -n $p 'q[x]'",
  'true {q[x]}>/dev/null',
  'RANDOM=x',
  'RANDOM+=x',
  'OPTIND=x',
  'export RANDOM=x',
  'v=RANDOM=x; export $v',
  'read a RANDOM <<< "z x"',
  'read -a RANDOM <<< x',
  'mapfile RANDOM <<< x',
  'printf -v OPTIND x',
  'for RANDOM in x; do :; done',
  'y[x]=1',
  'y=([x]=1)',
  'echo ${q[x]}',
  'echo $((x))',
  'echo $[x]',
  'echo ${PWD:x}',
  '((x))',
  'cat <<EOF\n$((x))\nEOF',
  "bash -c '[[ x -eq 1 ]]' ; [[ x -eq 1 ]]",
];

const RUN = [
  "[[ -v 'a[$(touch @F)]' ]]",
  "[[ 'a[$(touch @F)]' -eq 0 ]]",
  "echo $([[ 'a[$(touch @F)]' -eq 0 ]])",
  "declare -a 'y=($(touch @F))'",
  'read -a z <<< x; y=\'($(touch @F))\'; declare "z=$y"',
  "read y <<< 'a[$(touch @F)]'; [[ y -eq 0 ]]",
  "mapfile -t y <<< 'a[$(touch @F)]'; [[ y -eq 0 ]]",
  'jobs -x touch @F',
  'jobs -x -- touch @F',
  "jobs -x bash -c 'touch @F'",
  'o=-x; jobs $o touch @F',
  'builtin jobs -x touch @F',
  "env bash -c 'jobs -x touch @F'",
  'hash -p "$(command -v touch)" cat; cat @F',
  'hash -p /usr/bin/touch cat; cat @F',
  'hash -rp /usr/bin/touch cat; cat @F',
  'command hash -p/usr/bin/touch cat; cat @F',
  "mapfile -c1 -C'touch @F; :' arr <<< x",
  "mapfile -tC 'touch @F #' -c 1 y <<< x",
  "readarray -C 'touch @F; :' -c 1 arr <<< x",
  "compgen -C 'touch @F' x",
  "compgen -W'$(touch @F)' x",
  "trap -- 'touch @F' EXIT",
  'y=\'touch @F\'; trap -- "$y" EXIT',
  'a=\'$(touch\'; PS4="$a @F)"; set -x; true',
  "read -r PS4 <<< '$(touch @F)'; set -x; true",
  "for PS4 in '$(touch @F)'; do set -x; true; done",
  "unset PS4; : ${PS4:='$(touch @F)'}; set -x; true",
  "v='$(touch @F)'; echo ${v@P}",
  "set -o history -o histexpand\nhistory -s 'touch @F'\n!touch",
  "set -o history\nhistory -s 'touch @F'\nfc -s touch",
  "shopt -so history\nhistory -s 'touch @F'\nfc -e - touch",
  'shopt -s expand_aliases\nx=touch\nalias a=$x\na @F',
  'shopt -s expand_aliases\nalias -- a=touch\na @F',
  'select x in touch; do $x @F; break; done <<< 1',
  'exec -a cat touch @F',
  'coproc touch @F; wait',
  "OPTIND='a[$(touch @F)]'; getopts a q -a",
  // Words that a test takes apart, or that are an option and a name.
  'o=-v; y=a; y+=\'[$(touch @F)]\'; [ "$o" "$y" ]',
  'o=-; y=a; y+=\'[$(touch @F)]\'; [ "${o}v" "$y" ]',
  "IFS=,; read -r y <<< 'x,-o,-v,a[$(touch @F)]'; [ -z $y ]",
  "IFS=,; y=$(printf 'x,-o,-v,a[\\x24(touch @F)]'); [ -z $y ]",
  "IFS=,; p='$'; q='(touch @F)]'; y=\"x,-o,-v,a[$p$q\"; [ -z $y ]",
  "IFS=,; y=$(rev <<< ']'\"$(rev <<< '(touch @F)')\"'$[a,v-,o-,x'); test -z $y",
  "IFS=,; y='[$(touch @F)],%s'; printf $(echo -v,a)$y",
  "IFS=,; y='[$(touch @F)]'; sleep 0 & wait $(echo -n,-p,a)$y",
];

const CASES = [
  ...RUN,
  ...COUNTED.map((code) => WHOLE + code),
  ...COUNTED.map((code) => PIECES + code),
];

describe('text that a shell evaluates', () => {
  it.each(CASES)('is not passed by a ban, a fence or as looking: %s', async (code) => {
    const command = code.replaceAll('@F', join(base, 'proj/pwn'));
    expect(await banned.bash(command)).not.toBe('runs');
    expect(await bare.bash(command)).not.toBe('runs');
    expect(await fenced.bash(command)).not.toBe('runs');
  });

  it('is what a real shell runs', () => {
    const file = join(base, 'ran');
    const idle = CASES.filter((code) => {
      rmSync(file, { force: true });
      const { error } = spawnSync('bash', ['-c', code.replaceAll('@F', file)], {
        cwd: tree,
        input: '',
        timeout: 20_000,
      });
      return error === undefined && !existsSync(file);
    });
    // Shells differ in a few; that most of these run is what makes the list worth keeping.
    expect(idle.length).toBeLessThan(CASES.length / 4);
  }, 300_000);
});

describe('builtins of everyday', () => {
  it.each([
    '[[ -f a.txt && -n $HOME ]] && ls',
    '[[ $# -gt 0 ]] || ls',
    '[[ ${#HOME} -gt 3 ]]',
    '[[ $HOME == /root* ]]',
    '[[ $HOME =~ ^/ ]]',
    '[[ -v HOME ]]',
    '[ -z "$X" ] && echo empty',
    '[ $? -eq 0 ] && echo fine',
    'n=$(ls | wc -l); [ $n -gt 5 ] && echo many',
    'test "$a" = "$b"',
    'export NODE_ENV=test FOO="$BAR"; npm test',
    'local name="$1"',
    'declare -x A=1',
    'readonly B=2',
    'unset FOO',
    'read -r line < a.txt',
    'read -p "$prompt" answer',
    'while IFS= read -r line; do echo "$line"; done < a.txt',
    'printf \'%s\\n\' "$@"',
    'printf "$GREEN%s\\n" done',
    'printf -v out %s x',
    'mapfile -t lines < a.txt',
    'while getopts "ab:" opt; do echo $opt; done',
    'sleep 1 & wait $!',
    'wait $pid',
    '[ $(wc -l < a.txt) -gt 3 ]',
    'for f in *; do [ -d $f ] && ls $f; done',
    '[ "$(git rev-parse HEAD)" = "$(git rev-parse main)" ]',
    "grep 'x$' a.txt; printf '%s\\n' $y",
    'jobs -l',
    'hash -r',
    'set -euo pipefail; npm test',
    'set -x; make',
    "PS4='+ ${LINENO}: '; set -x; make",
    'set -- a b; echo $1',
    'shopt -s nullglob; ls',
    'trap - EXIT',
    "trap 'rm -f tmp' EXIT",
    'SECONDS=0; make; echo $SECONDS',
    'OPTIND=1',
    'RANDOM=42',
    'RE=\'[0-9]+\'; grep -E "$RE" a.txt',
    'S=\'{ a[$1]++ } END { for (i in a) print a[i] }\'; awk "$S" a.txt',
    'command -v jobs',
    'type hash',
    'fc -l',
    'compgen -c',
    'timeout 5 npm run read -- "a[0]"',
    'env declare -i x',
  ])('go on beside a ban: %s', async (command) => {
    expect(await banned.bash(command)).toBe('runs');
  });
});

describe('an assignment by expansion', () => {
  const judged = (command: string) => {
    const deny = ['Bash(evil:*)'];
    return gateRig({ cwd: tree, home: join(base, 'home'), allow: ['Bash'], deny }).bash(command);
  };

  it.each([
    ': ${GIT_EXTERNAL_DIFF:=evil}; export GIT_EXTERNAL_DIFF; git diff',
    ': ${GIT_EXTERNAL_DIFF=evil}; git diff',
    ': "a${x:-${PAGER:=evil x}}"; export PAGER; git log',
    'cat <<< "${EDITOR:=evil}"; export EDITOR; git commit',
    'cat > "${VISUAL:=evil}"',
  ])('counts as one: %s', async (command) => {
    expect(await judged(command)).not.toBe('runs');
  });

  it('of a variable that no program goes by changes nothing', async () => {
    expect(await judged(': "${count:=3}"; echo "$count"')).toBe('runs');
    expect(await judged('echo "${GIT_EXTERNAL_DIFF:-evil}"')).toBe('runs');
  });
});
