import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Reply } from '../../src/model/scripted/format.js';
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
  open = await openAgentsSession({ config: { allowedTools: ['Bash'] }, ...options });
  return open;
}
const world = (): AgentsSession => {
  if (open === undefined) throw new Error('no session');
  return open;
};
const isThere = (name: string): boolean => existsSync(join(world().project.directory, name));
const settled = (): Promise<void> =>
  vi.waitFor(
    () => expect(world().news('task_finished').length).toBe(world().news('task_started').length),
    { timeout: 20_000, interval: 20 },
  );
const idOf = (word: string): string =>
  world()
    .news('task_started')
    .find(({ prompt }) => prompt?.includes(word) === true)?.taskId ?? '';
const send = (word: string) => (): Reply => ({
  tool: 'SendMessage',
  input: { to: idOf(word), message: 'go on' },
});
const results = (): string =>
  world()
    .events.flatMap((event) =>
      event.type === 'tool_result' ? [JSON.stringify(event.result.block.content)] : [],
    )
    .join('\n');

const file = '.claude/agents/boss.md';
const boss = (command: string, more = ''): string =>
  definition(
    `name: boss\ndescription: d\n${more}hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ${JSON.stringify(command)}`,
  );
/** Notes each call, and refuses those that touch something. */
const NO_TOUCH = 'tee -a log | grep -q touch && { echo guarded >&2; exit 2; }; exit 0';
const starts = agent('BOSSW', { subagent_type: 'boss' });

describe('a guard in the head of an agent', () => {
  it('judges the calls of those that it starts, however deep', async () => {
    await opened({
      files: { [file]: boss(NO_TOUCH) },
      main: [starts, bash('touch by-main'), 'end'],
      agents: {
        BOSSW: [agent('INNERW'), 'b'],
        INNERW: [bash('touch by-inner'), agent('DEEPW'), 'i'],
        DEEPW: [bash('touch by-deep'), 'd'],
      },
    });
    await world().say('go');
    expect(world().news('task_started')).toHaveLength(3);
    expect(['by-inner', 'by-deep', 'by-main'].filter(isThere)).toEqual(['by-main']);
  });

  it('goes on with it after the one whose guard it is has ended', async () => {
    const wait = 'until [ -e released ]; do sleep 0.02; done';
    await opened({
      files: { [file]: boss(NO_TOUCH) },
      main: [
        starts,
        () => {
          writeFileSync(join(world().project.directory, 'released'), '');
          return 'end';
        },
        'end',
      ],
      agents: {
        BOSSW: [agent('INNERW', { run_in_background: true }), 'b'],
        INNERW: [bash(wait), bash('touch by-inner'), 'i'],
      },
    });
    await world().say('go');
    await settled();
    expect(isThere('by-inner')).toBe(false);
    expect(readFileSync(join(world().project.directory, 'log'), 'utf8')).toContain('by-inner');
    expect(world().session.hooks().set.hooks.PreToolUse).toBeUndefined();
  });

  it('allows nothing to others, and says nothing to what they do beside calls', async () => {
    const yes = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`;
    await opened({
      files: { [file]: boss(yes) },
      main: [starts, 'end'],
      agents: {
        BOSSW: [bash('touch by-boss'), agent('INNERW'), 'b'],
        INNERW: [bash('touch by-inner'), 'i'],
      },
      config: {},
    });
    await world().say('go');
    expect(['by-boss', 'by-inner'].filter(isThere)).toEqual(['by-boss']);
  });

  it('is asked once about the calls of one of the same kind', async () => {
    await opened({
      files: { [file]: boss(NO_TOUCH) },
      main: [starts, 'end'],
      agents: {
        BOSSW: [agent('INNERW', { subagent_type: 'boss' }), 'b'],
        INNERW: [bash('ls inner'), 'i'],
      },
    });
    await world().say('go');
    const log = readFileSync(join(world().project.directory, 'log'), 'utf8');
    expect(log.match(/"command": ?"ls inner"/g)).toHaveLength(1);
  });

  it('of the agent that a session runs as judges the calls of all', async () => {
    await opened({
      files: { [file]: boss(NO_TOUCH) },
      main: [agent('INNERW'), bash('touch by-main'), 'end'],
      agents: { INNERW: [bash('touch by-inner'), 'i'] },
      config: { agent: 'boss', allowedTools: ['Bash'] },
    });
    await world().say('go');
    expect(world().news('task_started')).toHaveLength(1);
    expect(['by-inner', 'by-main'].filter(isThere)).toEqual([]);
  });
});

describe('an agent that goes on', () => {
  const changed = (text: string | undefined) => (): void => {
    const path = join(world().project.directory, file);
    if (text === undefined) rmSync(path);
    else writeFileSync(path, text);
  };
  const goneOn = async (word: string, change: () => void): Promise<void> => {
    await opened({
      files: { [file]: boss(NO_TOUCH) },
      main: [
        starts,
        () => {
          change();
          return send(word)();
        },
        'end',
        'end',
      ],
      agents: {
        BOSSW: [agent('INNERW'), 'b', bash('touch by-boss'), 'b'],
        INNERW: ['i', bash('touch by-inner'), 'i'],
      },
    });
    await world().say('go');
    await settled();
    expect(['by-inner', 'by-boss'].filter(isThere)).toEqual([]);
  };
  const same = (): void => undefined;

  it.each(['INNERW', 'BOSSW'])('has the guard that it had (%s)', async (word) => {
    await goneOn(word, same);
    expect(world().news('task_started')).toHaveLength(3);
    expect(readFileSync(join(world().project.directory, 'log'), 'utf8')).toContain('touch by-');
  });

  it.each([
    ['INNERW', 'another one', boss('exit 0')],
    ['BOSSW', 'another one', boss('exit 0')],
    ['INNERW', 'none', definition('name: boss\ndescription: d')],
    ['BOSSW', 'none', definition('name: boss\ndescription: d')],
    ['INNERW', 'no file', undefined],
    ['BOSSW', 'no file', undefined],
  ])('does not go on where there is %s and %s', async (word, _what, text) => {
    await goneOn(word, changed(text));
    expect(world().news('task_started')).toHaveLength(2);
    expect(results()).toMatch(/Put them back|there is no agent of the type boss now/);
  });
});
