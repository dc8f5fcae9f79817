import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openModelLayer } from '../../src/agents/core/model-layer.js';
import { joinParts } from '../../src/app/create-session.js';
import { openParts, openSession, type SessionConfig } from '../../src/app.js';
import { openSessionEnvironment } from '../../src/config/session-environment.js';
import type { LoopEvent } from '../../src/loop/types.js';
import type { Reply } from '../../src/model/scripted/format.js';
import type { Asker } from '../../src/permissions/gate/types.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
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

async function opened(options: AgentsOptions): Promise<AgentsSession> {
  open = await openAgentsSession({ config: EVERYTHING, ...options });
  return open;
}

const EVERYTHING = { allowedTools: ['Bash', 'Write', 'Edit', 'Read'] };
const inBackground = { run_in_background: true };
const wait = (seconds = 10): Reply => ({
  tool: 'WaitForAgents',
  input: { timeout_seconds: seconds },
});
const world = (): AgentsSession => {
  if (open === undefined) throw new Error('no session');
  return open;
};
/** The id of the agent whose task has this word. */
const idOf = (word: string): string =>
  world()
    .news('task_started')
    .find(({ prompt }) => prompt?.includes(word) === true)?.taskId ?? '';
const send = (word: string, message: string) => (): Reply => ({
  tool: 'SendMessage',
  input: { to: idOf(word), message },
});
const write = (name: string) => (): Reply => ({
  tool: 'Write',
  input: { file_path: join(world().project.directory, name), content: 'x' },
});
const isThere = (name: string): boolean => existsSync(join(world().project.directory, name));
/** Results of calls of agents and of the main one, as text. */
const results = (): string =>
  world()
    .events.flatMap((event) => {
      const told = event.type === 'child' ? event.event : event;
      return told.type === 'tool_result' ? [JSON.stringify(told.result.block.content)] : [];
    })
    .join('\n');
/** Nobody runs any more. */
const settled = (): Promise<void> =>
  vi.waitFor(
    () => expect(world().news('task_finished').length).toBe(world().news('task_started').length),
    { timeout: 20_000, interval: 20 },
  );
const paths = (): readonly string[] =>
  world()
    .news('task_started')
    .map(({ agent: ref }) => ref?.path ?? '');

/** A second session over the same server, of which the agents are at hand. */
async function joined({ project, server }: AgentsSession) {
  const config: SessionConfig = {
    ...configOf(project.directory),
    env: envOf(project.home, server.url),
    start: { kind: 'new', id: undefined },
    emit: () => undefined,
  };
  const environment = await openSessionEnvironment(config);
  const model = await openModelLayer(config, environment);
  const parts = await openParts(config, environment, model);
  const session = await joinParts(config, environment, parts);
  const uuid = '00000000-0000-4000-8000-0000000000bb';
  return {
    runtime: parts.agents.runtime,
    run: (text: string) => session.run([{ uuid, content: [{ type: 'text', text }] }]),
    close: () => session.close(),
  };
}

const envOf = (home: string, url: string) => ({
  PATH: process.env.PATH,
  HOME: home,
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: 'k',
  CLAUDE_CODE_MAX_RETRIES: '0',
});
const configOf = (cwd: string) => ({
  cwd,
  entrypoint: 'test',
  fork: false,
  persist: true,
  trust: true,
});

describe('an agent that is gone on with', () => {
  it('keeps to what held those above it, who have ended', async () => {
    const head =
      'name: planner\ndescription: d\npermissionMode: plan\ntools: Read, Agent, Write, Bash(git *)';
    await opened({
      files: { '.claude/agents/planner.md': definition(head) },
      main: [
        agent('PLANNERW', { subagent_type: 'planner' }),
        send('INNERW', 'go on'),
        'end',
        'end',
      ],
      agents: {
        PLANNERW: [agent('INNERW'), 'planned'],
        INNERW: ['ended', write('by-write'), bash('touch by-bash'), 'end'],
      },
    });
    await world().say('go');
    await settled();
    expect(paths().filter((path) => path === 'main/planner#1/general-purpose#1')).toHaveLength(2);
    const decided = world().receipts.filter(({ agent: path }) => path.includes('/general-'));
    expect(decided.map(({ tool, decision }) => [tool, decision])).toEqual([
      ['Write', 'deny'],
      ['Bash', 'deny'],
    ]);
    expect(isThere('by-write')).toBe(false);
    expect(isThere('by-bash')).toBe(false);
  });

  it('is refused where its transcript does not say what held it', async () => {
    await opened({
      main: [agent('OUTERW'), 'mid', send('INNERW', 'go on'), 'end'],
      agents: { OUTERW: [agent('INNERW'), 'o'], INNERW: ['ended', 'again'] },
    });
    await world().say('go');
    const { transcriptPath } = world().session.info();
    const file = join(
      transcriptPath.replace(/\.jsonl$/, ''),
      'subagents',
      `agent-${idOf('INNERW')}.jsonl`,
    );
    writeFileSync(file, readFileSync(file, 'utf8').replace('"above":[', '"beyond":['));
    await world().say('more');
    expect(world().result()).toMatchObject({ isError: true });
    expect(world().result().text).toContain('not known any more');
  });

  it('is not a sibling’s to go on with', async () => {
    const head = 'name: planner\ndescription: d\npermissionMode: plan';
    await opened({
      files: { '.claude/agents/planner.md': definition(head) },
      main: [agent('FREEW'), agent('PLANNERW', { subagent_type: 'planner' }), 'end'],
      agents: {
        FREEW: ['ended', write('by-sibling'), 'end'],
        PLANNERW: [send('FREEW', 'write it'), 'planned'],
      },
    });
    await world().say('go');
    expect(results()).toContain('only the main agent or one that it works for');
    expect(isThere('by-sibling')).toBe(false);
  });

  it('starts once when several go on with it at once', async () => {
    await opened({
      main: [agent('ONEW'), 'end', 'end', 'end'],
      agents: { ONEW: ['a', { text: 'b', delayMs: 500 }, 'c', 'd', 'e'] },
    });
    const { runtime, run, close } = await joined(world());
    await run('go');
    const [task] = runtime.roster.list();
    const id = task?.id ?? '';
    const words = ['one', 'two', 'three'];
    const begun = await Promise.all(
      words.map((text) =>
        runtime.resume(id, `message ${text}`, { from: MAIN_AGENT, toolUseId: 't' }),
      ),
    );
    expect(begun.map(({ ok }) => ok)).toEqual([true, true, true]);
    expect(runtime.roster.running()).toHaveLength(1);
    await Promise.all(begun.map((one) => (one.ok ? one.value.ended : undefined)));
    const last = world().requests('message three').at(-1) ?? '';
    expect(words.filter((word) => last.includes(`message ${word}`))).toEqual(words);
    await close();
  });

  it('counts among those that run', async () => {
    await opened({
      env: { CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS: '1' },
      main: [
        agent('ONEW'),
        agent('TWOW'),
        send('ONEW', 'go on'),
        send('TWOW', 'go on'),
        wait(),
        'end',
        'end',
      ],
      agents: { ONEW: ['a', bash('sleep 1'), 'b'], TWOW: ['a', bash('sleep 1'), 'b'] },
    });
    await world().say('go');
    expect(results()).toContain('1 agents are running, which is the limit');
    const most = world()
      .news('background_tasks')
      .map(({ tasks }) => tasks.length);
    expect(Math.max(...most)).toBe(1);
  });

  it('goes back to its own directory, or nowhere', async () => {
    const [outer, inner] = ['outer', 'inner'].map((name) => ({
      [`.claude/agents/${name}.md`]: definition(
        `name: ${name}\ndescription: d\nportcullis:\n  workspace:\n    directory: part`,
      ),
    }));
    await opened({
      files: { ...outer, ...inner, 'part/x': 'x', 'part/part/x': 'x' },
      main: [
        agent('OUTERW', { subagent_type: 'outer' }),
        send('INNERW', 'go on'),
        'mid',
        send('INNERW', 'go on'),
        'end',
      ],
      agents: {
        OUTERW: [agent('INNERW', { subagent_type: 'inner' }), 'o'],
        INNERW: ['i', bash('pwd'), write('part/other'), 'i2', 'i3'],
      },
    });
    await world().say('go');
    await settled();
    const { directory } = world().project;
    expect(results()).toContain('/part/part');
    expect(isThere('part/other')).toBe(false);
    renameSync(join(directory, 'part/part'), join(directory, 'moved'));
    mkdirSync(join(directory, 'elsewhere'));
    symlinkSync('../elsewhere', join(directory, 'part/part'));
    await world().say('more');
    expect(world().result()).toMatchObject({ isError: true });
    expect(world().result().text).toContain('leads elsewhere');
  });
});

/** Allows the first question for the session and denies the rest. */
function asker(asked: string[]): Asker {
  return async ({ call }) => {
    asked.push(call.agent.path);
    return asked.length === 1
      ? { behavior: 'allow', scope: { what: 'exact', until: 'session' } }
      : { behavior: 'deny', message: 'no' };
  };
}

describe('the path of an agent', () => {
  it('is nobody else’s after the one who started it went on', async () => {
    const asked: string[] = [];
    await opened({
      main: [agent('PARENTW'), send('PARENTW', 'again'), wait(), 'end', 'end', 'end'],
      agents: {
        PARENTW: [agent('LONGW', inBackground), 'p1', agent('SECONDW'), 'p2', 'p3', 'p4'],
        LONGW: [bash('mkdir first'), { text: 'x', delayMs: 1500 }],
        SECONDW: [bash('mkdir first'), 's'],
      },
      config: { asker: asker(asked) },
    });
    await world().say('go');
    const below = paths().filter((path) => path.startsWith('main/general-purpose#1/'));
    expect(new Set(below).size).toBe(below.length);
    expect(below).toContain('main/general-purpose#1/general-purpose#2');
  });

  it('is nobody else’s after a restart', async () => {
    await opened({
      main: [agent('OLDW'), 'end', agent('NEWW'), 'end'],
      agents: { OLDW: ['x'], NEWW: ['n'] },
    });
    await world().say('go');
    const { sessionId } = world().session.info();
    await world().session.close();
    const events: (LoopEvent | SessionNews)[] = [];
    const again = await openSession({
      ...configOf(world().project.directory),
      env: envOf(world().project.home, world().server.url),
      start: { kind: 'resume', id: sessionId, newId: undefined, at: undefined },
      emit: (event) => void events.push(event),
    });
    const uuid = '00000000-0000-4000-8000-0000000000aa';
    await again.run([{ uuid, content: [{ type: 'text', text: 'again' }] }]);
    await again.close();
    const started = events.flatMap((event) =>
      event.type === 'task_started' ? [event.agent?.path] : [],
    );
    expect(started).toEqual(['main/general-purpose#2']);
  });
});
