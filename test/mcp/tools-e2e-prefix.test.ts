import { afterEach, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/lib/own.js';
import { call, type McpSession, World } from './tools-e2e-rig.js';

let world: World;
afterEach(() => world.remove());

/** What a provider keys its cache on, in its order; marks of the cache itself do not count. */
function parts(body: Readonly<Record<string, unknown>>): readonly string[] {
  const { tools, system, messages } = body;
  const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
  const text = (value: unknown): string =>
    JSON.stringify(value, (key, inner: unknown) => (key === 'cache_control' ? undefined : inner));
  return [
    ...list(tools).map(text),
    ...list(system).map(text),
    ...list(messages).flatMap((message) =>
      isRecord(message) ? [String(message.role), ...list(message.content).map(text)] : [],
    ),
  ];
}

/** Each request begins with every byte of the one before. */
function expectOnePrefix(session: McpSession): void {
  for (let at = 1; at < session.requests.length; at++) {
    const before = parts(session.body(at - 1));
    expect(parts(session.body(at)).slice(0, before.length)).toEqual(before);
    expect(JSON.stringify(session.body(at).tools)).toBe(JSON.stringify(session.body(0).tools));
  }
}

const flap = (name: string, next: unknown) => ({ name, do: { flap: next } });
const become = (name: string, next: unknown) => ({ name, do: { become: next } });
const plain = { name: 'plain', do: { pid: 1 } };
const other = { name: 'other', do: { text: 'other' } };
const extra = { name: 'extra', do: { text: 'extra' } };

describe.each(['false', 'true'])('a server that flaps, with ENABLE_TOOL_SEARCH=%s', (search) => {
  const env = { ENABLE_TOOL_SEARCH: search };

  it('does not change a byte of what was sent', async () => {
    world = new World({ permissions: { allow: ['mcp__srv', 'Bash(sleep *)'] } });
    const tools = [plain, other, become('shrink', { tools: [plain], instructions: 'OTHER' })];
    world.servers({ srv: world.server('srv', { tools, instructions: 'FIRST' }) });
    const wait = call('Bash', { command: 'sleep 0.3' });
    const session = await world.session({
      script: [
        call('mcp__srv__plain'),
        call('mcp__srv__shrink'),
        wait,
        call('mcp__srv__other'),
        call('mcp__srv__plain'),
        'one',
        call('mcp__srv__plain'),
        'two',
        'three',
      ],
      env,
    });
    await session.say('go');
    expect(session.result(0).text).toContain('pid');
    expect(session.result(3)).toMatchObject({ isError: true });
    expect(session.result(3).text).toContain('no longer offers');
    expect(session.result(4).text).toContain('pid');
    world.server('srv', { tools: [...tools].reverse(), instructions: 'SECOND' });
    await session.say('on');
    await session.say('on');
    expectOnePrefix(session);
  });

  it('and dies, comes back in another order and with others, neither', async () => {
    world = new World({ permissions: { allow: ['mcp__srv', 'Bash(sleep *)'] } });
    const wait = call('Bash', { command: 'sleep 0.3' });
    const again = { tools: [other, plain] };
    const tools = [plain, other, flap('die', again), flap('drop', { tools: [plain] })];
    world.servers({
      srv: world.server('srv', { tools, instructions: 'FIRST' }),
      calm: world.server('calm', { tools: [{ name: 'x' }] }),
    });
    const session = await world.session({
      script: [
        call('mcp__srv__drop'),
        wait,
        call('mcp__srv__plain'),
        call('mcp__srv__other'),
        'one',
        call('mcp__srv__plain'),
        'two',
      ],
      env,
    });
    await session.say('go');
    expect(session.result(2).text).toContain('pid');
    expect(session.result(3)).toMatchObject({ isError: true });
    world.server('srv', again);
    await session.say('on');
    expect(world.starts('srv')).toBeGreaterThanOrEqual(2);
    expectOnePrefix(session);
  });

  it('tools that come later come at the end', async () => {
    world = new World({ permissions: { allow: ['mcp__srv', 'Bash(sleep *)'] } });
    const aaa = { name: 'aaa', do: { text: 'LATE' } };
    const tools = [plain, become('grow', { tools: [aaa, plain] })];
    world.servers({ srv: world.server('srv', { tools }) });
    const wait = call('Bash', { command: 'sleep 0.5' });
    const session = await world.session({
      script: [call('mcp__srv__grow'), wait, wait, 'one', call('mcp__srv__aaa'), 'two'],
      env,
    });
    await session.say('go');
    await session.say('on');
    expect(session.result(3).text).toBe('LATE');
    const before = session.tools(0);
    expect(session.tools().slice(0, before.length)).toEqual(before);
    if (search === 'false') expect(session.served().at(-1)).toBe('mcp__srv__aaa');
    else expect(session.shown()).toMatch(/More tools of MCP servers[^"]*mcp__srv__aaa/);
  });
});

it('two sessions from the cache send the same bytes, in whatever order a server lists', async () => {
  world = new World();
  for (const search of ['false', 'true']) {
    world.servers({ srv: world.server('srv', { tools: [plain, other, extra] }) });
    const seen: string[] = [];
    for (const tools of [[plain, other, extra], [extra, plain, other], [other]]) {
      const session = await world.session({ script: ['end'], env: { ENABLE_TOOL_SEARCH: search } });
      await session.say('go');
      seen.push(JSON.stringify(session.body(0).tools));
      await session.close();
      world.server('srv', { tools });
    }
    expect(new Set(seen).size).toBe(1);
  }
});
