import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandHandler, Hook, HookRaw, HookRequest } from '../../src/hooks/registry/hook.js';
import { createCommandRunner } from '../../src/hooks/runners/command.js';
import { createPersistentHooks } from '../../src/hooks/runners/persistent.js';
import type { Environment } from '../../src/platform/environment.js';
import { isGone, pidsIn, temporaryDirectory, testSupervisor, until } from '../process/helpers.js';
import { hookOf, requestOf } from './runner-rig.js';

interface RunOptions {
  readonly env?: Environment;
  readonly projectDir?: string;
  readonly effort?: string;
  readonly platform?: string;
  readonly handler?: Partial<CommandHandler>;
  readonly hook?: Partial<Hook<CommandHandler>>;
  readonly request?: Partial<HookRequest>;
}

const PATH = process.env.PATH ?? '/usr/bin:/bin';
/** As people write it in settings. */
const PROJECT = placeholder('CLAUDE_PROJECT_DIR');

function placeholder(name: string): string {
  return `$\{${name}}`;
}

function run(command: string, options: RunOptions = {}): Promise<HookRaw> {
  const projectDir = options.projectDir ?? temporaryDirectory();
  const processes = testSupervisor();
  const context = {
    processes,
    env: { PATH, ...options.env },
    projectDir,
    sessionId: 'session-1',
    platform: options.platform ?? 'linux',
    ...(options.effort !== undefined && { effort: options.effort }),
  };
  const runner = createCommandRunner({ ...context, persistent: createPersistentHooks(context) });
  const handler: CommandHandler = { type: 'command', command, ...options.handler };
  return runner(hookOf(handler, options.hook), requestOf({ cwd: projectDir, ...options.request }));
}

async function output(command: string, options: RunOptions = {}): Promise<string> {
  const raw = await run(command, options);
  return raw.kind === 'process' ? raw.stdout : JSON.stringify(raw);
}

describe('how a command hook ends', () => {
  it.each([0, 1, 2, 3, 126, 127, 255])(
    'hands over exit code %i with both streams',
    async (code) => {
      expect(await run(`echo out; echo err >&2; exit ${code}`)).toEqual({
        kind: 'process',
        exitCode: code,
        signal: null,
        stdout: 'out\n',
        stderr: 'err\n',
      });
    },
  );

  it('hands over death by a signal, never as a code', async () => {
    expect(await run('echo begun; kill -KILL $$')).toMatchObject({
      kind: 'process',
      exitCode: null,
      signal: 'SIGKILL',
    });
  });

  it('leaves a missing command to the shell, which says so by its code', async () => {
    expect(await run('no-such-program-here')).toMatchObject({ kind: 'process', exitCode: 127 });
  });
});

describe('a hook that cannot start', () => {
  it('names the program and the reason', async () => {
    const directory = temporaryDirectory();
    const plain = path.join(directory, 'plain.sh');
    const bad = path.join(directory, 'bad.sh');
    writeFileSync(plain, '#!/bin/sh\n');
    chmodSync(plain, 0o644);
    writeFileSync(bad, '#!/usr/bin/no-such-python\r\nx\n', { mode: 0o755 });
    const reasons = [
      ['no-such-program-here', 'Cannot start no-such-program-here: no such program.'],
      [plain, `Cannot start ${plain}: it is not executable.`],
      [
        bad,
        `Cannot start ${bad}: its first line names the interpreter /usr/bin/no-such-python\\r, which does not exist.`,
      ],
    ] as const;
    for (const [command, message] of reasons) {
      expect(await run(command, { handler: { args: [] } })).toMatchObject({
        kind: 'failed',
        failure: { cause: 'cannot-start', message },
      });
    }
  });

  it('says so of a shell that is not there', async () => {
    const empty = { PATH: temporaryDirectory() };
    expect(await run('exit 0', { handler: { shell: 'bash' }, env: empty })).toMatchObject({
      kind: 'failed',
      failure: {
        cause: 'cannot-start',
        message: 'Cannot start bash: no such program.',
        remedy: expect.stringContaining('Install bash or correct its path'),
      },
    });
    expect(await run('exit 0', { handler: { shell: 'powershell' }, env: empty })).toMatchObject({
      failure: { cause: 'cannot-start', message: 'Cannot start pwsh: no such program.' },
    });
  });

  it('refuses a NUL and a placeholder without a value', async () => {
    expect(await run('echo a\0b')).toMatchObject({ failure: { cause: 'cannot-start' } });
    expect(
      await run(`${placeholder('CLAUDE_PLUGIN_ROOT')}/x`, {
        handler: { args: [placeholder('HOME')] },
      }),
    ).toMatchObject({
      failure: {
        cause: 'cannot-start',
        message: expect.stringContaining(`${placeholder('CLAUDE_PLUGIN_ROOT')} has no value`),
      },
    });
  });
});

describe('the working directory', () => {
  it('is the one of the session', async () => {
    const cwd = temporaryDirectory();
    expect(await output('pwd', { request: { cwd } })).toBe(`${cwd}\n`);
  });

  it('is the project when that one is gone, which is said', async () => {
    const projectDir = temporaryDirectory();
    const cwd = path.join(temporaryDirectory(), 'gone');
    expect(await run('pwd; echo own >&2', { projectDir, request: { cwd } })).toMatchObject({
      exitCode: 0,
      stdout: `${projectDir}\n`,
      stderr: `The working directory ${cwd} does not exist. The hook ran in ${projectDir}.\nown\n`,
    });
  });

  it('fails when both are gone', async () => {
    const projectDir = path.join(temporaryDirectory(), 'gone');
    expect(await run('exit 0', { projectDir, request: { cwd: projectDir } })).toMatchObject({
      failure: {
        cause: 'cannot-start',
        message: `The working directory ${projectDir} does not exist.`,
      },
    });
  });
});

describe('the input', () => {
  it('is the JSON and a newline, and then it ends', async () => {
    const input = { text: 'ü "quoted" \n$(x)' };
    expect(await output('cat', { request: { input, json: JSON.stringify(input) } })).toBe(
      `${JSON.stringify(input)}\n`,
    );
  });

  it('can be read by name as well, as many guards do', async () => {
    const json = '{"tool_name":"Bash"}';
    expect(await output('INPUT=$(cat /dev/stdin); echo "$INPUT"', { request: { json } })).toBe(
      `${json}\n`,
    );
    const script = 'process.stdout.write(require("fs").readFileSync("/dev/stdin"))';
    const handler = { args: ['-e', script] };
    expect(await output(process.execPath, { handler, request: { json } })).toBe(`${json}\n`);
  });

  it('may be left unread, also when it is long', async () => {
    const json = JSON.stringify({ text: 'x'.repeat(5_000_000) });
    expect(await run('exec <&-; exit 3', { request: { json } })).toMatchObject({ exitCode: 3 });
    expect(await output('wc -c', { request: { json } })).toContain(String(json.length + 1));
  });
});

describe('the output', () => {
  it('is cut when it is long, and that is said', async () => {
    const raw = await run("head -c 10000000 /dev/zero | tr '\\0' x");
    expect(raw).toMatchObject({ kind: 'process', exitCode: 0, cut: true });
    expect(raw.kind === 'process' && raw.stdout.length).toBeLessThan(1_100_000);
  });

  it('is not called cut when only standard error was long', async () => {
    const raw = await run("echo '{}'; head -c 1000000 /dev/zero | tr '\\0' x >&2");
    expect(raw).toMatchObject({ kind: 'process', exitCode: 0, stdout: '{}\n' });
    expect(raw).not.toHaveProperty('cut');
    expect(raw.kind === 'process' && raw.stderr.length).toBeLessThan(70_000);
  });

  it('is no answer when it does not end', async () => {
    expect(await run('exec yes')).toMatchObject({
      kind: 'failed',
      failure: { cause: 'broken-output', message: 'it wrote more than 64 MB' },
    });
  });
});

describe('the limit', () => {
  it('ends the hook with its grandchildren, and what it printed does not count', async () => {
    const pids = path.join(temporaryDirectory(), 'pids');
    const script = `echo '{}'; echo $$ >> ${pids}; sh -c 'echo $$ >> ${pids}; setsid sleep 100 & echo $! >> ${pids}; sleep 100'`;
    expect(await run(script, { request: { timeoutMs: 1500 } })).toMatchObject({
      kind: 'failed',
      failure: { cause: 'timeout', message: 'no answer within 1.5 s' },
    });
    const found = pidsIn(readFileSync(pids, 'utf8'));
    expect(found).toHaveLength(3);
    expect(found.filter((pid) => !isGone(pid))).toEqual([]);
  });

  it('is not put off by a hook that ignores signals', async () => {
    const started = performance.now();
    const script = "trap '' TERM INT HUP; while :; do sleep 0.05; done";
    expect(await run(script, { request: { timeoutMs: 300 } })).toMatchObject({
      failure: { cause: 'timeout', message: 'no answer within 0.3 s' },
    });
    // Far below the two seconds that other children are given to go.
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it('is told apart from a question that is withdrawn', async () => {
    const controller = new AbortController();
    const file = path.join(temporaryDirectory(), 'ran');
    const answer = run(`touch ${file}; exec sleep 100`, { request: { signal: controller.signal } });
    expect(await until(() => existsSync(file))).toBe(true);
    controller.abort();
    expect(await answer).toMatchObject({
      failure: { cause: 'unavailable', message: expect.stringContaining('withdrawn') },
    });
    expect(await run('exit 0', { request: { signal: AbortSignal.abort() } })).toMatchObject({
      failure: { cause: 'unavailable' },
    });
    const deadline = AbortSignal.timeout(200);
    expect(await run('exec sleep 100', { request: { signal: deadline } })).toMatchObject({
      failure: { cause: 'timeout' },
    });
  });
});

describe('what a hook leaves in the background', () => {
  const script = 'sleep 100 & echo $!; exit 2';

  it('does not hold up the verdict of a gate and is ended', async () => {
    const raw = await run(script);
    expect(raw).toMatchObject({ kind: 'process', exitCode: 2 });
    const [pid = 0] = pidsIn(raw.kind === 'process' ? raw.stdout : '');
    expect(await until(() => isGone(pid))).toBe(true);
  });

  it('may go on for as long as the hook was given where it only watches', async () => {
    const request = { timeoutMs: 3000 };
    const raw = await run(script, { hook: { event: 'Notification', role: 'observe' }, request });
    const [pid = 0] = pidsIn(raw.kind === 'process' ? raw.stdout : '');
    expect(isGone(pid)).toBe(false);
    expect(await until(() => isGone(pid), 20_000)).toBe(true);
  });
});

describe('the shell', () => {
  it('is sh, bash without start-up files, or none', async () => {
    expect(await output('echo "$0 $#"')).toBe('/bin/sh 0\n');
    const home = temporaryDirectory();
    writeFileSync(path.join(home, '.bashrc'), 'echo from-bashrc\n');
    const bash = await output('[[ -n $BASH_VERSION ]] && echo bash', {
      handler: { shell: 'bash' },
      env: { HOME: home, BASH_ENV: path.join(home, '.bashrc') },
    });
    expect(bash).toBe('bash\n');
    const args = [
      '%s\\n',
      '$(id)',
      `${PROJECT}/x`,
      '$CLAUDE_PROJECT_DIR',
      placeholder('OTHER'),
      '',
    ];
    const projectDir = temporaryDirectory();
    expect(await output('printf', { handler: { args, shell: 'bash' }, projectDir })).toBe(
      `$(id)\n${projectDir}/x\n$CLAUDE_PROJECT_DIR\n\${OTHER}\n\n`,
    );
  });

  it('takes a project directory for text, whatever its name is', async () => {
    const parent = temporaryDirectory();
    const projectDir = path.join(parent, 'proj$(touch PWNED)`touch PWNED`; touch PWNED "\' $&');
    mkdirSync(projectDir);
    const guard = path.join(projectDir, 'guard.sh');
    writeFileSync(guard, '#!/bin/sh\nprintf "%s" "$CLAUDE_PROJECT_DIR|$1"\n', { mode: 0o755 });
    expect(await output('"$CLAUDE_PROJECT_DIR"/guard.sh a', { projectDir })).toBe(
      `${projectDir}|a`,
    );
    expect(await output(`"${PROJECT}/guard.sh" a`, { projectDir })).toBe(`${projectDir}|a`);
    const handler = { args: [PROJECT] };
    expect(await output(`${PROJECT}/guard.sh`, { projectDir, handler })).toBe(
      `${projectDir}|${projectDir}`,
    );
    await run('$CLAUDE_PROJECT_DIR/guard.sh', { projectDir });
    await run(`echo ${PROJECT}`, { projectDir });
    expect(readdirSync(parent)).toHaveLength(1);
    expect(readdirSync(projectDir)).toEqual(['guard.sh']);
    rmSync(projectDir, { recursive: true });
  });
});

describe('the environment', () => {
  const secrets = {
    ANTHROPIC_API_KEY: 'sk-1',
    GITHUB_TOKEN: 'gh-1',
    OTEL_EXPORTER_OTLP_HEADERS: 'auth=1',
    PORTCULLIS_HOME: '/state',
    CLAUDE_CODE_OAUTH_TOKEN: 'o',
    NODE_OPTIONS: '--inspect',
    BASH_ENV: '/rc',
    VIRTUAL_ENV: '/venv',
    CLAUDE_ENV_FILE: '/outer/env',
    CLAUDE_EFFORT: 'outer',
    CLAUDE_PLUGIN_ROOT: '/outer/plugin',
  };

  async function names(options: RunOptions): Promise<Record<string, string>> {
    const text = await output('env', options);
    const entries = text.trimEnd().split('\n');
    return Object.fromEntries(
      entries.map((entry) => [
        entry.slice(0, entry.indexOf('=')),
        entry.slice(entry.indexOf('=') + 1),
      ]),
    );
  }

  it('holds the documented names and no secret', async () => {
    const projectDir = temporaryDirectory();
    const env = await names({ projectDir, env: secrets, handler: { shell: 'bash' } });
    expect(env).toMatchObject({
      PATH,
      VIRTUAL_ENV: '/venv',
      CLAUDE_PROJECT_DIR: projectDir,
      CLAUDE_CODE_SESSION_ID: 'session-1',
      CLAUDE_PID: String(process.pid),
      CLAUDECODE: '1',
      PORTCULLIS: '1',
      PWD: projectDir,
    });
    const { VIRTUAL_ENV: _, ...hidden } = secrets;
    expect(Object.keys(hidden).filter((name) => name in env)).toEqual([]);
  });

  it('lets granted names through, but never those of telemetry', async () => {
    const env = await names({
      env: secrets,
      handler: { allowedEnvVars: ['ANTHROPIC_API_KEY', 'OTEL_EXPORTER_OTLP_HEADERS'] },
    });
    expect(env.ANTHROPIC_API_KEY).toBe('sk-1');
    expect(env).not.toHaveProperty('OTEL_EXPORTER_OTLP_HEADERS');
    expect(env).not.toHaveProperty('GITHUB_TOKEN');
  });

  it('names the file for variables and the effort only where there are such', async () => {
    const env = await names({
      effort: 'high',
      request: { envFile: '/tmp/env file' },
      env: secrets,
    });
    expect(env).toMatchObject({ CLAUDE_ENV_FILE: '/tmp/env file', CLAUDE_EFFORT: 'high' });
  });

  it('has paths as Git Bash writes them on Windows', async () => {
    const request = { envFile: 'C:\\state\\env', cwd: temporaryDirectory() };
    const env = await names({ platform: 'win32', projectDir: 'C:\\code\\my proj', request });
    expect(env).toMatchObject({
      CLAUDE_PROJECT_DIR: '/c/code/my proj',
      CLAUDE_ENV_FILE: '/c/state/env',
      PATH,
    });
  });

  it('has no terminal', async () => {
    expect(await output('(: </dev/tty) 2>/dev/null && echo tty || echo none')).toBe('none\n');
    expect(await output('[ "$(ps -o sid= -p $$ | tr -d " ")" = $$ ] && echo leader')).toBe(
      'leader\n',
    );
  });
});
