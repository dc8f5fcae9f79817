import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentSession } from '../../app.js';
import type { McpServerStatusRow } from '../../protocol/mcp-status.js';
import type { Receipt } from '../../protocol/permissions.js';
import { type CommandContext, runCommand } from './command.js';
import { completeInput } from './complete.js';
import { BUILTIN_COMMANDS, COMMANDS, findCommand, typedCommands } from './registry.js';

const SERVERS: readonly McpServerStatusRow[] = [
  {
    name: 'files',
    status: 'connected',
    transport: 'stdio',
    scope: 'user',
    source: 'user',
    serverInfo: { name: 'fs', version: '2' },
    tools: [{ name: 'read' }],
  },
  {
    name: 'do\u001b[2Jcs',
    status: 'failed',
    transport: 'http',
    scope: 'local',
    source: 'local',
    error: 'no answer',
    problems: ['3 of its requests\u001b[2J were not handled'],
  },
];

const RECEIPT: Receipt = {
  toolUseId: 'toolu_1',
  tool: 'Bash',
  agent: 'main',
  decision: 'deny',
  decidedBy: 'rules',
  reason: 'a deny rule',
  trace: [],
  input: { command: 'rm -rf /\u001b[2J' },
  mode: 'default',
};

function fixture() {
  const done: string[] = [];
  let model = 'claude-opus-4-5';
  let mode = 'default';
  const info = () => ({
    sessionId: 's1',
    cwd: import.meta.dirname,
    model,
    mode,
    provider: 'anthropic',
    keySource: 'env',
    transcriptPath: '/t',
    additionalDirectories: [],
    tools: ['Bash', 'Read'],
    mcpServers: [],
    models: [
      { value: 'opus', displayName: 'Opus', description: 'big', resolvedModel: 'claude-opus-4-5' },
      { value: 'haiku', displayName: 'Haiku', description: 'fast', resolvedModel: 'claude-haiku' },
    ],
  });
  const session = {
    id: 's1',
    info,
    mcp: {
      status: () => SERVERS,
      reconnect: async (name: string) => void done.push(`reconnect ${name}`),
      toggle: async (name: string, on: boolean) => void done.push(`${on ? 'on' : 'off'} ${name}`),
    },
    setMode: (wanted: string) => {
      mode = wanted;
    },
    setModel: async (wanted: string) => {
      model = wanted;
    },
    accounts: () => ({ cost: { knownUsd: 0, unknownModels: [] }, modelUsage: {} }),
    inspect: {
      rules: () => ({
        rules: [
          { behavior: 'deny', source: 'policySettings', rule: 'WebFetch' },
          {
            behavior: 'allow',
            source: 'localSettings',
            rule: 'Bash(ls *)',
            file: '.claude/settings.local.json',
            line: 4,
          },
        ],
        workspaceDirectories: ['/p'],
      }),
    },
    requests: {
      commands: async () => [
        { name: 'clear', description: 'of a skill', argumentHint: '' },
        { name: 'gre\u001bet', description: 'Says \u001b[2Jhello', argumentHint: '<name>' },
        { name: 'greet', description: 'Says hello', argumentHint: '<name>' },
      ],
      skills: async () => ['greet', 'quiet'],
      agents: async () => [{ name: 'reviewer', description: 'Reviews', source: 'project' }],
      projectFiles: async () => ['command.ts', 'registry.ts', 'registry.test.ts'],
      updatePermissions: async (updates: unknown) => {
        done.push(JSON.stringify(updates));
        return { notes: ['saved'] };
      },
      stopTask: async (id: string) => id === 'b1',
      taskOutput: async (id: string) =>
        id === 'b1' ? { text: 'out\u001b[2J\nput', totalBytes: 7, truncated: false } : undefined,
    },
    changes: { off: 'it is turned off', journal: () => undefined },
  } as unknown as AgentSession;
  const context: CommandContext = {
    session,
    caller: 'person',
    // No other session uses this state directory, so none makes this process one of an agent.
    env: { HOME: join(import.meta.dirname, 'none') },
    runner: {
      isRunning: () => false,
      clear: async () => void done.push('clear'),
      resume: async (id) => void done.push(`resume ${id}`),
      prompt: (text) => void done.push(`prompt ${text}`),
      carryOver: () => undefined,
      tasks: () => [{ taskId: 'b1', taskType: 'local_bash', description: 'sleep\u001b[2J 9' }],
      questions: () => [],
      answer: async () => 'closed',
      receipts: () => [RECEIPT],
    },
  };
  const say = async (line: string) => {
    const found = findCommand(line);
    if (found === undefined) throw new Error(`no command: ${line}`);
    return await found.command.run(context, found.argument);
  };
  return { done, context, say };
}

describe('the registry of slash commands', () => {
  it('has one name and one summary for each', () => {
    const names = COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
    for (const { summary } of COMMANDS) expect(summary).toMatch(/^[A-Z].*[^.]$/);
    expect(BUILTIN_COMMANDS.map(({ name }) => name)).toEqual(COMMANDS.map(({ name }) => name));
  });

  it.each(COMMANDS)('takes one definition and one row: $name', async (command) => {
    const { context, say } = fixture();
    const { name, summary, argumentHint = '' } = command;
    expect(findCommand(`/${name} x`)).toEqual({ command, argument: 'x' });
    expect(BUILTIN_COMMANDS).toContainEqual({
      name,
      description: summary,
      argumentHint,
      builtin: true,
    });
    expect((await say('/help')).text).toContain(summary);
    const { signal } = new AbortController();
    const typed = { text: `/${name}`, cursor: name.length + 1, signal };
    const offered = await completeInput(context, typed);
    expect(JSON.stringify(offered)).toContain(name);
  });

  it('is documented', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/conversation.md'), 'utf8');
    const missing = COMMANDS.filter(({ name }) => !page.includes(`\`/${name}`));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it('finds commands by name and alias with their argument', () => {
    expect(findCommand(' /model  opus ')).toMatchObject({
      command: { name: 'model' },
      argument: 'opus',
    });
    expect(findCommand('/quit')?.command.name).toBe('exit');
    expect(findCommand('/nosuch')).toBeUndefined();
    expect(findCommand('/')).toBeUndefined();
    expect(findCommand('model')).toBeUndefined();
    expect(findCommand('/toString')).toBeUndefined();
  });

  it('wins over skills of the same name', async () => {
    const { context } = fixture();
    const rows = typedCommands(await context.session.requests.commands());
    expect(rows.map(({ name }) => name)).not.toContain('clear');
  });

  it('changes nothing for the text of a prompt, and no rule, mode or question for a pipe', async () => {
    const { context, done } = fixture();
    const run = async (line: string, caller: CommandContext['caller']) => {
      const found = findCommand(line);
      if (found === undefined) throw new Error(`no command: ${line}`);
      return await runCommand(found, { ...context, caller });
    };
    const forPerson = [
      '/permissions allow Bash user',
      '/permissions\nallow Bash',
      '/allowed-tools remove Bash(ls *)',
      '/mode acceptEdits',
      '/inbox answer q1 allow',
    ];
    const forClients = [
      '/model haiku',
      '/add-dir /',
      '/mcp enable files',
      '/mcp reconnect files',
      '/resume abc',
      '/continue abc',
      '/rewind 1 both',
      '/undo redo',
    ];
    for (const line of [...forPerson, ...forClients]) {
      const { failed, text } = await run(line, 'prompt');
      expect({ line, failed, text }).toMatchObject({
        failed: true,
        text: expect.stringMatching(/^A prompt cannot run/),
      });
    }
    for (const line of forPerson) {
      expect((await run(line, 'client')).text).toMatch(/needs a terminal/);
    }
    expect(done).toEqual([]);
    expect(context.session.info()).toMatchObject({ mode: 'default', model: 'claude-opus-4-5' });
    await run('/mcp disable files', 'client');
    await run('/mode acceptEdits', 'person');
    expect(done).toEqual(['off files']);
    expect(context.session.info().mode).toBe('acceptEdits');
  });

  it('lets no command print escape sequences', async () => {
    const { say } = fixture();
    const lines = [
      '/help',
      '/mcp',
      '/tasks',
      '/tasks output b1',
      '/why',
      '/why toolu_1',
      '/skills',
    ];
    for (const line of lines) expect((await say(line)).text).not.toContain('\u001b');
  });
});

describe('single commands', () => {
  it('/help lists commands, skills and prompts', async () => {
    const { text } = await fixture().say('/help');
    expect(text).toContain('/compact [what to keep in mind]');
    expect(text).toMatch(/\/greet <name>\s+Says hello/);
  });

  it('/model offers a list, changes, and warns of a name it does not know', async () => {
    const { say } = fixture();
    const { text, choices } = await say('/model');
    expect(text).toBe('model: claude-opus-4-5');
    expect(choices).toEqual([
      { label: 'Opus', description: 'big', line: '/model opus', current: true },
      { label: 'Haiku', description: 'fast', line: '/model haiku', current: false },
    ]);
    const changed = await say('/model claude-haik');
    expect(changed.text).toContain('model: claude-haik\n! This model is not known here');
    expect(changed.text).toContain('Did you mean claude-haiku?');
  });

  it('/mode lets the session report a change, and refuses what is no mode', async () => {
    const { say } = fixture();
    expect((await say('/mode plan')).text).toBe('');
    expect((await say('/mode plan')).text).toBe('mode: plan');
    expect(await say('/mode x')).toMatchObject({ failed: true });
  });

  it('/mcp turns servers off and on, and knows no other verb', async () => {
    const { done, say } = fixture();
    expect((await say('/mcp')).text).toContain('files: connected (stdio, user, fs 2, 1 tool)');
    expect((await say('/mcp disable files')).text).toMatch(/^files:/);
    await say('/mcp enable files');
    await say('/mcp reconnect files');
    expect(await say('/mcp disable')).toMatchObject({ failed: true });
    expect(await say('/mcp remove files')).toMatchObject({ failed: true });
    expect(done).toEqual(['off files', 'on files', 'reconnect files']);
  });

  it('/permissions lists rules with their place, adds and removes', async () => {
    const { done, say } = fixture();
    const { text } = await say('/permissions');
    expect(text).toContain('deny   WebFetch  (managed settings)');
    expect(text).toContain('allow  Bash(ls *)  (.claude/settings.local.json:4)');
    await say('/permissions allow Bash(git push *) user');
    await say('/permissions remove Bash(ls *)');
    expect(await say('/permissions remove WebFetch')).toMatchObject({ failed: true });
    expect(await say('/permissions remove nothing')).toMatchObject({ failed: true });
    expect(await say('/permissions allow')).toMatchObject({ failed: true });
    expect(done.map((text) => JSON.parse(text))).toEqual([
      [
        {
          type: 'addRules',
          rules: [{ toolName: 'Bash', ruleContent: 'git push *' }],
          behavior: 'allow',
          destination: 'userSettings',
        },
      ],
      [
        {
          type: 'removeRules',
          rules: [{ toolName: 'Bash', ruleContent: 'ls *' }],
          behavior: 'allow',
          destination: 'localSettings',
        },
      ],
    ]);
  });

  it('/clear names the way back, /resume needs one that exists, /init asks the model, /exit leaves', async () => {
    const { done, say } = fixture();
    expect((await say('/clear')).text).toContain('/resume s1');
    expect(await say('/resume abc')).toMatchObject({ failed: true });
    await say('/init');
    expect(done[0]).toBe('clear');
    expect(done[1]).toContain('AGENTS.md');
    expect(await say('/exit')).toEqual({ text: '', exit: true });
  });

  it('/cost begins with the total, /rewind says why there is none', async () => {
    const { say } = fixture();
    expect((await say('/cost')).text).toBe('Total cost: $0.0000');
    expect(await say('/rewind')).toMatchObject({ failed: true });
    expect((await say('/rewind 1')).text).toContain('it is turned off');
    expect((await say('/why')).text).toContain('refused');
    expect(await say('/tasks stop b2')).toMatchObject({ failed: true });
    expect((await say('/tasks stop b1')).text).toBe('Stopped b1.');
  });
});

describe('completion', () => {
  const complete = async (text: string) =>
    await completeInput(fixture().context, {
      text,
      cursor: text.length,
      signal: new AbortController().signal,
    });

  it('of commands and skills', async () => {
    expect((await complete('/mo')).map(({ text }) => text)).toEqual(['/model ', '/mode ']);
    expect((await complete('/gr')).map(({ text }) => text)).toEqual(['/greet ']);
    expect(await complete('hello /mo')).toEqual([]);
  });

  it('of arguments', async () => {
    expect(await complete('/model h')).toEqual([{ text: 'haiku', from: 7, description: 'Haiku' }]);
    expect((await complete('/permissions remove B')).map(({ text }) => text)).toEqual([
      'remove Bash(ls *)',
    ]);
    expect((await complete('/permissions deny B')).map(({ text }) => text)).toEqual(['deny Bash']);
    expect((await complete('/why ')).map(({ text }) => text)).toEqual(['toolu_1']);
    expect((await complete('/add-dir ../comm')).map(({ text }) => text)).toEqual(['../commands/']);
  });

  it('of files and agents behind an @', async () => {
    expect(await complete('see @reg')).toEqual([
      { text: 'registry.ts ', from: 5 },
      { text: 'registry.test.ts ', from: 5 },
    ]);
    expect((await complete('ask @agent-r')).map(({ text }) => text)).toEqual(['agent-reviewer ']);
    expect((await complete('@../commands')).map(({ text }) => text)).toEqual(['../commands/']);
    expect(await complete('a@b')).toEqual([]);
    expect(await complete('@/nosuch/')).toEqual([]);
  });
});
