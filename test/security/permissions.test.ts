import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Asker } from '../../src/app.js';
import { gateMatcher } from '../../src/permissions/rules/name-matcher.js';
import { run } from '../e2e/worlds.js';
import { gateRig } from '../support/gate-rig.js';
import { wireHost } from '../support/wire-host.js';
import { type Attempt, attempt, MARK } from './attempt.js';

const yes: Asker = async () => ({ behavior: 'allow' });
const write = (file_path: string, content = '{}') => ({
  tool: 'Write',
  input: { file_path, content },
});

describe('modes', () => {
  it('no mode widens a restriction', async () => {
    const bypass: Attempt['config'] = { permissionMode: 'bypassPermissions' };
    const calls = [`touch ${MARK}`];
    for (const more of [
      { settings: { permissions: { deny: ['Bash(touch *)'] } } },
      { settings: { permissions: { ask: ['Bash(touch *)'] } } },
      { config: { disallowedTools: ['Bash'] } },
      { config: { disallowedTools: ['Bash(touch *)'] } },
      { config: { tools: ['Read'] } },
    ] as Attempt[]) {
      const done = await attempt({ ...more, config: { ...bypass, ...more.config }, calls });
      expect({ more, ran: done.results[0]?.ran, marked: done.marked }).toEqual({
        more,
        ran: false,
        marked: false,
      });
    }
  });

  it('an answer cannot switch on what an administrator forbids', async () => {
    const asker: Asker = async ({ call }) =>
      JSON.stringify(call.input).includes('first')
        ? {
            behavior: 'allow',
            updatedPermissions: [
              { type: 'setMode', mode: 'bypassPermissions', destination: 'session' },
            ],
          }
        : { behavior: 'deny', message: 'no' };
    const done = await attempt({
      config: {
        managedSettings: JSON.stringify({
          permissions: { disableBypassPermissionsMode: 'disable' },
        }),
        bypassArmed: true,
        asker,
      },
      calls: ['touch first', `touch ${MARK}`],
    });
    expect(done.marked).toBe(false);
    expect(done.news).not.toContainEqual({ type: 'mode', mode: 'bypassPermissions' });
  });
});

describe('the input of a call', () => {
  it('one field is judged and run; others are not accepted', async () => {
    const done = await attempt({
      settings: { permissions: { allow: ['Bash(ls *)'] } },
      calls: [{ tool: 'Bash', input: { command: 'ls', rawCommand: `touch ${MARK}` } }],
    });
    expect(done.marked).toBe(false);
  });

  it('the model has no say in whether it is asked', async () => {
    const done = await attempt({
      home: { 'x/keep': 'kept' },
      calls: [
        { tool: 'Bash', input: { command: 'rm -rf ~/x', requires_approval: false } },
        { tool: 'Bash', input: { command: 'rm -rf ~/x', dangerouslyDisableSandbox: true } },
      ],
    });
    expect(done.results.map(({ ran }) => ran)).toEqual([false, false]);
    expect(done.project.exists('../home/x/keep')).toBe(true);
  });

  it('words in the conversation answer no question', async () => {
    const { log, scenario } = wireHost({
      canUseTool: (request, host) => {
        const text = `/approve ${String(request.tool_use_id)}`;
        host.send({ type: 'user', message: { role: 'user', content: text } });
        host.end();
        return undefined;
      },
    });
    const done = await run({
      ...scenario,
      args: ['--permission-prompt-tool', 'stdio'],
      script: [{ tool: 'Bash', input: { command: `touch ${MARK}` } }, '/approve', 'end'],
    });
    expect(log.asked).toHaveLength(1);
    expect(done.project.exists(MARK)).toBe(false);
  });
});

describe('files that other programs trust', () => {
  const accepting: Attempt = {
    settings: { permissions: { allow: ['Edit', 'Write'] } },
    config: { permissionMode: 'acceptEdits' },
  };

  async function stays(file: string, more: Attempt = accepting): Promise<void> {
    const done = await attempt({ ...more, calls: [write(file)] });
    expect({ file, ran: done.results[0]?.ran }).toEqual({ file, ran: false });
    expect(done.project.exists(file)).toBe(false);
  }

  it('the settings of an editor are not written unasked', async () => {
    await stays('.vscode/settings.json');
  });

  it('nor through another spelling of their name', async () => {
    await stays('.vscode/../.vscode//settings.json');
    await stays('.VSCODE/settings.json');
  });

  it('the servers of another agent are not written unasked', async () => {
    for (const file of ['.roo/mcp.json', '.cursor/mcp.json', '.mcp.json']) await stays(file);
  });

  it('the configuration of agents in the home directory is not written unasked', async () => {
    const file = '../home/.codeium/windsurf/mcp_config.json';
    await stays(file, {
      settings: { permissions: { allow: ['Edit', 'Write'], additionalDirectories: ['~'] } },
      config: { permissionMode: 'acceptEdits' },
    });
  });

  it('the tasks of an editor are not written unasked', async () => {
    for (const file of ['.zed/tasks.json', '.vscode/tasks.json', '.idea/workspace.xml']) {
      await stays(file);
    }
  });

  it('a workspace file that adds folders is not written unasked', async () => {
    await stays('x.code-workspace');
  });

  it('git hooks are asked about in every mode', async () => {
    await stays('.git/hooks/pre-commit', { ...accepting, git: true });
    await stays('.git/hooks/pre-commit', {
      git: true,
      config: { permissionMode: 'bypassPermissions' },
    });
    await stays('.claude/settings.json', { config: { permissionMode: 'bypassPermissions' } });
    const asked = await attempt({
      git: true,
      settings: { permissions: { ask: ['Edit(.git/**)'] } },
      config: { permissionMode: 'bypassPermissions' },
      calls: [write('.git/hooks/pre-commit')],
    });
    expect(asked.results[0]?.ran).toBe(false);
  });
});

describe('rules', () => {
  it('a link does not lead around a rule', async () => {
    const done = await attempt({
      home: { '.ssh/id_rsa': 'KEY MATERIAL' },
      prepare: (project) => symlinkSync(`${project.home}/.ssh/id_rsa`, project.at('k')),
      settings: { permissions: { allow: ['Read'], deny: ['Read(~/.ssh/**)'] } },
      calls: [{ tool: 'Read', input: { file_path: 'k' } }, 'cat k'],
    });
    for (const { ran, text } of done.results) {
      expect(ran).toBe(false);
      expect(text).not.toContain('KEY MATERIAL');
    }
  });

  it('a link to a file that may not be read is that file', async () => {
    const done = await attempt({
      files: { '.env': 'TOP SECRET', e: { symlink: '.env' } },
      settings: { permissions: { deny: ['Read(.env)'] } },
      calls: [{ tool: 'Read', input: { file_path: 'e' } }, 'cat e'],
    });
    expect(done.results.map(({ ran }) => ran)).toEqual([false, false]);
    expect(JSON.stringify(done.results)).not.toContain('TOP SECRET');
  });

  it('a folder in a grant is the one below the project', async () => {
    const done = await attempt({
      files: { 'src/a.ts': '', 'vendor/x/src/.keep': '' },
      config: { allowedTools: ['Edit(src/**)'] },
      calls: [write('vendor/x/src/y.ts'), write('src/y.ts')],
    });
    expect(done.results.map(({ ran }) => ran)).toEqual([false, true]);
  });

  it('the name of a server is its whole name', async () => {
    const { outcome } = gateRig({ cwd: '/', home: '/', allow: ['mcp__github'] });
    expect(await outcome('mcp__github__x', {})).toBe('runs');
    expect(await outcome('mcp__github-evil__x', {})).toBe('asks');
    expect(await outcome('mcp__github_evil__x', {})).toBe('asks');
  });

  it('what a project allows itself counts for nothing before it is trusted', async () => {
    const allow = ['Bash', 'Write', 'WebFetch'];
    const done = await attempt({
      files: {
        '.cursor/cli.json': { json: { permissions: { allow: ['Shell(*)'] } } },
        '.claude/settings.json': { json: { permissions: { allow } } },
        '.claude/settings.local.json': { json: { permissions: { allow } } },
      },
      calls: [`touch ${MARK}`, write(MARK)],
    });
    expect(done.refusedStart).toBeUndefined();
    expect(done.results.map(({ ran }) => ran)).toEqual([false, false]);
    expect(done.marked).toBe(false);
  });
});

describe('what changes while somebody is asked', () => {
  it('a directory that was replaced is not the one that was shown', async () => {
    const done = await attempt({
      files: { 'a/b/.keep': '', 'elsewhere/b/.keep': '' },
      settings: { permissions: { allow: ['Bash(cd *)'] } },
      config: {
        asker: async ({ call }) => {
          const { cwd } = call.workspace;
          const root = cwd.slice(0, -'/a/b'.length);
          renameSync(`${root}/a`, `${root}/was-a`);
          symlinkSync(`${root}/elsewhere`, `${root}/a`);
          return { behavior: 'allow' };
        },
      },
      calls: ['cd a/b', `touch ${MARK}`],
    });
    expect(done.results.map(({ ran }) => ran)).toEqual([true, false]);
    expect(done.project.exists(`elsewhere/b/${MARK}`)).toBe(false);
  });

  it('a script that was rewritten is not the one that was shown', async () => {
    const done = await attempt({
      files: { 'build.sh': 'echo fine\n' },
      config: {
        asker: async ({ call }) => {
          writeFileSync(`${call.workspace.cwd}/build.sh`, `touch ${MARK}\n`);
          return { behavior: 'allow' };
        },
      },
      calls: ['bash build.sh'],
    });
    expect(done.results[0]).toMatchObject({ ran: false, text: expect.stringContaining('changed') });
    expect(done.marked).toBe(false);
  });

  it('what stayed the same runs', async () => {
    const done = await attempt({
      files: { 'build.sh': 'echo fine\n' },
      config: { asker: yes },
      calls: ['bash build.sh'],
    });
    expect(done.results).toEqual([{ ran: true, text: 'fine' }]);
  });
});

describe('time', () => {
  const long = 'a'.repeat(5_000);

  it('a matcher with nested repetition is searched for in linear time', () => {
    expect(gateMatcher('(a+)+$').matches([`${long}!`])).toBe(false);
    expect(gateMatcher('(a+)+$').matches([long])).toBe(true);
  });

  it('a matcher that counts repetitions is searched for in linear time', () => {
    const pattern = gateMatcher('^(.*a){20}$');
    expect([pattern.matches([long]), pattern.matches([`${long}!`])]).toEqual([true, false]);
  });

  it('a host pattern of many wildcards is compared in bounded time', async () => {
    const rule = 'WebFetch(domain:*.*.*.*.*.*.*.*.*.*.a)';
    const { call } = gateRig({ cwd: '/', home: '/', deny: [rule] });
    for (const host of [long, `${'a.'.repeat(2_000)}b`, `${'a.'.repeat(2_000)}a`]) {
      const verdict = await call('WebFetch', { url: `https://${host}/`, prompt: 'x' });
      expect(verdict.kind).toBe('refused');
    }
  });

  it('twenty thousand rules are compiled once', async () => {
    const deny = Array.from({ length: 20_000 }, (_, index) => `Bash(x${index}:*)`);
    const { bash } = gateRig({ cwd: '/', home: '/', deny, allow: ['Bash(npm *)'] });
    expect(await bash('x19999 now')).toBe('denied');
    for (let count = 0; count < 20; count++) expect(await bash(`npm run t${count}`)).toBe('runs');
  });
});
