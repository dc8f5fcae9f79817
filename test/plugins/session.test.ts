// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the words are those of plugins
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ScenarioWorld } from '../../src/testing/scenario.js';
import type { ProjectFiles } from '../../src/testing/temp-project.js';
import { PROGRAM, play } from '../e2e/program.js';

const worlds: ScenarioWorld[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.remove();
});

const SERVER = `import { createInterface } from 'node:readline';
const tools = [{ name: 'where', description: 'Where', inputSchema: { type: 'object' } }];
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }),
  'tools/list': () => ({ tools }),
  'tools/call': () => ({
    content: [{ type: 'text', text: 'ROOT=' + process.env.CLAUDE_PLUGIN_ROOT }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const body = answers[method] ? { result: answers[method](params) } : { error: { code: -32601, message: 'no' } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
}
`;

/** One of each kind. The project is nobody's friend: it is never trusted here. */
const KIT: ProjectFiles = {
  'kit/.claude-plugin/plugin.json': { json: { name: 'kit', version: '1.2.0' } },
  'kit/skills/hello/SKILL.md':
    '---\ndescription: Says hello\n---\nHELLO FROM ${CLAUDE_PLUGIN_ROOT} DATA ${CLAUDE_PLUGIN_DATA}',
  'kit/commands/go.md': 'GO $ARGUMENTS',
  'kit/agents/helper.md': '---\nname: helper\ndescription: Helps\n---\nYou help.',
  'kit/hooks/hooks.json': {
    json: {
      hooks: {
        PreToolUse: [
          {
            matcher: 'Bash',
            hooks: [{ type: 'command', command: 'sh "${CLAUDE_PLUGIN_ROOT}"/guard.sh' }],
          },
        ],
      },
    },
  },
  'kit/guard.sh':
    'echo "$CLAUDE_PLUGIN_ROOT" > "$CLAUDE_PLUGIN_DATA"/seen; echo "not here" >&2; exit 2',
  'kit/.mcp.json': {
    json: {
      mcpServers: {
        say: { command: process.execPath, args: ['${CLAUDE_PLUGIN_ROOT}/server.mjs'] },
      },
    },
  },
  'kit/server.mjs': SERVER,
};

async function run(scenario: Parameters<typeof play>[0]) {
  const done = await play(scenario);
  worlds.push(done.world);
  return done;
}

describe('--plugin-dir', () => {
  it('brings skills, commands, agents, guards and servers under the name of the plugin', async () => {
    const done = await run({
      files: KIT,
      args: ['--plugin-dir', 'kit', '--allowedTools', 'Bash,mcp__plugin_kit_say'],
      script: [
        { blocks: [{ tool: 'Bash', input: { command: 'echo hi' } }] },
        { blocks: [{ tool: 'Skill', input: { skill: 'kit:hello' } }] },
        { blocks: [{ tool: 'mcp__plugin_kit_say__where', input: {} }] },
        'Done.',
      ],
    });
    const { project } = done;
    const root = project.at('kit');
    const [init] = done.frames;
    expect(init).toMatchObject({
      subtype: 'init',
      plugins: [{ name: 'kit', path: root, version: '1.2.0' }],
      agents: expect.arrayContaining(['kit:helper']),
      skills: expect.arrayContaining(['kit:hello', 'kit:go']),
      mcp_servers: [expect.objectContaining({ name: 'plugin:kit:say' })],
    });
    expect(done.toolResult(0)).toMatchObject({ isError: true });
    expect(done.toolResult(0).text).toContain('not here');
    const data = path.join(project.home, '.claude/plugins/data/kit');
    expect(readFileSync(path.join(data, 'seen'), 'utf8').trim()).toBe(root);
    expect(JSON.stringify(done.requests.at(-1)?.body)).toContain(`HELLO FROM ${root} DATA ${data}`);
    expect(done.toolResult(2)).toMatchObject({ text: `ROOT=${root}`, isError: false });
  });

  it('leaves the servers out where it is told so', async () => {
    const done = await run({ files: KIT, args: ['--plugin-dir-no-mcp', 'kit'], script: ['Done.'] });
    expect(done.frames[0]).toMatchObject({ mcp_servers: [], plugins: [{ name: 'kit' }] });
  });

  it('refuses to start without a plugin that was asked for', async () => {
    const done = await run({ files: {}, args: ['--plugin-dir', 'gone'], script: ['Done.'] });
    expect(done.exitCode).toBe(3);
    expect(done.stderr).toMatch(/gone: the plugin cannot be loaded: it is not there/);
    expect(done.requests).toEqual([]);
  });

  it('never takes the folder that one happens to be in for a plugin', async () => {
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: 'touch ran' }] }] };
    const done = await run({
      files: { 'hooks/hooks.json': { json: { hooks } } },
      args: ['--plugin-dir', ''],
      script: ['Done.'],
    });
    expect(done.exitCode).not.toBe(0);
    expect(existsSync(done.project.at('ran'))).toBe(false);
    const misspelt = await run({ files: KIT, args: ['--plugin-dirs', 'kit'], script: ['Done.'] });
    expect(misspelt.exitCode).toBe(2);
  });

  it('shows nothing that links lead to outside of the plugin', async () => {
    const done = await run({
      files: {
        'kit/skills/leak/SKILL.md': { symlink: '../../../secret.md' },
        'kit/agents/leak.md': { symlink: '../../secret.md' },
        'secret.md': '---\nname: leak\ndescription: TOP SECRET\n---\nx',
      },
      args: ['--plugin-dir', 'kit'],
      script: ['Done.'],
    });
    expect(done.exitCode).toBe(0);
    expect(JSON.stringify(done.requests[0]?.body)).not.toContain('TOP SECRET');
  });

  it('keeps an agent from changing its guards', async () => {
    const done = await run({
      files: { ...KIT, 'kit/hooks/hooks.json': { json: { hooks: {} } } },
      args: [
        '--plugin-dir-no-mcp',
        'kit',
        '--permission-mode',
        'acceptEdits',
        '--allowedTools',
        'Bash',
      ],
      script: [
        { blocks: [{ tool: 'Write', input: { file_path: 'kit/new.sh', content: 'exit 0' } }] },
        { blocks: [{ tool: 'Bash', input: { command: 'echo exit 0 > ki?/guard.sh' } }] },
        { blocks: [{ tool: 'Bash', input: { command: 'cd kit && echo exit 0 > guard.sh' } }] },
        { blocks: [{ tool: 'Write', input: { file_path: 'other.sh', content: 'exit 0' } }] },
        'Done.',
      ],
    });
    expect([0, 1, 2, 3].map((index) => done.toolResult(index).isError)).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(done.toolResult(0).text).toContain('kit');
    expect(existsSync(done.project.at('kit/new.sh'))).toBe(false);
  });

  it('runs the commands of plugins', async () => {
    const done = await run({
      files: KIT,
      args: ['--plugin-dir-no-mcp', 'kit'],
      prompt: '/kit:go there',
      script: ['Done.'],
    });
    expect(JSON.stringify(done.requests[0]?.body)).toContain('GO there');
  });
});

describe('portcullis plugin validate', () => {
  it('shows what a plugin brings, starts nothing and keeps nothing', async () => {
    const { project, world } = await play({ files: KIT, script: ['Done.'] });
    worlds.push(world);
    const validate = (...args: string[]) => {
      const [node = '', file = ''] = PROGRAM;
      return spawnSync(node, [file, 'plugin', 'validate', ...args], {
        cwd: project.directory,
        env: { PATH: process.env.PATH, HOME: project.home },
        encoding: 'utf8',
      });
    };
    const good = validate('kit');
    expect(good.status).toBe(0);
    for (const words of ['kit 1.2.0', 'kit:hello', 'kit:go', 'kit:helper', 'plugin:kit:say'])
      expect(good.stdout).toContain(words);
    expect(good.stdout).toMatch(/PreToolUse\(Bash\): command .*guard\.sh/);
    expect(existsSync(path.join(project.home, '.claude/plugins'))).toBe(false);
    const bad = validate('nowhere');
    expect(bad.status).toBe(1);
    expect(bad.stdout).toMatch(/it is not there/);
    expect(validate().status).toBe(2);
  });
});
