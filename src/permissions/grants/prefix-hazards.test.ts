import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { movesBranches } from '../guards/workspace/git.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'a.txt': 'a', '.git/HEAD': 'x' } });
});
afterAll(() => project.remove());

const bash = (rule: string, command: string) =>
  gateRig({ cwd: project.directory, home: project.home, allow: [rule] }).bash(command);

describe('a rule for the beginning of a command', () => {
  it.each([
    ['Bash(split:*)', "split --filter='touch P' a.txt"],
    ['Bash(make test:*)', "make test X='$(shell touch P)'"],
    ['Bash(make *)', 'make RM=./evil clean'],
    ['Bash(gcc:*)', 'gcc -wrapper ./evil a.c'],
    ['Bash(gcc:*)', 'gcc -fplugin=./evil.so a.c'],
    ['Bash(scp:*)', 'scp -S ./evil a.txt h:'],
    ['Bash(ssh:*)', 'ssh -I ./evil.so h'],
    ['Bash(git send-email:*)', 'git send-email --to-cmd=./evil x.patch'],
    ['Bash(tcpdump:*)', 'tcpdump -z ./evil'],
    ['Bash(pandoc:*)', 'pandoc --filter ./evil a.md'],
    ['Bash(protoc:*)', 'protoc --plugin=./evil a.proto'],
    ['Bash(bazel:*)', 'bazel run --run_under=./evil //x'],
    ['Bash(cmake:*)', 'cmake -E env ./evil'],
    ['Bash(python -m pytest:*)', 'python -m pytest -p evil'],
    ['Bash(go build:*)', 'go build -ldflags "-linkmode=external -extld=./evil"'],
    ['Bash(go test:*)', 'go test -coverprofile=/x'],
    ['Bash(rustc:*)', 'rustc -C linker=./evil a.rs'],
    ['Bash(prettier:*)', 'prettier --plugin=./evil.js .'],
    ['Bash(eslint:*)', 'eslint --config evil.js .'],
    ['Bash(terser:*)', 'cat a.txt | xargs terser'],
    ['Bash(git config:*)', 'git config tar.x.command ./evil'],
    ['Bash(git config:*)', 'git config sendemail.tocmd ./evil'],
    ['Bash(git config:*)', 'git config --rename-section a core'],
    ['Bash(git config:*)', 'git config --edit'],
    ['Bash(make *)', "make -E '$(shell touch P)'"],
    ['Bash(make *)', 'make -kE x'],
    ['Bash(tar *)', 'tar -cf host:a b'],
    ['Bash(tar *)', 'tar --file=me@host:a -c b'],
    ['Bash(curl *)', "curl '{file}:///etc/hostname'"],
    ['Bash(curl *)', "curl 'fil[e-e]:///etc/hostname'"],
    ['Bash(curl *)', 'curl -sn https://x.invalid'],
    ['Bash(git *)', 'git apply --unsafe-paths x.patch'],
    ['Bash(git *)', 'git interpret-trailers --in-place ../x'],
    ['Bash(git repack *)', 'git repack -d --cruft --expire-to=/x'],
    ['Bash(git fast-export *)', 'git fast-export --export-m=/x HEAD'],
    ['Bash(git push *)', "git push --repo='ext::sh -c x'"],
    ['Bash(git help *)', 'git help --web log'],
    ['Bash(git archive *)', 'git archive --remote=host:x HEAD'],
    ['Bash(git config *)', 'git config lfs.extension.x.clean ./evil'],
    ['Bash(perl *)', "perl '-Mstrict;system(1)' a.pl"],
    ['Bash(php *)', "php --run 'x();'"],
    ['Bash(ruby *)', "ruby --crash-report='|touch P' a.rb"],
    ['Bash(scp *)', 'scp -D ./evil a.txt h:b'],
    ['Bash(gcc *)', 'gcc -time=/x a.c'],
    ['Bash(gcc *)', 'gcc --for-assembler -al=/x a.c'],
    ['Bash(gcc *)', 'gcc -fcompare-debug=-fplugin=./evil.so a.c'],
    ['Bash(zip *)', 'zip -lf/x a b'],
    ['Bash(unzip *)', 'unzip -: a.zip'],
    ['Bash(node *)', 'node --cpu_prof_dir=/x a.js'],
    ['Bash(node *)', 'node --env_file=x a.js'],
    ['Bash(node *)', 'node --trace_turbo_cfg_file=/x a.js'],
    ['Bash(go test *)', 'go test -test.coverprofile=/x'],
    ['Bash(sqlite3 *)', `sqlite3 a.db "attach '/x' as y; create table y.a(b)"`],
    ['Bash(sqlite3 *)', `sqlite3 a.db 'select "writefile"("/x", 1)'`],
    ['Bash(sqlite3 *)', 'sqlite3 ./a.db .shell'],
    ['Bash(psql *)', "psql -c '\\set x `touch P`'"],
    ['Bash(psql *)', "psql -c '\\i /x'"],
    ['Bash(java *)', 'java -XX:OnOutOfMemoryError="touch P" A'],
    ['Bash(javac *)', 'javac -processor evil A.java'],
    ['Bash(pg_dump *)', 'pg_dump -f /x db'],
    ['Bash(vim *)', 'vim -V9/x a.txt'],
    ['Bash(gpg *)', 'gpg --status-file=/x a.txt'],
    ['Bash(openssl *)', 'openssl engine ./evil.so -t'],
    ['Bash(pytest *)', 'pytest --tx popen//python=./evil'],
    ['Bash(pytest *)', 'pytest --cov-report=html:/x'],
    ['Bash(docker build *)', 'docker build --iidfile=/x .'],
    ['Bash(apt-get update *)', "apt-get update -o APT::Update::Pre-Invoke::='touch P'"],
    ['Bash(apt list *)', 'apt list -qo=APT::x=y'],
    ['Bash(dpkg *)', 'dpkg --post-invoke=./evil --configure -a'],
    ['Bash(objcopy *)', 'objcopy --dump-section .text=/x a'],
    ['Bash(ld *)', 'ld -Map=/x a.o'],
    ['Bash(gdb *)', "gdb -batch -ev 'shell touch P'"],
    ['Bash(gradle *)', 'gradle -I evil.gradle test'],
    ['Bash(mvn *)', 'mvn -Dmaven.ext.class.path=evil.jar test'],
    ['Bash(gh *)', 'gh ext install evil/x'],
    ['Bash(pandoc *)', 'pandoc -t ./evil.lua a.md'],
    ['Bash(npx jest *)', 'npx jest --preset=./evil'],
    ['Bash(mypy *)', 'mypy --python-executable=./evil a.py'],
    ['Bash(ls:*)', 'timeout 5$X ls'],
    ['Bash(ls:*)', 'timeout -k $X 5 ls'],
    ['Bash(ls:*)', 'nice -n 5* ls'],
    ['Bash(ls:*)', 'stdbuf -o$X ls'],
  ])('%s does not cover %s', async (rule, command) => {
    expect(await bash(rule, command)).toBe('asks');
  });

  it.each([
    ['Bash(make *)', 'make -j4 test'],
    ['Bash(tar *)', 'tar -czf a.tgz src'],
    ['Bash(curl *)', `curl -d '{"a":1,"u":"http://x"}' http://x.invalid`],
    ['Bash(curl *)', "curl 'http://[::1]:8080/{a,b}'"],
    ['Bash(perl *)', 'perl -Ilib -MPOSIX=floor,ceil a.pl'],
    ['Bash(node *)', 'node --max_old_space_size=4096 a.js'],
    ['Bash(sqlite3 *)', "sqlite3 ./a.db '.schema x'"],
    ['Bash(psql *)', "psql -c '\\d x'"],
    ['Bash(java *)', 'java -Xmx1g -XX:+UseG1GC -XX:MaxMetaspaceSize=256m -cp x A'],
    ['Bash(pytest *)', 'pytest --cov-report=html tests/a.py::test_a'],
    ['Bash(docker build *)', 'docker build --iidfile=id.txt .'],
    ['Bash(apt list *)', 'apt list --installed'],
    ['Bash(gradle *)', 'gradle -Pgroup=x test --info'],
    ['Bash(mvn *)', 'mvn -q -DskipTests package'],
    ['Bash(pandoc *)', 'pandoc a.md -t html'],
    ['Bash(npx jest *)', 'npx jest --env=jsdom --ci'],
    ['Bash(make *)', 'make ENV=prod deploy'],
    ['Bash(go build:*)', 'go build ./...'],
    ['Bash(gcc:*)', 'gcc -Wall -O2 -o a a.c'],
    ['Bash(eslint:*)', 'eslint src --fix'],
    ['Bash(python -m pytest:*)', 'python -m pytest -q tests'],
    ['Bash(prettier:*)', 'prettier --check .'],
    ['Bash(split:*)', 'split -l 10 a.txt'],
    ['Bash(split:*)', 'timeout -k 5 10 nice -n 3 stdbuf -oL split -l 10 a.txt'],
  ])('%s covers %s', async (rule, command) => {
    expect(await bash(rule, command)).toBe('runs');
  });
});

describe('git in a tree of its own', () => {
  it.each([
    ['replace', 'HEAD HEAD~1'],
    ['gc', '--prune=now'],
    ['prune', ''],
    ['reflog', 'expire --all --expire=now'],
    ['repack', '-ad'],
    ['update-ref', 'refs/heads/main HEAD'],
  ])('does not touch what all trees share: %s %s', (subcommand, text) => {
    const rest = text.split(' ');
    expect(movesBranches(subcommand, rest, { whole: true })).toBeDefined();
  });

  it.each([
    ['reflog', 'show'],
    ['commit', '-m x'],
    ['stash', 'list'],
  ])('goes on: %s %s', (subcommand, text) => {
    const rest = text.split(' ');
    expect(movesBranches(subcommand, rest, { whole: true })).toBeUndefined();
  });
});
