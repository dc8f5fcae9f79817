import { existsSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { call, publicServer, World } from './tools-e2e-rig.js';

let world: World;
afterEach(() => world.remove());

const allow = (...rules: string[]) => ({ permissions: { allow: rules } });

describe('tools of servers in a session', () => {
  it('come after the built-in ones, sorted, and are called through the gate', async () => {
    world = new World(allow('mcp__zeta__b'));
    world.servers({
      zeta: world.server('zeta', { tools: [{ name: 'b', do: { echo: 1 } }, { name: 'a' }] }),
      'al pha': world.server('alpha', { tools: [{ name: 'y.z' }, { name: 'Read' }] }),
    });
    const script = [call('mcp__zeta__b', { x: '1' }), call('mcp__zeta__a'), 'end'];
    const session = await world.session({ script });
    await session.say('go');
    const tools = session.tools(0);
    expect(session.served(0)).toEqual([
      'mcp__al_pha__Read',
      'mcp__al_pha__y_z',
      'mcp__zeta__a',
      'mcp__zeta__b',
    ]);
    expect(tools.slice(-4)).toEqual(session.served(0));
    expect(session.result(0).text).toContain('echo {"x":"1"}');
    expect(session.result(1).isError).toBe(true);
    expect(world.log('zeta').filter((line) => line.startsWith('call'))).toEqual([
      'call b {"x":"1"}',
    ]);
    expect(session.receipts.map(({ tool, decision }) => [tool, decision])).toEqual([
      ['mcp__zeta__b', 'allow'],
      ['mcp__zeta__a', 'deny'],
    ]);
  });

  it('are taken away by deny rules, and cannot be called by name', async () => {
    world = new World({
      permissions: { allow: ['mcp__srv', 'mcp__gone'], deny: ['mcp__srv__two', 'mcp__gone'] },
    });
    world.servers({
      srv: world.server('srv', { tools: [{ name: 'one' }, { name: 'two' }] }),
      gone: world.server('gone', { tools: [{ name: 'x' }], instructions: 'HEAR ME' }),
    });
    for (const deferred of ['false', 'true', 'true']) {
      const session = await world.session({
        script: [call('mcp__srv__two'), call('mcp__gone__x'), call('mcp__srv__one'), 'end'],
        env: { ENABLE_TOOL_SEARCH: deferred },
      });
      await session.say('go');
      expect(session.shown(0)).toContain('mcp__srv__one');
      expect(session.shown(0)).not.toMatch(/mcp__srv__two|mcp__gone__x|HEAR ME/);
      expect(session.result(0).isError).toBe(true);
      expect(session.result(1).isError).toBe(true);
      expect(session.result(2)).toMatchObject({ text: 'done', isError: false });
      await session.close();
    }
    expect(world.log('srv').filter((line) => line.startsWith('call two'))).toEqual([]);
    expect(world.log('gone').filter((line) => line.startsWith('call'))).toEqual([]);
  });

  it('tell hooks their server, and take what hooks change', async () => {
    const hook = (command: string) => [
      { matcher: 'mcp__srv__.*', hooks: [{ type: 'command', command }] },
    ];
    const changed = JSON.stringify({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'allow',
        updatedInput: { x: 'changed' },
      },
    });
    const output = JSON.stringify({
      hookSpecificOutput: { hookEventName: 'PostToolUse', updatedMCPToolOutput: 'REPLACED' },
    });
    world = new World({
      hooks: {
        PreToolUse: hook(`cat > pre.json; echo '${changed}'`),
        PostToolUse: hook(`cat > post.json; echo '${output}'`),
      },
    });
    world.servers({ srv: world.server('srv', { tools: [{ name: 'one', do: { echo: 1 } }] }) });
    const session = await world.session({ script: [call('mcp__srv__one', { x: 'a' }), 'end'] });
    await session.say('go');
    const pre = JSON.parse(world.project.read('pre.json'));
    const post = JSON.parse(world.project.read('post.json'));
    expect(pre).toMatchObject({
      tool_name: 'mcp__srv__one',
      tool_input: { x: 'a' },
      mcp_server: { name: 'srv' },
    });
    expect(post).toMatchObject({ tool_input: { x: 'changed' }, mcp_server: { name: 'srv' } });
    expect(JSON.stringify(post.tool_response)).toContain('echo');
    expect(world.log('srv')).toContain('call one {"x":"changed"}');
    expect(session.result(0).text).toBe('REPLACED');
  });

  it('answer with images, structured content, errors, and long text that goes to a file', async () => {
    world = new World(allow('mcp__srv'));
    const tools = [
      { name: 'image', do: { image: 1 } },
      { name: 'structured', do: { structured: { answer: 42 } } },
      { name: 'error', do: { error: 'it went wrong' } },
      { name: 'long', do: { long: 200_000 } },
    ];
    world.servers({ srv: world.server('srv', { tools }) });
    const calls = tools.map(({ name }) => call(`mcp__srv__${name}`));
    const session = await world.session({ script: [...calls, 'end'] });
    await session.say('go');
    expect(session.result(0).blocks).toContainEqual(
      expect.objectContaining({
        type: 'image',
        source: expect.objectContaining({ media_type: 'image/png' }),
      }),
    );
    expect(session.result(1).text).toContain('{"answer":42}');
    expect(session.result(2)).toMatchObject({ isError: true });
    expect(session.result(2).text).toContain('it went wrong');
    const { text } = session.result(3);
    expect(text.length).toBeLessThan(100_000);
    const file = /(\/\S+\.(?:txt|json|md))/.exec(text)?.[1] ?? '';
    expect(existsSync(file)).toBe(true);
    expect(readFileSync(file, 'utf8')).toContain('word '.repeat(40_000));
  });

  it('are given no key of ours', async () => {
    world = new World(allow('mcp__srv'));
    const entry = world.server('srv', { tools: [{ name: 'env', do: { env: 1 } }] });
    world.servers({ srv: { ...entry, env: { GRANTED: 'yes' } } });
    const script = [call('mcp__srv__env'), 'end'];
    const session = await world.session({ script, env: { SOME_TOKEN: 'tok-123' } });
    await session.say('go');
    const env = JSON.parse(session.result(0).text);
    expect(env).toMatchObject({ GRANTED: 'yes', CLAUDE_PROJECT_DIR: expect.any(String) });
    expect(JSON.stringify(env)).not.toMatch(/sk-ant-secret-of-ours|tok-123|ANTHROPIC_BASE_URL/);
  });

  it('of public servers are called', async () => {
    world = new World(allow('mcp__everything', 'mcp__files', 'mcp__memory'));
    const { directory, root } = world.project;
    world.project.write('hello.txt', 'HELLO FILE');
    world.servers({
      everything: publicServer('server-everything', 'stdio'),
      files: publicServer('server-filesystem', directory),
      memory: {
        ...publicServer('server-memory'),
        env: { MEMORY_FILE_PATH: `${root}/memory.jsonl` },
      },
    });
    const entity = { name: 'Ada', entityType: 'person', observations: ['counts'] };
    const session = await world.session({
      script: [
        call('mcp__everything__echo', { message: 'MESSAGE' }),
        call('mcp__files__read_text_file', { path: `${directory}/hello.txt` }),
        call('mcp__files__read_text_file', { path: '/etc/passwd' }),
        call('mcp__memory__create_entities', { entities: [entity] }),
        call('mcp__memory__read_graph'),
        'end',
      ],
    });
    await session.say('go');
    expect(session.result(0).text).toContain('MESSAGE');
    expect(session.result(1).text).toContain('HELLO FILE');
    expect(session.result(2).isError).toBe(true);
    expect(session.result(4).text).toContain('Ada');
    expect(session.shown(0)).toContain('ListMcpResourcesTool');
  }, 300_000);
});

describe('deferred tools', () => {
  const spec = { tools: [{ name: 'one', do: { echo: 1 } }, { name: 'two' }], instructions: 'CARE' };
  const env = { ENABLE_TOOL_SEARCH: 'true' };

  it('are told by name, loaded by ToolSearch, called directly, and known again', async () => {
    world = new World(allow('mcp__srv'));
    world.servers({ srv: world.server('srv', spec) });
    // The second session has them from the cache.
    for (const _ of [1, 2]) {
      const session = await world.session({
        script: [
          { tool: 'ToolSearch', input: { query: 'select:mcp__srv__one' } },
          call('mcp__srv__one', { x: '1' }),
          call('mcp__srv__two'),
          'end',
        ],
        env,
      });
      await session.say('go');
      expect(session.served(0)).toEqual([]);
      expect(session.shown(0)).toContain('mcp__srv__one\\nmcp__srv__two');
      expect(session.shown(0)).toContain('CARE');
      expect(session.served(1)).toEqual(['mcp__srv__one']);
      expect(session.tools(1).slice(0, -1)).toEqual(session.tools(0));
      expect(session.result(1).text).toContain('echo {"x":"1"}');
      expect(session.result(2).text).toBe('done');
      await session.close();
    }
    expect(world.starts('srv')).toBe(2);
  });

  it('of earlier turns are loaded when a session is gone on with', async () => {
    world = new World(allow('mcp__srv'));
    world.servers({ srv: world.server('srv', spec) });
    const search = { tool: 'ToolSearch', input: { query: 'select:mcp__srv__one' } };
    const script = [search, call('mcp__srv__one', { x: '1' }), 'end'];
    const first = await world.session({ script, env });
    await first.say('go');
    const id = first.session.info().sessionId;
    await first.close();
    const second = await world.session({
      script: [call('mcp__srv__one', { x: '2' }), 'end'],
      env,
      config: { start: { kind: 'resume', id, newId: undefined, at: undefined } },
    });
    await second.say('on');
    expect(second.served(0)).toEqual(['mcp__srv__one']);
    expect(second.result(2).text).toContain('echo {"x":"2"}');
  });

  it('no server is started for names that are remembered', async () => {
    world = new World(allow('mcp__srv'));
    world.servers({ srv: world.server('srv', spec) });
    for (const _ of [1, 2, 3]) {
      const session = await world.session({ script: ['end'], env });
      await session.say('go');
      expect(session.shown(0)).toContain('mcp__srv__two');
      expect(session.session.info().tools).toContain('mcp__srv__two');
      await session.close();
    }
    expect(world.starts('srv')).toBe(1);
  });
});

describe('what servers have besides tools', () => {
  const resources = [{ uri: 'note://one', mimeType: 'text/plain', text: 'TEXT OF NOTE' }];
  const spec = { tools: [{ name: 'one' }], resources, prompts: ['greet'], instructions: 'CARE' };

  it('is read, mentioned and typed, also where all is remembered', async () => {
    world = new World(allow('mcp__srv', 'ListMcpResourcesTool', 'ReadMcpResourceTool'));
    world.servers({ srv: world.server('srv', spec) });
    let tools: readonly string[] | undefined;
    for (const deferred of ['false', 'false', 'true', 'true']) {
      const session = await world.session({
        script: [
          call('ListMcpResourcesTool'),
          call('ReadMcpResourceTool', { server: 'srv', uri: 'note://one' }),
          'one',
          'two',
          'three',
        ],
        env: { ENABLE_TOOL_SEARCH: deferred },
      });
      await session.say('go');
      expect(session.shown(0)).toContain('CARE');
      expect(session.result(0).text).toContain('note://one');
      expect(session.result(1).text).toContain('TEXT OF NOTE');
      if (deferred === 'false') tools ??= session.tools(0);
      if (deferred === 'false') expect(session.tools(0)).toEqual(tools);
      await session.say('look at @srv:note://one please');
      expect(session.shown().match(/TEXT OF NOTE/g)).toHaveLength(2);
      await session.say('/mcp__srv__greet Ada');
      const typed = JSON.stringify('PROMPT greet {"a":"Ada"}').slice(1, -1);
      expect(session.shown()).toContain(typed);
      await session.close();
    }
  });

  it('of a prompt is read past the gate, with a receipt, and not where a rule denies it', async () => {
    const spec = { resources: [{ uri: 'note://one', text: 'TEXT OF NOTE' }] };
    for (const deny of [[], ['ReadMcpResourceTool']]) {
      world = new World({ permissions: { deny } });
      world.servers({ srv: world.server('srv', spec) });
      const session = await world.session({ script: ['one'] });
      await session.say('look at @srv:note://one please');
      const isDenied = deny.length > 0;
      expect(session.shown().includes('TEXT OF NOTE')).toBe(!isDenied);
      const [receipt] = session.receipts;
      expect(receipt).toMatchObject({
        tool: 'ReadMcpResourceTool',
        decision: isDenied ? 'deny' : 'allow',
      });
      expect(session.notices.some((text) => text.includes('was not attached'))).toBe(isDenied);
      await world.remove();
    }
  });

  it('is not asked of anybody when nobody can answer', async () => {
    world = new World(allow('mcp__srv'));
    world.servers({ srv: world.server('srv', { tools: [{ name: 'ask', do: { ask: 1 } }] }) });
    const session = await world.session({ script: [call('mcp__srv__ask'), 'end'] });
    await session.say('go');
    expect(session.result(0).text).toBe('asked {"action":"decline"}');
  });
});
