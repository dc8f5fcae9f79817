import { describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import type { SourcedRule } from '../../settings/types.js';
import { hostOf } from './domain.js';
import { parseRules, type RuleKind } from './rules.js';

function problemsOf(kind: RuleKind, text: string) {
  const rule: SourcedRule = { value: { text, root: '/p' }, source: 'user', trusted: true };
  const texts = { allow: [], ask: [], deny: [], [kind]: [rule] };
  return parseRules(texts, { cwd: '/p', home: '/h' }).problems;
}

describe('restrictions on commands', () => {
  it.each([
    'Bash(!ls)',
    'Bash(!ls *)',
    'Bash(^rm)',
    'Bash(^rm *)',
    'Bash(/rm/)',
    'Bash(rm,mv)',
    'Bash(rm,mv *)',
    'Bash(rm, mv *)',
    "Bash('rm:*')",
  ])('that are written as lists, exceptions or expressions stop the start: %s', (text) => {
    expect(problemsOf('deny', text)).toMatchObject([{ severity: 'fatal' }]);
  });

  it.each([
    'Bash([ -f x ])',
    'Bash(! true)',
    "Bash('my program' *)",
    'Bash(/usr/bin/rm *)',
    'Bash(a=1,2)',
  ])('are kept where a command is written so: %s', (text) => {
    expect(problemsOf('deny', text)).toEqual([]);
  });
});

describe('a restriction on the root', () => {
  it('is one on every file', async () => {
    const rig = gateRig({ cwd: '/tmp', home: '/nowhere', mode: 'acceptEdits', deny: ['Edit(/)'] });
    expect(await rig.outcome('Write', { file_path: '/tmp/a', content: '' })).toBe('denied');
  });
});

describe('restrictions on names that end or begin with a blank', () => {
  it.each([
    ['Read(./a )', '/tmp/a '],
    ['Read(./a )', '/tmp/a'],
    ['Read( a)', '/tmp/sub/ a'],
    ['Read( a)', '/tmp/sub/a'],
    ['Read(b /**)', '/tmp/b /c'],
  ])('%s holds for %j', async (rule, file_path) => {
    const rig = gateRig({ cwd: '/tmp', home: '/nowhere', mode: 'bypassPermissions', deny: [rule] });
    expect(await rig.outcome('Read', { file_path })).toBe('denied');
    expect(await rig.outcome('Read', { file_path: '/tmp/other' })).toBe('runs');
  });
});

describe('rules about skills', () => {
  it.each([
    ['Skill(deploy prod)', 'Skill(args:prod)'],
    ['Skill(deploy prod*)', 'Skill(args:prod*)'],
    ['Skill(deploy --force *)', 'Skill(args:--force*)'],
    ['Skill(deploy: prod)', 'Skill(args:prod)'],
    ['Skill("deploy")', 'Write Skill(deploy).'],
    ["Skill('deploy' *)", 'Write Skill(deploy).'],
    ['Skill(deploy,other)', 'a rule for each'],
    ['Skill(./deploy)', 'Write Skill(deploy).'],
    ['Skill(../deploy:*)', 'Write Skill(deploy).'],
    ['Skill(deploy/)', 'Write Skill(deploy).'],
    ['Skill(//deploy)', 'Write Skill(deploy).'],
    ['Skill(.claude/skills/deploy)', 'Write Skill(deploy).'],
    ['Skill(*/deploy)', 'Write Skill(deploy).'],
    ['Skill(deploy:)', 'Write Skill(deploy).'],
    ['Skill(:*)', 'Write Skill(name).'],
    ['Skill(<deploy>)', 'Write Skill(deploy).'],
    ['Skill(dep\\*loy)', 'Write Skill('],
    ['Skill(de\u00adploy)', 'Type it anew.'],
    ['Skill(skill:deploy)', 'Write Skill(deploy).'],
    ['Skill(name:deploy)', 'Write Skill(deploy).'],
    ['Agent(subagent_type:reviewer)', 'Write Agent(reviewer).'],
    ['Agent(Explore, reviewer)', 'a rule for each'],
    ['Task(Explore,reviewer)', 'a rule for each'],
    ['Agent(re viewer)', 'Agent(type)'],
    ['Agent("reviewer")', 'Write Agent(reviewer).'],
    ['Skill(depl?y)', 'Write a rule for each name'],
    ['Skill(depl?y *)', 'Write a rule for each name'],
    ['Skill([ab])', 'Write a rule for each name'],
    ['Skill(team:[ab])', 'Write a rule for each name'],
    ['Skill(a|b)', 'Write a rule for each name'],
    ['Skill(a|b:*)', 'Write a rule for each name'],
    ['Skill({a})', 'Write a rule for each name'],
    ['Skill(^deploy$)', 'Write a rule for each name'],
    ['Skill(!deploy)', 'Write a rule for each name'],
    ['Agent(rev?ewer)', 'Write a rule for each name'],
    ['Agent([ab]*)', 'Write a rule for each name'],
    ['Agent(Explore|reviewer)', 'Write a rule for each name'],
    ['Agent({a,b})', 'Write a rule for each name'],
    ['Task(^a)', 'Write a rule for each name'],
    ['Agent(re\u00adviewer)', 'Type it anew.'],
    ['Agent(main/reviewer#1)', 'portcullis.agents'],
  ])('that can never match stop the start: %s', (text, remedy) => {
    const said = { remedy: expect.stringContaining(remedy) };
    expect(problemsOf('deny', text)).toMatchObject([{ severity: 'fatal', ...said }]);
    expect(problemsOf('ask', text)).toMatchObject([{ severity: 'fatal', ...said }]);
  });

  it.each(['Skill(deploy prod)', 'Skill(./deploy)', 'Skill("deploy")', 'Skill(name:deploy)'])(
    'that grant nothing are lost with a warning: %s',
    (text) => {
      expect(problemsOf('allow', text)).toMatchObject([{ severity: 'warning' }]);
    },
  );

  it.each([
    ['Skill(deploy)', 'deploy'],
    ['Skill( /deploy )', 'deploy'],
    ['Skill(deploy *)', 'deploy'],
    ['Skill(deploy:*)', 'deploy'],
    ['Skill(dep*)', 'deploy'],
    ['Skill(*:deploy)', 'plugin:deploy'],
    ['Skill(plugin:deploy)', 'plugin:deploy'],
    ['Skill(sub/dir:deploy)', 'sub/dir:deploy'],
    ['Skill(sub/dir:*)', 'sub/dir:deploy'],
    ['Skill(sub/*)', 'sub/dir:deploy'],
    ['Skill(my*dir:deploy)', 'my dir:deploy'],
    ["Skill(it's)", "it's"],
    ['Skill(c++)', 'c++'],
    ['Skill(v1.2)', 'v1.2'],
    ['Skill(app/[id]:deploy)', 'app/[id]:deploy'],
    ['Skill(app/[id]:*)', 'app/[id]:deploy'],
    ['Skill(café)'.normalize('NFD'), 'café'],
    ['Skill(caf\u0065\u0301:*)', 'café'],
    ['Skill(args:prod)', 'whatever'],
  ])('%s holds %s', async (rule, skill) => {
    const rig = gateRig({ cwd: '/p', home: '/h', allow: ['Skill'], deny: [rule] });
    expect(await rig.outcome('Skill', { skill, args: 'prod' })).toBe('denied');
  });

  it('are compared in one form of Unicode, as those about agents are', async () => {
    const rule = 'Agent(café)'.normalize('NFD');
    const rig = gateRig({ cwd: '/p', home: '/h', allow: ['Agent'], deny: [rule] });
    expect(await rig.outcome('Agent', { subagent_type: 'café'.normalize('NFC') })).toBe('denied');
    const grant = gateRig({ cwd: '/p', home: '/h', allow: ['Skill(café)'.normalize('NFD')] });
    expect(await grant.outcome('Skill', { skill: 'café'.normalize('NFC') })).toBe('runs');
  });

  it('grant a skill in a directory with a blank in its name, as is suggested', async () => {
    const rig = gateRig({ cwd: '/p', home: '/h', allow: ['Skill(my dir:deploy)'] });
    expect(await rig.outcome('Skill', { skill: 'my dir:deploy' })).toBe('runs');
  });

  it('grant arguments that begin so', async () => {
    const rig = gateRig({ cwd: '/p', home: '/h', allow: ['Skill(deploy --dry-run *)'] });
    expect(await rig.outcome('Skill', { skill: 'deploy', args: '--dry-run now' })).toBe('runs');
    expect(await rig.outcome('Skill', { skill: 'deploy', args: 'now' })).toBe('asks');
  });
});

describe('a restriction that looks like a pattern and is none', () => {
  it.each([
    ['Bash|Edit', 'Write a rule for each tool.'],
    ['Web{Fetch,Search}', 'Write a rule for each tool.'],
    ['Frob?', 'Write a rule for each tool.'],
    ['Bash.*', 'Did you mean Bash?'],
    ['^Bash$', 'Did you mean Bash?'],
    ['Read(a|b)', '\\|'],
    ['Read(**/*.{pem,key})', '\\{'],
    ['Edit(./{src,test}/**)', '\\{'],
    ['Edit(x{1..3})', '\\{'],
    ['Read(.env,.npmrc)', '\\,'],
    ['Read(.env ./secrets/**)', '\\ '],
    ['Read(@./src)', 'without it'],
    ['Read(:/src)', 'without it'],
    ['Read(./src:*)', 'without it'],
    ['Read(.\\secrets\\**)', 'Write / between names'],
    ['Read(a\nb)', 'a rule for each path'],
    ['Read(**/../x)', 'without dots'],
    ['Bash(rm *) Bash(mv *)', 'a text of its own'],
    ['Bash(rm *), Bash(mv *)', 'a text of its own'],
    ['Bash(rm (x)', 'backslash'],
    ['Bash(rm *,touch *)', 'for each command'],
    ['Bash(command=touch *)', 'for each command'],
    ['Bash(/touch.*/)', 'name as it is'],
    ['WebFetch(domain:[ab].com)', 'domain:example.com'],
    ['WebFetch(domain:a.com|b.com)', 'domain:example.com'],
    ['WebFetch(domain:{a,b}.com)', 'domain:example.com'],
    ['WebFetch(domain:*.{a,b})', 'domain:example.com'],
  ])('stops the start: %s', (text, remedy) => {
    const said = { severity: 'fatal', remedy: expect.stringContaining(remedy) };
    expect(problemsOf('deny', text)).toMatchObject([said]);
    expect(problemsOf('ask', text)).toMatchObject([said]);
  });

  it.each([
    'Read(a\\|b)',
    'Read(\\{a,b}.txt)',
    'Read([|]x)',
    'Read(a\\,b)',
    'Read(../../x)',
    'Read(my documents/a)',
    'Bash(echo "(")',
    'Bash(echo \\( *)',
    'Read({{cookiecutter.name}}/x)',
    'Read(app/[id]/page.tsx)',
    'Read(fil?.txt)',
    'Bash(a | b)',
    'Bash(cp {a,b} c)',
    'FutureTool',
    'Future*',
    'WebFetch(domain:*)',
    'WebFetch(domain:api-*.example.com)',
  ])('is accepted where it may match: %s', (text) => {
    expect(problemsOf('deny', text).filter(({ severity }) => severity === 'fatal')).toEqual([]);
  });

  it.each([
    ['m\u00fcnchen.de', 'https://m\u00fcnchen.de/x'],
    ['*.m\u00fcnchen.de', 'https://www.xn--mnchen-3ya.de/x'],
    ['127.1', 'http://127.0.0.1/x'],
    ['EXAMPLE.com.', 'https://example.com'],
    ['example.com', 'https://example.com..'],
  ])('holds hosts as addresses spell them: %s', async (host, url) => {
    const deny = [`WebFetch(domain:${host})`];
    const rig = gateRig({ cwd: '/p', home: '/h', allow: ['WebFetch'], deny });
    expect(await rig.outcome('WebFetch', { url, prompt: 'x' })).toBe('denied');
  });

  it('holds a host with other letters however often it was compared before', () => {
    const url = 'https://m\u00fcnchen.de/x';
    const hosts = new Set(Array.from({ length: 50_000 }, () => hostOf(url)));
    expect([...hosts]).toEqual(['xn--mnchen-3ya.de']);
  });
});

describe('a restriction on commands that could mean something else', () => {
  it.each([
    ['Bash(timeout:5 rm*)', 'Write Bash(timeout *) for the command'],
    ['Bash(timeout: rm *)', 'Write Bash(timeout *) for the command'],
    ['PowerShell(timeout:x)', 'Write PowerShell(timeout *) for the command'],
    ['Bash(if:*)', 'Write Bash(command *)'],
    ['Bash(for *)', 'Write Bash(command *)'],
    ['Bash(while true:*)', 'Write Bash(command *)'],
    ['Bash([[ *)', 'Write Bash(command *)'],
    ['Bash(rm: *)', 'Write Bash(rm *).'],
    ['Bash(git:* push)', 'Write Bash(git * push).'],
    ['Bash(rm|mv)', 'Bash(rm *), Bash(mv *)'],
    ['Bash(rm|mv *)', 'Bash(rm *), Bash(mv *)'],
    ['Bash({rm,mv} *)', 'Bash(rm *), Bash(mv *)'],
    ['Bash({rm,mv} x)', 'Bash(rm *), Bash(mv *)'],
    ['Bash(r[mn] *)', 'with its name as it is'],
    ['Bash(r?:*)', 'with its name as it is'],
    ['Bash(rm\\ *)', 'with its name as it is'],
    ['Bash("rm" *)', 'with its name as it is'],
    ["Bash('rm' *)", 'with its name as it is'],
    ['Edit(file:a.txt)', 'Write a.txt; for a file that is called so, ./file:a.txt.'],
    ['Read(glob: *.key)', 'Write *.key;'],
    ['Edit(a.tx[t)', 'Write the ] that ends it'],
    ['Edit(a[b/c]d)', 'Write the ] that ends it'],
    ['rm', 'For the command, write Bash(rm *).'],
  ])('stops the start: %s', (text, remedy) => {
    for (const kind of ['deny', 'ask'] as const) {
      const [problem] = problemsOf(kind, text);
      expect(JSON.stringify(problem)).toContain(remedy);
    }
  });

  it.each(['Bash(timeout:*)', 'Bash(timeout:60000)', 'Bash(timeout:6*)', 'Bash(timeout *)'])(
    'is read: %s',
    (text) => expect(problemsOf('deny', text)).toEqual([]),
  );

  it('is still about the parameter where its value is a number', async () => {
    const rig = gateRig({ cwd: '/', home: '/h', allow: ['Bash'], deny: ['Bash(timeout:6*)'] });
    expect(await rig.outcome('Bash', { command: 'ls', timeout: 60_000 })).toBe('denied');
    expect(await rig.outcome('Bash', { command: 'ls', timeout: 1000 })).toBe('runs');
  });
});

describe('a restriction with signs of the shell language', () => {
  it.each([
    ['Bash(rm -rf ~/*)', 'rm -rf ~/x'],
    ['Bash(rm -rf ~/*)', 'rm -rf "$HOME"/x'],
    ['Bash(rm -rf $HOME*)', 'cd /tmp; rm -rf ~/x'],
    ['Bash(ls ~/x)', 'ls $HOME/x'],
    ['Bash(~/bin/tool *)', '~/bin/tool x'],
    ['Bash(cd * && rm *)', 'cd src && rm x'],
    ['Bash(cd * && rm *)', 'cd src  && rm x'],
    ['Bash(curl * | sh)', 'curl example.com | sh'],
    ['Bash(FOO=1 npm *)', 'FOO=1 npm i'],
    ['Bash(git commit -m "*)', 'ls; git commit -m "a b"'],
    ['Bash(* > /etc/*)', 'echo x > /etc/x'],
    ['Bash(* 2>&1)', 'npm i 2>&1'],
    ['Bash(/bin/rm *)', '/bin/rm x'],
    ['Bash( rm *)', 'rm x'],
    ["Bash('/my bin/x' *)", "'/my bin/x' y"],
    ['Bash([ -f *)', '[ -f x ]'],
  ])('%s holds the command that it spells: %s', async (rule, command) => {
    const rig = gateRig({ cwd: '/', home: '/h', allow: ['Bash'], deny: [rule] });
    expect(await rig.bash(command)).toBe('denied');
  });

  it.each([
    ['Bash(cd * && rm *)', 'cd src && ls'],
    ['Bash(cat ~/*)', 'cat x'],
    ['Bash(curl * | sh)', 'curl example.com | tee x'],
  ])('%s does not hold %s', async (rule, command) => {
    const rig = gateRig({ cwd: '/', home: '/h', allow: ['Bash'], deny: [rule] });
    expect(await rig.bash(command)).toBe('runs');
  });
});

describe('a grant that covers no command which it spells', () => {
  it.each([
    'Bash(cd * && npm test)',
    'Bash(npm test 2>&1 *)',
    'Bash(NODE_ENV=test npm *)',
    'Bash(~/bin/x *)',
    'Bash(cat $HOME/*)',
    'Bash(git commit -m "*)',
    'Bash(rm: *)',
    'Bash(ls|wc *)',
    'Bash(run_in_background:true)',
  ])('is lost with a warning: %s', (text) => {
    expect(problemsOf('allow', text)).toMatchObject([{ severity: 'warning' }]);
  });

  it.each([
    'Bash(ls|wc)',
    'Bash(cd x && npm test)',
    "Bash(sh -c 'a && b' *)",
    'Bash(git stash show stash@{0} *)',
    'Bash(git diff HEAD~1 *)',
    'Bash(npm run test:*)',
    'Bash(curl -H "a: b" x)',
  ])('is not %s', (text) => {
    expect(problemsOf('allow', text)).toEqual([]);
  });
});
