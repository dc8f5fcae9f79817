import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, type Rig } from '../../../../test/support/gate-rig.js';
import { nodeFileSystem } from '../../../platform/fs/node-fs.js';
import type { AgentRef } from '../../../protocol/agent-ref.js';
import { workspaceFence } from './fence.js';

let base = '';
let main = '';
let tree = '';
let home = '';
let inTree: Rig;
let inPart: Rig;
let inScratch: Rig;

const agent = (workspace: string, isolation?: AgentRef['isolation']): AgentRef => ({
  id: 'a1',
  type: 'worker',
  path: 'main/worker#1',
  parentId: 'main',
  depth: 1,
  background: false,
  workspace,
  isolation,
});

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'fence-')));
  main = join(base, 'proj');
  tree = join(main, '.claude/worktrees/agent-1');
  home = join(base, 'home');
  for (const directory of [
    join(tree, 'sub/deep'),
    join(main, 'sub'),
    home,
    join(base, 'scratch'),
  ]) {
    mkdirSync(directory, { recursive: true });
  }
  for (const file of ['a.txt', 'sub/b.txt']) {
    writeFileSync(join(main, file), 'x\n');
    writeFileSync(join(tree, file), 'x\n');
  }
  symlinkSync(main, join(tree, 'out'));
  symlinkSync('../..', join(tree, 'sub/deep/up'));
  symlinkSync(join(main, 'a.txt'), join(tree, 'leaf'));
  mkdirSync(join(main, 'vendor'));
  symlinkSync(join(main, 'vendor'), join(tree, 'vendor'));
  const rig = (workspace: string, isolation?: AgentRef['isolation']): Rig =>
    gateRig({
      cwd: workspace,
      home,
      roots: isolation === 'worktree' ? [workspace] : [workspace, main],
      mode: 'bypassPermissions',
      agent: agent(workspace, isolation),
      guards: [
        workspaceFence({
          fs: nodeFileSystem,
          projectDir: main,
          shared: () => [join(main, 'vendor')],
        }),
      ],
    });
  inTree = rig(tree, 'worktree');
  inPart = rig(join(main, 'sub'));
  inScratch = rig(join(base, 'scratch'), 'scratch');
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

/** What becomes of a call: it runs, or this guard and no other refuses it. */
async function fate(rig: Rig, tool: string, input: Record<string, unknown>): Promise<string> {
  const verdict = await rig.call(tool, input);
  if (verdict.kind === 'allowed') return 'runs';
  const fence = verdict.receipt.trace.find(({ guard }) => guard === 'workspace fence');
  return fence?.decision === 'deny' && fence.failure === undefined ? 'denied' : verdict.message;
}

const bash = (rig: Rig, command: string): Promise<string> => fate(rig, 'Bash', { command });

/** `@M` is the main checkout, `@T` the agent's tree. */
const spelled = (command: string): string =>
  command.replaceAll('@M', main).replaceAll('@T', tree).replaceAll('@B', base);

describe('file tools', () => {
  it.each([
    ['Write', '@T/new.txt', 'runs'],
    ['Write', 'sub/new.txt', 'runs'],
    ['Edit', '@T/sub/deep/up/a.txt', 'runs'],
    ['Write', '@M/new.txt', 'denied'],
    ['Write', '../../../new.txt', 'denied'],
    ['Edit', '@T/leaf', 'denied'],
    ['Write', '@T/out/new.txt', 'denied'],
    ['Write', '@T/vendor/x', 'denied'],
    ['Write', '@B/other.txt', 'denied'],
    ['Read', '@T/a.txt', 'runs'],
    ['Read', '@M/a.txt', 'denied'],
    ['Read', '@T/leaf', 'denied'],
    ['Read', '@T/vendor/x', 'runs'],
    ['Read', '/etc/hostname', 'runs'],
    ['Read', '@B', 'denied'],
  ])('%s %s: %s', async (tool, path, expected) => {
    expect(await fate(inTree, tool, { file_path: spelled(path) })).toBe(expected);
  });

  it('names the file of its own tree that is meant', async () => {
    const verdict = await inTree.call('Write', { file_path: join(main, 'sub/b.txt') });
    expect(verdict).toMatchObject({ kind: 'refused' });
    expect(JSON.stringify(verdict)).toContain(`use ${join(tree, 'sub/b.txt')}`);
  });

  it('lets other workspaces look at the project, and write only inside', async () => {
    expect(await fate(inPart, 'Read', { file_path: join(main, 'a.txt') })).toBe('runs');
    expect(await fate(inPart, 'Write', { file_path: join(main, 'a.txt') })).toBe('denied');
    expect(await fate(inPart, 'Write', { file_path: join(main, 'sub/n') })).toBe('runs');
    expect(await fate(inScratch, 'Write', { file_path: join(main, 'sub/n') })).toBe('denied');
  });
});

const STAYS = [
  'pwd; touch in-worktree.txt; ls',
  'echo hi > new.txt',
  'echo hi >> @T/new.txt 2>/dev/null',
  "cat <<'EOF' > doc.md\nsee /etc/x and ../..\nEOF",
  'mkdir -p x/y && touch x/y/z',
  'cd sub && touch x && cd .. && touch y',
  '( cd sub; touch x )',
  'npm test',
  'npm run build -- --grep handles/api',
  'npm test -- -t "handles /nosuchroot/users"',
  'timeout 60 npm test 2>&1 | tail -5',
  'FOO=1 make check',
  'git status && git add -A && git commit -m "fix: the thing in ../../x and /etc/y"',
  'git -C sub log --oneline | head -3',
  'git checkout -b feature',
  'git diff HEAD~1..HEAD',
  'git config user.email a@b.c',
  'cp /etc/hostname h.txt',
  'cp a.txt sub/ && rm sub/a.txt',
  'sed -i "s/a/b/" a.txt',
  'sed -i "/foo/d; s#x#y#" a.txt',
  "awk '/x/ { print $1 }' a.txt",
  'node -e "console.log(1 / 2)"',
  'python3 -c "print(open(\'a.txt\').read())"',
  'find . -name "*.tmp" -delete',
  'find . -name "*.ts" -exec grep -l foo {} +',
  'for f in *.txt; do echo "$f"; done',
  'echo "$UNKNOWN"',
  'grep -rn foo . | sort | uniq -c',
  'curl -s https://example.com/a/b -o out.html',
  'rm -rf sub/*.txt',
  'X=1; echo $X',
  'git clone https://example.com/a/b.git vendored',
  'tar czf out.tgz sub',
  'cat vendor/x',
  'cd @T && npm test',
  'test -f a.txt && touch b.txt || mkdir c',
  'export PATH=$PATH:node_modules/.bin; tsc --noEmit',
  'X=$(git rev-parse HEAD); echo $X',
  'git show HEAD:a.txt > old.txt',
  './run.sh --fast',
  'npm install @scope/pkg@1.2.3',
  'sort -u a.txt > sorted.txt; diff a.txt sorted.txt',
];

const ESCAPES = [
  // Plainly elsewhere.
  'touch @M/x',
  'echo x > @M/x',
  'echo x >> ../../../x',
  'cd @M && touch x',
  'cd @M; ls',
  'cd ../../.. && ls',
  'pushd @M && touch x',
  '( cd @M && touch x )',
  'cd && touch x',
  'cd /tmp && touch x',
  'cat @M/a.txt',
  'ls @M',
  'grep -r foo @B',
  'find / -name a.txt',
  'cat < @M/a.txt',
  'touch /tmp/x',
  'tee @M/x < a.txt',
  'dd if=a.txt of=@M/x',
  // Through links.
  'touch out/x',
  'echo x > leaf',
  'cat **/a.txt',
  'for f in **/*.txt; do cat "$f"; done',
  'cd out && ls',
  'cd sub/deep/up/../../.. && touch x',
  'cd -P sub/deep/up/.. && touch x',
  'cp a.txt out/',
  'rm -rf out/*',
  'ln -s @M l',
  'ln -s ../../.. l && touch l/x',
  'cd sub && ln -s .. l && mv l .. && touch ../l/x',
  'ln a.txt sub/l && touch sub/l/x',
  'mv sub/deep/up . && touch up/x',
  'mv sub/deep . && touch deep/up/x',
  'tar xf a.tar && touch fresh/x',
  'ln -s sub l && cd l && touch x',
  // By options.
  'cp -t @M a.txt',
  'cp --target-directory=@M a.txt',
  'install -m 644 a.txt @M/x',
  'install -t../../.. a.txt',
  'rsync -a sub/ @M/',
  'tar -C @M -xf a.tar',
  'tar -xf a.tar --directory=../..',
  'tar -xPf a.tar',
  'env -C @M touch x',
  'env -C.. touch x',
  'env -vC.. touch x',
  'env --chdir=.. touch x',
  'make -C ../.. all',
  'npm --prefix @M run build',
  'npm --prefix=../../.. run build',
  'curl -s https://example.com -o @M/x',
  'sort a.txt -o @M/x',
  'unzip a.zip -d @M',
  'find @M -delete',
  'find . -exec rm {} +',
  'find . -fprint @M/x',
  'ls | xargs rm',
  'sed -i s/a/b/ @M/a.txt',
  "sed -n 'w @M/x' a.txt",
  'patch -d .. -p1 < a.patch',
  'mytool --config=a:@M/x',
  'mytool @B/elsewhere',
  // Git.
  'git -C @M status',
  'git -C ../../.. log',
  'git --git-dir=@M/.git status',
  'git --git-dir @M/.git commit -m x',
  'git --work-tree=@M checkout .',
  'git -c core.worktree=@M checkout .',
  'git config core.worktree @M',
  'git config core.hooksPath hooks',
  'git config --global user.name x',
  'git worktree remove x',
  'git worktree add ../other',
  'git checkout --ignore-other-worktrees main',
  'GIT_DIR=@M/.git git status',
  'GIT_WORK_TREE=@M git checkout .',
  'export GIT_DIR=@M/.git; git status',
  'env GIT_DIR=@M/.git git status',
  'git apply --unsafe-paths x.patch',
  'cd .. && git status',
  // Shapes that cannot be read.
  'touch {@M/x,y}',
  'touch ../{a,b}',
  'X=@M; touch $X/y',
  'touch "$UNKNOWN"',
  'touch $(echo @M)/x',
  'cat <<EOF > x\n$(date)\nEOF',
  'python3 - <<EOF\nprint("$X")\nEOF',
  'eval "touch $X"',
  'bash -c "cd @M && touch x"',
  'sh -c \'touch "$0"\' @M/x',
  'bash <<< "touch @M/x"',
  'source ./env.sh; touch x',
  'while read f; do touch "$f"; done < list',
  'for d in a b; do cd $d; touch x; done',
  'for CDPATH in @M; do :; done; cd sub; touch x',
  'export CDPATH=@M; cd sub && touch x',
  'a=CD; export $a"PATH"=@M; cd sub && touch x',
  'HOME=@M; touch ~/x',
  'touch ~/x',
  'touch ~root/x',
  'f() { touch "$1"; }; f @M/x',
  'echo $((x+1)) > x',
  'alias t=touch; t @M/x',
  'trap "touch @M/x" EXIT',
  'cat a.txt | tee >(cat > @M/x)',
  'rm -rf */../../../../x',
  'exec > @M/x',
  // Other languages.
  "python3 -c \"open('@M/x', 'w')\"",
  "python3 -c \"open('../../../x', 'w')\"",
  "python3 - <<'EOF'\nopen('@M/x','w')\nEOF",
  'perl -e \'open(F, ">@M/x")\'',
  "node -e \"require('fs').writeFileSync('@M/x', '')\"",
  'awk \'BEGIN { print 1 > "@M/x" }\'',
  'awk \'BEGIN { system("touch @M/x") }\'',
  // Elsewhere, later, as somebody else.
  'sudo touch x',
  'docker run -v @M:/x img',
  'crontab jobs',
  'chroot / touch x',
  'nohup touch @M/x &',
  'if cd @M; then touch x; fi',
  '{ cd @M; touch x; }',
  'true && ! touch @M/x',
  'echo `touch @M/x`',
  'cat <(touch @M/x)',
  '> @M/x',
  'nice -n 5 touch @M/x',
  'parallel touch ::: @M/x',
  'ssh localhost touch x',
  "script -c 'touch @M/x'",
  "vim -es -c ':w!../x' a.txt",
  'find -L . -name x -delete',
  'OUT=@M/x make install',
  'DESTDIR=../.. make install',
  'export OUT=@M; make install',
  '@M/run.sh',
  '../../../run.sh',
  'git diff --output=../x',
  'git rebase -x "touch @M/x" main',
  '/bin/touch @M/x',
  'command touch @M/x',
  'touch /proc/self/cwd/../x',
];

describe('the shell of an agent with a tree of its own', () => {
  it.each(STAYS)('lets it run: %s', async (command) => {
    const verdict = await inTree.call('Bash', { command: spelled(command) });
    expect(verdict.kind === 'refused' ? verdict.message : 'runs').toBe('runs');
  });

  it.each(ESCAPES)('refuses: %s', async (command) => {
    expect(await bash(inTree, spelled(command))).toBe('denied');
  });

  it('says which file is meant', async () => {
    const verdict = await inTree.call('Bash', { command: `cat ${main}/sub/b.txt` });
    expect(verdict.kind === 'refused' && verdict.message).toContain(join(tree, 'sub/b.txt'));
  });
});

describe('the shell in other workspaces', () => {
  it('may look around and writes inside', async () => {
    expect(await bash(inPart, `cat ${main}/a.txt > copy.txt`)).toBe('runs');
    expect(await bash(inPart, 'ls .. && cd .. && ls')).toBe('runs');
    expect(await bash(inPart, 'touch ../x')).toBe('denied');
    expect(await bash(inPart, 'cd .. && npm test')).toBe('denied');
    expect(await bash(inPart, 'git status')).toBe('runs');
    expect(await bash(inPart, 'git reset --hard')).toBe('denied');
    expect(await bash(inScratch, `grep -rn foo ${main} > found.txt`)).toBe('runs');
    expect(await bash(inScratch, `cp found.txt ${main}/`)).toBe('denied');
  });
});

describe('paths of every shape', () => {
  const segment = fc.constantFrom('..', '.', 'sub', 'deep', 'up', 'out', 'a.txt', 'new', 'leaf');
  it('lets nothing be written that the system would put elsewhere', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(segment, { minLength: 1, maxLength: 7 }),
        fc.constantFrom('', './', 'sub/', `sub/deep/`),
        async (segments, prefix) => {
          const path = `${prefix}${segments.join('/')}`;
          if ((await bash(inTree, `touch '${path}'`)) !== 'runs') return;
          // Where the system itself says that it would be.
          const real = execFileSync('realpath', ['-m', '--', path], { cwd: tree })
            .toString()
            .trim();
          expect(real === tree || real.startsWith(`${tree}/`), `${path} → ${real}`).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
  });
});
