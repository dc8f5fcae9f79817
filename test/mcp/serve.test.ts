import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';
import { receiptsIn } from './commands-rig.js';

type Answer = { action: 'accept' | 'decline'; content?: Record<string, boolean> };
/** What a person says to a question; undefined: the client asks nobody. */
type Person = ((message: string) => Answer) | undefined;

interface Served {
  readonly project: TempProject;
  readonly version: string | undefined;
  tools(): Promise<readonly { name: string; annotations?: unknown }[]>;
  call(name: string, args: Record<string, unknown>): Promise<{ text: string; isError: boolean }>;
}

const YES: Answer = { action: 'accept', content: { allow: true } };

function start(args: readonly string[]) {
  const project = makeTempProject({ files: { 'a.txt': 'ALPHA\n' } });
  onTestFinished(() => project.remove());
  const [command = '', ...first] = PROGRAM;
  const server = {
    command,
    args: [...first, 'mcp', 'serve', ...args],
    cwd: project.directory,
    env: { PATH: process.env.PATH ?? '', HOME: project.home },
    stderr: 'pipe' as const,
  };
  return { project, server };
}

const read = (result: unknown): { text: string; isError: boolean } => {
  const { content, isError } = result as {
    content: { type: string; text?: string }[];
    isError?: boolean;
  };
  return { text: content.map(({ text }) => text ?? '').join('\n'), isError: isError === true };
};

async function modern(args: readonly string[], person: Person): Promise<Served> {
  const { project, server } = start(args);
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: person === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: 'auto' },
    },
  );
  if (person !== undefined) {
    client.setRequestHandler('elicitation/create', (request) => person(request.params.message));
  }
  await client.connect(new StdioClientTransport(server));
  onTestFinished(() => client.close());
  return {
    project,
    version: client.getNegotiatedProtocolVersion(),
    tools: async () => (await client.listTools()).tools,
    call: async (name, input) => read(await client.callTool({ name, arguments: input })),
  };
}

async function old(args: readonly string[], person: Person): Promise<Served> {
  const { project, server } = start(args);
  const client = new OldClient(
    { name: 'test', version: '1' },
    { capabilities: person === undefined ? {} : { elicitation: {} } },
  );
  if (person !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, (request) => person(request.params.message));
  }
  await client.connect(new OldTransport(server));
  onTestFinished(() => client.close());
  return {
    project,
    version: undefined,
    tools: async () => (await client.listTools()).tools,
    call: async (name, input) => read(await client.callTool({ name, arguments: input })),
  };
}

describe.each([
  ['the new protocol', modern],
  ['the old protocol', old],
] as const)('mcp serve in %s', (_name, connect) => {
  it('offers the built-in tools and runs them', async () => {
    const served = await connect([], undefined);
    if (connect === modern) expect(served.version).toBe('2026-07-28');
    const tools = await served.tools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['Bash', 'Read', 'Write', 'Grep']));
    for (const absent of ['Agent', 'AskUserQuestion', 'EnterPlanMode', 'TodoWrite', 'Skill'])
      expect(names).not.toContain(absent);
    expect(tools.find(({ name }) => name === 'Read')?.annotations).toMatchObject({
      readOnlyHint: true,
    });
    const shown = await served.call('Read', { file_path: served.project.at('a.txt') });
    expect(shown).toMatchObject({ isError: false, text: expect.stringContaining('ALPHA') });
  });

  it('asks by way of the client, and journals the answer', async () => {
    const asked: string[] = [];
    const served = await connect([], (message) => {
      asked.push(message);
      return message.includes('touch yes') ? YES : { action: 'decline' };
    });
    expect(await served.call('Bash', { command: 'touch yes' })).toMatchObject({ isError: false });
    const refused = await served.call('Bash', { command: 'touch no' });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('said no') });
    expect(asked).toEqual([
      expect.stringContaining('touch yes'),
      expect.stringContaining('touch no'),
    ]);
    expect([served.project.exists('yes'), served.project.exists('no')]).toEqual([true, false]);
    expect(receiptsIn(served.project.home).map(({ tool, decision }) => [tool, decision])).toEqual([
      ['Bash', 'allow'],
      ['Bash', 'deny'],
    ]);
  });

  it('refuses where nobody can be asked, and what is not a clear yes', async () => {
    const alone = await connect([], undefined);
    const refused = await alone.call('Bash', { command: 'touch x' });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('elicitation') });
    expect(alone.project.exists('x')).toBe(false);
    const unsure = await connect([], () => ({ action: 'accept', content: { allow: false } }));
    expect(await unsure.call('Bash', { command: 'touch x' })).toMatchObject({ isError: true });
    expect(unsure.project.exists('x')).toBe(false);
  });

  it('goes by rules, and offers only what it is told to', async () => {
    const served = await connect(
      ['--tools', 'Bash,Read', '--allowedTools', 'Bash(touch *)'],
      undefined,
    );
    expect((await served.tools()).map(({ name }) => name)).toEqual(['Bash', 'Read']);
    expect(await served.call('Bash', { command: 'touch x' })).toMatchObject({ isError: false });
    expect(served.project.exists('x')).toBe(true);
    const file = served.project.at('b.txt');
    const absent = await served.call('Write', { file_path: file, content: 'x' });
    expect(absent).toMatchObject({ isError: true });
    expect(served.project.exists('b.txt')).toBe(false);
  });
});

describe('mcp serve', () => {
  it('writes the protocol and nothing else, and ends with its input', async () => {
    const { project, server } = start(['--allowedTools', 'Bash']);
    const child = spawn(server.command, server.args, { cwd: server.cwd, env: server.env });
    const out: string[] = [];
    const lines = createInterface({ input: child.stdout });
    const send = (message: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
    const answered = new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        out.push(line);
        const { id } = JSON.parse(line) as { id?: number };
        if (id === 0) {
          send({ method: 'notifications/initialized' });
          const params = {
            name: 'Bash',
            arguments: { command: 'echo hello; sleep 60 & touch ran' },
          };
          send({ id: 1, method: 'tools/call', params });
        }
        if (id === 1) resolve();
      });
    });
    const clientInfo = { name: 'raw', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    send({ id: 0, method: 'initialize', params });
    await answered;
    send({
      id: 2,
      method: 'tools/call',
      params: { name: 'Bash', arguments: { command: 'sleep 60' } },
    });
    child.stdin.end();
    expect(await ended).toBe(0);
    expect(out.map((line) => JSON.parse(line).jsonrpc)).toEqual(['2.0', '2.0']);
    expect(project.exists('ran')).toBe(true);
    const [command = '', ...first] = PROGRAM;
    const left = spawnSync(command, [...first, 'ps', '--json'], {
      env: server.env,
      encoding: 'utf8',
    });
    expect(JSON.parse(left.stdout)).toEqual([]);
  });

  it('does not start with a tool that cannot be served', () => {
    const { server } = start(['--tools', 'AskUserQuestion']);
    const done = spawnSync(server.command, server.args, {
      cwd: server.cwd,
      env: server.env,
      encoding: 'utf8',
      input: '',
    });
    expect([done.status, done.stdout]).toEqual([2, '']);
  });
});
