// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell are what is tested
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, type Rig } from '../../../../test/support/gate-rig.js';
import { nodeFileSystem } from '../../../platform/fs/node-fs.js';
import { workspaceFence } from './fence.js';

let base = '';
let main = '';
let tree = '';
let rig: Rig;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'fence-looks-')));
  main = join(base, 'proj');
  tree = join(main, '.claude/worktrees/agent-1');
  for (const place of [main, tree]) {
    mkdirSync(join(place, 'sub'), { recursive: true });
    for (const file of ['a.txt', 'sub/b.txt']) writeFileSync(join(place, file), 'x\n');
  }
  rig = gateRig({
    cwd: tree,
    home: join(base, 'home'),
    roots: [tree],
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

/** What becomes of a command, and by whom. `@M` is the main checkout, `@T` the agent's tree. */
async function fate(command: string): Promise<string> {
  const spelled = command.replaceAll('@M', main).replaceAll('@T', tree);
  const verdict = await rig.call('Bash', { command: spelled });
  if (verdict.kind === 'allowed') return 'runs';
  const fence = verdict.receipt.trace.find(({ guard }) => guard === 'workspace fence');
  return fence?.decision === 'deny' && fence.failure === undefined ? 'denied' : verdict.message;
}

describe('what an agent with a tree of its own looks at by patterns and unfinished words', () => {
  it.each([
    'cat ../../../a*.txt',
    'cat ../../../[a].txt',
    'cat @M/a*.txt',
    'cat *.txt ../../../a*.txt',
    'head ../*/a.txt',
    'wc -l ../../../*.txt',
    'cat .*/.*/.*/a.txt',
    'diff a.txt ../../../a*.txt',
    'cat < ../../../a*.txt',
    'cd ../../../s* && cat b.txt',
    'cd @M/s* && cat b.txt',
    'cd -P ../../.. && cat a.txt',
    'pushd ../../../s*',
    'cd "$X"; cat @M/a*.txt',
    'cat ../../../a$X.txt',
    'cat @M/$X',
    'cd ../../../$X && cat a.txt',
    'cat < @M/a$X',
    'cat /proc/self/cwd/../../../a.txt',
    'cat /proc/self/cwd/a.txt',
    'cat /proc//self/./task/1/cwd/a.txt',
    'cat /proc/$PPID/cwd/a.txt',
    'cat /proc/self/root/@M/a.txt',
    'cd /proc/self && cat cwd/a.txt',
    'cd /proc/self/cwd && cat a.txt',
    'ls /proc/sel[f]/cwd/',
    'cat /dev/fd/3/../a.txt',
    'cat "$X"',
    'cat $X',
    'cat "/etc/$X"',
    'cat sub/$X',
    'cat "${X:-a}"',
    'cat < "$X"',
    'cd "$X" && ls',
    'cat $(echo ../../../a.txt)',
    'X=@M; cat "$X/a.txt"',
    'X=..; cat "$X/$X/$X/a.txt"',
    'X=a.txt cat b.txt; cat "$X"',
    'X=a.txt; read X < list; cat "$X"',
    'X=a.txt; . ./env.sh; cat "$X"',
    'X=a.txt; printf -v X %s ../../../a.txt; cat "$X"',
    'X=a.txt; : "${X:=b}"; cat "$X"',
    'X=../../..; X=sub; cat $X/a.txt',
    'X=$(pwd)/../../../a.txt; cat "$X"',
    'X="a.txt ../../../a.txt"; cat $X',
    'for f in ../../../*.txt; do cat "$f"; done',
    'for f in @M/a.txt a.txt; do head -n 1 "$f"; done',
    'for f in a b; do cat "../../../$f.txt"; done',
    'for f in $(ls ..); do cat "$f"; done',
    'for f in *; do cat "$f/../../../../a.txt"; done',
    'for f in **/*.txt; do cat "$f/../../../../../a.txt"; done',
    'for d in ..; do cat $d/$d/$d/a.txt; done',
    'while read f; do cat "$f"; done < list',
    'f=a.txt; read -r f < list; cat "$f"',
    'f=a.txt; printf -v f %s @M/a.txt; cat "$f"',
    'f=a.txt; unset f; cat "${f:=@M/a.txt}" "$f"',
    'f=a.txt; command eval "f=@M/a.txt"; cat "$f"',
    'f=a.txt; declare f=@M/a.txt; cat "$f"',
    'IFS=x; f=a.txt; cat "$f"',
    'f=a; f+=/../../../../a.txt; cat "$f"',
    'for f in base/*; do cat "/$f"; done',
    'for f in sub/*; do cat "../../../$f"; done',
    'X=sub/*; cat /$X',
    'D=/; for f in *; do cat "$D$f"; done',
    'U=/..; for f in *; do cat "$f$U$U$U$U/a.txt"; done',
    'cd /; cat **/a.txt',
    'cd /; for f in **/a.txt; do cat "$f"; done',
    'for f in @M/*; do cat "$f"; done',
    'X=a.txt; builtin read X < list; cat "$X"',
    'X=a.txt; command read X < list; cat "$X"',
    'X=a.txt; export X; cat "$X"',
    'echo ../../../a.txt | xargs cat',
    'cat list | xargs cat',
    'xargs -a list cat',
    'ls | xargs -a list cat',
    "find . | sed 's|^|../../../|' | xargs cat",
    "find . | grep -o '/.*' | xargs cat",
    'find . | grep x list | xargs cat',
    'find . | sort list | xargs cat',
    'find . | tail -c 9 | xargs cat',
    'ls -l | xargs cat',
    'find . -ls | xargs cat',
    'find . -printf ../../../%f | xargs cat',
    'ls | xargs cat $(cat list)',
    'ls | xargs -I{} cat ../../../{}',
    'grep foo "$X"',
    'grep -f "$X" a.txt',
  ])('is not the main checkout: %s', async (command) => {
    expect(await fate(command)).toBe('denied');
  });

  it.each([
    'cat *.txt',
    'cat sub/*.txt **/*.txt',
    'wc -l @T/*.txt',
    'ls .[a-z]*',
    'cd s* && cat b.txt',
    'cat /etc/host*',
    'echo "$HOME" "$X" $Y',
    'cat "$PWD/a.txt"',
    'X=a.txt; cat "$X" && wc -l $X',
    'D=sub; cat "$D/b.txt" "${D}/b.txt"',
    'D=sub; cd "$D" && cat b.txt',
    'for f in *; do cat "$f"; done',
    'for f in *.txt sub/*.txt; do echo "$f"; head -n 2 "$f"; done',
    'for f in **/*.txt; do wc -l "$f"; done',
    'for i in 1 2 3; do cat "part-$i.txt"; done',
    'for f in a.txt sub/b.txt; do grep -n foo $f; done',
    'for d in sub; do ls "$d"; done',
    'for f in *.txt; do cat "sub/$f" "./$f"; done',
    'for f in @T/*.txt; do cat "$f"; done',
    'for f in /etc/host*; do cat "$f"; done',
    'P=foo; grep "$P" a.txt',
    'grep -e "$X" a.txt',
    'find . -name "*.txt" | xargs grep -n x',
    'find . -type f | sort | head -n 5 | xargs cat',
    'ls | grep txt | xargs wc -l',
    'grep -rl x . | xargs cat',
    'echo a.txt sub/b.txt | xargs cat',
    'find . -name "*.txt" -exec cat {} +',
    'cat /proc/cpuinfo /proc/self/status',
    'cat /dev/fd/0 < a.txt',
  ])('may be anything else: %s', async (command) => {
    expect(await fate(command)).toBe('runs');
  });
});
