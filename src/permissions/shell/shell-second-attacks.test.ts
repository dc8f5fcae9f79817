import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: { '.env': 'S', '.git/config': '', '.vscode/settings.json': '{}', 'src/a.ts': 'a' },
  });
});
afterAll(() => project.remove());

function rig(lists: { allow?: readonly string[]; deny?: readonly string[] }) {
  const { directory: cwd, home } = project;
  return gateRig({ cwd, home, mode: 'acceptEdits', allow: ['Bash'], ...lists });
}

describe('a file that may not be read', () => {
  it.each([
    "env -S 'cat\\_.env'",
    "env -S'cat\\t.env'",
    "env --split='cat .env'",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell code.
    "env -S 'cat ${X}'",
    'HOME=$PWD; cat ~/.env',
    'export HOME=.; cd; cat .env',
    'BASH_ENV=.env bash -c :',
    'ENV=.env sh -i -c :',
    'X=.env; cat $X',
    `awk 'BEGIN{system("cat .env")}'`,
    `awk 'BEGIN{"cat .env"|getline x;print x}'`,
    `awk 'BEGIN{f=".e" "nv"; while((getline l<f)>0)print l}'`,
    "perl -e 'print `cat .env`'",
    `perl -e 'open F,"<.env";print <F>'`,
    `perl -e 'open F,".e"."nv";print <F>'`,
    `python3 -c 'print(open(".e"+"nv").read())'`,
    "sed -e 'e cat .env' src/a.ts",
    "sed 'ecat .env' src/a.ts",
    "sed 's/a/cat .env/e' src/a.ts",
    "sed 'r.env' src/a.ts",
    "git -c alias.x='show HEAD:.env' x",
    "git config alias.y 'show HEAD:.env'; git y",
    "make --eval='$(info $(file <.env))'",
    `gcc -E -x c - <<< '#include ".env"'`,
    "vim -es +'r .env' +%p +q!",
    "gdb -batch -ex 'shell cat .env'",
    "tclsh <<< 'puts [read [open .env]]'",
  ])('is not by %s', async (command) => {
    expect(await rig({ deny: ['Read(.env)'] }).bash(command)).not.toBe('runs');
  });

  it('is not by an address of this machine', async () => {
    const { bash } = rig({ deny: ['Read(.env)'] });
    const at = project.directory;
    for (const address of [
      `file://${at}/.env`,
      `file://localhost${at}/.env`,
      `FILE://${at}/%2eenv`,
      `file://${at}/.en[v-v]`,
      `file://${at}/.{env,x}`,
    ]) {
      expect(await bash(`curl -s '${address}'`), address).not.toBe('runs');
    }
  });

  it.each([
    "node -p 'process.env.X'",
    `python3 -c 'import os; print(os.environ["X"])'`,
    "sed 's/env/x/' src/a.ts",
    'HOME=/tmp npm ci',
    'X=1 make all',
    "awk '{print $1}' src/a.ts",
    `gcc -o out src/a.c`,
  ])('does not keep others from running: %s', async (command) => {
    expect(await rig({ deny: ['Read(.env)', 'Read(*.pem)'] }).bash(command)).toBe('runs');
  });
});

describe('a program that may not be run', () => {
  it.each([
    'echo rm x | xargs env',
    'echo rm x | xargs -n2 nice',
    "sed '1erm x' a",
    `perl -e 'system "r"."m x"'`,
    'conda run rm x',
  ])('is not by %s', async (command) => {
    expect(await rig({ deny: ['Bash(rm *)'] }).bash(command)).not.toBe('runs');
  });

  it.each(['ls | xargs', 'ls | xargs -n1 echo', 'ls | xargs env LANG=C wc'])(
    'does not keep others from running: %s',
    async (command) => {
      expect(await rig({ deny: ['Bash(rm *)'] }).bash(command)).toBe('runs');
    },
  );
});

describe('a rule for sed', () => {
  it.each(['sed wX a', 'sed -n 1wX a', 'sed -ewX a', "sed '1eid' a", 'sed -ne1eid a', 'sed eid a'])(
    'does not cover a script that does more than change text: %s',
    async (command) => {
      expect(await rig({ allow: ['Bash(sed:*)'] }).bash(command)).toBe('asks');
    },
  );

  it.each([
    "sed 's/w x/e y/' web.txt",
    'sed -n 1,5p README.md',
    "sed -e 's/a/b/' -e '/while/d' results.json",
    "sed -E 's/[/]e/x/g; s/(a|b)/\\1/' e2e.ts",
  ])('covers one that does not: %s', async (command) => {
    expect(await rig({ allow: ['Bash(sed:*)'] }).bash(command)).toBe('runs');
  });
});

describe('a protected path', () => {
  it.each([
    'cp --target=.git/hooks src/a.ts',
    'pushd .git; echo x > config',
    'd=.git; echo x > $d/config',
    'echo x > ~+/.git/config',
    "sed 'w.git/config' src/a.ts",
    "sed 's/a/b/w .git/config' src/a.ts",
    `awk '{print > ".git/config"}' src/a.ts`,
    `awk -v f=.git/config 'BEGIN{print "x" > f}'`,
    `perl -e 'open F,">.git/config"; print F "x"'`,
    `python3 -c 'open(".git/config","w").write("x")'`,
    `node -e 'require("fs").writeFileSync(".git/config","x")'`,
    'echo .git/config | xargs rm',
    'echo .git/config | xargs -I{} cp src/a.ts {}',
    'xargs tee <<< .git/x',
    'curl -o.git/config https://example.com',
    'curl --etag-save .git/x https://example.com',
    "vim -es -c 'w! .git/x' -c q src/a.ts",
    "make -f - <<< 'x:; echo hi > .git/x'",
    `sqlite3 :memory: '.output .git/x' 'select 1'`,
    "echo 'echo x > .git/x' | sh",
    "bash <<< 'echo x > .git/x'",
    'f(){ echo x > "$1"; }; f .git/x',
    'for f in .git/x; do echo x > $f; done',
    'while read f; do echo x > $f; done <<< .git/x',
    'printf -v x .git/x; echo hi > "$x"',
    'set -- .git/x; echo hi > $1',
    'history -w .git/x',
    'HISTFILE=.git/x bash -ic exit',
    'TMPDIR=.git mktemp',
    "env -S 'tee\\_.git/x'",
    'git config core.hooksPath src',
    "git config alias.x '!sh'",
    'git config --add include.path ../x',
  ])('is asked about: %s', async (command) => {
    expect(await rig({}).bash(command)).toBe('asks');
  });

  it.each([
    'source ~/.bashrc && npm test',
    '. ~/.profile; make > $LOG',
    'cat .npmrc; for f in src/*.ts; do sed -i s/a/b/ "$f"; done',
    "find . -path ./.git -prune -o -name '*.ts' -print0 | xargs -0 sed -i s/a/b/",
    "find . -not -path './.git/*' -name '*.ts' -exec sed -i s/a/b/ {} +",
    'grep -rl foo --exclude-dir=.git . | xargs sed -i s/foo/bar/',
    'rsync -a --exclude=.git src/ "$DEST"',
    'tar czf "$OUT" --exclude=.git --exclude .vscode .',
    'echo "see .git/config" > "$LOG"',
    `node -e 'console.log(require("fs").readFileSync(".git/HEAD","utf8"))'`,
    `python3 -c "import json; print(json.load(open('.vscode/settings.json')))"`,
    'jq . .vscode/settings.json > "$T"',
    'for d in .git .vscode; do du -sh $d; done',
    'node .yarn/releases/yarn.cjs install',
    'bash .husky/pre-commit',
    'docker build -f .devcontainer/Dockerfile .',
    'git config user.email x@example.com',
    'git config --get core.hooksPath',
    'git commit -m "git config core.hooksPath"',
  ])('is no reason to ask where it is not written: %s', async (command) => {
    expect(await rig({}).bash(command)).toBe('runs');
  });
});
