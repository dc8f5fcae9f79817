import { describe, expect, it } from 'vitest';
import {
  createSdkMcpServer,
  type Options,
  PortcullisError,
  query,
  type SDKMessage,
  type SessionStore,
  tool,
} from '../../src/index.js';
import { makeWorld, type Script, type World } from './suite/world.js';

/** Our own library: the program and the runtime share a process, and nothing else. */
async function play(
  script: Script,
  options: Options,
  files: Readonly<Record<string, string>> = {},
  meanwhile: (options: Options) => void = () => undefined,
): Promise<{ world: World; messages: SDKMessage[]; error: unknown }> {
  const world = await makeWorld({ script, files });
  const messages: SDKMessage[] = [];
  const own: Options = { cwd: world.project.directory, env: world.env, ...options };
  let error: unknown;
  const running = query({ prompt: 'go', options: own });
  meanwhile(own);
  try {
    for await (const message of running) messages.push(message);
  } catch (thrown) {
    error = thrown;
  }
  return { world, messages, error };
}

const EVIL = 'touch forbidden';
const bash = (command: string, more: object = {}) => ({
  tool: 'Bash',
  input: { command, ...more },
});
const banned: Options = { settings: { permissions: { deny: ['Bash(touch forbidden*)'] } } };
const later = (command: string, evil: string, after: number) => {
  let reads = 0;
  return {
    get command() {
      return ++reads > after ? evil : command;
    },
  };
};
const preToolUse = (updatedInput: object) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput },
});

describe('a call that the program is asked about', () => {
  it.each<[string, Options]>([
    [
      'changed in place',
      {
        canUseTool: async (_name, input) => {
          input.command = EVIL;
          return { behavior: 'allow' };
        },
      },
    ],
    [
      'changed in place and given back',
      {
        canUseTool: async (_name, input) => {
          input.command = EVIL;
          return { behavior: 'allow', updatedInput: input };
        },
      },
    ],
    ...[1, 2, 4, 8].map((after): [string, Options] => [
      `answered with what changes by itself after ${after} reads`,
      {
        canUseTool: async () => ({
          behavior: 'allow',
          updatedInput: later('mkdir ok', EVIL, after),
        }),
      },
    ]),
    ...[1, 3, 6].map((after): [string, Options] => [
      `rewritten by a hook to what changes after ${after} reads`,
      {
        hooks: {
          PreToolUse: [
            { hooks: [async () => preToolUse(later('mkdir ok', EVIL, after)) as never] },
          ],
        },
      },
    ]),
  ])('is judged as it runs: %s', async (_name, options) => {
    const { world } = await play([bash('mkdir ok'), 'done'], { ...banned, ...options });
    expect(world.project.exists('forbidden')).toBe(false);
  });

  it('may be changed in place and given back, where nothing forbids it', async () => {
    const { world } = await play([bash('mkdir ok'), 'done'], {
      ...banned,
      canUseTool: async (_name, input) => {
        input.command = 'mkdir other';
        return { behavior: 'allow', updatedInput: input };
      },
    });
    expect([world.project.exists('ok'), world.project.exists('other')]).toEqual([false, true]);
  });

  it('is refused where the answer is no data', async () => {
    const { world, messages } = await play([bash('mkdir ok'), 'done'], {
      canUseTool: async () =>
        ({ behavior: 'allow', updatedInput: { command: () => 'mkdir ok' } }) as never,
    });
    expect(world.project.exists('ok')).toBe(false);
    expect(JSON.stringify(messages)).toContain('which is no data');
  });

  it('is refused where a hook answers with no data', async () => {
    const { world } = await play([bash('mkdir ok'), 'done'], {
      allowedTools: ['Bash'],
      hooks: {
        PreToolUse: [{ hooks: [async () => ({ hookSpecificOutput: new Map() }) as never] }],
      },
    });
    expect(world.project.exists('ok')).toBe(false);
  });

  it('is no answer where it is not a number', async () => {
    const { world } = await play([bash('mkdir ok'), 'done'], {
      allowedTools: ['Bash'],
      hooks: { PreToolUse: [{ hooks: [async () => Number.NaN as never] }] },
    });
    expect(world.project.exists('ok')).toBe(false);
  });

  it('is shown to hooks as a copy that they may change', async () => {
    const { world } = await play([bash('mkdir ok'), 'done'], {
      allowedTools: ['Bash'],
      hooks: {
        PreToolUse: [
          {
            hooks: [
              async (input) => {
                (input as { tool_input: { command: string } }).tool_input.command = EVIL;
                return {};
              },
            ],
          },
        ],
      },
    });
    expect([world.project.exists('ok'), world.project.exists('forbidden')]).toEqual([true, false]);
  });
});

describe('a result of a tool of the program', () => {
  it('is what JSON makes of it, at the moment when it is given', async () => {
    const content = [{ type: 'text' as const, text: 'before' }];
    const calc = createSdkMcpServer({
      name: 'calc',
      tools: [
        tool('t', 'd', {}, async () => {
          setImmediate(() => content.push({ type: 'text', text: 'CAME LATER' }));
          return { content, structuredContent: { at: new Date(0) } };
        }),
      ],
    });
    const { world } = await play([{ tool: 'mcp__calc__t', input: {} }, 'done'], {
      mcpServers: { calc },
      allowedTools: ['mcp__calc__t'],
    });
    const sent = JSON.stringify(world.model.requests[1]?.body);
    expect(sent).toContain('before');
    expect(sent).not.toContain('CAME LATER');
  });

  it('that holds itself is an error', async () => {
    const cycle: Record<string, unknown> = {};
    cycle.again = cycle;
    const calc = createSdkMcpServer({
      name: 'calc',
      tools: [tool('t', 'd', {}, async () => ({ content: [], structuredContent: cycle }))],
    });
    const { world } = await play([{ tool: 'mcp__calc__t', input: {} }, 'done'], {
      mcpServers: { calc },
      allowedTools: ['mcp__calc__t'],
    });
    expect(JSON.stringify(world.model.requests[1]?.body)).toContain('"is_error":true');
  });
});

describe('an answer for a number of calls', () => {
  it('is for no call that a guard holds back', async () => {
    const asked: unknown[] = [];
    const policy = JSON.stringify({ permissions: { deny: ['Bash(touch forbidden*)'] } });
    const { world } = await play(
      [
        { tool: 'Write', input: { file_path: 'a.txt', content: 'x' } },
        { tool: 'Write', input: { file_path: 'b.txt', content: 'x' } },
        { tool: 'Read', input: { file_path: 'policy.json' } },
        { tool: 'Write', input: { file_path: 'policy.json', content: '{}' } },
        'done',
      ],
      {
        settings: 'policy.json',
        canUseTool: async (_name, input) => {
          asked.push(input.file_path);
          return asked.length === 1
            ? ({ behavior: 'allow', scope: 'tool', uses: 5 } as never)
            : { behavior: 'deny', message: 'no' };
        },
      },
      { 'policy.json': policy },
    );
    expect(asked).toEqual(['a.txt', 'policy.json'].map(world.project.at));
    expect(world.project.read('policy.json')).toBe(policy);
    expect(world.project.exists('b.txt')).toBe(true);
  });
});

describe('options that are changed after the call', () => {
  const write: Script = [{ tool: 'Write', input: { file_path: 'a.txt', content: 'x' } }, 'done'];
  const deny = () => ({ permissions: { deny: ['Write'] } });
  it.each<[string, Options, (options: Options) => void]>([
    ['managed settings', { managedSettings: deny() }, (o) => void delete o.managedSettings],
    ['managed settings inside', { managedSettings: deny() }, (o) => emptied(o.managedSettings)],
    ['banned tools', { disallowedTools: ['Write'] }, (o) => void o.disallowedTools?.splice(0)],
    ['settings', { settings: deny() }, (o) => emptied(o.settings)],
    ['tools', { tools: ['Read'] }, (o) => void (o.tools as string[]).push('Write')],
    [
      'hooks',
      { hooks: { PreToolUse: [{ hooks: [async () => ({ decision: 'block' })] }] } },
      (o) => void o.hooks?.PreToolUse?.splice(0),
    ],
  ])('are for the next session: %s', async (_name, options, change) => {
    const all: Options = { permissionMode: 'acceptEdits', ...options };
    const { world } = await play(write, all, {}, change);
    expect(world.project.exists('a.txt')).toBe(false);
  });

  it('sources of settings and trust', async () => {
    const files = { '.claude/settings.json': JSON.stringify(deny()) };
    const mode: Options = { permissionMode: 'acceptEdits', settingSources: ['project'] };
    const one = await play(write, mode, files, (o) => {
      o.settingSources = [];
    });
    expect(one.world.project.exists('a.txt')).toBe(false);
    const allow = { '.claude/settings.json': '{"permissions":{"allow":["Write"]}}' };
    const two = await play(write, {}, allow, (o) => {
      o.trustProject = true;
    });
    expect(two.world.project.exists('a.txt')).toBe(false);
  });

  function emptied(settings: unknown): void {
    (settings as ReturnType<typeof deny>).permissions.deny.length = 0;
  }
});

describe('a store whose lines cannot be read', () => {
  const resume = '11111111-1111-4111-8111-111111111111';
  it.each<[string, () => unknown]>([
    ['no list', () => ({ length: 3 })],
    ['a text', () => 'lines'],
    ['nothing in a line', () => [null]],
    ['a message without content', () => [{ type: 'user', uuid: 'u', message: null }]],
    ['a block that is none', () => [{ type: 'user', uuid: 'u', message: { content: [7] } }]],
    [
      'an error of its own',
      () => {
        throw new TypeError('BOOM');
      },
    ],
  ])('is told by a result and an error: %s', async (_name, load) => {
    const sessionStore: SessionStore = {
      append: async () => undefined,
      load: async () => load() as never,
    };
    const { messages, error } = await play(['hi'], { resume, sessionStore });
    expect(messages).toMatchObject([{ type: 'result', subtype: 'error_during_execution' }]);
    expect(error).toBeInstanceOf(PortcullisError);
    expect(error).toMatchObject({ code: 'session', message: expect.stringContaining('store') });
  });
});

describe('options that are no data', () => {
  it.each<[string, Options]>([
    [
      'a set of tools',
      { agents: { r: { description: 'd', prompt: 'p', tools: new Set() } } } as never,
    ],
    ['a function', { outputFormat: { type: 'json_schema', schema: { type: () => 'object' } } }],
  ])('are refused: %s', async (_name, options) => {
    const { world, error } = await play(['hi'], options);
    expect(error).toMatchObject({ code: 'usage', message: expect.stringContaining('no data') });
    expect(world.model.requests).toEqual([]);
  });
});

describe('hooks of an event that does not exist', () => {
  const never = { hooks: [async () => ({})] };
  it('are refused where another one is meant', async () => {
    const { error } = await play(['hi'], { hooks: { pretooluse: [never] } as never });
    expect(error).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('did you mean PreToolUse?'),
    });
  });

  it('are told of otherwise', async () => {
    const told: string[] = [];
    const { error } = await play(['hi'], {
      hooks: { SomethingNewer: [never] } as never,
      stderr: (text) => void told.push(text),
    });
    expect(error).toBeUndefined();
    expect(told.join('')).toContain('SomethingNewer');
  });
});
