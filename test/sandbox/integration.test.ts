import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type Call, MARK } from '../security/attempt.js';
import { inside, missing, person, why } from './rig.js';

type Outcome = Awaited<ReturnType<typeof inside>>;

const texts = (outcome: Outcome): string[] => outcome.results.map(({ text }) => text);

/** What the guard of the sandbox said of each call. */
const said = (outcome: Outcome): (string | undefined)[] =>
  outcome.news.flatMap((news) =>
    news.type === 'decision'
      ? [news.receipt.trace.find(({ guard }) => guard === 'sandbox')?.reason]
      : [],
  );

/** Somebody who lets everything through: what holds then is the fence alone. */
const yes = { asker: person({ behavior: 'allow' }).asker };

const leaving = (command: string): Call => ({
  tool: 'Bash',
  input: { command, dangerouslyDisableSandbox: true },
});

describe.skipIf(missing !== undefined)(`a session with a sandbox${why}`, () => {
  it('writes in the project and nowhere else', async () => {
    const outcome = await inside({
      calls: ['echo in > in.txt && cat in.txt', 'echo out > "$HOME/out.txt"'],
    });
    expect(texts(outcome)[0]).toBe('in');
    expect(texts(outcome)[1]).toContain('Read-only file system');
    expect(outcome.project.exists('in.txt')).toBe(true);
    expect(outcome.project.exists('../home/out.txt')).toBe(false);
    expect(said(outcome)).toEqual(Array(2).fill('runs inside the sandbox (bubblewrap)'));
  });

  it('tells the model what was refused and what can be done', async () => {
    const [text] = texts(await inside({ calls: ['echo out > "$HOME/out.txt"'] }));
    expect(text).toContain('The sandbox kept this command from something');
    expect(text).toContain('dangerouslyDisableSandbox');
    expect(text).toContain('sandbox.filesystem.allowWrite');
  });

  it('can commit, and cannot change what git runs', async () => {
    const outcome = await inside({
      git: true,
      config: yes,
      calls: [
        'echo a > a.txt && git add a.txt && git -c user.name=a -c user.email=a@b commit -qm one && git log --oneline | wc -l',
        `printf '#!/bin/sh\\ntouch ${MARK}\\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout; git checkout -qb x`,
        'git config core.hooksPath ./h',
        `mv .git g && cp -r g .git && printf '#!/bin/sh\\ntouch ${MARK}\\n' > .git/hooks/post-commit`,
        'rm -rf .git/hooks; mkdir -p .git/hooks && echo x > .git/hooks/pre-push; ls .git/hooks',
      ],
    });
    expect(texts(outcome)[0]).toMatch(/[12]/);
    for (const text of texts(outcome).slice(1)) {
      expect(text).toMatch(/Read-only|busy|Permission denied|not permitted|could not lock/i);
    }
    expect(outcome.marked).toBe(false);
    expect(outcome.project.exists('.git/hooks/pre-push')).toBe(false);
    expect(outcome.project.exists('.git/hooks/post-commit')).toBe(false);
  });

  it('can make none of the files that are trusted later', async () => {
    const names = ['.claude/settings.json', '.mcp.json', '.envrc', '.vscode/tasks.json'];
    const outcome = await inside({
      files: { '.claude/keep': '' },
      config: yes,
      calls: names.map((name) => `mkdir -p "$(dirname ${name})"; echo '{}' > ${name}`),
    });
    for (const { ran } of outcome.results) expect(ran).toBe(false);
    for (const name of names) expect(outcome.project.exists(name)).toBe(false);
  });

  it('leaves nothing behind that leads git elsewhere', async () => {
    const outcome = await inside({
      git: true,
      config: yes,
      calls: [
        'mkdir -p e/hooks && cp .git/config e/ && echo "$PWD/e" > .git/commondir; true',
        'mkdir objects refs; echo "ref: refs/heads/x" > HEAD; true',
      ],
    });
    expect(outcome.project.exists('.git/commondir')).toBe(false);
    expect(outcome.project.exists('HEAD')).toBe(false);
    expect(JSON.stringify(outcome.news)).toContain('it was taken away');
  });

  it('does not follow a link that appears later', async () => {
    const outcome = await inside({
      files: { '.claude/keep': '' },
      config: yes,
      calls: [
        'mkdir evil; ln -s "$PWD/evil" .claude/skills',
        'mv .claude c2; mkdir .claude; echo x > .claude/settings.json',
      ],
    });
    expect(outcome.project.exists('.claude/skills')).toBe(false);
    expect(outcome.project.exists('.claude/settings.json')).toBe(false);
    expect(outcome.project.exists('.claude/keep')).toBe(true);
  });

  it('cannot change what activates an environment', async () => {
    const outcome = await inside({
      files: { '.venv/bin/activate': 'true\n' },
      config: yes,
      calls: [`echo 'touch ${MARK}' >> .venv/bin/activate`, 'touch .venv/bin/tool'],
    });
    expect(outcome.results.map(({ ran }) => ran)).toEqual([false, true]);
    expect(outcome.project.read('.venv/bin/activate')).toBe('true\n');
  });

  it('sees no credentials and nothing of our own state', async () => {
    const outcome = await inside({
      home: {
        '.ssh/id_ed25519': 'KEY-IN-SSH',
        '.ssh/known_hosts': 'a host',
        '.netrc': 'KEY-IN-NETRC',
        '.config/gh/hosts.yml': 'KEY-IN-GH',
        '.claude/.credentials.json': 'KEY-IN-CONFIG',
        '.claude/skills/s/run.sh': 'echo skill',
        '.portcullis/tokens.json': 'KEY-IN-STATE',
      },
      sandbox: { filesystem: { allowRead: ['~/.ssh/known_hosts', '~/.portcullis/tokens.json'] } },
      calls: [
        'cat ~/.ssh/id_ed25519 ~/.netrc ~/.config/gh/hosts.yml ~/.claude/.credentials.json ~/.portcullis/tokens.json; true',
        'grep -r KEY-IN ~ 2>/dev/null; cat ~/.ssh/known_hosts; sh ~/.claude/skills/s/run.sh',
      ],
    });
    expect(texts(outcome).join('\n')).not.toContain('KEY-IN');
    expect(texts(outcome)[1]).toContain('a host');
    expect(texts(outcome)[1]).toContain('skill');
  });

  it('holds rules for files against every program', async () => {
    const outcome = await inside({
      files: {
        '.env': 'KEY-1',
        'deep/down/server.pem': 'KEY-2',
        'secrets/a/b.txt': 'KEY-3',
        'locked/file.txt': 'as it was',
        'open.txt': 'open',
      },
      prepare: (project) => project.write('../shared/here', ''),
      permissions: {
        allow: ['Bash', 'Edit(../shared/**)'],
        deny: ['Read(./.env)', 'Read(**/*.pem)', 'Read(./secrets/**)', 'Edit(./locked/**)'],
      },
      calls: [
        // Names that no reading of the command finds.
        'for f in $(find . -type f -not -path "./.git/*"); do cat "$f"; done; true',
        'for d in l*; do echo changed > "$d/file.txt"; done',
        'for d in ../sh*; do echo shared > "$d/x"; done',
      ],
      config: yes,
    });
    expect(texts(outcome)[0]).not.toContain('KEY-');
    expect(texts(outcome)[0]).toContain('open');
    expect(outcome.project.read('locked/file.txt')).toBe('as it was');
    expect(outcome.project.exists('../shared/x')).toBe(true);
  });

  it('keeps background commands inside', async () => {
    const outcome = await inside({
      calls: [
        {
          tool: 'Bash',
          input: { command: 'touch bg.txt; touch ~/bg.txt', run_in_background: true },
        },
        'sleep 2',
      ],
    });
    expect(outcome.project.exists('bg.txt')).toBe(true);
    expect(outcome.project.exists('../home/bg.txt')).toBe(false);
  });

  it('has neither our keys nor the ways to agents outside', async () => {
    const outcome = await inside({
      env: () => ({
        ANTHROPIC_API_KEY: 'KEY-OF-OURS',
        SSH_AUTH_SOCK: '/run/agent.sock',
        DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/bus',
        PLAIN_SETTING: 'plain',
        TAKEN_OUT: 'taken',
      }),
      sandbox: { credentials: { envVars: [{ name: 'TAKEN_OUT', mode: 'deny' }] } },
      calls: ['env; cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"; true'],
    });
    const [text = ''] = texts(outcome);
    expect(text).toContain('PLAIN_SETTING=plain');
    for (const gone of ['KEY-OF-OURS', 'SSH_AUTH_SOCK', 'DBUS_SESSION', 'TAKEN_OUT']) {
      expect(text).not.toContain(gone);
    }
  });

  it('reaches no network that nobody allowed', async () => {
    const outcome = await inside({
      calls: [
        '(exec 3<>/dev/tcp/127.0.0.1/9) 2>&1; curl -sS --max-time 5 http://attacker.invalid/ 2>&1; cat /proc/net/dev',
      ],
    });
    expect(texts(outcome)[0]).not.toMatch(/eth0|ens|wlan/);
  });
});

describe.skipIf(missing !== undefined)(`what a model asks for${why}`, () => {
  it('does not move what may be written', async () => {
    const { asker } = person({ behavior: 'allow' });
    const outcome = await inside({
      config: { asker },
      calls: [
        { tool: 'Bash', input: { command: `touch ${MARK}`, workdir: '/srv' } },
        'cd ~ && pwd',
        `touch ~/${MARK}`,
        `cd /proc/self/fd/99/../x; touch ~/${MARK}`,
      ],
    });
    expect(outcome.results[0]?.text).toContain('workdir');
    expect(outcome.results.map(({ ran }) => ran)).toEqual([false, true, false, false]);
    expect(outcome.marked).toBe(false);
  });

  it('is dialled only by the name that was allowed', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nGOT!');
    });
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    });
    const script = (host: string) =>
      `const http=require('http');const p=new URL(process.env.http_proxy);const go=(o)=>new Promise(r=>{const q=http.request({host:p.hostname,port:p.port,...o},a=>{a.on('data',d=>console.log(String(d)));a.on('end',r)});q.on('connect',(a,s)=>{console.log('CONNECTED',a.statusCode);s.destroy();r()});q.on('error',e=>{console.log(e.message);r()});q.end()});go({path:'http://${host}:${port}/',headers:{host:'allowed.example'}}).then(()=>go({method:'CONNECT',path:'${host}:${port}'}))`;
    const calls = [`node -e "${script('127.0.0.1')}"`];
    const network = (allowed: string) => ({ network: { allowedDomains: [allowed] } });
    const refused = await inside({ sandbox: network('allowed.example'), calls });
    expect(texts(refused)[0]).not.toMatch(/GOT!|CONNECTED 200/);
    expect(connections).toBe(0);
    const allowed = await inside({ sandbox: network('127.0.0.1'), calls });
    expect(texts(allowed)[0]).toContain('CONNECTED 200');
    server.close();
  });
});

describe.skipIf(missing !== undefined)(`servers${why}`, () => {
  it('run inside as well', async () => {
    const args = ['-c', 'touch ~/from-server; touch from-server; exit 0'];
    const outcome = await inside({
      env: () => ({ MCP_TIMEOUT: '3000' }),
      config: { mcpConfig: [JSON.stringify({ mcpServers: { one: { command: 'sh', args } } })] },
      calls: ['true'],
    });
    expect(outcome.project.exists('from-server')).toBe(true);
    expect(outcome.project.exists('../home/from-server')).toBe(false);
  });
});

describe.skipIf(missing !== undefined)(`leaving the sandbox${why}`, () => {
  it('is never covered by an allow rule', async () => {
    const outcome = await inside({ calls: [leaving(`touch ~/${MARK}`)] });
    expect(outcome.results[0]?.ran).toBe(false);
    expect(texts(outcome)[0]).toContain('outside the sandbox');
    expect(outcome.marked).toBe(false);
  });

  it('is a question of its own that says what is lost', async () => {
    const { asker, asked } = person({ behavior: 'allow' });
    const outcome = await inside({
      calls: [leaving('echo out > ~/out.txt && cat ~/out.txt')],
      config: { asker },
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatch(/outside the sandbox.*keys and passwords.*whole network/);
    expect(outcome.project.exists('../home/out.txt')).toBe(true);
  });

  it('is the question that people see, whatever else is asked', async () => {
    const { asker, asked } = person({ behavior: 'deny', message: 'no' });
    await inside({
      permissions: { ask: ['Bash(touch *)'] },
      calls: [leaving('touch x')],
      config: { asker },
    });
    expect(asked).toEqual([expect.stringContaining('outside the sandbox')]);
  });

  it('is refused where settings say so, whoever is there', async () => {
    const { asker, asked } = person({ behavior: 'allow' });
    const outcome = await inside({
      sandbox: { allowUnsandboxedCommands: false },
      calls: [leaving(`touch ~/${MARK}`)],
      config: { asker },
    });
    expect([outcome.marked, asked]).toEqual([false, []]);
    expect(texts(outcome)[0]).toContain('allowUnsandboxedCommands');
  });

  it('is refused by a rule about the parameter', async () => {
    const { asker, asked } = person({ behavior: 'allow' });
    const outcome = await inside({
      permissions: { allow: ['Bash'], deny: ['Bash(dangerouslyDisableSandbox:true)'] },
      calls: [leaving(`touch ~/${MARK}`), 'echo still here'],
      config: { asker },
    });
    expect([outcome.marked, asked]).toEqual([false, []]);
    expect(texts(outcome)[1]).toBe('still here');
  });

  it('is asked about in every mode', async () => {
    const outcome = await inside({
      calls: [leaving(`touch ~/${MARK}`)],
      config: { permissionMode: 'bypassPermissions' },
    });
    expect([outcome.results[0]?.ran, outcome.marked]).toEqual([false, false]);
  });
});

describe.skipIf(missing !== undefined)(`commands that run inside${why}`, () => {
  const auto = { autoAllowBashIfSandboxed: true };

  it('need no asking where settings say so', async () => {
    const outcome = await inside({
      sandbox: auto,
      permissions: { deny: ['Bash(rm *)'], ask: ['Bash(git push *)'] },
      calls: ['touch made.txt', 'rm made.txt', 'git push x', 'rm -rf ~'],
    });
    expect(outcome.results.map(({ ran }) => ran)).toEqual([true, false, false, false]);
    expect(outcome.project.exists('made.txt')).toBe(true);
  });

  it('are looked at first in plan mode', async () => {
    const outcome = await inside({
      sandbox: auto,
      permissions: {},
      calls: ['touch made.txt'],
      config: { permissionMode: 'plan' },
    });
    expect(outcome.project.exists('made.txt')).toBe(false);
  });

  it('need asking without the setting', async () => {
    const outcome = await inside({ permissions: {}, calls: ['touch made.txt'] });
    expect(outcome.project.exists('made.txt')).toBe(false);
  });

  it('are not those that will run outside', async () => {
    const outcome = await inside({
      sandbox: { ...auto, excludedCommands: ['touch *'] },
      permissions: { ask: ['Bash(touch *)'] },
      calls: [`touch ~/${MARK}`, leaving(`touch ~/${MARK}`)],
    });
    expect(outcome.results.map(({ ran }) => ran)).toEqual([false, false]);
    expect(outcome.marked).toBe(false);
  });
});

describe.skipIf(missing !== undefined)(`excluded commands${why}`, () => {
  it('run outside when every part is one, and nothing else stands beside it', async () => {
    const outcome = await inside({
      sandbox: { excludedCommands: ['touch *', 'true'] },
      calls: [
        'touch ~/a && true',
        'touch ~/b && echo x',
        'touch ~/c > /dev/null',
        'cd ~ && touch d',
        'touch ~/e$(true)',
        'X=1 touch ~/f',
      ],
    });
    const there = ['a', 'b', 'c', 'd', 'e', 'f'].filter((name) =>
      outcome.project.exists(`../home/${name}`),
    );
    expect(there).toEqual(['a']);
    expect(said(outcome)[0]).toContain('runs outside the sandbox: sandbox.excludedCommands');
  });
});

describe.skipIf(missing !== undefined)(`hooks${why}`, () => {
  const hooks = (command: string) => ({
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] },
  });

  it('run inside as well', async () => {
    const outcome = await inside({
      more: hooks('touch ~/from-hook; touch from-hook; exit 0'),
      calls: ['true'],
    });
    expect(outcome.results[0]?.ran).toBe(true);
    expect(outcome.project.exists('from-hook')).toBe(true);
    expect(outcome.project.exists('../home/from-hook')).toBe(false);
  });

  it('run outside where settings say so', async () => {
    const outcome = await inside({
      more: { ...hooks('touch ~/from-hook'), portcullis: { sandbox: { hooks: false } } },
      calls: ['true'],
    });
    expect(outcome.project.exists('../home/from-hook')).toBe(true);
  });

  it('leave variables and read the transcript from inside', async () => {
    const start = 'echo "export FROM_HOOK=left" >> "$CLAUDE_ENV_FILE"';
    const outcome = await inside({
      more: { hooks: { SessionStart: [{ hooks: [{ type: 'command', command: start }] }] } },
      calls: ['echo "it is $FROM_HOOK"'],
    });
    expect(texts(outcome)[0]).toBe('it is left');
  });
});

describe.skipIf(missing !== undefined)(`settings that cannot be honoured${why}`, () => {
  it.each([
    [{ credentials: { files: [{ path: '~/x', mode: 'mask' }] } }, 'mask'],
    [{ credentials: { envVars: [{ mode: 'deny' }] } }, 'no name'],
    [{ network: { deniedDomains: ['http://x/'] } }, 'not a domain'],
  ])('%j stops the start', async (sandbox, text) => {
    const outcome = await inside({ sandbox, calls: ['true'] });
    expect(outcome.refusedStart).toContain(text);
  });

  it('warns of an excluded command that excludes hardly anything', async () => {
    const outcome = await inside({ sandbox: { excludedCommands: ['docker'] }, calls: ['true'] });
    expect(JSON.stringify(outcome.news)).toContain('docker *');
  });
});
