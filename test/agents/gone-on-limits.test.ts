import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openSession, type SessionConfig } from '../../src/app.js';
import type { LoopEvent } from '../../src/loop/types.js';
import type { Reply } from '../../src/model/scripted/format.js';
import type { SessionNews } from '../../src/protocol/session-events.js';
import {
  type AgentsOptions,
  type AgentsSession,
  agent,
  bash,
  definition,
  openAgentsSession,
} from './core-rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const allowed = { allowedTools: ['Bash', 'Write', 'Read'] };
const world = (): AgentsSession => {
  if (open === undefined) throw new Error('no session');
  return open;
};
const isThere = (name: string): boolean => existsSync(join(world().project.directory, name));
const send = (): Reply => ({
  tool: 'SendMessage',
  input: { to: world().news('task_started')[0]?.taskId ?? '', message: 'go on' },
});
const settled = (): Promise<void> =>
  vi.waitFor(
    () => expect(world().news('task_finished').length).toBe(world().news('task_started').length),
    { timeout: 20_000, interval: 20 },
  );
const file = '.claude/agents/kind.md';
const kind = (more: string): string => definition(`name: kind\ndescription: d\n${more}`);
const start = agent('KINDW', { subagent_type: 'kind' });

/** One process starts an agent, and a second one goes on with it. */
async function twice(
  options: Omit<AgentsOptions, 'main'>,
  between: () => void,
  config: Partial<SessionConfig>,
) {
  open = await openAgentsSession({
    main: [start, 'end', send, 'end', 'end'],
    ...options,
    config: { ...allowed, ...options.config },
  });
  await open.say('go');
  const { project, server, session } = open;
  const { sessionId } = session.info();
  await session.close();
  between();
  const events: (LoopEvent | SessionNews)[] = [];
  const again = await openSession({
    cwd: project.directory,
    env: {
      PATH: process.env.PATH,
      HOME: project.home,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: 'k',
      CLAUDE_CODE_MAX_RETRIES: '0',
    },
    entrypoint: 'test',
    fork: false,
    persist: true,
    trust: true,
    start: { kind: 'resume', id: sessionId, newId: undefined, at: undefined },
    emit: (event) => void events.push(event),
    ...allowed,
    ...config,
  });
  const text = { type: 'text', text: 'again' } as const;
  await again.run([{ uuid: '00000000-0000-4000-8000-0000000000aa', content: [text] }]);
  const count = (type: string) => events.filter((event) => event.type === type).length;
  await vi.waitFor(() => expect(count('task_finished')).toBe(count('task_started')), {
    timeout: 20_000,
    interval: 20,
  });
  await again.close();
  const results = events.flatMap((event) =>
    event.type === 'tool_result' ? [JSON.stringify(event.result.block.content)] : [],
  );
  return { started: count('task_started'), result: results[0] ?? '' };
}

const WRITE: Reply = { tool: 'Write', input: { file_path: 'by-write', content: 'x' } };
const nothing = (): void => undefined;
const touches = { KINDW: ['first', bash('touch by-bash'), 'second', 'third'] };

describe('an agent whose type must not be started', () => {
  it.each([
    [{ disallowedTools: ['Agent(kind)'] }, 'Agent(kind)'],
    [{ disallowedTools: ['Agent(KIND)'] }, 'Agent(KIND)'],
    [{ disallowedTools: ['Agent'] }, 'the tool Agent is taken from it'],
    [{ tools: ['Read', 'SendMessage'] }, 'the tool Agent is taken from it'],
  ])('does not go on either: %j', async (config, why) => {
    const files = { [file]: kind('color: red') };
    const { started, result } = await twice({ files, agents: touches }, nothing, config);
    expect(started).toBe(0);
    expect(result).toContain(why);
    expect(isThere('by-bash')).toBe(false);
  });

  it('is not kept from it by a rule for another type', async () => {
    const files = { [file]: kind('color: red') };
    const config = { disallowedTools: ['Agent(other)'] };
    const { started } = await twice({ files, agents: touches }, nothing, config);
    expect(started).toBe(1);
    expect(isThere('by-bash')).toBe(true);
  });
});

describe('a rule that asks about a type', () => {
  const settings = { json: { permissions: { ask: ['Agent(kind)'] } } };
  const files = { [file]: kind('color: red'), '.claude/settings.json': settings };
  const answered = async (behaviors: readonly ('allow' | 'deny')[]) => {
    const asked: string[] = [];
    open = await openAgentsSession({
      files,
      main: [start, send, 'end', 'end'],
      agents: touches,
      config: {
        ...allowed,
        asker: async ({ call }) => {
          asked.push(call.tool.name);
          const behavior = behaviors[asked.length - 1] ?? 'deny';
          return behavior === 'allow' ? { behavior } : { behavior, message: 'no' };
        },
      },
    });
    await open.say('go');
    await settled();
    return asked;
  };

  it('asks before one that has ended goes on, too', async () => {
    expect(await answered(['allow', 'allow'])).toEqual(['Agent', 'SendMessage']);
    expect(world().news('task_started')).toHaveLength(2);
    expect(isThere('by-bash')).toBe(true);
  });

  it('keeps it from going on where the answer is no', async () => {
    expect(await answered(['allow', 'deny'])).toEqual(['Agent', 'SendMessage']);
    expect(world().news('task_started')).toHaveLength(1);
    expect(isThere('by-bash')).toBe(false);
  });

  it('keeps it from going on in another process where nobody is there to be asked', async () => {
    const add = (): void => {
      const text = JSON.stringify({ permissions: { ask: ['Agent(KIND)'] } });
      writeFileSync(join(world().project.directory, '.claude/settings.json'), text);
    };
    const bare = { [file]: kind('color: red') };
    const { started, result } = await twice({ files: bare, agents: touches }, add, {});
    expect(started).toBe(0);
    expect(result).toContain('Agent(KIND)');
    expect(isThere('by-bash')).toBe(false);
  });
});

describe('an agent that goes on keeps to its own limits', () => {
  it('also where its type has become another one', async () => {
    const agents = {
      kind: { description: 'd', prompt: 'p', disallowedTools: ['Bash'], permissionMode: 'plan' },
    };
    const { started } = await twice(
      {
        files: { [file]: kind('color: red') },
        agents: { KINDW: ['first', bash('touch by-bash'), WRITE, 'second', 'third'] },
        config: { agents },
      },
      nothing,
      { trust: false },
    );
    expect(started).toBe(1);
    expect(isThere('by-bash')).toBe(false);
    expect(isThere('by-write')).toBe(false);
  });

  it.each<[string, string, Reply?]>([
    ['disallowedTools: Bash', 'color: red'],
    ['disallowedTools: Bash(touch *)', 'color: red'],
    ['tools: Read', 'color: red'],
    ['tools: Read', 'tools: Read, Bash'],
    ['tools: Read, Bash(git *)', 'tools: Read, Bash'],
    ['color: red', 'disallowedTools: Bash'],
    ['permissionMode: plan', 'permissionMode: acceptEdits', WRITE],
    ['permissionMode: plan', 'color: red', WRITE],
    ['color: red', 'permissionMode: plan', WRITE],
  ])('%s, then %s', async (before, after, call = bash('touch by-bash')) => {
    const change = (): void => writeFileSync(join(world().project.directory, file), kind(after));
    open = await openAgentsSession({
      files: { [file]: kind(before) },
      main: [
        start,
        () => {
          change();
          return send();
        },
        'end',
        'end',
      ],
      agents: { KINDW: ['first', call, 'second', 'third'] },
      config: allowed,
    });
    await open.say('go');
    await settled();
    expect(open.news('task_started')).toHaveLength(2);
    expect(['by-bash', 'by-write'].filter(isThere)).toEqual([]);
  });

  it('and has what it had, where nothing was changed', async () => {
    const files = { [file]: kind('tools: Read, Bash(touch *)\ndisallowedTools: Write') };
    const { started } = await twice({ files, agents: touches }, nothing, {});
    expect(started).toBe(1);
    expect(isThere('by-bash')).toBe(true);
  });

  it.each([
    ['goes on with what its type says where its transcript names none', '"other":{', 1],
    ['does not go on where they cannot be read', '"held":{"tools":7,"other":{', 0],
  ])('%s', async (_, put, count) => {
    const spoil = (): void => {
      const { transcriptPath } = world().session.info();
      const name = `agent-${world().news('task_started')[0]?.taskId}.jsonl`;
      const transcript = join(transcriptPath.replace(/\.jsonl$/, ''), 'subagents', name);
      const text = readFileSync(transcript, 'utf8');
      const end = put.includes('held') ? '}}' : '}';
      const changed = text.replace(/"held":\{([^}]*)\}/, `${put}$1${end}`);
      expect(changed).not.toBe(text);
      writeFileSync(transcript, changed);
    };
    const files = { [file]: kind('disallowedTools: Write') };
    const { started } = await twice({ files, agents: touches }, spoil, {});
    expect(started).toBe(count);
    expect(isThere('by-bash')).toBe(count === 1);
  });
});
