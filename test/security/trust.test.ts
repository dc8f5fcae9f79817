import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../e2e/program.js';
import { run } from '../e2e/worlds.js';
import { MARK } from './attempt.js';

const touches = { type: 'command', command: `touch ${MARK}` };
const hook = (event: string) => ({ [event]: [{ hooks: [touches] }] });

/** `portcullis trust` in the project of a run. */
function trust(project: { directory: string; home: string }, ...args: string[]) {
  const [command = '', ...first] = PROGRAM;
  const done = spawnSync(command, [...first, 'trust', ...args], {
    cwd: project.directory,
    env: { PATH: process.env.PATH, HOME: project.home },
    encoding: 'utf8',
  });
  return { code: done.status, text: `${done.stdout}${done.stderr}` };
}

describe('a project that nobody has trusted', () => {
  it('starts no server without a terminal', async () => {
    const server = { command: 'sh', args: ['-c', `touch ${MARK}; cat`] };
    const done = await run({
      files: {
        '.mcp.json': { json: { mcpServers: { x: server } } },
        '.claude/settings.json': {
          json: { enableAllProjectMcpServers: true, enabledMcpjsonServers: ['x'] },
        },
      },
      env: { CI: '1' },
      script: ['hi'],
    });
    expect(done.result).toMatchObject({ result: 'hi' });
    expect(done.project.exists(MARK)).toBe(false);
  });

  it('does not choose the mode', async () => {
    // Refusing instead of asking is a restriction, which a project may always make.
    for (const defaultMode of ['bypassPermissions', 'acceptEdits', 'auto']) {
      const done = await run({
        files: { '.claude/settings.json': { json: { permissions: { defaultMode } } } },
        env: { IS_SANDBOX: '1' },
        script: [{ tool: 'Write', input: { file_path: MARK, content: '' } }, 'end'],
      });
      const init = done.frames.find((frame) => frame.subtype === 'init');
      expect(init).toMatchObject({ permissionMode: 'default' });
      expect(done.project.exists(MARK)).toBe(false);
    }
  });

  it('runs none of the commands that its settings name', async () => {
    const command = `touch ${MARK}`;
    const done = await run({
      files: {
        '.claude/settings.json': {
          json: {
            hooks: { ...hook('SessionStart'), ...hook('PreToolUse'), ...hook('UserPromptSubmit') },
            statusLine: { type: 'command', command },
            fileSuggestion: { type: 'command', command },
            apiKeyHelper: `${command}; echo k`,
            awsAuthRefresh: command,
            awsCredentialExport: command,
            otelHeadersHelper: command,
            gcpAuthRefresh: command,
          },
        },
      },
      script: [{ tool: 'Bash', input: { command: 'echo hi' } }, 'end'],
    });
    expect(done.project.exists(MARK)).toBe(false);
  });

  it('does not have its editor tasks run', async () => {
    const tasks = {
      version: '2.0.0',
      tasks: [
        {
          label: 'x',
          type: 'shell',
          command: `touch ${MARK}`,
          runOptions: { runOn: 'folderOpen' },
        },
      ],
    };
    for (const args of [[], ['--trust']]) {
      const done = await run({
        files: { '.vscode/tasks.json': { json: tasks } },
        args,
        script: [{ tool: 'Bash', input: { command: 'ls' } }, 'end'],
      });
      expect(done.project.exists(MARK)).toBe(false);
    }
  });
});

describe('the question of trust', () => {
  const files = {
    '.claude/settings.json': {
      json: {
        hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: './check.sh' }] }] },
        env: { EXTRA: 'value' },
        permissions: { allow: ['Bash(make *)'] },
      },
    },
    '.mcp.json': { json: { mcpServers: { a: { command: 'node', args: ['s.js'] } } } },
  };

  it('names everything that would be run or allowed', async () => {
    const { project } = await run({ files, script: ['hi'] });
    const asked = trust(project);
    expect(asked.code).not.toBe(0);
    for (const part of ['./check.sh', 'node', 's.js', 'EXTRA', 'Bash(make *)']) {
      expect(asked.text).toContain(part);
    }
  });

  it('is asked again when what was trusted has changed', async () => {
    const first = await run({
      files: { '.claude/settings.json': { json: { permissions: { allow: ['Bash(touch *)'] } } } },
      script: ['hi'],
    });
    const { project } = first;
    expect(trust(project, '--yes').code).toBe(0);
    const makes = (name: string) => ({
      world: first.world,
      script: [{ tool: 'Bash', input: { command: `touch ${name}` } }, 'end'],
    });
    await run(makes('one'));
    expect(project.exists('one')).toBe(true);
    project.write(
      '.claude/settings.json',
      JSON.stringify({ permissions: { allow: ['Bash(touch *)'] }, hooks: hook('PreToolUse') }),
    );
    const later = await run(makes('two'));
    expect(later.toolResult(0).isError).toBe(true);
    expect(project.exists('two')).toBe(false);
    expect(project.exists(MARK)).toBe(false);
    expect(trust(project).text).toContain(`touch ${MARK}`);
  });
});
