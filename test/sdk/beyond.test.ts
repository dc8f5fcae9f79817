import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer as McpServerV2 } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  AbortError,
  createSdkMcpServer,
  forkSession,
  getSessionMessages,
  InMemorySessionStore,
  listSessions,
  type Options,
  PortcullisClient,
  PortcullisError,
  query,
  ResultError,
  type SDKMessage,
  type SDKUserMessage,
  tool,
} from '../../src/index.js';
import { makeWorld, type Script, type World, type WorldOptions } from './suite/world.js';

/** What only our own library has, in this process, over real HTTP to the scripted model. */
async function play(
  script: Script,
  options: Options = {},
  more: WorldOptions & { prompt?: string } = {},
): Promise<{ world: World; messages: SDKMessage[]; error: unknown }> {
  const world = await makeWorld({ script, ...more });
  const messages: SDKMessage[] = [];
  let error: unknown;
  try {
    for await (const message of query({
      prompt: more.prompt ?? 'go',
      options: base(world, options),
    })) {
      messages.push(message);
    }
  } catch (thrown) {
    error = thrown;
  }
  return { world, messages, error };
}

const base = (world: World, options: Options = {}): Options => ({
  cwd: world.project.directory,
  ...options,
  env: { ...world.env, ...options.env },
});

const bash = (command: string) => ({ tool: 'Bash', input: { command } });
const ofType = <T extends SDKMessage['type']>(messages: readonly SDKMessage[], type: T) =>
  messages.filter((one): one is Extract<SDKMessage, { type: T }> => one.type === type);
const ofSubtype = (messages: readonly SDKMessage[], subtype: string) =>
  messages.filter((one) => one.type === 'system' && one.subtype === subtype);

describe('every message', () => {
  it('says whose it is', async () => {
    const { messages } = await play([], { agents: HELPER }, { actors: DELEGATION });
    expect(messages.every(({ agent }) => agent !== undefined)).toBe(true);
    const paths = ofType(messages, 'assistant').map(({ agent }) => agent?.path);
    expect(paths).toEqual(expect.arrayContaining(['main', expect.stringMatching(/^main\/helper/)]));
    const child = messages.find(({ agent }) => agent?.depth === 1)?.agent;
    expect(child).toMatchObject({ type: 'helper', parentId: 'main', spawnedBy: 'toolu_a' });
  });
});

const HELPER: NonNullable<Options['agents']> = {
  helper: { description: 'helps', prompt: 'You help', tools: ['Bash'] },
};
const DELEGATION: NonNullable<WorldOptions['actors']> = [
  {
    name: 'helper',
    match: { system: 'You help' },
    replies: [{ tool: 'Bash', input: { command: 'mkdir made' } }, 'sub done'],
  },
  {
    name: 'main',
    replies: [
      {
        tool: 'Agent',
        id: 'toolu_a',
        input: {
          description: 'd',
          prompt: 'do it',
          subagent_type: 'helper',
          run_in_background: false,
        },
      },
      'end',
    ],
  },
];

describe('canUseTool', () => {
  it('is told the session and the agent that asks', async () => {
    const seen: unknown[] = [];
    const { messages } = await play(
      [],
      {
        agents: HELPER,
        allowedTools: ['Agent'],
        canUseTool: async (_name, _input, { sessionId, agent, agentID, toolUseID }) => {
          seen.push({ sessionId, path: agent.path, type: agent.type, agentID, toolUseID });
          return { behavior: 'deny', message: 'no' };
        },
      },
      { actors: DELEGATION },
    );
    expect(seen).toEqual([
      {
        sessionId: messages[0]?.session_id,
        path: expect.stringMatching(/^main\/helper/),
        type: 'helper',
        agentID: expect.any(String),
        toolUseID: expect.any(String),
      },
    ]);
  });

  const asks = async (scope: object, commands: readonly string[]): Promise<number> => {
    let count = 0;
    await play([...commands.map(bash), 'end'], {
      canUseTool: async () => {
        count++;
        return { behavior: 'allow', ...scope };
      },
    });
    return count;
  };

  it('may answer for one call, for the same call, for calls like it, for a number of calls', async () => {
    const four = ['mkdir a', 'mkdir a b', 'mkdir a', 'mkdir -p c'];
    expect(await asks({}, four)).toBe(4);
    expect(await asks({ scope: 'once' }, four)).toBe(4);
    expect(await asks({ scope: 'identical' }, four)).toBe(3);
    expect(await asks({ scope: 'tool' }, four)).toBe(1);
    expect(await asks({ scope: 'tool', uses: 2 }, four)).toBe(2);
    expect(await asks({ scope: 'tool', expiresInMs: 0 }, four)).toBe(4);
  });
});

describe('receipts', () => {
  it('come for every decision, when they are asked for', async () => {
    const script = [bash('mkdir x'), 'end'];
    expect(ofSubtype((await play(script)).messages, 'decision')).toEqual([]);
    const { messages } = await play(script, { receipts: true });
    expect(ofSubtype(messages, 'decision')).toMatchObject([
      { receipt: { tool: 'Bash', decision: 'deny', trace: expect.any(Array) } },
    ]);
  });
});

const SETTINGS = JSON.stringify(
  { permissions: { allow: ['Bash(mkdir *)'], deny: ['Read(secret)'] } },
  null,
  2,
);

describe('the policy', () => {
  it('is told first, each rule with its place and what it keeps from the callback', async () => {
    const { messages, world } = await play(
      ['end'],
      { policyReport: true, allowedTools: ['Edit'], canUseTool: async () => null },
      { home: { '.claude/settings.json': SETTINGS } },
    );
    const file = `${world.project.home}/.claude/settings.json`;
    expect(messages[0]).toMatchObject({
      type: 'system',
      subtype: 'policy',
      policy: {
        mode: 'default',
        asks: 'canUseTool',
        fileGrantsIgnored: false,
        rules: expect.arrayContaining([
          { rule: 'Edit', behavior: 'allow', source: 'cliArg', preemptsCallback: true },
          {
            rule: 'Bash(mkdir *)',
            behavior: 'allow',
            source: 'userSettings',
            file,
            line: 4,
            preemptsCallback: true,
          },
          {
            rule: 'Read(secret)',
            behavior: 'deny',
            source: 'userSettings',
            file,
            line: 7,
            preemptsCallback: true,
          },
        ]),
      },
    });
  });

  it('leaves out what files allow, when the program says so', async () => {
    let asked = 0;
    const options: Options = {
      canUseTool: async () => {
        asked++;
        return { behavior: 'deny', message: 'no' };
      },
    };
    const files = { home: { '.claude/settings.json': SETTINGS } };
    const script = [bash('mkdir x'), { tool: 'Read', input: { file_path: 'secret' } }, 'end'];
    await play(script, options, files);
    expect(asked).toBe(0);
    const { messages } = await play(script, { ...options, ignoreFileGrants: true }, files);
    expect(asked).toBe(1);
    expect(ofType(messages, 'result')[0]?.permission_denials).toHaveLength(2);
  });
});

describe('a budget', () => {
  it('ends the session when it is used up', async () => {
    const { messages } = await play([bash('echo 1'), bash('echo 2'), bash('echo 3'), 'end'], {
      budget: { turns: 2 },
    });
    expect(ofType(messages, 'result')[0]).toMatchObject({ is_error: true });
    expect(ofType(messages, 'assistant').length).toBeLessThan(4);
  });

  it('of a unit that does not exist is refused', async () => {
    const { error } = await play(['end'], { budget: { coins: 2 } as Options['budget'] });
    expect(error).toMatchObject({ code: 'usage', message: expect.stringContaining('coins') });
  });
});

describe('errors', () => {
  it('have a code and a remedy', async () => {
    const { error, messages } = await play([], {
      resume: '99999999-9999-4999-8999-999999999999',
    });
    expect(error).toBeInstanceOf(PortcullisError);
    expect(error).toMatchObject({ code: 'session', remedy: expect.any(String) });
    expect(ofType(messages, 'result')).toMatchObject([{ subtype: 'error_during_execution' }]);
  });

  it.each([
    [{ permissionMode: 'auto' }, /classifier/],
    [{ permissionMode: 'yolo' }, /unknown permission mode/],
    [{ maxTurns: 0.5 }, /maxTurns/],
    [{ forkSession: true }, /forkSession/],
    [{ sessionId: 'x' }, /UUID/],
    [{ settingSources: ['remote'] }, /settingSources/],
    [{ tools: 'Read' }, /tools/],
    [{ tools: new Set(['Read']) }, /tools/],
    [{ tools: { type: 'preset', preset: 'readonly' } }, /tools/],
    [{ tools: false }, /tools/],
    [{ disallowedTool: ['Bash'] }, /disallowedTool is not an option/],
    [{ disallowed_tools: ['Bash'] }, /disallowed_tools is not an option/],
    [{ permissions: { deny: ['Bash'] } }, /permissions is not an option/],
    [{ hooks: new Map([['PreToolUse', []]]) }, /hooks/],
    [{ hooks: async () => ({ decision: 'block' }) }, /hooks/],
    [{ hooks: { PreToolUse: [{ matcher: 'Bsh', hooks: [async () => ({})] }] } }, /Bsh/],
    [{ canUseTool: 'never' }, /canUseTool/],
    [{ settings: new Map() }, /settings/],
    [{ managedSettings: () => ({}) }, /managedSettings/],
    [{ strictMcpConfig: 'true' }, /strictMcpConfig/],
    [{ ignoreFileGrants: 'true' }, /ignoreFileGrants/],
    [{ permissionPrompts: 'None' }, /permissionPrompts/],
    [{ permissionPrompts: ['none'] }, /permissionPrompts/],
    [{ extraArgs: '--disallowedTools Bash' }, /extraArgs/],
    [{ extraArgs: { disallowedTools: 'Bash' } }, /disallowedTools/],
    [{ extraArgs: { 'disallowed-tool': 'Bash' } }, /disallowed-tool/],
    [{ extraArgs: { 'permission-mode': 'plan' } }, /permission-mode/],
    [{ extraArgs: { bare: null } }, /bare/],
    [{ extraArgs: { trust: 'false' } }, /trust/],
  ])('of options %j', async (options, message) => {
    const { error } = await play([], options as Options);
    expect(error).toMatchObject({ code: 'usage', message: expect.stringMatching(message) });
  });

  it('carry the result of a turn that ended badly', async () => {
    const { error } = await play([bash('echo 1'), 'end'], { maxTurns: 1 });
    expect(error).toBeInstanceOf(ResultError);
    expect((error as ResultError).result.subtype).toBe('error_max_turns');
  });

  it('of the prompts themselves end the session', async () => {
    const world = await makeWorld({ script: ['one'] });
    async function* prompts(): AsyncGenerator<SDKUserMessage> {
      yield {
        type: 'user',
        message: { role: 'user', content: 'first' },
        parent_tool_use_id: null,
      };
      throw new Error('no more ideas');
    }
    const read = (async () => {
      for await (const _ of query({ prompt: prompts(), options: base(world) })) void _;
    })();
    await expect(read).rejects.toThrow('no more ideas');
  });

  it('say that the program itself aborted', async () => {
    const abortController = new AbortController();
    const world = await makeWorld({ script: [bash('sleep 30'), 'end'] });
    const running = query({
      prompt: 'go',
      options: base(world, { abortController, permissionMode: 'bypassPermissions', ...SANDBOXED }),
    });
    const read = (async () => {
      for await (const message of running)
        if (message.type === 'assistant') abortController.abort();
    })();
    await expect(read).rejects.toBeInstanceOf(AbortError);
    await expect(running.setModel('x')).rejects.toMatchObject({ code: 'session' });
  });
});

const SANDBOXED = { env: { IS_SANDBOX: '1' } };

describe('options that are about starting a program', () => {
  it('have no effect, and that is said', async () => {
    const heard: string[] = [];
    const { error } = await play(['end'], {
      executable: 'bun',
      pathToClaudeCodeExecutable: '/nowhere',
      hooks: { NoSuchEvent: [{ hooks: [async () => ({})] }] } as Options['hooks'],
      stderr: (data) => void heard.push(data),
    });
    expect(error).toBeUndefined();
    expect(heard.join('')).toMatch(/executable .*no effect/);
    expect(heard.join('')).toMatch(/pathToClaudeCodeExecutable/);
    expect(heard.join('')).toMatch(/NoSuchEvent/);
  });
});

describe('PortcullisClient', () => {
  it('sends prompts as they are with verbatimPrompts', async () => {
    const world = await makeWorld({ script: ['ok'] });
    await using client = new PortcullisClient(base(world, { verbatimPrompts: true }));
    await client.connect();
    expect(await client.ask('/context')).toMatchObject({ result: 'ok' });
    expect(JSON.stringify(world.model.requests[0]?.body)).toContain('/context');
  });

  it('holds a conversation of several turns', async () => {
    const world = await makeWorld({ script: ['one', 'two', 'three'] });
    await using client = new PortcullisClient(base(world));
    await client.connect();
    expect(await client.ask('1')).toMatchObject({ subtype: 'success', result: 'one' });
    await client.query('2');
    const kinds: string[] = [];
    for await (const message of client.receiveResponse()) kinds.push(message.type);
    expect(kinds).toEqual(['system', 'assistant', 'result']);
    await client.setPermissionMode('plan');
    expect((await client.policy()).mode).toBe('plan');
    expect(await client.ask('3')).toMatchObject({ result: 'three' });
    expect((await client.getServerInfo()).models.length).toBeGreaterThan(0);
  });

  it('rejects where no session can be opened, and before it is connected', async () => {
    const world = await makeWorld();
    const client = new PortcullisClient(base(world, { resume: 'nothing' }));
    await expect(client.query('x')).rejects.toMatchObject({ code: 'usage' });
    await expect(client.connect()).rejects.toBeInstanceOf(PortcullisError);
  });
});

describe('servers of the official libraries', () => {
  const twice = async ({ n }: { n: number }) => ({
    content: [{ type: 'text' as const, text: `TWICE ${2 * n}` }],
  });
  const version1 = () => {
    const server = new McpServerV1({ name: 's', version: '1' });
    server.registerTool('twice', { inputSchema: { n: z.number() } }, twice);
    return server;
  };
  const version2 = () => {
    const server = new McpServerV2({ name: 's', version: '1' });
    server.registerTool('twice', { inputSchema: z.object({ n: z.number() }) }, twice);
    return server;
  };

  it.each([
    ['1', version1],
    ['2', version2],
  ])('of version %s can be given as they are', async (_version, make) => {
    const server = make();
    const { messages } = await play([{ tool: 'mcp__s__twice', input: { n: 4 } }, 'end'], {
      mcpServers: { s: { type: 'sdk', name: 's', instance: server } },
      allowedTools: ['mcp__s'],
    });
    expect(JSON.stringify(ofType(messages, 'user'))).toContain('TWICE 8');
  });

  it('our own may serve many sessions at once', async () => {
    const world = await makeWorld({
      script: Array.from(
        { length: 20 },
        () =>
          ({ lastUser }: { lastUser: string }) =>
            /^\d+$/.test(lastUser) ? 'end' : { tool: 'mcp__c__count', input: { by: 1 } },
      ),
    });
    let count = 0;
    const server = createSdkMcpServer({
      name: 'c',
      tools: [
        tool('count', 'counts', { by: z.number() }, async ({ by }) => {
          count += by;
          return { content: [{ type: 'text', text: String(count) }] };
        }),
      ],
    });
    const one = async () => {
      for await (const _ of query({
        prompt: 'go',
        options: base(world, {
          mcpServers: { c: server },
          allowedTools: ['mcp__c'],
          persistSession: false,
        }),
      }))
        void _;
    };
    await Promise.all(Array.from({ length: 10 }, one));
    expect(count).toBe(10);
  });
});

describe('a session store', () => {
  it('keeps the transcript in the place of files, and sessions go on from it', async () => {
    const sessionStore = new InMemorySessionStore();
    const first = await play(['noted'], { sessionStore }, { prompt: 'remember TULIP' });
    const dir = first.world.project.directory;
    const [info] = await listSessions({ dir, sessionStore });
    expect(info).toMatchObject({ firstPrompt: 'remember TULIP' });
    expect(existsSync(path.join(first.world.project.home, '.claude/projects'))).toBe(false);
    const id = info?.sessionId ?? '';
    const second = await play(['TULIP'], { sessionStore, resume: id }, { in: first.world });
    expect(JSON.stringify(second.world.model.requests[0]?.body)).toContain('remember TULIP');
    expect(await getSessionMessages(id, { dir, sessionStore })).toHaveLength(4);
    const { sessionId } = await forkSession(id, { dir, sessionStore });
    expect(await getSessionMessages(sessionId, { dir, sessionStore })).toHaveLength(4);
  });

  it('that fails is told, and the session goes on', async () => {
    const { messages, error } = await play(['end'], {
      sessionStore: {
        append: async () => {
          throw new Error('disk of paper');
        },
        load: async () => null,
      },
    });
    expect(error).toBeUndefined();
    expect(ofSubtype(messages, 'mirror_error')[0]).toMatchObject({ error: 'disk of paper' });
  });
});

describe('many sessions in one process', () => {
  it('do not know of each other', async () => {
    const words = Array.from({ length: 30 }, (_, i) => `WORD${i}X`);
    const world = await makeWorld({
      script: words.map(() => (body: unknown) => /WORD\d+X/.exec(JSON.stringify(body))?.[0] ?? ''),
    });
    const answers = await Promise.all(
      words.map(async (prompt) => {
        for await (const message of query({ prompt, options: base(world) })) {
          if (message.type === 'result' && message.subtype === 'success') return message.result;
        }
        return undefined;
      }),
    );
    expect(answers).toEqual(words);
  });

  it('loads nothing of zod', () => {
    const text = readFileSync(new URL('../../src/sdk/schema-shape.ts', import.meta.url), 'utf8');
    expect(text).not.toMatch(/from 'zod/);
  });
});
